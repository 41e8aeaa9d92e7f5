"""Which files changed since somebody looked: those of some paths, or nobody can say which."""

from __future__ import annotations

from msgspec import Struct

from mdmem.store.tree import FileKind, Tree


class Edits(Struct, frozen=True):
    """The paths of files that hold other bytes; None where more may have changed: what is there, git, everything."""

    paths: frozenset[str] | None = None

    @classmethod
    def none(cls) -> Edits:
        """Return that nothing changed."""
        return cls(frozenset())

    def with_more(self, paths: frozenset[str] | None) -> Edits:
        """Return these edits with those of more paths."""
        return Edits(None if paths is None or self.paths is None else self.paths | paths)


def differing(before: Tree, after: Tree) -> frozenset[str] | None:
    """Return the paths at which two trees hold other bytes; None where they do not hold the same files."""
    files = after.files()
    if before.files() != files:
        return None
    plain = [file for file in files if file.kind is FileKind.FILE]
    return frozenset(path for path, _ in before.digests(plain).items() ^ after.digests(plain).items())
