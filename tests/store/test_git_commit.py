"""Test commits of only the written files, in real repositories with hooks, locks and other people's changes."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest
from builders import (
    SIGNED,
    commit_all,
    environment,
    git,
    hook,
    made_once,
    make_repository,
    merge_conflict,
    repository_of,
    sign,
    status,
    without_rights,
    write,
)
from processes import run_text

from mdmem.errors import EnvironmentFaultError
from mdmem.store.git.commit import commit_paths
from mdmem.store.git.process import NotCommittedError
from mdmem.store.git.status import state_of


@made_once
def committed(folder: Path) -> Path:
    make_repository(folder)
    for name in ("one", "two", "three"):
        write(folder, f"m/{name}.md", f"{name}\n")
    commit_all(folder, "first")
    return folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository with one commit of three files."""
    return committed(tmp_path / "top")


def commit(folder: Path, *paths: str, message: str = "Write\n", **options: object) -> str | None:
    return commit_paths(repository_of(folder), paths, message, **options)  # type: ignore[arg-type]


def held(folder: Path, commit: str = "HEAD") -> list[str]:
    """Return what a commit did to which files."""
    return git(folder, "show", "--format=", "--name-status", "--no-renames", commit).splitlines()


def index_of(folder: Path) -> str:
    """Return all entries of the index, also intentions to add."""
    return git(folder, "ls-files", "--stage", "--debug").partition("ctime")[0] + git(folder, "ls-files", "-s", "-t")


def test_commit_holds_what_was_added_changed_and_deleted(top: Path) -> None:
    write(top, "m/new.md", "new\n")
    write(top, "m/one.md", "changed\n")
    (top / "m/two.md").unlink()
    made = commit(top, "m/new.md", "m/one.md", "m/two.md", message="Subject\n\nBody\n")
    assert made == git(top, "rev-parse", "HEAD")
    assert held(top) == ["A\tm/new.md", "M\tm/one.md", "D\tm/two.md"]
    assert git(top, "log", "-1", "--format=%B") == "Subject\n\nBody\n"
    assert status(top) == []


def test_commit_leaves_all_else_staged_or_not_as_it_was(top: Path) -> None:
    write(top, "m/two.md", "staged\n")
    write(top, "m/added.md", "added\n")
    git(top, "add", "m/two.md", "m/added.md")
    write(top, "m/two.md", "staged, then changed\n")
    write(top, "m/three.md", "changed\n")
    write(top, "m/meant.md", "meant\n")
    git(top, "add", "-N", "m/meant.md")
    write(top, "m/untracked.md", "untracked\n")
    before = status(top)
    write(top, "m/one.md", "ours\n")
    write(top, "m/new.md", "ours\n")
    commit(top, "m/one.md", "m/new.md")
    assert held(top) == ["A\tm/new.md", "M\tm/one.md"]
    assert status(top) == before
    assert before == ["A  m/added.md", " A m/meant.md", " M m/three.md", "MM m/two.md", "?? m/untracked.md"]


def test_paths_with_odd_names_are_taken_literally(top: Path) -> None:
    names = ["a b.md", "*.md", ":x.md", "-x.md", "a\nb.md", "größe.md", os.fsdecode(b"caf\xe9.md")]
    write(top, "other.md", "other\n")
    for name in names:
        write(top, name, "odd\n")
    commit(top, *names)
    assert set(git(top, "ls-tree", "-z", "--name-only", "HEAD").split("\0")) == {*names, "m", ""}


def test_staged_file_that_was_moved_goes_from_the_index(top: Path) -> None:
    write(top, "m/new.md", "new\n")
    git(top, "add", "m/new.md")
    (top / "m/new.md").rename(top / "m/moved.md")
    commit(top, "m/new.md", "m/moved.md", before={"m/new.md": b"new\n", "m/moved.md": None})
    assert held(top) == ["A\tm/moved.md"]
    assert status(top) == []


def test_file_written_back_to_what_head_holds_makes_no_commit(top: Path) -> None:
    write(top, "m/one.md", "staged\n")
    git(top, "add", "m/one.md")
    write(top, "m/one.md", "one\n")
    (top / "m/two.md").unlink()
    assert commit(top, "m/one.md", "m/never.md", before={"m/one.md": b"staged\n"}) is None
    assert git(top, "rev-list", "--count", "HEAD") == "1"


def test_clean_filters_apply(top: Path) -> None:
    git(top, "config", "filter.upper.clean", "tr a-z A-Z")
    write(top, ".gitattributes", "*.md filter=upper\n")
    write(top, "m/new.md", "staged\n")
    git(top, "add", "m/new.md")
    write(top, "m/new.md", "ours\n")
    commit(top, "m/new.md", before={"m/new.md": b"staged\n"})
    assert git(top, "show", "HEAD:m/new.md") == "OURS"


def removal_that_is_staged(top: Path) -> None:
    git(top, "rm", "-q", "--cached", "m/one.md")
    write(top, "m/one.md", "ours\n")


def ignored(top: Path) -> None:
    write(top, ".gitignore", "m/private/\n")
    write(top, "m/private/new.md", "new\n")


