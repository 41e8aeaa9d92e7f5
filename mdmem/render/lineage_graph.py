"""Build the graph of the supersessions, drafts, amendments, overrides and contradictions of entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from mdmem.model.entry import Entry, Status, day_of
from mdmem.model.text import visible
from mdmem.render.ink import Ink
from mdmem.store.catalog import Catalog

# A larger drawing is hard to read.
MOST = 60


class Way(StrEnum):
    """The relation of two entries, as the label of an arrow."""

    SUPERSEDED = "superseded by"
    CLAIMED = "claimed by"
    PROPOSED = "may be superseded by"
    OVERRIDES = "overrides"
    AMENDS = "amends"
    CONFLICTS = "conflicts with"


# Relations from the older entry to the newer one.
FORWARD = frozenset({Way.SUPERSEDED, Way.CLAIMED, Way.PROPOSED})


class BoxState(StrEnum):
    """Whether an entry is current, no longer current, or a draft."""

    CURRENT = "current"
    REVIEWED = "under review"
    ENDED = "ended"
    DRAFT = "draft"


class Arrow(Struct, frozen=True, order=True):
    """An arrow between two addresses."""

    start: str
    end: str
    kind: Way


class Box(Struct, frozen=True):
    """An entry to draw; `is_asked` if the graph is about it."""

    entry: Entry
    state: BoxState
    is_asked: bool = False

    @property
    def days(self) -> str:
        """Return the day of the entry, and for an ended one also its last day; empty without a date."""
        begin, end = (f"{day_of(one)}" if one else "" for one in (self.entry.created_at, self.entry.deprecated_at))
        if self.state is not BoxState.ENDED or not (begin or end):
            return begin
        return f"{begin or '?'} – {end or '?'}"

    @property
    def standing(self) -> str:
        """Return the type, the state and the days."""
        return ", ".join(filter(None, (self.entry.type.value, self.state.value, self.days)))

    @property
    def reasons(self) -> str:
        """Return the stated reasons of the entry and of its end."""
        entry = self.entry
        ended = f"ended: {entry.deprecated_reason}" if entry.deprecated_reason else None
        return "; ".join(filter(None, (entry.reason, ended)))


class LineageGraph(Struct, frozen=True):
    """The entries to draw, the oldest of a chain first, and the number of hidden ones."""

    nodes: tuple[Box, ...]
    edges: tuple[Arrow, ...]
    hidden: int = 0


class Bearings(Struct, frozen=True, dict=True):
    """The relations of a catalog other than supersessions."""

    catalog: Catalog

    @cached_property
    def at(self) -> Mapping[str, Sequence[Arrow]]:
        """Return the arrows at each address."""
        found: dict[str, list[Arrow]] = {}
        for arrow in self._arrows():
            found.setdefault(arrow.start, []).append(arrow)
            found.setdefault(arrow.end, []).append(arrow)
        return found

    def joins(self, address: str) -> bool:
        """Say whether an arrow of any kind connects an entry with another one."""
        return address in self._joined

    @cached_property
    def _joined(self) -> frozenset[str]:
        return frozenset(one for group in self.groups for one in group)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups of connected entries, the largest first, each with the oldest of a chain first."""
        beside: dict[str, list[str]] = {}
        joined = [
            *((old, new) for old, said in self.catalog.lineage.said.items() for new in said),
            *((arrow.start, arrow.end) for arrows in self.at.values() for arrow in arrows),
        ]
        for one, other in joined:
            beside.setdefault(one, []).append(other)
            beside.setdefault(other, []).append(one)
        found, seen = [], set[str]()
        for one in sorted(beside):
            if one not in seen:
                group = dict.fromkeys([one])
                for member in (todo := [one]):
                    new = dict.fromkeys(other for other in beside[member] if other not in group)
                    group |= new
                    todo += new
                seen |= group.keys()
                found.append(self._by_chains(sorted(group)))
        return tuple(sorted(found, key=lambda group: (-len(group), group)))

    def _by_chains(self, members: Iterable[str]) -> tuple[str, ...]:
        ordered: dict[str, None] = {}
        for one in members:
            if one not in ordered:
                ordered |= dict.fromkeys(self.catalog.lineage.chain(one))
        return tuple(ordered)

    def _arrows(self) -> Iterator[Arrow]:
        entries = self.catalog.entries
        for one in entries.values():
            if one.status is Status.DRAFT:
                yield from (Arrow(old, one.address, Way.PROPOSED) for old in one.supersedes if old in entries)
            for kind, named in (
                (Way.OVERRIDES, one.overrides),
                (Way.AMENDS, one.amends),
                (Way.CONFLICTS, one.contradicts),
            ):
                known = (other for other in named if other in entries and other != one.address)
                yield from (Arrow(one.address, other, kind) for other in known)


