"""The links of entries: the cross-references of a body, and what an entry is linked with, one hop away."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from mdmem.markdown.links import body_links, may_have_links
from mdmem.markdown.parse import without_code
from mdmem.model.entry import Entry, Status
from mdmem.store.catalog import Catalog, full_address
from mdmem.store.catalog.adjacency import SUPERSEDES, Edge

if TYPE_CHECKING:
    from mdmem.markdown.links import BodyLink


class Reference(Struct, frozen=True):
    """One cross-reference in the body of the entry at `address`.

    `target` is the address it means, None where it means no entry; `path` is its file counted from the root, for a
    Markdown link.
    """

    address: str
    link: BodyLink
    target: str | None
    path: str | None = None


def references_in(prose: Mapping[str, str], addresses: Collection[str]) -> Iterator[Reference]:
    """Yield the references of every body, by address and offset."""
    for address, text in prose.items():
        for link in body_links(text):
            yield reference_of(link, address, addresses)


def reference_of(link: BodyLink, address: str, addresses: Collection[str]) -> Reference:
    """Return what a reference in the body of the entry at an address means."""
    if not link.is_path:
        return Reference(address, link, full_address(link.target, address, addresses))
    # A leading slash means the repository's top, and stays.
    path = posixpath.normpath(posixpath.join(posixpath.dirname(address), link.target))
    target = path.removesuffix(".md") if path.endswith(".md") else ""
    return Reference(address, link, target if target in addresses else None, path)


class Direction(StrEnum):
    """Whether the entry itself names the link, or the one at the other end."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"


class Neighbour(Struct, frozen=True):
    """An entry at the other end of a link, and what the link says."""

    entry: Entry
    relationship: str
    direction: Direction


# What contradicts or decides comes before what is only worth reading.
_ORDER = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "relation", "see")


class Neighbourhood(Struct, frozen=True):
    """The links of all entries of a catalog, those of its bodies outgoing only: no other body is read for them."""

    catalog: Catalog

    def of(self, address: str, *, body: str = "") -> tuple[Neighbour, ...]:
        """Return the neighbours of an entry: contradictions first, then by relationship, direction and address.

        What was superseded is answered for by its heads, but for the link that says so.
        """
        found: dict[tuple[str, str, Direction], Neighbour] = {}
        outgoing = [*self.catalog.adjacency.outgoing.get(address, ()), *self._in_body(address, body)]
        ends = [(Direction.OUTGOING, edge) for edge in outgoing]
        ends += [(Direction.INCOMING, edge) for edge in self.catalog.adjacency.incoming.get(address, ())]
        for direction, (other, relationship) in ends:
            for entry in self._answering(other, relationship):
                if entry.address != address:
                    key = (entry.address, relationship, direction)
                    found.setdefault(key, Neighbour(entry, relationship, direction))
        return tuple(sorted(found.values(), key=_rank))

    def citing(self, address: str) -> list[str]:
        """Return what links an entry by `see` in a field, or stands in the place of what does, sorted."""
        sources = self.catalog.adjacency.citing.get(address, ())
        return sorted({one.address for source in sources for one in self._answering(source, "see")} - {address})

    def _in_body(self, address: str, body: str) -> Iterator[Edge]:
        # To blank out the code takes longest, and brings no link about.
        if may_have_links(body):
            for reference in references_in({address: without_code(body)}, self.catalog.entries):
                if reference.target is not None:
                    yield reference.target, "see"

    def _answering(self, address: str, relationship: str) -> Iterator[Entry]:
        entries, lineage = self.catalog.entries, self.catalog.lineage
        entry = entries.get(address)
        if entry is None:
            return
        if relationship == SUPERSEDES or entry.status is Status.DRAFT or lineage.is_current(address):
            yield entry
            return
        yield from (entries[head] for head in lineage.heads(address))


def _rank(neighbour: Neighbour) -> tuple[int, str, str, str]:
    name = neighbour.relationship
    rank = _ORDER.index(name if name in _ORDER else "relation")
    # `outgoing` sorts behind `incoming`, and comes first.
    return (rank, name, "" if neighbour.direction is Direction.OUTGOING else "incoming", neighbour.entry.address)
