"""Compare two trees of a memory: the current entries of each tree, and the differences."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cached_property

from msgspec import Struct, field

from mdmem.change.review_model import Ref
from mdmem.checks.case import Base, Case
from mdmem.checks.check import get_checks
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding
from mdmem.store.catalog.changes import Changes, changes_between
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind


class TreeSide(Struct, frozen=True):
    """One of the two compared trees, with its name, its entries and the settings in that tree."""

    name: str
    catalog: Catalog
    settings: Settings = field(default_factory=Settings)

    @property
    def current(self) -> frozenset[str]:
        """Return the addresses of the current entries."""
        return self.catalog.lineage.current

    def ref(self, address: str) -> Ref:
        """Return a reference to the entry at an address in this tree."""
        return self.ref_of(self.catalog.entries[address])

    def ref_of(self, entry: Entry) -> Ref:
        """Return a reference to an entry, with the owners from this tree."""
        wing = self.catalog.wings.get(entry.wing)
        owners = (entry.owner,) if entry.owner else wing.owners if wing is not None else ()
        return Ref(entry.address, entry.type, entry.status, entry.title, owners)

    def may_have(self, address: str) -> bool:
        """Return whether an unreadable file or folder may contain the entry at an address."""
        if f"{address}.md" in self.catalog.broken:
            return True
        return address not in self.catalog.entries and any(
            address.startswith(f"{finding.place.path}/") or finding.place.path == "." for finding in self.catalog.closed
        )


class Comparison(Struct, frozen=True, dict=True):
    """Two trees of a memory. Only the files that differ are read."""

    before: TreeSide
    after: TreeSide

    @cached_property
    def documents(self) -> Mapping[str, Document]:
        """Return the files of the second tree that differ from the first tree, by address."""
        before, after = self.before.catalog, self.after.catalog
        old, new = before.digests, after.digests
        common = after.entries.keys() & before.entries.keys()
        # A file has no digest if it could not be read when the files were listed.
        differ = [address for address in common if address not in old or old[address] != new.get(address)]
        readable = (file.path.removesuffix(".md") for file in after.files if file.kind is FileKind.FILE)
        fresh = [address for address in readable if address not in before.addresses]
        return dict(after.documents(sorted({*differ, *fresh})))

    @cached_property
    def changes(self) -> Changes:
        """Return the entries that were added, changed or removed."""
        return changes_between(self.before.catalog, self.after.catalog, self.documents)

    @cached_property
    def moves(self) -> Mapping[str, str]:
        """Return the moved entries as a mapping from old to new address."""
        pairs = ((one.before.address, one.after.address) for one in self.changes.changed)
        return {old: new for old, new in pairs if old != new}

    @cached_property
    def no_ops(self) -> tuple[str, ...]:
        """Return the addresses whose files differ although the meaning of the entry is the same."""
        changed = {one.after.address for one in self.changes.changed}
        before, digests = self.before.catalog.entries, self.before.catalog.digests
        same = (address for address in self.documents if address in before and address in digests)
        return tuple(sorted(address for address in same if address not in changed))

    def moved(self, address: str) -> str:
        """Return the address in the second tree of an entry of the first tree.

        The address differs if the entry moved.
        """
        return self.moves.get(address, address)

    @cached_property
    def ended(self) -> tuple[str, ...]:
        """Return the entries that are current only in the first tree, by their address there."""
        lost = (old for old in self.before.current if self.moved(old) not in self.after.current)
        return tuple(sorted(old for old in lost if not self.after.may_have(self.moved(old))))

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """Return the entries that are current only in the second tree, by their address there."""
        moved_from = {new: old for old, new in self.moves.items()}
        pairs = ((new, moved_from.get(new, new)) for new in self.after.current)
        return tuple(sorted(n for n, old in pairs if old not in self.before.current and not self.before.may_have(old)))

    @cached_property
    def live(self) -> Mapping[str, Entry]:
        """Return the current entries and the drafts of the second tree, by address."""
        entries, current = self.after.catalog.entries, self.after.current
        return {
            address: entry for address, entry in entries.items() if address in current or entry.status is Status.DRAFT
        }

    @cached_property
    def live_bodies(self) -> Mapping[str, str]:
        """Return the bodies of the entries in `live`, by address."""
        return dict(self.after.catalog.plain_bodies(list(self.live)))

    def successors(self, old: str) -> tuple[str, ...]:
        """Return the current entries that replace an entry of the first tree, even if its file was deleted."""
        catalog = self.after.catalog
        if self.moved(old) in catalog.entries:
            return catalog.lineage.heads(self.moved(old))
        naming = (one for one in catalog.entries.values() if old in one.supersedes and one.status is not Status.DRAFT)
        return tuple(sorted({head for entry in naming for head in catalog.lineage.heads(entry.address)}))


def faults_of_change(comparison: Comparison, today: date) -> dict[str, list[Finding]]:
    """Return the findings of all checks that compare two trees, by address, whatever checks the settings disable."""
    before, after = comparison.before, comparison.after
    base = Base(before.name, before.catalog, before.settings)
    case = Case(after.catalog, after.settings, today, base=base, known_changes=comparison.changes)
    found: dict[str, list[Finding]] = {}
    for check in get_checks().values():
        for finding in check.find(case) if check.needs_base else ():
            found.setdefault(finding.address or "", []).append(finding)
    return found
