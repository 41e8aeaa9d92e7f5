"""Which branch is the default one, and what a repository is by git's own files, told by real repositories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, repository_of, write

from mdmem.store.git import process
from mdmem.store.git.process import DefaultBranch, find_default_branch, stamp_of


def repository(folder: Path, branch: str = "main") -> Path:
    make_repository(folder)
    git(folder, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
    write(folder, "a.txt", "a\n")
    commit_all(folder)
    return folder


def found(folder: Path) -> DefaultBranch | None:
    return find_default_branch(repository_of(folder))


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


def test_what_the_remote_names_goes_before_the_usual_names(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin", "release")
    git(origin, "branch", "main")
    assert named(clone(origin, tmp_path / "clone")) == ("release", "release", True)


@pytest.mark.parametrize("option", [("-o", "upstream"), ()])
def test_remote_may_have_another_name(option: tuple[str, ...], tmp_path: Path) -> None:
    folder = clone(repository(tmp_path / "origin", "release"), tmp_path / "clone", *option)
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
    assert branch == DefaultBranch("main", "origin/main", newer, at_remote=newer)
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
    for top in (origin, folder):
        write(top, "b.txt", f"{top.name}\n")
        git(top, "add", "-A")
        git(top, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "more")
    git(folder, "fetch", "-q")
    assert named(folder) == ("main", "main", True)
    git(folder, "checkout", "-q", "--detach")
    assert named(folder) == ("main", "origin/main", False)


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    top = make_repository(tmp_path / "repo")
    write(top, "a.md", "one\n")
    commit_all(top)
    git(top, "branch", "other")
    git(top, "commit", "-q", "--allow-empty", "-m", "second")
    return top


def stamped(top: Path) -> object:
    return stamp_of(repository_of(top))


_CHANGES: dict[str, Callable[[Path], object]] = {
    "a commit": lambda top: git(top, "commit", "-q", "--allow-empty", "-m", "again"),
    "a checkout": lambda top: git(top, "checkout", "-q", "other"),
    "a new branch": lambda top: git(top, "branch", "new"),
    "packed refs": lambda top: git(top, "pack-refs", "--all"),
    "a remote's branch": lambda top: git(top, "update-ref", "refs/remotes/origin/main", "HEAD"),
    "an object shown in another's place": lambda top: git(top, "replace", "HEAD", "HEAD~1"),
    "a staged file": lambda top: [write(top, "b.md", "x\n"), git(top, "add", "b.md")],
    "a setting": lambda top: git(top, "config", "mdmem.defaultBranch", "other"),
    "attributes": lambda top: write(top, ".gitattributes", "*.md text\n"),
}


# Without the margin the times tell, and with the endless one the contents.
@pytest.mark.parametrize("racy", [0, 1 << 62])
@pytest.mark.parametrize("change", _CHANGES)
def test_stamp_is_the_same_until_something_changes(
    top: Path, change: str, racy: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "RACY_NS", racy)
    before = stamped(top)
    assert stamped(top) == before
    _CHANGES[change](top)
    assert stamped(top) != before
