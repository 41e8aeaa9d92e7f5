"""Test what git's history and index say about files, and the result of a future merge."""

import gc
import os
import shutil
from datetime import date, datetime
from pathlib import Path

import pytest
from builders import (
    commit_all,
    environment,
    git,
    made_once,
    make_repository,
    make_root,
    open_root,
    repository_of,
    snapshot,
    without_rights,
    write,
    write_entry,
)
from processes import run_text

from mdmem.checks.run import GitFacts
from mdmem.errors import GitError
from mdmem.store.git.history import (
    Activity,
    PathConflict,
    days_of_ends,
    first_days,
    last_changes,
    list_deletions,
    merge,
    merge_base,
)
from mdmem.store.git.process import Repository, ShallowHistoryError, read_blobs
from mdmem.store.git.status import list_revision
from mdmem.store.tree import read_one
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace


def commit_on(folder: Path, day: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", f"--date={day}T12:00:00", "-m", "change")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a repository in which an entry was written, ended and renamed, and another came ended."""
    folder = make_repository(tmp_path / "p")
    write_entry(folder, "m/app/a")
    commit_on(folder, "2026-01-05")
    write_entry(folder, "m/app/a", "We decided.\n\nstatus: deprecated\n")
    write_entry(folder, "m/app/c", status="deprecated")
    commit_on(folder, "2026-02-05")
    write_entry(folder, "m/app/a", status="deprecated", deprecated_at="2026-03-05")
    commit_on(folder, "2026-03-05")
    git(folder, "mv", "m/app/a.md", "m/app/ü b.md")
    commit_on(folder, "2026-04-05")
    return folder


def test_days_are_those_of_the_first_commit_and_of_the_change_of_status_whatever_the_name_is_now(folder: Path) -> None:
    first = {"m/app/a.md": "2026-01-05", "m/app/ü b.md": "2026-01-05", "m/app/c.md": "2026-02-05"}
    assert first_days(repository_of(folder), ["m"]) == first
    assert days_of_ends(repository_of(folder), "m") == {"m/app/ü b.md": "2026-03-05"}


def test_shallow_clone_and_repository_without_a_commit_tell_no_days(folder: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", folder.as_uri(), "shallow")
    for one in (tmp_path / "shallow", make_repository(tmp_path / "new")):
        assert first_days(repository_of(one), ["m"]) == days_of_ends(repository_of(one), "m") == {}
    assert last_changes(repository_of(one), ["src"], since=LONG_AGO) == Activity(), "it has no commit"


def test_partial_clone_whose_remote_is_gone_tells_no_ends(folder: Path, tmp_path: Path) -> None:
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", folder.as_uri(), "partial")
    folder.rename(tmp_path / "gone")
    assert days_of_ends(repository_of(tmp_path / "partial"), "m") == {}


def test_index_tells_what_moves_and_what_goes_with_the_next_commit(folder: Path) -> None:
    git(folder, "mv", "m/app/c.md", "m/app/d.md")
    git(folder, "rm", "-q", "m/app/ü b.md")
    moved = {"m/app/c.md": ("", "m/app/d.md"), "m/app/ü b.md": ("", None)}
    past = {"m/app/a.md": (git(folder, "log", "-1", "--format=%h"), "m/app/ü b.md")}
    assert list_deletions(repository_of(folder), "m") == moved | past


LONG_AGO = date(2020, 1, 1)


def commit(
    mark: int, day: str, *paths: str, after: tuple[int, ...] = (), branch: str = "main", gone: tuple[str, ...] = ()
) -> str:
    """Return a commit of one day as `git fast-import` reads it; each path gets the mark as its content."""
    seconds = int(datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp())
    lines = [f"commit refs/heads/{branch}", f"mark :{mark}", f"committer Ada <ada@example.org> {seconds} +0000"]
    lines += ["data 1", "x", *(f"{'merge' if number else 'from'} :{one}" for number, one in enumerate(after))]
    for path in paths:
        lines += [f"M 100644 inline {path}", f"data {len(str(mark))}", str(mark)]
    return "\n".join([*lines, *(f"D {path}" for path in gone), ""])


def repository(folder: Path, *commits: str) -> Repository:
    """Return a repository of some commits."""
    make_repository(folder)
    git(folder, "fast-import", "--quiet", text_in="\n".join(commits).encode())
    return repository_of(folder)


def days(activity: Activity) -> dict[str, str]:
    return {path: str(day) for path, day in sorted(activity.days.items())}


def test_newest_change_of_each_path_counts(tmp_path: Path) -> None:
    made = repository(
        tmp_path,
        commit(1, "2026-01-05", "src/a.py", "src/b.py", "docs/c.md"),
        commit(2, "2026-02-05", "src/a.py", after=(1,)),
        commit(3, "2026-03-05", after=(2,), gone=("src/b.py",)),
    )
    newest = {"src/a.py": "2026-02-05", "src/b.py": "2026-03-05"}
    assert days(last_changes(made, ["src"], since=LONG_AGO)) == newest
    assert days(last_changes(made, [""], since=date(2026, 2, 4))) == newest
    assert days(last_changes(made, ["docs/c.md"], since=LONG_AGO)) == {"docs/c.md": "2026-01-05"}
    first = dict.fromkeys(newest, "2026-01-05")
    assert days(last_changes(made, ["src"], since=LONG_AGO, until="main~2")) == first


def test_change_from_a_branch_counts_from_its_merge(tmp_path: Path) -> None:
    made = repository(
        tmp_path,
        commit(1, "2026-01-05", "src/a.py"),
        commit(2, "2026-01-10", "src/a.py", "src/new.py", after=(1,), branch="topic"),
        commit(3, "2026-02-01", "docs/c.md", after=(1,)),
        commit(4, "2026-03-01", "src/a.py", "src/new.py", after=(3, 2)),
    )
    found = days(last_changes(made, ["src"], since=date(2026, 2, 15)))
    assert found == dict.fromkeys(["src/a.py", "src/new.py"], "2026-03-01")


def test_end_of_a_shallow_clone_is_no_change(tmp_path: Path) -> None:
    repository(
        tmp_path / "whole",
        commit(1, "2026-01-05", "src/a.py", "src/b.py"),
        commit(2, "2026-02-05", "src/a.py", after=(1,)),
    )
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/whole", "one")
    git(tmp_path, "clone", "-q", f"file://{tmp_path}/whole", "all")
    assert last_changes(repository_of(tmp_path / "one"), ["src"], since=LONG_AGO) == Activity({}, is_cut=True)
    assert not last_changes(repository_of(tmp_path / "all"), ["src"], since=LONG_AGO).is_cut


def test_repository_that_git_cannot_read_is_an_error(tmp_path: Path) -> None:
    write(make_repository(tmp_path), "src/a.py", "1")
    commit_all(tmp_path)
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}")
    (tmp_path / ".git/objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(GitError, match="git log: "):
        last_changes(repository_of(tmp_path), ["src"], since=LONG_AGO)


def test_control_characters_in_the_name_of_an_author_change_no_day(tmp_path: Path) -> None:
    folder = make_repository(tmp_path)
    write_entry(folder, "m/app/a")
    git(folder, "add", "-A")
    by = ("-c", "user.name=A\x02\x01B", "-c", "user.email=a\x02@example.com")
    git(folder, *by, "commit", "-q", "--date=2026-01-05T12:00:00", "-m", "a\x02b")
    assert first_days(repository_of(folder), ["m"]) == {"m/app/a.md": "2026-01-05"}


LINES = "".join(f"line {number}\n" for number in range(8))


@made_once
def parted(folder: Path) -> Path:
    make_repository(folder)
    make_root(folder / "memory")
    write_entry(folder / "memory", "w/r/base")
    write(folder, "memory/w/r/lines.md", LINES)
    commit_all(folder, "base")
    git(folder, "branch", "topic")
    write_entry(folder / "memory", "w/r/mine")
    commit_all(folder, "on main")
    git(folder, "checkout", "-q", "topic")
    write_entry(folder / "memory", "w/r/theirs")
    commit_all(folder, "on topic")
    return folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository whose branches `main` and `topic` each added one entry to the memory of their base."""
    return parted(tmp_path / "top")


def both(top: Path, path: str, ours: str | None, theirs: str | None) -> None:
    """Commit one file on `main` and on `topic`, None deletes it; `topic` is then checked out."""
    for branch, content in (("main", theirs), ("topic", ours)):
        git(top, "checkout", "-q", branch)
        (top / path).unlink() if content is None else write(top, path, content)
        commit_all(top)


def merging(top: Path, into: str = "main", revision: str | None = None) -> Workspace:
    """Return the memory as merging a revision leaves it."""
    return open_root(top / "memory").at(Snapshot(revision=revision, merge_into=into))


def test_merge_has_what_both_sides_added_and_leaves_the_repository_as_it_was(top: Path) -> None:
    both(top, "memory/w/r/lines.md", "ours\n", "theirs\n")
    before = snapshot(top)
    opened = merging(top)
    assert list(opened.whole_catalog.entries) == ["w/r/base", "w/r/mine", "w/r/theirs"]
    assert opened.conflicts
    assert snapshot(top) == before


def test_objects_of_a_merge_go_when_its_tree_is_forgotten(top: Path, temporary: Path) -> None:
    opened = merging(top)
    assert opened.whole_catalog.entries
    assert len(list(temporary.iterdir())) == 1
    del opened
    gc.collect()
    assert list(temporary.iterdir()) == []


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files, which nobody else uses."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


CONFLICTS = [("ours\n", "theirs\n", "content"), (None, "theirs\n", "modify/delete"), ("ours\n", None, "modify/delete")]


@pytest.mark.parametrize(("ours", "theirs", "kind"), CONFLICTS)
def test_conflict_is_told_with_the_word_of_git(top: Path, ours: str | None, theirs: str | None, kind: str) -> None:
    both(top, "memory/w/r/lines.md", ours, theirs)
    assert [(one.path, one.kind) for one in merging(top).conflicts] == [("w/r/lines.md", kind)]


def test_conflicts_at_the_top_are_those_of_wings(tmp_path: Path) -> None:
    top = make_root(make_repository(tmp_path / "top"))
    write(top, "w/README.md", "---\nkind: project\n---\n")
    commit_all(top)
    git(top, "branch", "topic")
    for path in ("w/r/new.md", "src/new.md"):
        both(top, path, "ours\n", "theirs\n")
    assert [one.path for one in open_root(top).at(Snapshot(merge_into="main")).conflicts] == ["w/r/new.md"]


def test_conflict_stands_in_the_tree_with_its_marks(top: Path) -> None:
    both(top, "memory/w/r/new.md", "ours\n", "theirs\n")
    content = read_one(merging(top).tree, "w/r/new.md")
    assert isinstance(content, bytes)
    assert [line[:7] for line in content.splitlines()] == [b"<<<<<<<", b"theirs", b"=======", b"ours", b">>>>>>>"]


def test_merge_does_not_depend_on_the_users_settings(top: Path) -> None:
    both(top, "memory/w/r/new.md", "ours\n", "theirs\n")
    first = merge(repository_of(top), "main", "topic").tree
    git(top, "config", "merge.conflictStyle", "diff3")
    git(top, "config", "merge.default", "union")
    write(top, "attributes", "*.md merge=union\n")
    git(top, "config", "core.attributesFile", str(top / "attributes"))
    assert merge(repository_of(top), "main", "topic").tree == first


@pytest.mark.parametrize("place", [".gitattributes", ".git/info/attributes"])
@pytest.mark.parametrize("driver", ["hostile", None])
def test_merge_driver_does_not_run_and_need_not_be_there(top: Path, place: str, driver: str | None) -> None:
    both(top, "memory/w/r/lines.md", LINES.replace("line 0", "ours"), LINES.replace("line 7", "theirs"))
    write(top, place, "*.md merge=mdmem\n")
    if driver:
        for name in ("mdmem", "x=y"):
            git(top, "config", f"merge.{name}.driver", f"touch {top}/ran; exit 0")
    commit_all(top)
    merged = merge(repository_of(top), "main", "topic")
    expected = LINES.replace("line 0", "ours").replace("line 7", "theirs").encode()
    blobs = list_revision(merged.repository, merged.tree, "memory/w/r/lines.md")
    assert [content for _, content in read_blobs(merged.repository, [blob.digest for blob in blobs])] == [expected]
    assert merged.conflicts == ()
    assert not (top / "ran").exists()


def test_merge_driver_of_local_attributes_leaves_a_conflict_as_git_does(top: Path) -> None:
    write(top, ".git/info/attributes", "*.md merge=mdmem\n")
    git(top, "config", "merge.mdmem.driver", "true")
    both(top, "memory/w/r/lines.md", "ours\n", "theirs\n")
    assert [(one.path, one.kind) for one in merging(top).conflicts] == [("w/r/lines.md", "content")]


def test_merge_in_a_worktree_of_a_bare_repository(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(top), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    before = snapshot(tmp_path / "bare.git")
    assert "w/r/theirs" in merging(tmp_path / "linked", "topic").whole_catalog.entries
    assert snapshot(tmp_path / "bare.git") == before


def test_merge_in_a_repository_whose_store_is_elsewhere_with_an_odd_name(top: Path, tmp_path: Path) -> None:
    store = tmp_path / 'a:"b\\c'
    (top / ".git/objects").rename(store)
    (top / ".git/objects").symlink_to(store)
    assert "w/r/mine" in merging(top).whole_catalog.entries


def test_merge_sees_the_stores_that_a_hook_names(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = repository_of(top)
    objects = tmp_path / "quarantine"
    (top / ".git/objects").rename(objects)
    for name in ("info", "pack"):
        (top / ".git/objects" / name).mkdir(parents=True)
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(top / ".git/objects"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(objects))
    assert merge(repository, "main", "topic").conflicts == ()


def test_merge_in_a_repository_that_cannot_be_written(top: Path) -> None:
    both(top, "memory/w/r/new.md", "ours\n", "theirs\n")
    program = "import sys, pathlib; from mdmem.store.git.process import find_repository;"
    program += "from mdmem.store.git.history import merge;"
    program += "here = find_repository(pathlib.Path(sys.argv[1]));"
    program += "print([one.path for one in merge(here, 'main', 'topic').conflicts])"
    folders = [top, *(path for path in top.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = run_text("-c", without_rights() + program, str(top), cwd=top, env=environment())
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert (done.stdout, done.stderr) == ("['memory/w/r/new.md']\n", "")


def test_merge_says_that_no_temporary_folder_can_be_written(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(top / "none"))
    with pytest.raises(GitError, match="no such file or directory; set TMPDIR to a writable folder"):
        merge(repository_of(top), "main", "topic")


def other_git(top: Path, monkeypatch: pytest.MonkeyPatch, merge_tree: str) -> None:
    """Let git be another version, in which `merge-tree` is a shell command."""
    script = f"""#!/bin/sh
for word; do
  case $word in
    merge-tree) {merge_tree};;
    version) echo 'git version 2.34.1'; exit 0;;
  esac
