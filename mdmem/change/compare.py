"""Compare two trees of a memory: what is current in each, what changed, and the chains that it touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.change.review_model import Counts, EdgeChange, Graph, GraphEdge, GraphNode, Ref, WingChangeCount
from mdmem.checks.case import Base, Case
from mdmem.checks.check import get_checks
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding
from mdmem.store.catalog.changes import Changes, changes_between
from mdmem.store.catalog.links import EdgeKind, classify
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind

# A larger picture is hard to read, and Mermaid refuses texts that are too long.
MOST_NODES = 60


class TreeSide(Struct, frozen=True):
    """One of the two trees: its name, its entries and its own settings."""

    name: str
    catalog: Catalog
    settings: Settings = field(default_factory=Settings)

    @property
    def current(self) -> frozenset[str]:
        """Return the addresses of the current entries."""
        return self.catalog.lineage.current

    def ref(self, address: str) -> Ref:
        """Return the reference to an entry of this side."""
        return self.ref_of(self.catalog.entries[address])

    def ref_of(self, entry: Entry) -> Ref:
        """Return the reference to an entry, with the owners that this side gives it."""
        wing = self.catalog.wings.get(entry.wing)
        owners = (entry.owner,) if entry.owner else wing.owners if wing is not None else ()
        return Ref(entry.address, entry.type, entry.status, entry.title, owners)

    def may_have(self, address: str) -> bool:
        """Return whether an entry may be at an address where none was loaded: its file or folder cannot be read."""
        if f"{address}.md" in self.catalog.broken:
            return True
        return address not in self.catalog.entries and any(
            address.startswith(f"{finding.place.path}/") or finding.place.path == "." for finding in self.catalog.closed
        )


class Comparison(Struct, frozen=True, dict=True):
    """Two trees; only the files that differ are read."""

    before: TreeSide
    after: TreeSide

    @cached_property
    def documents(self) -> Mapping[str, Document]:
        """Return the files of the second tree that differ from the first, by address."""
        before, after = self.before.catalog, self.after.catalog
        old, new = before.digests, after.digests
        common = after.entries.keys() & before.entries.keys()
        # A file without a digest could not be read while it was listed.
        differ = [address for address in common if address not in old or old[address] != new.get(address)]
        readable = (file.path.removesuffix(".md") for file in after.files if file.kind is FileKind.FILE)
        fresh = [address for address in readable if address not in before.addresses]
        return dict(after.documents(sorted({*differ, *fresh})))

    @cached_property
    def changes(self) -> Changes:
        """Return the entries that changed, and those that are new or gone."""
        return changes_between(self.before.catalog, self.after.catalog, self.documents)

    @cached_property
    def moves(self) -> Mapping[str, str]:
        """Return the new address of each entry that moved, by the old one."""
        pairs = ((one.before.address, one.after.address) for one in self.changes.changed)
        return {old: new for old, new in pairs if old != new}

    @cached_property
    def moved_from(self) -> Mapping[str, str]:
        """Return the old address of each entry that moved, by the new one."""
        return {new: old for old, new in self.moves.items()}

    @cached_property
    def no_ops(self) -> tuple[str, ...]:
        """Return the addresses whose files differ although the entries mean the same."""
        changed = {one.after.address for one in self.changes.changed}
        before, digests = self.before.catalog.entries, self.before.catalog.digests
        same = (address for address in self.documents if address in before and address in digests)
        return tuple(sorted(address for address in same if address not in changed))

    def moved(self, address: str) -> str:
        """Return the address in the second tree of an entry of the first."""
        return self.moves.get(address, address)

    @cached_property
    def ended(self) -> tuple[str, ...]:
        """Return the entries that were current and are not any more, by their address before."""
        lost = (old for old in self.before.current if self.moved(old) not in self.after.current)
        return tuple(sorted(old for old in lost if not self.after.may_have(self.moved(old))))

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """Return the entries that are current and were not before, by their address after."""
        pairs = ((new, self.moved_from.get(new, new)) for new in self.after.current)
        return tuple(sorted(n for n, old in pairs if old not in self.before.current and not self.before.may_have(old)))

    @cached_property
    def live(self) -> Mapping[str, Entry]:
        """Return the current entries and the drafts of the second tree."""
        entries, current = self.after.catalog.entries, self.after.current
        return {
            address: entry for address, entry in entries.items() if address in current or entry.status is Status.DRAFT
        }

    @cached_property
    def live_bodies(self) -> Mapping[str, str]:
        """Return the bodies of the live entries."""
        return dict(self.after.catalog.plain_bodies(list(self.live)))

    def successors(self, old: str) -> tuple[str, ...]:
        """Return the current entries that replace an entry of the first tree, also where its file is gone."""
        catalog = self.after.catalog
        if self.moved(old) in catalog.entries:
            return catalog.lineage.heads(self.moved(old))
        naming = (one for one in catalog.entries.values() if old in one.supersedes and one.status is not Status.DRAFT)
        return tuple(sorted({head for entry in naming for head in catalog.lineage.heads(entry.address)}))


def faults_of_change(comparison: Comparison, today: date) -> dict[str, list[Finding]]:
    """Return the findings of all checks that compare two trees, by address, whatever the settings disable."""
    before, after = comparison.before, comparison.after
    base = Base(before.name, before.catalog, before.settings)
    case = Case(after.catalog, after.settings, today, base=base, known_changes=comparison.changes)
    found: dict[str, list[Finding]] = {}
    for check in get_checks().values():
        for finding in check.find(case) if check.needs_base else ():
            found.setdefault(finding.address or "", []).append(finding)
    return found


def count_changes(comparison: Comparison) -> Counts:
    """Return the change in figures."""
    changes = comparison.changes
    return Counts(
        added=len(changes.added),
        gone=len(changes.gone),
        altered=len(changes.changed),
        moved=len(comparison.moves),
        no_ops=len(comparison.no_ops),
        in_force_before=len(comparison.before.current),
        in_force_after=len(comparison.after.current),
    )


def count_by_wing(comparison: Comparison) -> tuple[WingChangeCount, ...]:
    """Return the number of entries in each wing."""
    before, after = comparison.before, comparison.after
    counts = [
        Counter(address.split("/", 1)[0] for address in addresses)
        for addresses in (before.current, after.current, before.catalog.entries, after.catalog.entries)
    ]
    names = sorted({*before.catalog.wings, *after.catalog.wings})
    return tuple(WingChangeCount(name, *(count[name] for count in counts)) for name in names)


def find_touched_chains(comparison: Comparison) -> Graph:
    """Return the entries and edges of every chain with an edge that was added, removed or changed its class.

    Entries that moved have their new address. Of more than MOST_NODES entries the touched and the current ones are
    shown, then those between them.
    """
    touched = _touched_edges(comparison)
    catalog, current = comparison.after.catalog, comparison.after.current
    ends = {address for pair in touched for address in pair}
    refs = {one: ref for one in catalog.lineage.with_descendants(ends) if (ref := _ref(comparison, one)) is not None}
    first = sorted(refs, key=lambda one: (one not in ends and one not in current, refs[one].rank))
    shown = sorted(first[:MOST_NODES], key=lambda one: refs[one].rank)
    kept = (
        GraphEdge(old, new, "kept")
        for old in shown
        for new in catalog.lineage.successors.get(old, ())
        if (old, new) not in touched
    )
    edges = [one for one in (*touched.values(), *kept) if one.old in shown and one.new in shown]
    edges.sort(key=lambda edge: (edge.old, edge.new, edge.change))
    nodes = (GraphNode(refs[one], one in current, one not in catalog.addresses) for one in shown)
    return Graph(tuple(nodes), tuple(edges), len(refs) - len(shown))


def _touched_edges(comparison: Comparison) -> dict[tuple[str, str], GraphEdge]:
    moved = comparison.moved
    before = {(moved(old), moved(new)): kind for (old, new), kind in _kinds(comparison.before.catalog).items()}
    after = _kinds(comparison.after.catalog)
    found = {}
    for ends in sorted(before.keys() | after.keys()):
        was, now = before.get(ends), after.get(ends)
        if was is not now and all(_ref(comparison, address) is not None for address in ends):
            change: EdgeChange = "removed" if now is None else "added" if was is None else "altered"
            found[ends] = GraphEdge(*ends, change, "" if now in (None, EdgeKind.SOUND) else str(now))
    return found


def _kinds(catalog: Catalog) -> dict[tuple[str, str], EdgeKind]:
    return {(edge.old, edge.new): edge.kind for edge in classify(catalog)}


def _ref(comparison: Comparison, address: str) -> Ref | None:
    """Return an entry as it is after the change, or as it was before if it is gone."""
    if address in comparison.after.catalog.entries:
        return comparison.after.ref(address)
    old = comparison.moved_from.get(address, address)
    if old not in comparison.before.catalog.entries:
        return None
    return replace(comparison.before.ref(old), address=address)
