"""What a repository is by git's own files: another value after every change, and none where it cannot be told."""

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, repository_of, write

from mdmem.store.git import discovery
from mdmem.store.git.discovery import stamp_of


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # What changed a moment ago counts as old here.
    monkeypatch.setattr(discovery, "RACY_NS", 0)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    top = make_repository(tmp_path / "repo")
    write(top, "a.md", "one\n")
    commit_all(top)
    git(top, "branch", "other")
    git(top, "commit", "-q", "--allow-empty", "-m", "second")
    return top


def stamped(top: Path) -> object:
    return stamp_of(repository_of(top))


def test_it_is_the_same_while_nothing_changes(top: Path) -> None:
    assert stamped(top) == stamped(top)


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


@pytest.mark.parametrize("change", _CHANGES)
def test_it_is_another_after(top: Path, change: str) -> None:
    before = stamped(top)
    _CHANGES[change](top)
    assert stamped(top) != before


@pytest.mark.parametrize("change", _CHANGES)
def test_a_moment_after_a_change_contents_tell_of_another(
    top: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "RACY_NS", 1 << 62)
    before = stamped(top)
    assert stamped(top) == before
    _CHANGES[change](top)
    assert stamped(top) != before
