"""What history and the index tell of files: when they came and ended, and where they went before the commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders import git, make_repository, repository_of, write_entry

from mdmem.store.git.history import days_of_ends, first_days, list_deletions

if TYPE_CHECKING:
    from pathlib import Path


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
