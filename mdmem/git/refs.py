"""Refs as git's own files hold them: a branch is looked up without a process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from mdmem.dataclass import dataclass
from mdmem.git.process import Repository

_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_SYMBOLIC = b"ref: "
_DEPTH = 5


@dataclass(frozen=True, slots=True)
class BranchRef:
    """One ref: the one that it points to, empty where it names a commit itself, and whether it is checked out here."""

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
        if head is None:
            raise _UnclearError
        found = {}
        for name in names:
            stated = self._stated(name)
            commit = self._commit(stated, _DEPTH)
            if stated is not None and commit is not None:
                target = os.fsdecode(stated.removeprefix(_SYMBOLIC)) if stated.startswith(_SYMBOLIC) else ""
                found[name] = BranchRef(target, commit, head == _SYMBOLIC + os.fsencode(name))
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

    def _commit(self, stated: bytes | None, depth: int) -> str | None:
        """Return the commit that a ref leads to, None where it leads nowhere."""
        if stated is None:
            return None
        if stated.startswith(_SYMBOLIC) and depth:
            return self._commit(self._stated(os.fsdecode(stated.removeprefix(_SYMBOLIC))), depth - 1)
        if _COMMIT.match(stated) is None or not stated.strip(b"0"):
            raise _UnclearError
        return stated.decode("ascii")
