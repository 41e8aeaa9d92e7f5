"""Refs as git's own files hold them: a branch is looked up without a process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from mdmem.dataclass import dataclass
from mdmem.digests import is_hex
from mdmem.git.process import Repository

_SYMBOLIC = b"ref:"
_SIZES = (40, 64)
_DEPTH = 5


@dataclass(frozen=True, slots=True)
class BranchRef:
    """One ref: what it points to at last, empty where it names a commit itself, and whether it is checked out here."""

    points_to: str
    commit: str
    is_here: bool


class _UnclearError(Exception):
    """What the files hold is not for us to read."""


def read_refs(repository: Repository, names: Iterable[str]) -> dict[str, BranchRef] | None:
    """Return those of some refs that are there; None where only git can tell: another format, a damaged file."""
    try:
        return _RefFiles(repository).read(names)
    except (_UnclearError, OSError):
        return None


def has_replacements(repository: Repository) -> bool:
    """Say whether git may give another object in the place of one (`git replace`); where only git can tell, it may."""
    common = repository.common_dir
    try:
        if os.path.lexists(common / "reftable") or any((common / "refs/replace").glob("*")):
            return True
        return b" refs/replace/" in (common / "packed-refs").read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


class _RefFiles:
    """The files of one repository; refs that are packed are read once."""

    def __init__(self, repository: Repository) -> None:
        self._common = repository.common_dir
        self._head = repository.git_dir / "HEAD"
        self._packed: bytes | None = None

    def read(self, names: Iterable[str]) -> dict[str, BranchRef]:
        if os.path.lexists(self._common / "reftable"):
            raise _UnclearError
        head = self._content(self._head)
        # In old repositories it is a link to the branch's file.
        if head is None or self._head.is_symlink():
            raise _UnclearError
        here, _ = self._end(head)
        found = {}
        for name in names:
            # To a file system other names mean the same, too.
            stated = self._stated(name) if os.path.normpath(name) == name else None
            target, commit = self._end(stated)
            if commit is not None:
                found[name] = BranchRef(target, commit, here == name)
        return found

    def _content(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes().strip()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def _stated(self, name: str) -> bytes | None:
        loose = self._content(self._common / name)
        return loose if loose is not None else self._stated_packed(os.fsencode(name))

    def _stated_packed(self, name: bytes) -> bytes | None:
        if self._packed is None:
            self._packed = b"\n" + (self._content(self._common / "packed-refs") or b"") + b"\n"
        end = self._packed.find(b" %s\n" % name)
        return self._packed[self._packed.rfind(b"\n", 0, end) + 1 : end] if end >= 0 else None

    def _end(self, stated: bytes | None) -> tuple[str, str | None]:
        """Return the ref that one points to at last, empty where to none, and its commit, None where there is none."""
        target = ""
        for _ in range(_DEPTH):
            if stated is None or not stated.startswith(_SYMBOLIC):
                break
            target = os.fsdecode(stated.removeprefix(_SYMBOLIC).lstrip())
            stated = self._stated(target)
        if stated is None:
            return target, None
        commit = stated.decode("ascii", "replace")
        if not is_hex(commit, *_SIZES) or not commit.strip("0"):
            raise _UnclearError
        return target, commit
