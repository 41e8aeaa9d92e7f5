"""The files of another tree that a caller may see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from mdmem.model.access import EVERYTHING, Access
from mdmem.store.tree.model import Tree, TreeFile, Unreadable
from mdmem.store.tree.overlay import OverlaidTree


class NarrowedTree(Struct):
    """A tree of which some wings are seen, and the settings; the others are as if they were not there."""

    below: Tree
    access: Access
    _listed: tuple[TreeFile, ...] | None = None

    @property
    def name(self) -> str:
        """Return the name of the tree below."""
        return self.below.name

    def files(self) -> tuple[TreeFile, ...]:
        """Return the files that are seen, sorted by path."""
        if self._listed is None:
            self._listed = tuple(file for file in self.below.files() if self.access.sees(file.path))
        return self._listed

    def hidden(self) -> frozenset[str]:
        """Return the first names of what is not seen."""
        return frozenset(file.path.split("/", 1)[0] for file in self.below.files()) - {
            file.path.split("/", 1)[0] for file in self.files()
        }

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked; what is not seen cannot be read."""
        seen = dict(self.below.read([path for path in paths if self.access.sees(path)]))
        for path in paths:
            yield path, seen.get(path, Unreadable("No such file or directory"))

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the identity of each file's bytes."""
        return self.below.digests([file for file in files if self.access.sees(file.path)])

    def identity(self, path: str, content: bytes) -> str:
        """Return the identity of bytes that were just read at a path."""
        return self.below.identity(path, content)


def narrowed(tree: Tree, access: Access) -> Tree:
    """Return what of a tree an access lets be seen; the tree itself where that is everything."""
    return NarrowedTree(tree, access) if access.is_narrow else tree


def access_to(tree: Tree) -> Access:
    """Return what a tree is narrowed to."""
    while isinstance(tree, OverlaidTree):
        tree = tree.below
    return tree.access if isinstance(tree, NarrowedTree) else EVERYTHING
