"""Supersession as a graph: which entries are current, what heads their chains, forks and cycles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mdmem.entry.model import Entry, Status


@dataclass(frozen=True)
class Lineage:
    """The edges «N supersedes O», named by either end, unless N is a draft; a self-link is no edge."""

    entries: Mapping[str, Entry]

    @cached_property
    def successors(self) -> dict[str, tuple[str, ...]]:
        """Return, for each superseded entry, those that supersede it directly, sorted."""
        found: dict[str, set[str]] = {}
        for old, new in self._named():
            if (
                old != new
                and old in self.entries
                and new in self.entries
                and self.entries[new].status is not Status.DRAFT
            ):
                found.setdefault(old, set()).add(new)
        return {old: tuple(sorted(new)) for old, new in sorted(found.items())}

    def _named(self) -> Iterator[tuple[str, str]]:
        for address, entry in self.entries.items():
            for old in entry.supersedes:
                yield old, address
            for new in entry.superseded_by:
                yield address, new

    @cached_property
    def predecessors(self) -> dict[str, tuple[str, ...]]:
        """Return, for each entry that supersedes others, those it supersedes directly, sorted."""
        found: dict[str, list[str]] = {}
        for old, successors in self.successors.items():
            for new in successors:
                found.setdefault(new, []).append(old)
        return {new: tuple(sorted(old)) for new, old in sorted(found.items())}

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Return each group of entries that supersede one another, sorted."""
        return tuple(sorted(tuple(sorted(group)) for group in self._groups if len(group) > 1))

    @cached_property
    def contradictory(self) -> frozenset[str]:
        """Return the entries on a cycle: each is superseded by what it supersedes."""
        return frozenset(address for cycle in self.cycles for address in cycle)

    def is_current(self, address: str) -> bool:
        """Say whether an entry is in force and no chain leads from it to another that is.

        An entry on a cycle counts as current unless the chain leaves the cycle for one in force.
        """
        return address in self.heads(address)

    def is_unresolved(self, address: str) -> bool:
        """Say whether an entry is on a cycle of entries that all ended: nothing tells which of them binds."""
        return address in self.contradictory and not self.heads(address)

    def heads(self, address: str) -> tuple[str, ...]:
        """Return the current ends of the chains from an entry, sorted: one, several after a split, none if it ended."""
        if address in self._heads:
            return self._heads[address]
        entry = self.entries.get(address)
        return (address,) if entry is not None and entry.is_in_force else ()

    @cached_property
    def _heads(self) -> dict[str, tuple[str, ...]]:
        """Heads of every entry on a chain, from the ends backwards: a group binds only where nothing beyond it does."""
        found: dict[str, tuple[str, ...]] = {}
        for group in self._groups:
            beyond = {
                head for member in group for new in self.successors.get(member, ()) for head in found.get(new, ())
            }
            own = {member for member in group if self.entries[member].is_in_force}
            heads = tuple(sorted(beyond or own))
            found.update(dict.fromkeys(group, heads))
        return found

    def descendants(self, address: str) -> frozenset[str]:
        """Return everything that supersedes an entry, directly or through others."""
        return _reach([address], self.successors) - {address}

    def with_descendants(self, addresses: Iterable[str]) -> frozenset[str]:
        """Return entries with everything that supersedes one of them."""
        return _reach(addresses, self.successors)

    def ancestors(self, address: str) -> frozenset[str]:
        """Return everything that an entry supersedes, directly or through others."""
        return _reach([address], self.predecessors) - {address}

    def chain(self, address: str) -> tuple[str, ...]:
        """Return an entry with all its ancestors and descendants, the oldest first; within a cycle by address."""
        members = {address} | self.ancestors(address) | self.descendants(address)
        order = {member: -number for number, group in enumerate(self._groups) for member in group}
        return tuple(sorted(members, key=lambda member: (order.get(member, 0), member)))

    @cached_property
    def _groups(self) -> tuple[frozenset[str], ...]:
        """The strongly connected components, a successor's before those it supersedes."""
        return tuple(_Components(self.successors).found)


@dataclass(slots=True)
class _Components:
    """Tarjan's strongly connected components (SIAM J. Comput. 1972), with a stack of its own: chains may be long."""

    edges: Mapping[str, tuple[str, ...]]
    found: list[frozenset[str]] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)
    _low: dict[str, int] = field(default_factory=dict)
    _open: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for start in self.edges:
            if start not in self._number:
                self._visit(start)

    def _visit(self, start: str) -> None:
        path = [self._enter(start)]
        while path:
            node, following = path[-1]
            new = next(following, None)
            if new is None:
                path.pop()
                self._leave(node, path[-1][0] if path else None)
            elif new not in self._number:
                path.append(self._enter(new))
            elif new in self._open:
                self._low[node] = min(self._low[node], self._number[new])

    def _enter(self, node: str) -> tuple[str, Iterator[str]]:
        self._number[node] = self._low[node] = len(self._number)
        self._open[node] = None
        following: Iterable[str] = self.edges.get(node, ())
        return node, iter(following)

    def _leave(self, node: str, parent: str | None) -> None:
        if parent is not None:
            self._low[parent] = min(self._low[parent], self._low[node])
        if self._low[node] != self._number[node]:
            return
        group = set()
        while node not in group:
            member, _ = self._open.popitem()
            group.add(member)
        self.found.append(frozenset(group))


def _reach(starts: Iterable[str], edges: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    seen = set(starts)
    todo = list(seen)
    while todo:
        for following in edges.get(todo.pop(), ()):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return frozenset(seen)
