"""A tree with changes that nobody has written yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

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
