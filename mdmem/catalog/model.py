"""Every entry of a tree, and what was wrong while loading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from mdmem.catalog.links import may_hide_entries
from mdmem.catalog.reading import Loaded, iter_documents, unreadable
from mdmem.document.split import body_of
from mdmem.entry.model import Entry, Wing
from mdmem.errors import GoneError
from mdmem.finding import Finding, Place
from mdmem.lineage import Lineage
from mdmem.tree import Tree, TreeFile, Unreadable, read_one

if TYPE_CHECKING:
    from mdmem.document.parse import Document


@dataclass(frozen=True)
class Catalog:
    """The entries and wings of one tree, by address and name, sorted.

    `broken` are the files in an entry's place that hold no readable entry: each may be an invariant.
    `others` is everything else below the root; `sizes` the bytes of each entry's body, blank ends left out.
    """

    tree: Tree
    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    broken: Mapping[str, Loaded]
    findings: tuple[Finding, ...]
    files: tuple[TreeFile, ...]
    others: tuple[TreeFile, ...]
    sizes: Mapping[str, int]
    _documents: dict[str, Document] = field(default_factory=dict)
    _digests: Mapping[str, str] | None = None

    @cached_property
    def lineage(self) -> Lineage:
        """Return the supersession graph of the entries."""
        return Lineage(self.entries)

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Return every address that a file stands at, readable or not."""
        return frozenset(self.entries) | {path.removesuffix(".md") for path in self.broken}

    @cached_property
    def closed(self) -> tuple[Finding, ...]:
        """Return what stands in the place of a wing, room or manifest and was not read: it may hide entries."""
        return tuple(unreadable(file).findings[0] for file in self.others if may_hide_entries(file))

    @cached_property
    def digests(self) -> dict[str, str]:
        """Return the identity of each entry's content, by address."""
        found = self.tree.digests(self.files) if self._digests is None else self._digests
        return {address: found[path] for address in self.entries if (path := f"{address}.md") in found}

    def document(self, path: str) -> Document:
        """Return the document of one file, read again if this catalog was loaded from the cache."""
        if path not in self._documents:
            self._documents.update({document.path: document for document in iter_documents(self.tree, [path])})
        return self._documents[path]

    def body(self, address: str) -> str:
        """Return the body of an entry as its file holds it; raises GoneError where it went away meanwhile."""
        path = f"{address}.md"
        if path in self._documents:
            return self._documents[path].body
        content = read_one(self.tree, path)
        if isinstance(content, Unreadable):
            raise GoneError(f"{path} went away while it was read: {content.reason.lower()}; ask again")
        return body_of(content)

    def bodies(self, addresses: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """Yield address, body and digest of entries as they are now; what cannot be read any more is left out."""
        wanted = [f"{address}.md" for address in addresses if address in self.entries]
        for path, content in self.tree.read(wanted):
            if not isinstance(content, Unreadable):
                yield path.removesuffix(".md"), body_of(content), self.tree.identity(path, content)

    def documents(self, addresses: Sequence[str], *, keep: bool = True) -> Iterator[tuple[str, Document]]:
        """Yield the documents of many entries, read in one go; `keep` says whether to hold on to them."""
        missing = [f"{address}.md" for address in addresses if f"{address}.md" not in self._documents]
        read = {document.path: document for document in iter_documents(self.tree, missing)}
        if keep:
            self._documents.update(read)
        for address in addresses:
            path = f"{address}.md"
            yield address, read[path] if path in read else self._documents[path]

    def place(self, address: str, name: str, item: int | None = None) -> Place:
        """Return where a field of an entry stands."""
        return self.document(f"{address}.md").place(name, item)
