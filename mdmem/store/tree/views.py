"""Views of other trees: with changes, narrowed to some wings, and joined with wings from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from mdmem.model.access import EVERYTHING, Access
from mdmem.store.tree.model import Tree, TreeFile, Unreadable, digest_of, find_file, path_of


class TreeView(Struct):
    """A tree made from the one below it, whose name it has."""

    below: Tree

    @property
    def name(self) -> str:
        """Return the name of the tree below."""
        return self.below.name


class OverlaidTree(TreeView):
    """A tree in which some files have other bytes and some are gone or new.

    Each file is read once, so that everything derived from the bytes is about one moment.
    """

    changed: Mapping[str, bytes] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    _read: dict[str, bytes | Unreadable] = field(default_factory=dict)

    def files(self) -> tuple[TreeFile, ...]:
        """Return the files of the tree below with the changes, sorted by path."""
        files = self.below.files()
        kept = [file for file in files if file.path not in self.gone and file.path not in self.changed]
        changed = (find_file(files, path) or TreeFile(path) for path in self.changed)
        return tuple(sorted([*kept, *(file.with_changes(digest=None) for file in changed)], key=path_of))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the given order."""
        self._read.update(self.below.read([one for one in paths if one not in self.changed and one not in self._read]))
        for path in paths:
            yield path, self.changed[path] if path in self.changed else self._read[path]

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digest of each file; the tree below knows those of files that are not changed and not read."""
        known = [file.path for file in files if file.path in self.changed or file.path in self._read]
        contents = dict(self.read(known))
        rest = self.below.digests([file for file in files if file.path not in contents])
        own = {path: digest_of(content) for path, content in contents.items() if not isinstance(content, Unreadable)}
        found = {**rest, **own}
        return {file.path: found[file.path] for file in files if file.path in found}

    def with_changes(self, contents: Mapping[str, bytes], renames: Sequence[tuple[str, str]] = ()) -> OverlaidTree:
        """Return the tree with other bytes in some files and then some files renamed."""
        changed, gone = {**self.changed, **contents}, set(self.gone)
        for old, new in renames:
            content = changed.pop(old) if old in changed else self.bytes_below(old)
            if not isinstance(content, Unreadable):
                gone.add(old)
                changed[new] = content
        return OverlaidTree(self.below, changed, frozenset(gone - changed.keys()), self._read)

    def bytes_below(self, path: str) -> bytes | Unreadable:
        """Return the bytes of a file before any change."""
        if path not in self._read:
            self._read.update(self.below.read([path]))
        return self._read[path]


class NarrowedTree(TreeView):
    """A tree of which only the settings and some wings are visible, as if there were no others."""

    access: Access
    _listed: tuple[TreeFile, ...] | None = None

    def files(self) -> tuple[TreeFile, ...]:
        """Return the visible files, sorted by path."""
        if self._listed is None:
            self._listed = tuple(file for file in self.below.files() if self.access.sees(file.path))
        return self._listed

    def hidden(self) -> frozenset[str]:
        """Return the first names of the paths that are not visible."""
        everything, visible = (
            frozenset(file.path.split("/", 1)[0] for file in files) for files in (self.below.files(), self.files())
        )
        return everything - visible

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the given order; other files cannot be read."""
        visible = dict(self.below.read([path for path in paths if self.access.sees(path)]))
        for path in paths:
            yield path, visible.get(path, Unreadable("No such file or directory"))

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digest of each visible file."""
        return self.below.digests([file for file in files if self.access.sees(file.path)])


def narrowed(tree: Tree, access: Access) -> Tree:
    """Return the part of a tree that an access lets the caller see; the tree itself where that is everything."""
    return NarrowedTree(tree, access) if access.is_narrow else tree


def access_to(tree: Tree) -> Access:
    """Return the access that a tree is narrowed to."""
    while isinstance(tree, OverlaidTree):
        tree = tree.below
    return tree.access if isinstance(tree, NarrowedTree) else EVERYTHING


class MissingWing(Struct, frozen=True):
    """A wing of another repository that is not read: why, what to type, and the line of the settings about it."""

    name: str
    message: str
    help: str
    line: int


class JoinedTree(TreeView):
    """A tree together with wings from elsewhere; the paths of each of their trees count from the wing's folder.

    `missing` are wings that should be here and are not; nobody can tell what is in them.
    """

    wings: Mapping[str, Tree]
    missing: tuple[MissingWing, ...] = ()
    _listed: tuple[TreeFile, ...] | None = None

    def files(self) -> tuple[TreeFile, ...]:
        """Return all files, sorted by path."""
        if self._listed is None:
            joined = [
                file.with_changes(path=f"{wing}/{file.path}")
                for wing, tree in self.wings.items()
                for file in tree.files()
            ]
            self._listed = tuple(sorted([*self.below.files(), *joined], key=path_of))
        return self._listed

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the given order; each tree is read once."""
        by_wing: dict[str, list[str]] = {}
        for path in paths:
            wing, _, rest = path.partition("/")
            by_wing.setdefault(wing if wing in self.wings else "", []).append(rest if wing in self.wings else path)
        found: dict[str, bytes | Unreadable] = {}
        for wing, own in by_wing.items():
            prefix = f"{wing}/" if wing else ""
            found |= {prefix + path: content for path, content in self.wings.get(wing, self.below).read(own)}
        for path in paths:
            yield path, found[path]

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digest of each file; git lists those of the joined wings."""
        own = [file for file in files if file.path.partition("/")[0] not in self.wings]
        joined = {file.path: file.digest for file in files if file.path.partition("/")[0] in self.wings and file.digest}
        return self.below.digests(own) | joined


def fetched_wings(tree: Tree) -> frozenset[str]:
    """Return the names of the visible wings that are read from elsewhere."""
    joined, access = _find_joined(tree)
    return frozenset(wing for wing in joined.wings if access.reads(wing)) if joined is not None else frozenset()


def missing_wings(tree: Tree) -> tuple[MissingWing, ...]:
    """Return the wings from elsewhere that are not read, of those that the caller may see."""
    joined, access = _find_joined(tree)
    return tuple(one for one in joined.missing if access.reads(one.name)) if joined is not None else ()


def _find_joined(tree: Tree) -> tuple[JoinedTree | None, Access]:
    """Return the joined tree below other views, and the access that it is narrowed to."""
    access = EVERYTHING
    inner: Tree | None = tree
    while inner is not None and not isinstance(inner, JoinedTree):
        if isinstance(inner, NarrowedTree):
            access = inner.access
        inner = getattr(inner, "below", None)
    return inner, access
