"""Views of other trees: overlaid, narrowed and joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from mdmem.model.access import EVERYTHING, Access
from mdmem.store.tree.model import Tree, TreeFile, Unreadable, digest_of, find_file, path_of


class OverlaidTree(Struct, frozen=True):
    """A tree in which some files hold other bytes and some are gone or new.

    What was read once is read no more, so that all that follows from the bytes is about one moment.
    """

    below: Tree
    changed: Mapping[str, bytes] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    _seen: dict[str, bytes | Unreadable] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the name of the tree below."""
        return self.below.name

    def files(self) -> tuple[TreeFile, ...]:
        """Return the files of the tree below as the changes leave them, sorted by path."""
        files = self.below.files()
        stated = self.changed.keys() - self.gone
        there = {path: file for path in stated if (file := find_file(files, path)) is not None}
        if len(there) == len(self.changed) and not self.gone and not any(file.digest for file in there.values()):
            # Of thousands no list is made where it would be the same.
            return files
        kept = [file for file in files if file.path not in self.gone and file.path not in there]
        changed = (there.get(path, TreeFile(path)).with_changes(digest=None) for path in self.changed)
        return tuple(sorted([*kept, *changed], key=path_of))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked."""
        unseen = [path for path in paths if path not in self.changed and path not in self._seen]
        self._seen.update(self.below.read(unseen))
        for path in paths:
            yield path, self.changed[path] if path in self.changed else self._seen[path]

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the identity of each file's bytes; the tree below knows it of what is neither changed nor read."""
        known = [file.path for file in files if file.path in self.changed or file.path in self._seen]
        contents = dict(self.read(known))
        rest = self.below.digests([file for file in files if file.path not in contents])
        own = {path: digest_of(content) for path, content in contents.items() if not isinstance(content, Unreadable)}
        found = {**rest, **own}
        return {file.path: found[file.path] for file in files if file.path in found}

    def identity(self, path: str, content: bytes) -> str:  # noqa: ARG002  # a git tree needs the path
        """Return the identity of the bytes themselves."""
        return digest_of(content)

    def with_changes(self, contents: Mapping[str, bytes], renames: Sequence[tuple[str, str]] = ()) -> OverlaidTree:
        """Return the tree with other bytes in some files and then some files renamed."""
        changed, gone = {**self.changed, **contents}, set(self.gone)
        for old, new in renames:
            content = changed.pop(old) if old in changed else self.bytes_below(old)
            if not isinstance(content, Unreadable):
                gone.add(old)
                changed[new] = content
        return OverlaidTree(self.below, changed, frozenset(gone - changed.keys()), self._seen)

    def bytes_below(self, path: str) -> bytes | Unreadable:
        """Return what a file held before any change."""
        if path not in self._seen:
            self._seen.update(self.below.read([path]))
        return self._seen[path]


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
