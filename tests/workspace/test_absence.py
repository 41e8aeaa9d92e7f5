"""Why no memory is found where somebody surely has one."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, make_root, memory, write

from mdmem.errors import RootNotFoundError
from mdmem.store.workspace.location import locate


def why_not(folder: Path) -> str:
    with pytest.raises(RootNotFoundError) as caught:
        locate(None, {}, folder)
    return str(caught.value).partition("; ")[2]


def test_memory_that_git_ignores_is_named(tmp_path: Path) -> None:
    make_root(make_repository(tmp_path) / "docs/memory")
    write(tmp_path, ".gitignore", "memory/\n")
    assert (
        why_not(tmp_path) == "git ignores the one in docs/memory: take it out of .gitignore, or choose it with --root"
    )


def test_memory_of_a_submodule_is_named(tmp_path: Path) -> None:
    memory(tmp_path / "inner")
    host = make_repository(tmp_path / "host")
    git(host, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "inner"), "mem")
    assert why_not(host) == ("the repository within this one, in mem/memory has one: choose it with --root mem/memory")


def test_memory_of_the_default_branch_is_named(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    git(folder, "checkout", "-q", "-b", "before")
    git(folder, "rm", "-r", "-q", "memory")
    commit_all(folder)
    assert why_not(folder) == "`main` has one in memory, and this branch does not"


def test_without_any_the_way_to_one_is_said(tmp_path: Path) -> None:
    assert why_not(make_repository(tmp_path)) == "`mdmem init` makes one, --root names one"
