"""Follow supersessions from entry to entry, and describe how an entry relates to the default branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from mdmem.model.entry import Entry, Status


class Standing(StrEnum):
    """How an entry relates to the default branch of the repository.

    BINDING: the file is on the default branch as it is here. PROPOSED: it is committed as it is here, but not on the
    default branch. UNCOMMITTED: it is not committed as it is here. MERGED: an agent's decision that is on the default
    branch without approval. OUTDATED: the file here is older than the file on the default branch.
    """

    BINDING = "binding"
    PROPOSED = "proposed"
    UNCOMMITTED = "uncommitted"
    MERGED = "merged"
    OUTDATED = "outdated"

    @property
    def is_proposal(self) -> bool:
        """Return whether this version of the entry is not yet on the default branch."""
        return self in (Standing.PROPOSED, Standing.UNCOMMITTED)

    @property
    def is_unapproved(self) -> bool:
        """Return whether the entry, as it is here, is not on the default branch, or is there without approval."""
        return self.is_proposal or self is Standing.MERGED


class BranchState(Struct, frozen=True):
    """How an entry compares with the default branch; a proposal has an author, a commit and a note on its effects."""

    standing: Standing
    author: str | None = None
    commit: str | None = None
    note: str = ""
    amended_by: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """Return in a few words how the entry differs from the default branch; empty if it does not (BINDING)."""
        match self.standing:
            case Standing.BINDING:
                return ""
            case Standing.PROPOSED if self.commit:
                return f"proposed by {self.author} in {self.commit}"
            case Standing.MERGED:
                return "merged, not approved"
        return self.standing.value


BINDING = BranchState(Standing.BINDING)


def standing_marks(state: BranchState | None) -> list[str]:
    """Return a list with the mark of an entry that is not binding (see `Standing`); empty for a binding one or None."""
    return [state.mark] if state is not None and state.mark else []


def branch_state_json(state: BranchState | None, *, is_current: bool = True) -> dict[str, Any]:
    """Return how an entry relates to the default branch, as JSON.

    Empty if this is unknown, or if the entry is binding but not current.
    """
    if state is None or (state.standing is Standing.BINDING and not is_current):
        return {}
    values: dict[str, Any] = {"standing": state.standing.value}
    if state.commit:
        values["proposed_by"] = {"author": state.author, "commit": state.commit}
    if state.note:
        values["standing_note"] = state.note
    return values


class _Ends(Struct, frozen=True):
    """The successors of one entry: `claimants` list it in `supersedes`, and its own `superseded_by` lists `named`."""

    claimants: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)


class Lineage(Struct, frozen=True, dict=True):
    """The graph of supersessions, in which each entry is an address. An edge means that a new entry N supersedes O.

    Drafts supersede nothing, and an entry cannot supersede itself. An edge is confirmed if O lists N in
    `superseded_by`, or if only N has the link and O is deprecated or a draft. If only N has the link and O is active or
    under review, the edge is a claim (a one-sided supersession), which hides nothing. With `one_end_suffices`, for all
    wings or for the wing of O, such a claim is confirmed if N has at least the authority of O. If O has another
    confirmed successor, N disputes that successor.
    """

    entries: Mapping[str, Entry]
    one_end_suffices: bool | frozenset[str] = False

    @cached_property
    def _ends(self) -> dict[str, _Ends]:
        found: dict[str, _Ends] = {}
        for address, entry in self.entries.items():
            for old in entry.supersedes:
                if self._may_supersede(old, address):
                    found.setdefault(old, _Ends()).claimants.add(address)
            for new in entry.superseded_by:
                if self._may_supersede(address, new):
                    found.setdefault(address, _Ends()).named.add(new)
        return found

    def _may_supersede(self, old: str, new: str) -> bool:
        is_edge = old != new and old in self.entries and new in self.entries
        return is_edge and self.entries[new].status is not Status.DRAFT

    @cached_property
    def linked_successors(self) -> dict[str, tuple[str, ...]]:
        """Return the sorted direct successors of each entry; a link in one of the two files suffices."""
        return sorted_edges({old: ends.claimants | ends.named for old, ends in self._ends.items()})

    @cached_property
    def successors(self) -> dict[str, tuple[str, ...]]:
        """Return the sorted direct successors of each entry, if the link is confirmed (see `Lineage`)."""
        found: dict[str, Set[str]] = {}
        for old, ends in self._ends.items():
            entry, where = self.entries[old], self.one_end_suffices
            claimants: Set[str] = ends.claimants
            if not where or (isinstance(where, frozenset) and entry.wing not in where):
                found[old] = ends.named or (set() if entry.is_in_force else claimants)
                continue
            if entry.is_in_force:
                claimants = {new for new in claimants if self.entries[new].type.rank <= entry.type.rank}
            found[old] = ends.named | claimants
        return sorted_edges(found)

    @cached_property
    def predecessors(self) -> dict[str, tuple[str, ...]]:
        """Return the sorted entries that each entry supersedes directly, if the link is confirmed (see `Lineage`)."""
        return reversed_edges(self.successors)

    @cached_property
    def claimants(self) -> dict[str, tuple[str, ...]]:
        """Return the sorted one-sided successors (see `Lineage`) of each entry without a confirmed successor."""
        return sorted_edges({old: ends.claimants for old, ends in self._ends.items() if old not in self.successors})

    @cached_property
    def disputes(self) -> dict[str, tuple[str, ...]]:
        """Return the sorted one-sided successors (see `Lineage`) of each entry with a confirmed successor."""
        facts = self.successors
        found = {old: ends.claimants.difference(facts[old]) for old, ends in self._ends.items() if old in facts}
        return sorted_edges(found)

    def claimants_of(self, address: str) -> tuple[str, ...]:
        """Return the entries that supersede an entry only by their own file (one-sided supersessions), sorted."""
        return self.claimants.get(address, ()) or self.disputes.get(address, ())

    def claimed_by(self, address: str) -> tuple[str, ...]:
        """Return the one-sided successors of a current entry, or the current entries that superseded those, sorted."""
        return self._claimed_by.get(address, ())

    @property
    def claimed(self) -> Set[str]:
        """Return the addresses of the current entries for which `claimed_by` returns other entries."""
        return self._claimed_by.keys()

    @cached_property
    def _claimed_by(self) -> dict[str, tuple[str, ...]]:
        # Two entries on the same cycle are left out, because they contradict each other.
        found = {
            old: {head for new in claimants for head in self.heads(new) if not self.share_a_cycle(old, head)} - {old}
            for old, claimants in self.claimants.items()
            if self.is_current(old)
        }
        return sorted_edges(found)

    @cached_property
    def claims(self) -> dict[str, tuple[str, ...]]:
        """Return for each one-sided successor the sorted entries that have it in their `claimed_by`."""
        return reversed_edges(self._claimed_by)

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Return each group of entries that supersede each other in a circle; a link in one of two files suffices."""
        return tuple(sorted(tuple(sorted(group)) for group in self._linked_groups if len(group) > 1))

    @cached_property
    def _cycle_of(self) -> dict[str, int]:
        return {address: number for number, cycle in enumerate(self.cycles) for address in cycle}

    def share_a_cycle(self, one: str, other: str) -> bool:
        """Return whether two entries are on the same cycle."""
        return one in self._cycle_of and self._cycle_of[one] == self._cycle_of.get(other)

    @cached_property
    def contradictory(self) -> frozenset[str]:
        """Return the addresses of all entries on a cycle. Each supersedes itself through others."""
        return frozenset(self._cycle_of)

    def is_unresolved(self, address: str) -> bool:
        """Return whether an entry is on a cycle of deprecated entries, so that no entry of the chain is current."""
        return address in self.contradictory and not self.heads(address)

    def is_current(self, address: str) -> bool:
        """Return whether an entry is active or under review, and not superseded by such an entry outside its cycle."""
        return address in self.heads(address)

    @cached_property
    def current(self) -> frozenset[str]:
        """Return the addresses of all current entries."""
        return frozenset(filter(self.is_current, self.entries))

    def heads(self, address: str) -> tuple[str, ...]:
        """Return the current entries that end an entry's chain, sorted: itself, one or more successors, or none."""
        known = self._heads.get(address)
        if known is not None:
            return known
        entry = self.entries.get(address)
        return (address,) if entry is not None and entry.is_in_force else ()

    @cached_property
    def _heads(self) -> dict[str, tuple[str, ...]]:
        # From the ends of the chains to their beginnings. An active entry is not a head if another active entry
        # follows it, unless both are on the same cycle.
        found: dict[str, tuple[str, ...]] = {}
        for group in _components(self.successors):
            beyond = {
                head for member in group for new in self.successors.get(member, ()) for head in found.get(new, ())
            }
            own = {
                member
                for member in group
                if self.entries[member].is_in_force and all(self.share_a_cycle(member, head) for head in beyond)
            }
            found.update(dict.fromkeys(group, tuple(sorted(beyond | own))))
        return found

    def descendants(self, address: str) -> frozenset[str]:
        """Return all entries that supersede an entry, directly or through other entries."""
        return _reach([address], self.successors) - {address}

    def ancestors(self, address: str) -> frozenset[str]:
        """Return all entries that an entry supersedes, directly or through other entries."""
        return _reach([address], self.predecessors) - {address}

    def linked_ancestors(self, address: str) -> frozenset[str]:
        """Return all direct and indirect predecessors of an entry; a link in one of the two files suffices."""
        return _reach([address], self._linked_predecessors) - {address}

    @cached_property
    def _linked_predecessors(self) -> dict[str, tuple[str, ...]]:
        return reversed_edges(self.linked_successors)

    def chain(self, address: str) -> tuple[str, ...]:
        """Return an entry with its predecessors and successors, also one-sided ones, the oldest first."""
        members = _reach([address], self.linked_successors) | self.linked_ancestors(address)
        order = self._linked_order
        return tuple(sorted(members, key=lambda member: (order.get(member, 0), member)))

    @cached_property
    def _linked_order(self) -> dict[str, int]:
        return {member: -number for number, group in enumerate(self._linked_groups) for member in group}

    @cached_property
    def _linked_groups(self) -> list[set[str]]:
        return _components(self.linked_successors)


