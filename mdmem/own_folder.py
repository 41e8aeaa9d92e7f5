"""The folders that mdmem makes for itself, below git's directory or the user's."""

from __future__ import annotations

from pathlib import Path

NAME = "mdmem"
# What lies in the folder of that name in a git directory; in the user's folders other names do.
_IN_GIT = frozenset({"cache", "state", "sync"})


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Make a folder and those above it, but never the git directory that they lie in; raises OSError.

    Where a repository was moved or removed while we ran, a `.git` at its old place would keep others from cloning.
    """
    _make(folder, "", mode)


def _make(folder: Path, below: str, mode: int) -> None:
    try:
        folder.mkdir(mode, exist_ok=True)
    except FileNotFoundError:
        if folder.name == NAME and below in _IN_GIT:
            raise
        _make(folder.parent, folder.name, 0o777)
        folder.mkdir(mode, exist_ok=True)