def in_merge(top: Path) -> None:
    merge_conflict(top, "m/one.md", "ours\n", "theirs\n")


def in_conflict(top: Path) -> None:
    in_merge(top)
    (top / ".git/MERGE_HEAD").unlink()


def marked(mark: str) -> Callable[[Path], object]:
    return lambda top: [git(top, "update-index", mark, "m/one.md"), write(top, "m/one.md", "ours\n")]


@pytest.mark.parametrize(
    ("prepare", "path", "why"),
    [
        (removal_that_is_staged, "m/one.md", "another version of `m/one.md` is staged"),
        (ignored, "m/private/new.md", "git ignores `m/private/new.md`"),
        (marked("--skip-worktree"), "m/one.md", "git cannot see changes of `m/one.md`"),
        (marked("--assume-unchanged"), "m/one.md", "git cannot see changes of `m/one.md`"),
        (
            lambda top: write(make_repository(top / "m/inner"), "new.md", "new\n"),
            "m/inner/new.md",
            "git cannot see changes of `m/inner/new.md`: it lies in another",
        ),
        (in_conflict, "m/one.md", "`m/one.md` is in conflict"),
        (in_merge, "m/two.md", "git refused: cannot do a partial commit during a merge"),
    ],
)
def test_file_that_cannot_be_committed_is_named_and_nothing_is(
    prepare: Callable[[Path], object], path: str, why: str, top: Path
) -> None:
    prepare(top)
    write(top, "m/two.md", "ours\n")
    write(top, "m/new.md", "new\n")
    before, index = status(top), index_of(top)
    with pytest.raises(NotCommittedError, match=rf"^{why}.*; nothing was committed"):
        commit(top, "m/two.md", "m/new.md", path, before={path: b"one\n"})
    assert (status(top), index_of(top)) == (before, index)


def test_hook_that_fails_leaves_the_index_as_before(top: Path) -> None:
    hook(top, "commit-msg", "printf '\\033[31mno, \\033[0mnot this\\n'; echo 'error: why' >&2; exit 7")
    write(top, "m/two.md", "staged\n")
    git(top, "add", "m/two.md")
    write(top, "m/new.md", "new\n")
    write(top, "m/meant.md", "meant\n")
    git(top, "add", "-N", "m/meant.md")
    write(top, "m/one.md", "ours\n")
    state, files = index_of(top), status(top)
    with pytest.raises(NotCommittedError) as raised:
        commit(top, "m/new.md", "m/meant.md", "m/one.md")
    assert str(raised.value).endswith("are written\nno, not this\nerror: why")
    assert (index_of(top), status(top)) == (state, files)


def test_hooks_see_just_our_files_and_all_run(top: Path) -> None:
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"):
        hook(top, name, f"echo {name}: $(git diff --cached --name-only HEAD) >> ran.txt")
    hook(top, "commit-msg", 'echo commit-msg: >> ran.txt; echo "Change-Id: I1" >> "$1"')
    write(top, "m/two.md", "staged\n")
    git(top, "add", "m/two.md")
    write(top, "m/new.md", "new\n")
    commit(top, "m/new.md")
    ran = (top / "ran.txt").read_text().splitlines()
    assert ran[0] == "pre-commit: m/new.md"
    assert [line.partition(":")[0] for line in ran] == ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]
    assert git(top, "log", "-1", "--format=%B") == "Write\nChange-Id: I1\n"


def test_program_that_a_hook_leaves_running_is_not_waited_for(top: Path) -> None:
    hook(top, "post-commit", "sleep 30 & echo $! > pid")
    write(top, "m/one.md", "ours\n")
    start = time.monotonic()
    commit(top, "m/one.md")
    assert time.monotonic() - start < 20
    os.kill(int((top / "pid").read_text()), 9)


def test_commit_that_git_made_without_its_index_is_no_failure_to_commit(top: Path) -> None:
    hook(top, "reference-transaction", '[ "$1" != committed ] || rm -f .git/index.lock')
    write(top, "m/one.md", "ours\n")
    with pytest.raises(EnvironmentFaultError, match=r"the files are committed, but git could not write its index"):
        commit(top, "m/one.md")
    assert held(top) == ["M\tm/one.md"]


