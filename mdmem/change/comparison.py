"""Two trees side by side: what changed between them, what bound in each, and what moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from mdmem.change.review_model import Ref
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry, Status
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.changes import Changed, Changes, changes_between
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind


class TreeSide(Struct, frozen=True):
    """One of two trees that are compared: what people call it, its entries and its own settings."""

    name: str
    catalog: Catalog
    settings: Settings = field(default_factory=Settings)

    def ref(self, address: str) -> Ref:
        """Return an entry of this side as a review names it."""
        return self.ref_of(self.catalog.entries[address])

    def ref_of(self, entry: Entry) -> Ref:
        """Return an entry as a review names it, its owners as this side states them."""
        wing = self.catalog.wings.get(entry.wing)
        owners = (entry.owner,) if entry.owner else wing.owners if wing is not None else ()
        return Ref(entry.address, entry.type, entry.status, entry.title, owners)


class Comparison(Struct, frozen=True, dict=True):
    """What was before and what is after; only files that differ are read."""

    before: TreeSide
    after: TreeSide

    @cached_property
    def _bodies(self) -> dict[str, str]:
        return {}

    @cached_property
    def documents(self) -> Mapping[str, Document]:
        """Return the files of the second tree that may tell a change, by address."""
        before, after = self.before.catalog, self.after.catalog
        old, new = before.digests, after.digests
        common = after.entries.keys() & before.entries.keys()
        # A file without a digest went away or refused while it was listed: only its bytes tell.
        differ = [address for address in common if address not in old or old[address] != new.get(address)]
        readable = (file.path.removesuffix(".md") for file in after.files if file.kind is FileKind.FILE)
        fresh = [address for address in readable if address not in before.addresses]
        return dict(after.documents(sorted({*differ, *fresh})))

    @cached_property
    def changes(self) -> Changes:
        """Return what the change did to the entries."""
        return changes_between(self.before.catalog, self.after.catalog, self.documents)

    @cached_property
    def moves(self) -> Mapping[str, str]:
        """Return where each entry went that moved."""
        pairs = ((one.before.address, one.after.address) for one in self.changes.changed)
        return {old: new for old, new in pairs if old != new}

    @cached_property
    def no_ops(self) -> tuple[str, ...]:
        """Return the addresses whose files differ although the entries say and state the same."""
        told = {one.after.address for one in self.changes.changed}
        before, digests = self.before.catalog.entries, self.before.catalog.digests
        same = (address for address in self.documents if address in before and address in digests)
        return tuple(sorted(address for address in same if address not in told))

    def moved(self, address: str) -> str:
        """Return where an entry of the first tree stands in the second."""
        return self.moves.get(address, address)

    @cached_property
    def bound(self) -> frozenset[str]:
        """Return the addresses of what bound before."""
        return _binding(self.before.catalog)

    @cached_property
    def binds(self) -> frozenset[str]:
        """Return the addresses of what binds after."""
        return _binding(self.after.catalog)

    @cached_property
    def ended(self) -> tuple[str, ...]:
        """Return what bound before and surely does not any more, at its address before."""
        after = self.after.catalog
        lost = (old for old in self.bound if self.moved(old) not in self.binds)
        return tuple(sorted(old for old in lost if not _may_be(after, self.moved(old))))

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """Return what binds after and surely did not before, at its address after."""
        back = {new: old for old, new in self.moves.items()}
        fresh = (new for new in self.binds if back.get(new, new) not in self.bound)
        return tuple(sorted(new for new in fresh if not _may_be(self.before.catalog, back.get(new, new))))

    def found_after(self, old: str) -> Entry | None:
        """Return what became of an entry of the first tree, or None where its file is gone."""
        return self.after.catalog.entries.get(self.moved(old))

    def successors(self, old: str) -> tuple[str, ...]:
        """Return what binds in the place of an entry of the first tree: its heads, a gone one's by what names it."""
        lineage = self.after.catalog.lineage
        if self.found_after(old) is not None:
            return lineage.heads(self.moved(old))
        heads = {head for entry in self._naming(old) for head in lineage.heads(entry.address)}
        return tuple(sorted(heads))

    def _naming(self, old: str) -> Iterator[Entry]:
        entries: Iterable[Entry] = self.after.catalog.entries.values()
        yield from (one for one in entries if old in one.supersedes and one.status is not Status.DRAFT)

    def bodies(self, addresses: Iterable[str]) -> dict[str, str]:
        """Return the bodies of entries of the second tree, each read once; one that went away meanwhile is left out."""
        wanted = list(addresses)
        missing = [address for address in wanted if address not in self._bodies]
        self._bodies.update(dict(self.after.catalog.plain_bodies(missing)))
        return {address: self._bodies[address] for address in wanted if address in self._bodies}

    def changed(self) -> Iterator[Changed]:
        """Yield each entry of both trees that changed, the highest authority first."""
        yield from sorted(self.changes.changed, key=lambda one: (one.after.type.rank, one.after.address))

    def linked(self, links: Iterable[str]) -> tuple[str, ...]:
        """Return links of the first tree as they are meant in the second."""
        return tuple(self.moved(link) for link in links)


def _binding(catalog: Catalog) -> frozenset[str]:
    return frozenset(address for address in catalog.entries if catalog.lineage.is_current(address))


def _may_be(catalog: Catalog, address: str) -> bool:
    """Say whether an entry may stand at an address where none is read."""
    if f"{address}.md" in catalog.broken:
        return True
    return address not in catalog.entries and any(
        address.startswith(f"{finding.place.path}/") or finding.place.path == "." for finding in catalog.closed
    )