def lineage_graph(
    catalog: Catalog, addresses: Sequence[str], *, today: date, most: int = MOST, bearings: Bearings | None = None
) -> LineageGraph:
    """Return the graph of the chains of some entries, with their other relations.

    Of more than `most` entries it has the nearest. For many graphs, pass the `bearings` of the catalog.
    """
    bearings = bearings or Bearings(catalog)
    chains = {catalog.lineage.chain(address) for address in addresses}
    edges = sorted({arrow for chain in chains for arrow in _arrows(catalog, chain, bearings)})
    near = _nearest(addresses, edges)
    drawn = set(near[:most])
    nodes = [Box(catalog.entries[one], state_of(catalog, one, today=today), one in addresses) for one in drawn]
    order = _by_age(catalog, addresses)
    return LineageGraph(
        nodes=tuple(sorted(nodes, key=lambda node: order(node.entry.address))),
        edges=tuple(edge for edge in edges if edge.start in drawn and edge.end in drawn),
        hidden=max(0, len(near) - most),
    )


def linked_graph(
    catalog: Catalog, *, today: date, most: int = MOST, bearings: Bearings | None = None, wing: str | None = None
) -> LineageGraph:
    """Return the graph of all connected entries, or of the groups with an entry of one wing, the largest first."""
    bearings = bearings or Bearings(catalog)
    groups = (one for one in bearings.groups if wing is None or any(catalog.entries[it].wing == wing for it in one))
    members = [one for group in groups for one in group]
    graph = lineage_graph(catalog, members[:most], today=today, most=most, bearings=bearings)
    nodes = tuple(replace(node, is_asked=False) for node in graph.nodes)
    return replace(graph, nodes=nodes, hidden=max(0, len(members) - most))


def _arrows(catalog: Catalog, chain: Sequence[str], bearings: Bearings) -> Iterator[Arrow]:
    lineage, members = catalog.lineage, set(chain)
    for one in chain:
        yield from (Arrow(one, new, Way.SUPERSEDED) for new in lineage.successors.get(one, ()))
        yield from (Arrow(one, new, Way.CLAIMED) for new in lineage.claimants_of(one))
        for arrow in bearings.at.get(one, ()):
            # A draft is drawn with the entry that it may supersede.
            if arrow.kind is not Way.PROPOSED or arrow.start in members:
                yield arrow


def _nearest(addresses: Sequence[str], edges: Iterable[Arrow]) -> list[str]:
    """Return every connected entry, the nearest first, then by address."""
    beside: dict[str, set[str]] = {}
    for edge in edges:
        beside.setdefault(edge.start, set()).add(edge.end)
        beside.setdefault(edge.end, set()).add(edge.start)
    found = list(dict.fromkeys(addresses))
    seen = set(found)
    for one in found:
        new = sorted(beside.get(one, set()) - seen)
        found += new
        seen.update(new)
    return found


def _by_age(catalog: Catalog, addresses: Sequence[str]) -> Callable[[str], tuple[int, str]]:
    members = dict.fromkeys(member for one in addresses for member in catalog.lineage.chain(one))
    chain = {one: number for number, one in enumerate(members)}
    return lambda one: (chain.get(one, len(chain)), one)


def state_of(catalog: Catalog, address: str, *, today: date) -> BoxState:
    """Return whether an entry is current on a day, no longer current, or a draft."""
    status = catalog.entries[address].status_on(today)
    if status is Status.DRAFT:
        return BoxState.DRAFT
    if not catalog.lineage.is_current(address):
        return BoxState.ENDED
    return BoxState.REVIEWED if status is Status.UNDER_REVIEW else BoxState.CURRENT


def lineage_text(graph: LineageGraph, ink: Ink) -> str:
    """Return each entry with its state, the oldest of a chain first, and its relations below."""
    blocks = []
    for node in graph.nodes:
        entry = node.entry
        title = f"{ink.bold(visible(entry.title))} {ink.dim(f'({node.standing})')}"
        arrows = [f"    {edge.kind} {visible(edge.end)}" for edge in graph.edges if edge.start == entry.address]
        blocks += [title, f"  {visible(entry.address)}", *arrows]
    if graph.hidden:
        blocks.append(ink.dim(f"+{graph.hidden} more are not shown"))
    return "\n".join(blocks) if blocks else "nothing has been replaced, amended, overridden or contradicted yet"
