"""Refs that are read from git's files are those that git tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, write

from mdmem.git import Repository, find_repository
from mdmem.git.refs import BranchRef, read_refs

NAMES = ["refs/heads/main", "refs/heads/other", "refs/heads/side/deep", "refs/heads/side", "refs/heads/gone"]
NAMES += ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/lost"]


def located(folder: Path) -> Repository:
    found = find_repository(folder)
    assert found is not None
    return found


def told(folder: Path) -> dict[str, BranchRef]:
    """Return what git says of the refs."""
    form = "--format=%(refname)|%(symref)|%(objectname)|%(HEAD)|"
    rows = (line.split("|") for line in git(folder, "for-each-ref", form, *NAMES).splitlines())
    return {name: BranchRef(target, commit, mark == "*") for name, target, commit, mark, _ in rows if name in NAMES}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = make_repository(tmp_path / "top")
    write(top, "a.txt", "a\n")
    commit_all(top)
    for name in ("other", "side/deep"):
        git(top, "branch", name)
    git(top, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(top, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    git(top, "symbolic-ref", "refs/remotes/origin/lost", "refs/remotes/origin/nowhere")
    return top


def test_refs_are_those_of_git_loose_and_packed_and_changed_since(folder: Path) -> None:
    assert read_refs(located(folder), NAMES) == told(folder)
    git(folder, "pack-refs", "--all")
    assert read_refs(located(folder), NAMES) == told(folder)
    write(folder, "a.txt", "b\n")
    commit_all(folder)
    git(folder, "branch", "-D", "other")
    found = read_refs(located(folder), NAMES)
    assert found == told(folder)
    assert found is not None
    assert set(found) == {NAMES[0], NAMES[2], NAMES[5], NAMES[6]}


def test_linked_worktree_has_its_own_head_and_the_refs_of_all(folder: Path, tmp_path: Path) -> None:
    git(folder, "worktree", "add", "-q", str(tmp_path / "linked"), "other")
    found = read_refs(located(tmp_path / "linked"), NAMES)
    assert found == told(tmp_path / "linked")
    assert found is not None
    assert (found[NAMES[0]].is_here, found[NAMES[1]].is_here) == (False, True)


@pytest.mark.parametrize("form", ["ref: {}\n", "ref:{}\n", "ref:  {}"])
def test_ref_that_points_to_another_means_what_that_one_does(folder: Path, form: str) -> None:
    git(folder, "symbolic-ref", "refs/heads/other", "refs/heads/side/deep")
    git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/other")
    write(folder, ".git/HEAD", form.format("refs/heads/other"))
    found = read_refs(located(folder), NAMES)
    assert found == told(folder)
    assert found is not None
    assert found["refs/heads/side/deep"].is_here


def test_name_that_is_none_to_git_means_nothing(folder: Path) -> None:
    odd = ["refs/heads/./main", "refs/heads/main/", "refs/remotes/../heads/main"]
    assert read_refs(located(folder), odd) == {}


def test_head_that_is_a_link_is_left_to_git(folder: Path) -> None:
    repository = located(folder)
    (folder / ".git/HEAD").unlink()
    (folder / ".git/HEAD").symlink_to("refs/heads/main")
    assert read_refs(repository, NAMES) is None


@pytest.mark.parametrize("content", ["", "nonsense\n", "0" * 40 + "\n"])
def test_what_the_files_do_not_tell_is_left_to_git(folder: Path, content: str) -> None:
    write(folder, ".git/refs/heads/main", content)
    assert read_refs(located(folder), NAMES) is None


def test_another_format_is_left_to_git(folder: Path) -> None:
    repository = located(folder)
    (folder / ".git/reftable").mkdir()
    assert read_refs(repository, NAMES) is None
