"""Who names an entry, in fields and in texts: of closed files what each content links, of open ones what they say.

So nothing but the open texts is looked at again while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.spots import meant, parts_of
from mdmem.markdown.links import BodyLink, body_links, may_have_links
from mdmem.markdown.parse import without_code
from mdmem.model.entry import LINK_FIELDS
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import reference_of


class EditedMemory(Struct, frozen=True):
    """A memory as it would be if the open texts were saved, as it lies on disk, and those texts by path."""

    catalog: Catalog
    disk: Catalog
    open: Mapping[str, Buffer]


class BackLinks(Struct, eq=False):
    """The links in the bodies of the files on disk, kept by content."""

    _of: dict[str, tuple[str, tuple[BodyLink, ...]]] = field(default_factory=dict)
    _by_id: dict[str, set[str]] = field(default_factory=dict)
    _digests: Mapping[str, str] = field(default_factory=dict)

    def naming(self, memory: EditedMemory, address: str) -> tuple[str, ...]:
        """Return the entries that name another in a field or in their text, sorted."""
        found = {other for other, _ in fields_naming(memory, address)}
        for one in self._candidates(memory.disk, address):
            links = (reference_of(link, one, memory.catalog.entries) for link in self._of[one][1])
            if f"{one}.md" not in memory.open and one not in found and any(link.target == address for link in links):
                found.add(one)
        found.update(_open_ones(memory, address))
        return tuple(sorted(found - {address}))

    def _candidates(self, catalog: Catalog, address: str) -> frozenset[str]:
        self._refresh(catalog)
        return frozenset(self._by_id.get(_id_of(address), ()))

    def _refresh(self, catalog: Catalog) -> None:
        """Take in what the bodies of a catalog link that were not read yet; nothing where it holds the same."""
        digests = catalog.digests
        if digests is self._digests:
            return
        for gone in [one for one, (digest, _) in self._of.items() if digests.get(one) != digest]:
            self._forget(gone)
        new = [one for one, digest in digests.items() if self._digests.get(one) != digest]
        for one, body in catalog.plain_bodies(new):
            if may_have_links(body):
                self._keep(one, digests[one], tuple(body_links(without_code(body))))
        self._digests = digests

    def _forget(self, address: str) -> None:
        for link in self._of.pop(address)[1]:
            self._by_id.get(_id_of(link.target), set()).discard(address)

    def _keep(self, address: str, digest: str, links: tuple[BodyLink, ...]) -> None:
        if links:
            self._of[address] = (digest, links)
        for link in links:
            self._by_id.setdefault(_id_of(link.target), set()).add(address)


def fields_naming(memory: EditedMemory, address: str) -> Iterator[tuple[str, str]]:
    """Yield the entries that hold an address in a field, with the field; of a relation with its type."""
    near = memory.disk.adjacency
    # Of a supersession either end may be silent, and both are neighbours.
    around = {other for other, _ in (*near.incoming.get(address, ()), *near.outgoing.get(address, ()))}
    for other in sorted(around.union(path.removesuffix(".md") for path in memory.open)):
        entry = memory.catalog.entries.get(other)
        if entry is not None:
            yield from ((other, name) for name in LINK_FIELDS if address in entry.links(name))
            yield from ((other, one.type) for one in entry.relations if one.to == address)


def _open_ones(memory: EditedMemory, address: str) -> Iterator[str]:
    """Yield the entries whose open texts name another, be they readable or not."""
    for path, buffer in memory.open.items():
        near = path.removesuffix(".md")
        # What does not hold the id names nothing that it ends.
        if near in memory.catalog.addresses and _id_of(address) in buffer.text:
            spots = parts_of(buffer.text).addresses
            if any(meant(spot, near, memory.catalog) == address for spot in spots):
                yield near


def _id_of(written: str) -> str:
    """Return the entry-id of an address, however it is written."""
    return written.rstrip("/").rsplit("/", 1)[-1].removesuffix(".md")
