"""What a checkout is by git's own files: where nothing of it changed, no process need be asked again."""

from __future__ import annotations

import os
from pathlib import Path

from mdmem.git.process import Repository

Stamp = tuple[object, ...]
# What tells which commit is checked out, and how git compares the disk with it.
_OWN = ("index", "config.worktree", "reftable/tables.list")
_SHARED = ("packed-refs", "config", "shallow", "info/attributes", "reftable/tables.list")
_REF = b"ref: "


def stamp_of(repository: Repository) -> Stamp:
    """Return what is another value once HEAD, its commit, the index, or git's settings of a repository changed."""
    head = _content(repository.git_dir / "HEAD")
    named = head.removeprefix(_REF).strip() if head is not None and head.startswith(_REF) else b""
    ref = _content(repository.common_dir / os.fsdecode(named)) if named else None
    own = (_stat(repository.git_dir / name) for name in _OWN)
    shared = (_stat(repository.common_dir / name) for name in _SHARED)
    return (head, ref, *own, *shared, _stat(repository.top / ".gitattributes"))


def _content(path: Path) -> bytes | None:
    # A ref is written anew with the size of before, and maybe within one tick of the clock.
    try:
        return path.read_bytes()
    except OSError:
        return None


def _stat(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
