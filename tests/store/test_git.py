"""Test calls of git, the default branch, and repositories that are read from git's own files."""

import gc
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, git, made_once, make_repository, repository_of, write

from mdmem.checks.case import GitFacts
from mdmem.errors import GitError, UsageError
from mdmem.store.git import process
from mdmem.store.git.status import list_changed_in_index, list_staged, search_lines


@made_once
def committed(folder: Path) -> Path:
    make_repository(folder)
    write(folder, "memory/w/r/e.md", "one\n")
    commit_all(folder, "first")
    return folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository with one commit of one file."""
    return committed(tmp_path / "top")


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record the command of each process that is started."""
    started: list[list[str]] = []
    original = subprocess.Popen.__init__

    def record(self: Any, args: list[str], *rest: Any, **options: Any) -> None:
        started.append(args)
        original(self, args, *rest, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", record)
    return started


def test_repository_is_none_when_git_is_not_installed(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(top))
    assert process.find_repository(top) is None


def test_repository_of_a_linked_worktree_shares_the_common_folder(top: Path, tmp_path: Path) -> None:
    git(top, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert process.find_repository(tmp_path / "linked" / "memory") == process.Repository(
        tmp_path / "linked", top / ".git" / "worktrees" / "linked", top / ".git"
    )


def test_repository_of_a_submodule_is_its_own(top: Path, tmp_path: Path) -> None:
    outer = make_repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(top), "sub")
    modules = outer / ".git" / "modules" / "sub"
    assert process.find_repository(outer / "sub" / "memory") == process.Repository(outer / "sub", modules, modules)


def test_repository_of_another_owner_raises_what_git_says(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assumed, original = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}, process.environment_for
    monkeypatch.setattr(process, "environment_for", lambda *said: original(*said) | assumed)
    with pytest.raises(GitError) as caught:
        process.find_repository(top)
    says = f"detected dubious ownership in repository at '{top}'; if you trust it"
    assert str(caught.value) == f"{says}, type `git config --global --add safe.directory {top}`"


def test_files_only_intended_to_be_added_are_not_staged(top: Path) -> None:
    for name in ("intended", "empty"):
        write(top, f"memory/w/r/{name}.md", "" if name == "empty" else "x")
    git(top, "add", "-N", "memory/w/r/intended.md")
    git(top, "add", "memory/w/r/empty.md")
    assert [blob.path for blob in list_staged(repository_of(top), "memory")] == [
        "memory/w/r/e.md",
        "memory/w/r/empty.md",
    ]


@pytest.mark.parametrize("revision", ["nowhere", "", "--all", "HEAD:memory", "main..main", "--exec=x", "HEAD\n"])
def test_revision_that_names_no_commit_is_refused(top: Path, revision: str) -> None:
    with pytest.raises(UsageError, match="is not a commit here"):
        process.resolve(repository_of(top), revision)


def test_blobs_are_read_in_the_order_asked_and_one_may_be_missing(top: Path) -> None:
    digest, missing = git(top, "rev-parse", ":memory/w/r/e.md"), "0" * 40
    found = list(process.read_blobs(repository_of(top), [digest, missing, digest]))
    assert found == [(digest, b"one\n"), (missing, None), (digest, b"one\n")]


def test_blob_that_is_damaged_does_not_take_the_others_with_it(top: Path) -> None:
    digests = []
    for name in ("a", "b", "c"):
        write(top, name, f"{name}\n")
        digests.append(git(top, "hash-object", "-w", name))
    damaged = top / ".git/objects" / digests[1][:2] / digests[1][2:]
    damaged.chmod(0o644)
    damaged.write_bytes(b"damaged")
    assert [content for _, content in process.read_blobs(repository_of(top), digests)] == [b"a\n", None, b"c\n"]


def partial_clone(top: Path, folder: Path) -> process.Repository:
    """Return a clone that has no blobs yet."""
    git(top, "config", "uploadpack.allowFilter", "true")
    git(top, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(top.parent, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{top}", str(folder))
    return repository_of(folder)


def test_blobs_of_a_partial_clone_are_fetched(top: Path, tmp_path: Path) -> None:
    digest = git(top, "rev-parse", "HEAD:memory/w/r/e.md")
    assert list(process.read_blobs(partial_clone(top, tmp_path / "partial"), [digest])) == [(digest, b"one\n")]


def test_blobs_that_a_partial_clone_cannot_fetch_are_missing_and_others_are_not(top: Path, tmp_path: Path) -> None:
    missing = git(top, "rev-parse", "HEAD:memory/w/r/e.md")
    repository = partial_clone(top, tmp_path / "partial")
    write(repository.top, "here", "here\n")
    here = git(repository.top, "hash-object", "-w", "here")
    top.rename(tmp_path / "gone")
    reader = process.BlobReader(repository)
    assert [reader.read(one) for one in (missing, here, missing, here)] == [None, b"here\n"] * 2
    reader.close()


def test_blobs_are_given_up_where_git_ends_each_time(top: Path, tmp_path: Path, processes: list[list[str]]) -> None:
    digest = git(top, "rev-parse", "HEAD:memory/w/r/e.md")
    repository = partial_clone(top, tmp_path / "partial")
    top.rename(tmp_path / "gone")
    processes.clear()
    assert [content for _, content in process.read_blobs(repository, [digest] * 600)] == [None] * 600
    assert len(processes) == 20


def test_git_that_was_asked_for_a_check_ends_with_it(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen.__init__
    monkeypatch.setattr(
        subprocess.Popen, "__init__", lambda *said, **more: started.append(said[0]) or original(*said, **more)
    )
    facts = GitFacts(repository_of(top), "memory", ())
    gc.disable()
    try:
        assert facts.committed("w/r/e.md") == b"one\n"
        del facts
        assert {one.returncode for one in started} == {0}
    finally:
        gc.enable()


def test_index_of_a_hook_is_read(top: Path) -> None:
    other = top / ".git" / "next-index-1.lock"
    write(top, "memory/w/r/new.md", "x")
    subprocess.run(["git", "read-tree", "HEAD"], cwd=top, env=os.environ | {"GIT_INDEX_FILE": str(other)}, check=True)
    git(top, "add", "memory/w/r/new.md")
    found = repository_of(top)
    staging = process.with_hook_index(found, {"GIT_INDEX_FILE": ".git/next-index-1.lock"}, top)
    assert [blob.path for blob in list_staged(staging, "")] == ["memory/w/r/e.md"]
    assert list_changed_in_index(staging) == []
    assert list_changed_in_index(found) == ["memory/w/r/new.md"]


@pytest.mark.parametrize("given", ["", ".git/none", "../other/.git/index", "/etc/passwd"])
def test_index_of_a_hook_is_not_ours_when_it_lies_elsewhere_or_is_gone(top: Path, tmp_path: Path, given: str) -> None:
    write(make_repository(tmp_path / "other"), "e.md", "x")
    git(tmp_path / "other", "add", "-A")
    assert process.with_hook_index(repository_of(top), {"GIT_INDEX_FILE": given}, top).index is None


def test_index_of_a_hook_is_not_ours_when_it_is_a_submodules_or_a_worktrees(top: Path, tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner")
    write(inner, "e.md", "x")
    commit_all(inner)
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(top, "worktree", "add", "-q", str(tmp_path / "linked"))
    indexes = [top / ".git/modules/sub/index", top / ".git/worktrees/linked/index", top / ".git/index"]
    assert all(index.exists() for index in indexes)
    given = ({"GIT_INDEX_FILE": str(index)} for index in indexes)
    asked = [process.with_hook_index(repository_of(top), one, top).index for one in given]
    assert asked == [None, None, top / ".git/index"]
    assert process.with_hook_index(repository_of(top / "sub"), {"GIT_INDEX_FILE": ".git/index"}, top).index is None


def test_zeros_and_form_feeds_far_down_in_a_text_are_no_fields_of_a_found_line(top: Path) -> None:
    # git looks for zeros in the first 8,000 bytes.
    (top / "log.txt").write_bytes(b"y\n" * 5000 + b"zebra \x0cone\0two\0three\r\n")
    commit_all(top)
    assert search_lines(repository_of(top), ["zebra"], 10) == [("log.txt", 5001, "zebra \x0cone\0two\0three")]


def repository(folder: Path, branch: str = "main") -> Path:
    make_repository(folder)
    git(folder, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
    write(folder, "a.txt", "a\n")
    commit_all(folder)
    return folder


def found(folder: Path) -> process.DefaultBranch | None:
    return process.find_default_branch(repository_of(folder))


def named(folder: Path) -> tuple[str, str, bool] | None:
    branch = found(folder)
    return (branch.name, branch.ref, branch.is_here) if branch is not None else None


def clone(origin: Path, folder: Path, *options: str) -> Path:
    git(origin, "clone", "-q", *options, f"file://{origin}", str(folder))
    return folder


@pytest.mark.parametrize(
    ("branch", "commands", "expected"),
    [
        *((one, (), (one, one, True)) for one in ("main", "master", "trunk", "develop")),
        ("develop", ("branch other",), None),
        ("develop", ("branch other", "config mdmem.defaultBranch other"), ("other", "other", False)),
        # git's own setting goes before the usual names.
        ("main", ("branch stable", "config init.defaultBranch stable"), ("stable", "stable", False)),
        ("main", ("checkout -q --detach",), ("main", "main", False)),
        ("main", ("checkout -q --orphan none", "branch -q -D main"), None),
    ],
)
def test_branch_of_a_repository_without_a_remote(
    branch: str, commands: tuple[str, ...], expected: tuple[str, str, bool] | None, tmp_path: Path
) -> None:
    folder = repository(tmp_path, branch)
    for command in commands:
        git(folder, *command.split())
    assert named(folder) == expected


@pytest.mark.parametrize("option", [("-o", "upstream"), ()])
def test_what_a_remote_of_any_name_has_at_its_head_goes_before_the_usual_names(
    option: tuple[str, ...], tmp_path: Path
) -> None:
    origin = repository(tmp_path / "origin", "release")
    git(origin, "branch", "main")
    folder = clone(origin, tmp_path / "clone", *option)
    assert named(folder) == ("release", "release", True)
    git(folder, "checkout", "-q", "-b", "feature")
    git(folder, "branch", "-q", "-D", "release")
    assert named(folder) == ("release", f"{option[1] if option else 'origin'}/release", False)


def test_remote_without_a_head_of_a_clone_of_one_branch_tells_nothing(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin", "release")
    git(origin, "branch", "feature")
    folder = clone(origin, tmp_path / "clone", "--single-branch", "--branch", "feature")
    assert named(folder) is None


def test_worktree_on_another_branch_is_not_on_it(tmp_path: Path) -> None:
    folder = repository(tmp_path / "main")
    git(folder, "worktree", "add", "-q", "-b", "feature", str(tmp_path / "feature"))
    assert named(tmp_path / "feature") == ("main", "main", False)
    assert named(folder) == ("main", "main", True)


def test_of_branch_and_copy_the_one_that_has_the_other_counts(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    folder = clone(origin, tmp_path / "clone")
    git(folder, "checkout", "-q", "-b", "feature")
    write(origin, "b.txt", "b\n")
    newer = commit_all(origin)
    git(folder, "fetch", "-q")
    branch = found(folder)
    assert branch == process.DefaultBranch("main", "origin/main", newer, at_remote=newer)
    git(folder, "branch", "-f", "main", "origin/main")
    git(folder, "checkout", "-q", "main")
    write(folder, "c.txt", "c\n")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "mine")
    git(folder, "checkout", "-q", "feature")
    assert named(folder) == ("main", "main", False)


def test_where_both_went_on_the_remote_counts_but_on_the_branch_itself(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    folder = clone(origin, tmp_path / "clone")
    for one in (origin, folder):
        write(one, "b.txt", f"{one.name}\n")
        git(one, "add", "-A")
        git(one, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "more")
    git(folder, "fetch", "-q")
    assert named(folder) == ("main", "main", True)
    git(folder, "checkout", "-q", "--detach")
    assert named(folder) == ("main", "origin/main", False)


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    settled = make_repository(tmp_path / "repo")
    write(settled, "a.md", "one\n")
    commit_all(settled)
    git(settled, "branch", "other")
    git(settled, "commit", "-q", "--allow-empty", "-m", "second")
    return settled


def stamped(settled: Path) -> object:
    return process.stamp_of(repository_of(settled))


_CHANGES: dict[str, Callable[[Path], object]] = {
    "a commit": lambda settled: git(settled, "commit", "-q", "--allow-empty", "-m", "again"),
    "a checkout": lambda settled: git(settled, "checkout", "-q", "other"),
    "a new branch": lambda settled: git(settled, "branch", "new"),
    "packed refs": lambda settled: git(settled, "pack-refs", "--all"),
    "a remote's branch": lambda settled: git(settled, "update-ref", "refs/remotes/origin/main", "HEAD"),
    "an object shown in another's place": lambda settled: git(settled, "replace", "HEAD", "HEAD~1"),
    "a staged file": lambda settled: [write(settled, "b.md", "x\n"), git(settled, "add", "b.md")],
    "a setting": lambda settled: git(settled, "config", "mdmem.defaultBranch", "other"),
    "attributes": lambda settled: write(settled, ".gitattributes", "*.md text\n"),
}


# Without the margin the times tell, and with the endless one the contents.
@pytest.mark.parametrize("racy", [0, 1 << 62])
@pytest.mark.parametrize("change", _CHANGES)
def test_stamp_is_the_same_until_something_changes(
    settled: Path, change: str, racy: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "RACY_NS", racy)
    before = stamped(settled)
    assert stamped(settled) == before
    _CHANGES[change](settled)
    assert stamped(settled) != before
