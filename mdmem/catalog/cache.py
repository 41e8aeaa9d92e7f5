"""Parsed files of this process: what it parsed or read once, it does not parse again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.catalog.addresses import by_place
from mdmem.catalog.interpret import LoadedFile, interpret
from mdmem.catalog.table import Table
from mdmem.tree import FileKind, Tree, TreeFile, Unreadable

if TYPE_CHECKING:
    from mdmem.catalog.model import Catalog
    from mdmem.document.parse import Document

# Path and digest: the same bytes at another address have another title and other places of their findings.
_Key = tuple[str, str]
_Placed = tuple[tuple[TreeFile, ...], tuple[TreeFile, ...], tuple[TreeFile, ...]]


class ParsedFiles:
    """Documents by path and content, and what they mean, as this process parsed or read them."""

    def __init__(self) -> None:
        """Start with nothing.

        `last` is the catalog of all files that was loaded last, without their documents, `beside` the table of a work
        tree that has nearly the same files as whatever else is loaded; `listed` are the digests of
        the files of a commit that was asked for last, with what says which; `differing` are the paths at which some
        were not these, and those of these that they lacked, after both.
        """
        self._documents: dict[_Key, Document] = {}
        self._meant: dict[_Key, LoadedFile] = {}
        self._known: dict[_Key, LoadedFile] = {}
        self._tables: dict[Path, Table] = {}
        self.last: Catalog | None = None
        self.beside: Table | None = None
        self.listed: tuple[tuple[Path, str], Mapping[str, str]] | None = None
        self.differing: tuple[Mapping[str, str], Mapping[str, str], tuple[str, ...], Set[str]] | None = None
        self._before: dict[str, Catalog] = {}
        self._placed: tuple[tuple[TreeFile, ...], _Placed] | None = None

    def placed(self, files: tuple[TreeFile, ...]) -> _Placed:
        """Return what is in an entry's place, and those of them that can be read, and the others.

        It is as told before where these very files were asked of.
        """
        found = self._placed
        if found is None or found[0] is not files:
            entry_files, others = by_place(files)
            kinds = list(map(attrgetter("kind"), entry_files))
            # Nearly always all are.
            are_all = kinds.count(FileKind.FILE) == len(kinds)
            readable = entry_files if are_all else tuple(file for file in entry_files if file.kind is FileKind.FILE)
            found = self._placed = (files, (entry_files, readable, others))
        return found[1]

    def follow(self, role: str, catalog: Catalog) -> None:
        """Let a catalog have what is known of the one before it in its role, where nearly all of both is the same."""
        before = self._before.get(role)
        if before is not None:
            from mdmem.catalog.heirs import take_over

            take_over(catalog, before)
        self._before[role] = catalog

    def stand_beside(self, path: Path) -> None:
        """Let what is read be told from what a work tree held when somebody looked last: its table is in this file."""
        if self.beside is None:
            self.beside = Table(path)

    def table(self, path: Path) -> Table:
        """Return the table in a file, read once."""
        return self._tables.get(path) or self._tables.setdefault(path, Table(path))

    def known(self, digests: Mapping[str, str]) -> dict[str, LoadedFile]:
        """Return what files of some contents mean, by path, so far as it was learned or stands in a table."""
        found: dict[str, LoadedFile] = {}
        for table in self._tables.values():
            found |= table.loaded(digests)
        if len(found) < len(digests) and self._known:
            found |= {key[0]: self._known[key] for key in digests.items() if key in self._known}
        return found

    def learn(self, loaded: Mapping[str, LoadedFile], digests: Mapping[str, str]) -> None:
        """Keep what files mean; what other trees had is forgotten once it outweighs this one."""
        met = {(path, digests[path]): one for path, one in loaded.items() if path in digests}
        is_bounded = len(self._known) <= 4 * len(digests) + 4000
        self._known = {**self._known, **met} if is_bounded else met

    def documents(self, tree: Tree, files: Sequence[TreeFile]) -> Iterator[Document]:
        """Yield the document of each file, in the order asked, reading those alone that no tree had before."""
        return (document for _, document in self._keyed(tree, files))

    def entries(self, tree: Tree, files: Sequence[TreeFile]) -> Iterator[tuple[Document, LoadedFile]]:
        """Yield the document of each file with what it means, in the order asked."""
        for key, document in self._keyed(tree, files):
            loaded = self._meant.get(key) if key is not None else None
            if loaded is None:
                loaded = interpret(document)
            if key is not None:
                self._meant[key] = loaded
            yield document, loaded

    def _keyed(self, tree: Tree, files: Sequence[TreeFile]) -> Iterator[tuple[_Key | None, Document]]:
        keys = [(file.path, file.digest or "") for file in files]
        read = tree.read([key[0] for key in keys if key not in self._documents])
        for key in [key if key in self._documents else None for key in keys]:
            yield (key, self._documents[key]) if key is not None else self._parsed(tree, *next(read))

    def _parsed(self, tree: Tree, path: str, content: bytes | Unreadable) -> tuple[_Key | None, Document]:
        from mdmem.document.parse import parse_document, unreadable_document

        if isinstance(content, Unreadable):
            return None, unreadable_document(path, content.reason)
        # Files on disk have no digest before they are read.
        key = (path, tree.identity(path, content))
        if key not in self._documents:
            self._documents[key] = parse_document(path, content)
        return key, self._documents[key]
