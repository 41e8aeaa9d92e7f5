"""Settings of git that are kept are those that git tells, whichever of their files changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, write

from mdmem.git import Repository, find_repository
from mdmem.git.default_branch import branch_settings
from mdmem.workspace import branch_settings as kept
from mdmem.workspace.branch_settings import kept_branch_settings


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setattr(kept, "RACY_NS", 0)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    top = make_repository(tmp_path / "top")
    write(top, "a.txt", "a\n")
    commit_all(top)
    found = find_repository(top)
    assert found is not None
    return found


def asked(repository: Repository) -> dict[str, str]:
    return dict(kept_branch_settings(repository, repository.top.parent / "kept", os.environ))


def test_no_process_is_asked_while_nothing_changes(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repository.top, "config", "mdmem.defaultBranch", "other")
    first = asked(repository)
    monkeypatch.setattr(kept, "branch_settings", None)
    assert asked(repository) == first == branch_settings(repository)


def test_change_of_any_file_or_variable_is_seen(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    changes = [
        lambda: git(repository.top, "config", "mdmem.defaultBranch", "one"),
        lambda: git(repository.top, "config", "mdmem.defaultBranch", "two"),
        lambda: write(repository.top.parent, "home/.gitconfig", "[init]\n\tdefaultBranch = three\n"),
        lambda: write(repository.top.parent, "home/.config/git/config", "[checkout]\n\tdefaultRemote = four\n"),
        lambda: monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull),
        lambda: git(repository.top, "remote", "add", "origin", "file:///nowhere"),
    ]
    for change in changes:
        asked(repository)
        change()
        assert asked(repository) == branch_settings(repository)


def test_what_is_included_is_asked_each_time(repository: Repository) -> None:
    write(repository.top.parent, "more", "[init]\n\tdefaultBranch = one\n")
    git(repository.top, "config", "include.path", str(repository.top.parent / "more"))
    assert asked(repository)["init.defaultbranch"] == "one"
    write(repository.top.parent, "more", "[init]\n\tdefaultBranch = two\n")
    assert asked(repository)["init.defaultbranch"] == "two"


def test_file_that_changed_just_now_is_not_trusted(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "RACY_NS", 2_000_000_000)
    asked(repository)
    assert not (repository.top.parent / "kept").exists()
