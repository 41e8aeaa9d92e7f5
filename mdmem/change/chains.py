"""Find the chains of supersession that a change touched, each to its current end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from mdmem.change.compare import Comparison
from mdmem.change.review_model import EdgeChange, Graph, GraphEdge, GraphNode, Ref
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import EdgeKind, classify

# A larger picture is hard to read, and Mermaid refuses texts that are too long.
MOST_NODES = 60

_Ends = tuple[str, str]


def find_touched_chains(comparison: Comparison) -> Graph:
    """Return the entries and edges of every chain with an edge that was added, removed or changed its class.

    Entries that moved have their new address.
    """
    touched = _touched_edges(comparison)
    lineage = comparison.after.catalog.lineage
    members = lineage.with_descendants(address for ends in touched for address in ends)
    refs = {address: ref for address in members if (ref := _ref(comparison, address)) is not None}
    kept = (
        GraphEdge(old, new, "kept")
        for old in refs
        for new in lineage.successors.get(old, ())
        if new in refs and (old, new) not in touched
    )
    edges = [*touched.values(), *kept]
    ends = {address for pair in touched for address in pair}

    def weight(address: str) -> tuple[bool, tuple[int, str]]:
        # Touched and current entries come before those between them, so that a long chain keeps its ends.
        return address not in ends and address not in comparison.after.current, refs[address].rank

    chains = sorted(
        (sorted(chain, key=weight) for chain in _components(refs, edges)),
        key=lambda chain: min(refs[address].rank for address in chain),
    )
    ordered = [address for chain in chains for address in chain]
    shown = ordered[:MOST_NODES]
    drawn = [edge for edge in edges if edge.old in shown and edge.new in shown]
    drawn += _skipped(comparison, shown, drawn)
    current, there = comparison.after.current, comparison.after.catalog.addresses
    nodes = (GraphNode(refs[one], one in current, one not in there) for one in shown)
    drawn.sort(key=lambda edge: (edge.old, edge.new, edge.change))
    return Graph(tuple(nodes), tuple(drawn), len(ordered) - len(shown))


def _touched_edges(comparison: Comparison) -> dict[_Ends, GraphEdge]:
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


def _kinds(catalog: Catalog) -> dict[_Ends, EdgeKind]:
    return {(edge.old, edge.new): edge.kind for edge in classify(catalog)}


def _ref(comparison: Comparison, address: str) -> Ref | None:
    """Return an entry as it is after the change, or as it was before if it is gone."""
    if address in comparison.after.catalog.entries:
        return comparison.after.ref(address)
    old = comparison.moved_from.get(address, address)
    if old not in comparison.before.catalog.entries:
        return None
    return replace(comparison.before.ref(old), address=address)


def _components(addresses: Iterable[str], edges: Iterable[GraphEdge]) -> Iterator[list[str]]:
    """Yield the groups of addresses that edges connect."""
    near: dict[str, list[str]] = {address: [] for address in addresses}
    for edge in edges:
        near[edge.old].append(edge.new)
        near[edge.new].append(edge.old)
    seen: set[str] = set()
    for start in near:
        group, todo = [], [start]
        while todo:
            address = todo.pop()
            if address not in seen:
                seen.add(address)
                group.append(address)
                todo += near[address]
        if group:
            yield group


def _skipped(comparison: Comparison, shown: Iterable[str], edges: Iterable[GraphEdge]) -> Iterator[GraphEdge]:
    """Yield an edge from each shown entry to its shown current end if the entries between them are not shown."""
    lineage = comparison.after.catalog.lineage
    followed = {edge.old for edge in edges if edge.change != "removed"}
    for address in {*shown} - followed & lineage.successors.keys():
        for head in lineage.heads(address):
            if head != address and head in {*shown}:
                yield GraphEdge(address, head, "skipped")
