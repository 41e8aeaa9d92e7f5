"""Who names an entry, in fields and in bodies: what bodies link is read once for each content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mdmem.catalog import Catalog
from mdmem.catalog.adjacency import SUPERSEDES
from mdmem.catalog.links import reference_of
from mdmem.dataclass import dataclass, field
from mdmem.document.links import BodyLink, body_links, may_have_links
from mdmem.document.parse import without_code
from mdmem.entry.model import LINK_FIELDS


@dataclass(eq=False)
class BackLinks:
    """The links in the bodies of a catalog's entries, kept by content."""

    _of: dict[str, tuple[str, tuple[BodyLink, ...]]] = field(default_factory=dict)
    _by_id: dict[str, set[str]] = field(default_factory=dict)
    _digests: Mapping[str, str] = field(default_factory=dict)

    def names(self, catalog: Catalog, address: str) -> tuple[str, ...]:
        """Return the entries that name another in a field or in their text, sorted."""
        self._refresh(catalog)
        found = set(_in_fields(catalog, address))
        for one in self._by_id.get(_id_of(address), ()):
            links = self._of[one][1]
            if one not in found and any(reference_of(link, one, catalog.entries).target == address for link in links):
                found.add(one)
        return tuple(sorted(found - {address}))

    def _refresh(self, catalog: Catalog) -> None:
        """Take in what the bodies of a catalog link that were not read yet; nothing where it holds the same."""
        digests = catalog.digests
        if digests is self._digests:
            return
        known = self._of
        for gone in [one for one, (digest, _) in known.items() if digests.get(one) != digest]:
            self._forget(gone)
        new = [one for one, digest in digests.items() if self._digests.get(one) != digest]
        for one, body, _ in catalog.bodies(new):
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


def _id_of(written: str) -> str:
    """Return the entry-id of an address, however it is written."""
    return written.rstrip("/").rsplit("/", 1)[-1].removesuffix(".md")


def _in_fields(catalog: Catalog, address: str) -> Iterator[str]:
    """Yield the entries that hold an address in a field; of a supersession either end may be silent."""
    near = catalog.adjacency
    for other, relationship in (*near.incoming.get(address, ()), *near.outgoing.get(address, ())):
        one = catalog.entries.get(other)
        if one is None:
            continue
        is_link = relationship in (SUPERSEDES, *LINK_FIELDS)
        if any(address in one.links(name) for name in LINK_FIELDS) if is_link else _relates(one.relations, address):
            yield other


def _relates(relations: object, address: str) -> bool:
    return isinstance(relations, tuple) and any(one.to == address for one in relations)
