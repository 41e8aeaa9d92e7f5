"""The chains of supersession that a change touched, each to its head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from mdmem.change.comparison import Comparison
from mdmem.change.review_model import EdgeChange, Graph, GraphEdge, GraphNode, Ref
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import EdgeKind, classify

# More cannot be taken in at one look, and Mermaid refuses texts that are too long.
MOST_NODES = 60

_Ends = tuple[str, str]


def touched_chains(comparison: Comparison) -> Graph:
    """Return the entries and edges of every chain of which an edge was added, taken away or changed its class."""
    return _ChainDrawing(comparison).graph()


class _ChainDrawing(Struct, frozen=True, dict=True):
    """One drawing; addresses of the first tree count where they went."""

    comparison: Comparison

    def graph(self) -> Graph:
        nodes = tuple(address for group in self._groups for address in group)[:MOST_NODES]
        shown = set(nodes)
        edges = [edge for edge in self._edges() if {edge.old, edge.new} <= shown]
        edges += self._skipped(nodes, edges)
        left_out = sum(len(group) for group in self._groups) - len(nodes)
        return Graph(tuple(self._node(address) for address in nodes), tuple(sorted(edges, key=_ends)), left_out)

    @cached_property
    def touched(self) -> Mapping[_Ends, GraphEdge]:
        """The edges that are not as they were."""
        moved = self.comparison.moved
        before = {(moved(old), moved(new)): kind for (old, new), kind in _kinds(self.comparison.before.catalog).items()}
        after = _kinds(self.comparison.after.catalog)
        found = {}
        for ends in sorted(before.keys() | after.keys()):
            was, now = before.get(ends), after.get(ends)
            if was is not now and all(self._ref(address) is not None for address in ends):
                change = EdgeChange.REMOVED if now is None else EdgeChange.ADDED if was is None else EdgeChange.ALTERED
                found[ends] = GraphEdge(*ends, change, _in_words(now))
        return found

    @cached_property
    def members(self) -> frozenset[str]:
        """The ends of the touched edges, and everything between them and their heads."""
        return self.comparison.after.catalog.lineage.with_descendants(self._touched_ends)

    @cached_property
    def _touched_ends(self) -> frozenset[str]:
        return frozenset(address for ends in self.touched for address in ends)

    def _edges(self) -> Iterator[GraphEdge]:
        yield from self.touched.values()
        successors = self.comparison.after.catalog.lineage.successors
        for old in sorted(self.members):
            for new in successors.get(old, ()):
                if (old, new) not in self.touched and new in self.members:
                    yield GraphEdge(old, new, EdgeChange.KEPT)

    @cached_property
    def _groups(self) -> Sequence[tuple[str, ...]]:
        """The chains, the highest authority first; in each the touched ends and heads come before what is between."""
        group_of = {address: {address} for address in self.members}
        for edge in self._edges():
            other, one = sorted((group_of[edge.old], group_of[edge.new]), key=len)
            if one is not other:
                one |= other
                group_of.update(dict.fromkeys(other, one))
        groups = {id(group): group for group in group_of.values()}.values()
        return sorted((tuple(sorted(group, key=self._weight)) for group in groups), key=self._group_weight)

    def _weight(self, address: str) -> tuple[bool, int, str]:
        is_end = address in self._touched_ends or self._is_current(address)
        ref = self._ref(address)
        return not is_end, ref.type.rank if ref is not None else 0, address

    def _group_weight(self, group: tuple[str, ...]) -> tuple[int, str]:
        return min(ref.rank for address in group if (ref := self._ref(address)) is not None)

    def _skipped(self, nodes: Iterable[str], edges: Sequence[GraphEdge]) -> Iterator[GraphEdge]:
        """Yield an edge for each shown entry whose way to its shown head leads over others that are not."""
        lineage = self.comparison.after.catalog.lineage
        followed = {edge.old for edge in edges if edge.change is not EdgeChange.REMOVED}
        shown = set(nodes)
        for address in shown - followed:
            for head in lineage.heads(address) if address in lineage.successors else ():
                if head != address and head in shown:
                    yield GraphEdge(address, head, EdgeChange.SKIPPED)

    def _node(self, address: str) -> GraphNode:
        ref = self._ref(address)
        assert ref is not None, address
        is_gone = address not in self.comparison.after.catalog.addresses
        return GraphNode(ref, self._is_current(address), is_gone)

    def _is_current(self, address: str) -> bool:
        return address in self.comparison.binds

    def _ref(self, address: str) -> Ref | None:
        if address in self.comparison.after.catalog.entries:
            return self.comparison.after.ref(address)
        before = self.comparison.before
        if address in before.catalog.entries:
            return before.ref(address)
        back = self._back.get(address)
        return replace(before.ref(back), address=address) if back is not None else None

    @cached_property
    def _back(self) -> Mapping[str, str]:
        return {new: old for old, new in self.comparison.moves.items()}


def _kinds(catalog: Catalog) -> dict[_Ends, EdgeKind]:
    return {(edge.old, edge.new): edge.kind for edge in classify(catalog)}


def _in_words(kind: EdgeKind | None) -> str:
    return "" if kind in (None, EdgeKind.SOUND) else str(kind)


def _ends(edge: GraphEdge) -> tuple[str, str, str]:
    return edge.old, edge.new, edge.change
