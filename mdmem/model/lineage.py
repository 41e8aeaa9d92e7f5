"""Follow supersessions, and say how an entry counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from enum import StrEnum
from functools import cached_property
from itertools import chain, filterfalse
from typing import Any

from msgspec import Struct, field

from mdmem.model.entry import IN_FORCE, Entry, Status, of_kind


class Standing(StrEnum):
    """Whether an entry is the one of the default branch.

    A merged one is an agent's decision there that nobody approved; an outdated one is older than the branch's.
    """

    BINDING = "binding"
    PROPOSED = "proposed"
    UNCOMMITTED = "uncommitted"
    MERGED = "merged"
    OUTDATED = "outdated"

    @property
    def is_proposal(self) -> bool:
        """Say whether the default branch has not seen it."""
        return self in (Standing.PROPOSED, Standing.UNCOMMITTED)

    @property
    def is_unapproved(self) -> bool:
        """Say whether nobody agreed to it yet: it is a proposal, or was merged and not approved."""
        return self.is_proposal or self is Standing.MERGED


class Stance(Struct, frozen=True):
    """The standing of one entry, with who proposed it in which commit; `note` says what that would do.

    `amended_by` are the proposals that would amend what binds.
    """

    standing: Standing
    author: str | None = None
    commit: str | None = None
    note: str = ""
    amended_by: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """Return the standing in a few words, with who proposed it; empty for what is binding."""
        match self.standing:
            case Standing.BINDING:
                return ""
            case Standing.PROPOSED if self.commit:
                return f"proposed by {self.author} in {self.commit}"
            case Standing.MERGED:
                return "merged, not approved"
        return self.standing.value

    def as_json(self) -> dict[str, Any]:
        """Return the standing as JSON values, with who proposed it and what that would do."""
        stated: dict[str, Any] = {"standing": self.standing.value}
        if self.commit:
            stated["proposed_by"] = {"author": self.author, "commit": self.commit}
        if self.note:
            stated["standing_note"] = self.note
        return stated


BINDING = Stance(Standing.BINDING)


def marked(stance: Stance | None) -> list[str]:
    """Return the words that mark what is not binding, for a list of marks; none where that is not known."""
    return [stance.mark] if stance is not None and stance.mark else []


def standing_json(stance: Stance | None, *, in_force: bool = True) -> dict[str, Any]:
    """Return the keys that tell a standing; none where it is not known, or of what binds nobody wherever it stands."""
    if stance is None or (stance.standing is Standing.BINDING and not in_force):
        return {}
    return stance.as_json()


class _Ends(Struct, frozen=True):
    """Who supersedes one entry: those that say so themselves, and those that the entry names."""

    claimants: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)


class Lineage(Struct, frozen=True, dict=True):
    """The edges «N supersedes O», unless N is a draft; a self-link is no edge.

    An edge is a fact where O names N, and where N alone names an O that has ended, or was only a draft. Where N alone
    names an O in force it is a claim, which hides nothing, unless `one_end_suffices`, everywhere or in the wing of O,
    and N has no less authority: nothing is overruled from below. Where O has another successor than N, N disputes it.
    """

    entries: Mapping[str, Entry]
    one_end_suffices: bool | frozenset[str] = False

    @cached_property
    def successors(self) -> dict[str, tuple[str, ...]]:
        """Return, for each superseded entry, those that surely supersede it directly, sorted."""
        return _sorted({old: self._facts(old, ends) for old, ends in self._ends.items()})

    def _facts(self, old: str, ends: _Ends) -> set[str]:
        entry = self.entries[old]
        where = self.one_end_suffices
        if not where or (isinstance(where, frozenset) and entry.wing not in where):
            return ends.named or (set() if entry.is_in_force else ends.claimants)
        no_less = {new for new in ends.claimants if self.entries[new].type.rank <= entry.type.rank}
        return ends.named | (no_less if entry.is_in_force else ends.claimants)

    @cached_property
    def claimants(self) -> dict[str, tuple[str, ...]]:
        """Return, for each entry in force that has no successor, those that claim to supersede it, sorted."""
        return _sorted({old: ends.claimants for old, ends in self._ends.items() if old not in self.successors})

    @cached_property
    def disputes(self) -> dict[str, tuple[str, ...]]:
        """Return, for each entry that has a successor, others that claim to supersede it, sorted."""
        facts = self.successors
        return _sorted({old: ends.claimants.difference(facts[old]) for old, ends in self._ends.items() if old in facts})

    def claimants_of(self, address: str) -> tuple[str, ...]:
        """Return those that say alone that they supersede an entry: it is in force, or names another."""
        return self.claimants.get(address, ()) or self.disputes.get(address, ())

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
    def said(self) -> dict[str, tuple[str, ...]]:
        """Return, for each entry, those that are said to supersede it directly, by whichever end, sorted."""
        return _sorted({old: ends.claimants | ends.named for old, ends in self._ends.items()})

    def claimed_by(self, address: str) -> tuple[str, ...]:
        """Return what is in force and claims to have replaced an entry in force, itself or by what it replaced."""
        return self._claimed_by.get(address, ())

    def claims(self, address: str) -> tuple[str, ...]:
        """Return the entries in force that one in force claims to have replaced, sorted."""
        return self._claims.get(address, ())

    @cached_property
    def _claimed_by(self) -> dict[str, tuple[str, ...]]:
        """Claims by the heads of the claimants; those on a circle contradict one another instead."""
        found = {
            old: {head for new in claimants for head in self.heads(new) if not self._share_a_cycle(old, head)} - {old}
            for old, claimants in self.claimants.items()
            if self.is_current(old)
        }
        return _sorted(found)

    @cached_property
    def _claims(self) -> dict[str, tuple[str, ...]]:
        return _turned(self._claimed_by)

    @cached_property
    def predecessors(self) -> dict[str, tuple[str, ...]]:
        """Return, for each entry that supersedes others, those it surely supersedes directly, sorted."""
        return _turned(self.successors)

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Return each group of entries that say to supersede one another, whichever end says it, sorted."""
        return tuple(sorted(tuple(sorted(group)) for group in self._said_groups if len(group) > 1))

    @cached_property
    def _cycle_of(self) -> dict[str, int]:
        return {address: number for number, cycle in enumerate(self.cycles) for address in cycle}

    def _share_a_cycle(self, one: str, other: str) -> bool:
        return one in self._cycle_of and self._cycle_of[one] == self._cycle_of.get(other)

    @cached_property
    def contradictory(self) -> frozenset[str]:
        """Return the entries on a cycle: each is superseded by what it supersedes."""
        return frozenset(self._cycle_of)

    def is_current(self, address: str) -> bool:
        """Say whether an entry is in force and no chain leads from it to another that is.

        An entry on a cycle counts as current unless the chain leaves the cycle for one in force.
        """
        return address in self.heads(address)

    @cached_property
    def current(self) -> frozenset[str]:
        """Return every entry that is."""
        in_force = chain.from_iterable(of_kind(self.entries, status) for status in IN_FORCE)
        ends = (address for address, heads in self._heads.items() if address in heads)
        # A set of thousands of texts takes half a megabyte.
        return frozenset(chain(filterfalse(self._heads.__contains__, in_force), ends))

    @property
    def chained(self) -> Set[str]:
        """Return every entry that superseded another or was superseded: of all others the head is the entry itself."""
        return self._heads.keys()

    @cached_property
    def replaced(self) -> frozenset[str]:
        """Return every entry on a chain that does not hold any more."""
        return frozenset(self.chained).difference(self.current)

    @property
    def claimed(self) -> Set[str]:
        """Return every entry in force whose place another one claims."""
        return self._claimed_by.keys()

    def is_unresolved(self, address: str) -> bool:
        """Say whether an entry is on a cycle of entries that all ended: nothing tells which of them binds."""
        return address in self.contradictory and not self.heads(address)

    def heads(self, address: str) -> tuple[str, ...]:
        """Return the current ends of the chains from an entry, sorted: one, several after a split, none if it ended."""
        known = self._heads.get(address)
        if known is not None:
            return known
        return (address,) if address in self.current else ()

    @cached_property
    def _heads(self) -> dict[str, tuple[str, ...]]:
        """Heads of every entry on a chain, from the ends backwards.

        An entry in force is none where one beyond it is in force, unless that lies on the same circle.
        """
        found: dict[str, tuple[str, ...]] = {}
        for group in self._groups:
            if self.successors.keys().isdisjoint(group):
                found.update((member, (member,) if self.entries[member].is_in_force else ()) for member in group)
                continue
            beyond = {
                head for member in group for new in self.successors.get(member, ()) for head in found.get(new, ())
            }
            own = {
                member
                for member in group
                if self.entries[member].is_in_force and all(self._share_a_cycle(member, head) for head in beyond)
            }
            found.update(dict.fromkeys(group, tuple(sorted(beyond | own))))
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

    def said_before(self, address: str) -> frozenset[str]:
        """Return everything that an entry is said to supersede, directly or through others."""
        return _reach([address], self._said_turned) - {address}

    @cached_property
    def _said_turned(self) -> dict[str, tuple[str, ...]]:
        return _turned(self.said)

    def chain(self, address: str) -> tuple[str, ...]:
        """Return an entry with all that are said to be before or after it, the oldest first; in a cycle by address."""
        members = _reach([address], self.said) | self.said_before(address)
        order = self._said_order
        return tuple(sorted(members, key=lambda member: (order.get(member, 0), member)))

    @cached_property
    def _said_order(self) -> dict[str, int]:
        return {member: -number for number, group in enumerate(self._said_groups) for member in group}

    @cached_property
    def _groups(self) -> tuple[frozenset[str], ...]:
        """The strongly connected components, a successor's before those it supersedes."""
        return tuple(_Components(self.successors).found)

    @cached_property
    def _said_groups(self) -> tuple[frozenset[str], ...]:
        return tuple(_Components(self.said).found)


class _Components(Struct):
    """Tarjan's strongly connected components (SIAM J. Comput. 1972), with a stack of its own: chains may be long."""

    edges: Mapping[str, tuple[str, ...]]
    found: list[frozenset[str]] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)
    _low: dict[str, int] = field(default_factory=dict)
    _open: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for start, following in self.edges.items():
            if not self.edges.keys().isdisjoint(following):
                if start not in self._number:
                    self._visit(start)
                continue
            # Nearly every chain: what lies beyond leads nowhere, and each is a component of its own.
            for node in (*following, start):
                if node not in self._number:
                    self._number[node] = len(self._number)
                    self.found.append(frozenset((node,)))

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


def _sorted(found: Mapping[str, Set[str]]) -> dict[str, tuple[str, ...]]:
    return {one: tuple(sorted(others)) for one, others in sorted(found.items()) if others}


def _turned(edges: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for one, others in edges.items():
        for other in others:
            found.setdefault(other, set()).add(one)
    return _sorted(found)


def _reach(starts: Iterable[str], edges: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    seen = set(starts)
    todo = list(seen)
    while todo:
        for following in edges.get(todo.pop(), ()):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return frozenset(seen)