def test_no_editor_opens_and_no_template_is_read(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_EDITOR", "false")
    for name, value in (("commit.verbose", "true"), ("commit.template", "t"), ("commit.cleanup", "strip")):
        git(top, "config", name, value)
    write(top, "t", "template\n")
    write(top, "m/one.md", "ours\n")
    commit(top, "m/one.md", message="Subject\n\n# kept\n")
    assert git(top, "log", "-1", "--format=%B") == "Subject\n\n# kept\n"


def test_commit_is_signed_where_git_signs(top: Path) -> None:
    sign(top)
    write(top, "m/one.md", "ours\n")
    assert commit(top, "m/one.md") == git(top, "rev-parse", "HEAD")
    assert SIGNED in git(top, "cat-file", "commit", "HEAD")


def test_worktree_commits_to_its_own_branch(top: Path) -> None:
    other = top.parent / "other"
    git(top, "worktree", "add", "-q", "-b", "topic", str(other))
    write(other, "m/new.md", "new\n")
    assert commit(other, "m/new.md") == git(top, "rev-parse", "topic")
    assert status(other) == status(top) == []
    assert git(top, "rev-list", "--count", "main") == "1"


def test_lock_that_goes_away_is_waited_for(top: Path) -> None:
    lock = write(top, ".git/index.lock")
    write(top, "m/new.md", "new\n")
    with subprocess.Popen(["/bin/sh", "-c", f"sleep 0.5; rm '{lock}'"]):
        assert commit(top, "m/new.md") == git(top, "rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_lock_that_stays_is_named(top: Path, name: str) -> None:
    lock = write(top, f".git/{name}")
    write(top, "m/new.md", "new\n")
    words = f"another git process holds `{re.escape(str(lock))}`; if none runs .*; nothing was committed"
    with pytest.raises(NotCommittedError, match=words):
        commit(top, "m/new.md", wait=0.2)
    assert status(top) == ["?? m/new.md"]


def test_index_that_another_git_wrote_back_is_tried_again(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The race is one of git's own: here another process wins it once, right before our commit.
    real = shutil.which("git")
    script = f"""#!/bin/sh
case " $* " in
  *" commit "*) [ -e "{top}/../once" ] || {{ touch "{top}/../once"; {real} update-index --force-remove m/new.md; }};;
esac
exec {real} "$@"
"""
    write(top.parent, "bin/git", script).chmod(0o755)
    monkeypatch.setenv("PATH", f"{top.parent}/bin:{os.environ['PATH']}")
    write(top, "m/new.md", "new\n")
    assert commit(top, "m/new.md") == git(top, "rev-parse", "HEAD")
    assert (top.parent / "once").exists()
    assert held(top) == ["A\tm/new.md"]


def test_commit_of_ours_that_takes_too_long_is_not_waited_for(top: Path) -> None:
    lock = write(top, ".git/mdmem/commit.lock")
    write(top, "m/new.md", "new\n")
    with lock.open() as file:
        flock(file, LOCK_EX)
        with pytest.raises(NotCommittedError, match=r"^other git processes keep committing; .*nothing was committed"):
            commit(top, "m/new.md", wait=0.2)
    assert commit(top, "m/new.md") == git(top, "rev-parse", "HEAD")


ONCE, THEIRS = "[ -e once ] && exit 0; touch once", "git update-ref HEAD $(git commit-tree -p HEAD -m theirs {})"


@pytest.mark.parametrize(
    ("name", "script", "path", "subjects"),
    [
        ("pre-commit", f"{ONCE}; {THEIRS.format('HEAD^{tree}')}", "m/new.md", ["Write", "theirs", "first"]),
        ("post-commit", THEIRS.format("HEAD^{tree}"), "m/new.md", ["theirs", "Write", "first"]),
        ("pre-commit", f"{ONCE}; tree=$(git write-tree)\n{THEIRS.format('$tree')}", "m/one.md", ["theirs", "first"]),
    ],
    ids=["comes first and ours is tried again", "follows at once", "has the same files"],
)
def test_commit_of_another_in_the_same_moment(
    top: Path, name: str, script: str, path: str, subjects: list[str]
) -> None:
    hook(top, name, script)
    write(top, path, "ours\n")
    made = commit(top, path)
    assert git(top, "log", "--format=%s").split() == subjects
    assert made == (git(top, "log", "--grep=Write", "--format=%H") or None)
    assert made is None or held(top, made) == [f"A\t{path}"]


def test_git_folder_that_cannot_be_written_is_said(top: Path) -> None:
    write(top, "m/one.md", "ours\n")
    program = (
        "import sys; from pathlib import Path; from mdmem.store.git.process import find_repository\n"
        "from mdmem.store.git.process import NotCommittedError\n"
        "from mdmem.store.git.commit import commit_paths\n"
        "try: commit_paths(find_repository(Path(sys.argv[1])), ['m/one.md'], 'Write')\n"
        "except NotCommittedError as error: print(error)"
    )
    (top / ".git").chmod(0o555)
    try:
        done = run_text("-c", without_rights() + program, str(top), cwd=top, env=environment())
    finally:
        (top / ".git").chmod(0o755)
    assert done.stderr == ""
    assert done.stdout.startswith(f"git refused: Unable to create '{top}/.git/index.lock': Permission denied; nothing")


@pytest.mark.parametrize(
    ("command", "operation"),
    [(["rebase", "--apply", "topic"], "rebase"), (["revert", "--no-edit", "HEAD~1"], "revert")],
)
def test_operation_at_hand_is_found(top: Path, command: list[str], operation: str) -> None:
    git(top, "branch", "topic", "HEAD")
    for branch, text in (("topic", "topic\n"), ("main", "main\n"), ("main", "main again\n")):
        git(top, "checkout", "-q", branch)
        write(top, "m/one.md", text)
        commit_all(top, branch)
    git(top, *command, ends=1)
    assert state_of(repository_of(top)) == operation
