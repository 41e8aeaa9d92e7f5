"""What git told of a work tree is kept: a question asks no process, and sees what git would say by now."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import which

import pytest
from builders import commit_all, git, make_repository, make_root, write

from mdmem.errors import GitError
from mdmem.git import find_repository
from mdmem.workspace import branch_settings, plain_repository
from mdmem.workspace.location import Location, located


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(branch_settings, "RACY_NS", 0)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    top = make_repository(tmp_path / "top")
    make_root(top, "")
    commit_all(top)
    return top


def told(top: Path) -> Location:
    """Return what is to be said of a root, from git itself."""
    try:
        return Location(top, "", find_repository(top))
    except GitError as error:
        return Location(top, "", None, str(error))


def test_no_process_is_asked_while_nothing_changes(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = located(top, "")
    monkeypatch.setattr(plain_repository, "ask_of", None)
    assert located(top, "") == first == told(top)
    git(top, "checkout", "-q", "-b", "other")
    assert located(top, "") == first


def test_change_of_whatever_tells_is_seen(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    config = top / ".git/config"
    plain = config.read_bytes()
    changes = [
        lambda: git(top, "config", "core.bare", "true"),
        lambda: config.write_bytes(plain),
        lambda: git(top, "config", "core.worktree", ".."),
        lambda: config.write_bytes(b"[core\n"),
        lambda: config.write_bytes(plain),
        lambda: write(top.parent, "home/.gitconfig", "[\n"),
        lambda: (top.parent / "home/.gitconfig").unlink(),
        lambda: monkeypatch.setenv("PATH", str(top.parent)),
        monkeypatch.undo,
        lambda: (top / ".git/HEAD").unlink(),
    ]
    for change in changes:
        located(top, "")
        change()
        assert located(top, "") == told(top)


def test_git_that_is_gone_and_link_that_leads_elsewhere_are_seen(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, program = tmp_path / "link", tmp_path / "bin/git"
    link.symlink_to(top)
    with monkeypatch.context() as linked:
        git(top, "config", "core.worktree", str(link))
        assert located(top, "").repository is not None
        link.unlink()
        link.symlink_to(tmp_path)
        assert located(top, "") == told(top)
        git(top, "config", "--unset", "core.worktree")
        program.parent.mkdir()
        program.symlink_to(str(which("git")))
        linked.setenv("PATH", str(program.parent))
        assert located(top, "").repository is not None
        program.unlink()
        assert located(top, "") == told(top)


def test_what_is_included_or_belongs_to_others_is_asked_each_time(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    located(top, "")
    asked: list[Path] = []
    monkeypatch.setattr(plain_repository, "ask_of", asked.append)
    with monkeypatch.context() as as_other:
        as_other.setattr(os, "geteuid", lambda: os.getuid() + 1)
        located(top, "")
    write(top, ".git/config", "[include]\n\tpath = more\n")
    located(top, "")
    assert asked == [top, top]
