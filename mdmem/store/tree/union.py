"""A tree with wings that live elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from mdmem.model.access import EVERYTHING, Access
from mdmem.store.tree.filtered import NarrowedTree
from mdmem.store.tree.model import Tree, TreeFile, Unreadable, path_of


class MissingWing(Struct, frozen=True):
    """A wing that lives elsewhere and is not read: why, what to type, and the line of the settings that names it."""

    name: str
    message: str
    help: str
    line: int


class JoinedTree(Struct):
    """A tree and, beside its own wings, others: each is a tree of its own whose paths count from the wing's folder.

    `missing` are wings that ought to be here and are not; nobody can tell what they hold.
    """

    below: Tree
    wings: Mapping[str, Tree]
    missing: tuple[MissingWing, ...] = ()
    _listed: tuple[TreeFile, ...] | None = None

    @property
    def name(self) -> str:
        """Return the name of the tree below."""
        return self.below.name

    def files(self) -> tuple[TreeFile, ...]:
        """Return all files, those of the joined wings with the wing's name in front, sorted by path."""
        if self._listed is None:
            joined = [
                file.with_changes(path=f"{wing}/{file.path}")
                for wing, tree in self.wings.items()
                for file in tree.files()
            ]
            self._listed = tuple(sorted([*self.below.files(), *joined], key=path_of))
        return self._listed

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked, each tree being asked once."""
        found: dict[str, bytes | Unreadable] = {}
        for wing, own in self._by_wing(paths).items():
            prefix = f"{wing}/" if wing in self.wings else ""
            found.update((prefix + path, content) for path, content in self._tree(wing).read(own))
        for path in paths:
            yield path, found[path]

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the identity of each file's bytes."""
        known = {file.path: file.digest for file in files if file.digest and self._wing(file.path) in self.wings}
        return self.below.digests([file for file in files if self._wing(file.path) not in self.wings]) | known

    def identity(self, path: str, content: bytes) -> str:
        """Return the identity of bytes that were just read at a path."""
        wing = self._wing(path)
        return self._tree(wing).identity(path.removeprefix(f"{wing}/") if wing in self.wings else path, content)

    def _by_wing(self, paths: Sequence[str]) -> dict[str, list[str]]:
        """Return the paths as each tree counts them, those of the tree below under an empty name."""
        found: dict[str, list[str]] = {}
        for path in paths:
            wing = self._wing(path)
            if wing in self.wings:
                found.setdefault(wing, []).append(path[len(wing) + 1 :])
            else:
                found.setdefault("", []).append(path)
        return found

    def _tree(self, wing: str) -> Tree:
        return self.wings.get(wing, self.below)

    @staticmethod
    def _wing(path: str) -> str:
        return path.partition("/")[0]


def fetched_wings(tree: Tree) -> frozenset[str]:
    """Return the names of the wings that are read from elsewhere, of those that are seen."""
    joined, access = _joined_in(tree)
    return frozenset(wing for wing in joined.wings if access.reads(wing)) if joined is not None else frozenset()


def missing_wings(tree: Tree) -> tuple[MissingWing, ...]:
    """Return the wings that live elsewhere and are not read, of those that may be seen."""
    joined, access = _joined_in(tree)
    return tuple(one for one in joined.missing if access.reads(one.name)) if joined is not None else ()


def _joined_in(tree: Tree) -> tuple[JoinedTree | None, Access]:
    """Return the joined tree below changes, narrowings and whatever else lies over it, and what is seen of it."""
    access = EVERYTHING
    inner: Tree | None = tree
    while inner is not None and not isinstance(inner, JoinedTree):
        if isinstance(inner, NarrowedTree):
            access = inner.access
        inner = getattr(inner, "below", None)
    return inner, access