done
exec {shutil.which("git")} "$@"
"""
    write(top.parent, "bin/git", script).chmod(0o755)
    monkeypatch.setenv("PATH", f"{top.parent}/bin:{os.environ['PATH']}")


def test_kinds_that_a_later_git_tells_are_understood(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = ["f" * 40, f"100644 {'a' * 40} 2\tunheard.md", f"100644 {'a' * 40} 2\tsub", ""]
    fields += ["1", "sub", "CONFLICT (submodule lacks merge base)", "Failed to merge submodule sub\n"]
    fields += ["2", "a.md", "b.md", "CONFLICT(directory rename unclear split)"]
    fields += ["CONFLICT (directory rename split): a\n", "1", "unheard.md", "ERROR (a new one)", "error: x\n", ""]
    printed = write(top.parent, "printed", "\0".join(fields))
    other_git(top, monkeypatch, f"cat '{printed}'; exit 1")
    assert merge(repository_of(top), "main", "topic").conflicts == (
        PathConflict("a.md", "directory rename split"),
        PathConflict("sub", "submodule lacks merge base"),
        PathConflict("unheard.md", "content"),
    )


def test_merge_base_of_a_shallow_history_says_how_to_deepen_it(top: Path, tmp_path: Path) -> None:
    url = f"file://{top}"
    git(tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", "-b", "topic", url, "shallow")
    shallow = repository_of(tmp_path / "shallow")
    with pytest.raises(ShallowHistoryError, match="`git fetch --unshallow`, in GitHub's checkout `fetch-depth: 0`"):
        merge_base(shallow, "origin/main", "HEAD")
    with pytest.raises(ShallowHistoryError):
        merge(shallow, "origin/main", "HEAD")
    git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert merge(shallow, "origin/main", "HEAD").ancestor == git(top, "rev-parse", "topic~1")


def test_sides_of_a_merge_are_those_that_were_merged_though_the_branch_moves(top: Path) -> None:
    opened = merging(top)
    assert opened.tree.files()
    write_entry(top / "memory", "w/r/later")
    commit_all(top)
    assert "w/r/later" not in opened.sides[0].whole_catalog.entries


@pytest.mark.parametrize("what", ["file", "link"])
def test_root_that_is_something_else_in_another_tree_is_empty_there(top: Path, what: str) -> None:
    write(top, "second", "x") if what == "file" else (top / "second").symlink_to("memory")
    commit_all(top)
    (top / "second").unlink()
    make_root(top / "second")
    assert open_root(top / "second").at(Snapshot("HEAD")).tree.files() == ()


def test_deletions_are_those_of_the_history_that_is_read(top: Path) -> None:
    git(top, "checkout", "-q", "main")
    (top / "memory/w/r/base.md").unlink()
    deleted = commit_all(top)
    git(top, "checkout", "-q", "topic")
    opened = open_root(top / "memory")
    gone = {
        snapshot: dict(GitFacts(repository_of(top), "memory", (), opened.at(snapshot).commits).deleted)
        for snapshot in (Snapshot(), Snapshot("main"), Snapshot(merge_into="main"))
    }
    told = {"w/r/base.md": (deleted[:7], None)}
    assert list(gone.values()) == [{}, told, told]