def _components(edges: Mapping[str, tuple[str, ...]]) -> list[set[str]]:
    """Return the strongly connected components. A successor's component comes before those of its predecessors.

    This is Tarjan's algorithm (SIAM J. Comput. 1972) with a stack instead of recursion, because chains may be long.
    """
    found: list[set[str]] = []
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    unassigned: dict[str, None] = {}
    for start in edges:
        path = [] if start in number else [(start, iter(edges[start]))]
        while path:
            node, following = path[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                unassigned[node] = None
            for new in following:
                if new not in number:
                    path.append((new, iter(edges.get(new, ()))))
                    break
                if new in unassigned:
                    low[node] = min(low[node], number[new])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == number[node]:
                    group: set[str] = set()
                    while node not in group:
                        group.add(unassigned.popitem()[0])
                    found.append(group)
    return found


def sorted_edges(found: Mapping[str, Set[str]]) -> dict[str, tuple[str, ...]]:
    """Return a mapping with sorted keys, and with each set as a sorted tuple. Empty sets are left out."""
    return {one: tuple(sorted(others)) for one, others in sorted(found.items()) if others}


def reversed_edges(edges: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the edges of a graph in the other direction, sorted."""
    found: dict[str, set[str]] = {}
    for one, others in edges.items():
        for other in others:
            found.setdefault(other, set()).add(one)
    return sorted_edges(found)


def _reach(starts: Iterable[str], edges: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    seen = set(starts)
    todo = list(seen)
    while todo:
        for following in edges.get(todo.pop(), ()):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return frozenset(seen)
