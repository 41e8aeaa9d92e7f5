"""Derive from all entries, once: neighbours, amendments and selections by trait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, filterfalse
from operator import attrgetter
from typing import Any

from msgspec import Struct, field

from mdmem.model.entry import Entry, EntryType, Status, Wing, having, of_kind
from mdmem.model.lineage import Lineage

SUPERSEDES = "supersedes"
_FIELDS = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "see")

linked = attrgetter(*_FIELDS, "superseded_by", "relations")

# The address at the other end, and what the link says.
FieldLink = tuple[str, str]


class Adjacency(Struct, frozen=True, dict=True):
    """The links in the fields of entries, by the address at either end."""

    entries: Mapping[str, Entry]

    @property
    def outgoing(self) -> dict[str, list[FieldLink]]:
        """Return what each entry links."""
        return self._both[0]

    @property
    def incoming(self) -> dict[str, list[FieldLink]]:
        """Return what links each address."""
        return self._both[1]

    @cached_property
    def citing(self) -> Mapping[str, Sequence[str]]:
        """Return what links each address by `see`, as a field or as a relation."""
        found: dict[str, list[str]] = {}
        for address, entry in self.entries.items():
            for target in (*entry.see, *(one.to for one in entry.relations if one.type.casefold() == "see")):
                found.setdefault(target, []).append(address)
        return found

    @cached_property
    def _both(self) -> tuple[dict[str, list[FieldLink]], dict[str, list[FieldLink]]]:
        outgoing: dict[str, list[FieldLink]] = {}
        incoming: dict[str, list[FieldLink]] = {}
        for source, target, relationship in self._edges():
            outgoing.setdefault(source, []).append((target, relationship))
            incoming.setdefault(target, []).append((source, relationship))
        return outgoing, incoming

    def _edges(self) -> Iterator[tuple[str, str, str]]:
        for address, entry in self.entries.items():
            *named, newer, relations = linked(entry)
            for name, targets in zip(_FIELDS, named, strict=True):
                for target in targets:
                    yield address, target, name
            # Either end may name it: the newer entry is its source.
            for new in newer:
                yield new, address, SUPERSEDES
            for relation in relations:
                yield address, relation.to, relation.type.casefold()


class Amendments(Struct, frozen=True, dict=True):
    """The amendments that count: by an entry in force, of no less authority, that may speak for the other's wing.

    What replaced an amendment amends in its place. A project amends a shared entry for itself alone.
    """

    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    lineage: Lineage

    def of(self, address: str, *, project: str | None = None) -> tuple[str, ...]:
        """Return what amends an entry, sorted: all, or what its own wing and one project say."""
        found, wing = self._amending.get(address, ()), self.entries[address].wing
        return tuple(one for one in found if project is None or self.entries[one].wing in (wing, project))

    def names(self, address: str) -> bool:
        """Say whether an entry amends another, or is amended."""
        return address in self._amending or address in self._amended

    @property
    def named(self) -> Set[str]:
        """Return every entry that amends another, or is amended."""
        return self._amending.keys() | self._amended.keys()

    def by(self, address: str) -> tuple[str, ...]:
        """Return what an entry amends, sorted."""
        return self._amended.get(address, ())

    @cached_property
    def _amending(self) -> dict[str, tuple[str, ...]]:
        return _grouped(self._pairs)

    @cached_property
    def _amended(self) -> dict[str, tuple[str, ...]]:
        return _grouped((new, old) for old, new in self._pairs)

    @cached_property
    def _pairs(self) -> frozenset[tuple[str, str]]:
        entries, heads = self.entries, self.lineage.heads
        said = (entry for entry in having(entries, "amends") if entry.status is not Status.DRAFT)
        links = ((entry.address, old) for entry in said for old in entry.amends if old in entries)
        # What replaced the amended entry as well amends it no more.
        pairs = ((entries[old], entries[new]) for one, old in links for new in heads(one) if new not in heads(old))
        return frozenset(
            (old.address, new.address)
            for old, new in pairs
            if not is_lower(new, old) and may_speak_for(new, old, self.wings)
        )


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for one, other in sorted(pairs):
        found.setdefault(one, []).append(other)
    return {one: tuple(others) for one, others in found.items()}


def is_lower(new: Entry, old: Entry) -> bool:
    """Say whether an entry has less authority than the one it is to amend."""
    return new.type.rank > old.type.rank


def may_speak_for(new: Entry, old: Entry, wings: Mapping[str, Wing]) -> bool:
    """Say whether an entry may amend another: one of its wing, or a project's a shared one."""
    return new.wing == old.wing or (wings[old.wing].is_shared and not wings[new.wing].is_shared)


class Traits(Struct, frozen=True, eq=False, dict=True):
    """What single fields say of all entries of a catalog; `kept` is what others made of it, by its conditions."""

    entries: Mapping[str, Entry]
    lineage: Lineage
    kept: dict[object, Any] = field(default_factory=dict)

    @cached_property
    def of_type(self) -> Mapping[EntryType, frozenset[str]]:
        """Return the addresses of the entries of each type."""
        return {kind: frozenset(of_kind(self.entries, kind)) for kind in EntryType}

    @cached_property
    def overriding(self) -> Sequence[Entry]:
        """Return the entries that override another."""
        return having(self.entries, "overrides")

    @cached_property
    def contested(self) -> Sequence[Entry]:
        """Return the entries that are said to contradict another."""
        return having(self.entries, "contradicts")

    @cached_property
    def splits(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Return what several entries in force replaced, and does not say why, each with those."""
        lineage, found = self.lineage, list[tuple[str, Sequence[str]]]()
        for old, successors in (*lineage.successors.items(), *lineage.claimants.items()):
            if len(successors) < 2:
                continue
            binding = [new for new in successors if lineage.is_current(new)]
            if len(binding) > 1 and not self.entries[old].declares_split(successors):
                found.append((old, binding))
        return found

    @cached_property
    def drafts(self) -> Sequence[Entry]:
        """Return the drafts."""
        return list(map(self.entries.__getitem__, of_kind(self.entries, Status.DRAFT)))

    @cached_property
    def draft(self) -> frozenset[str]:
        """Return the addresses of the drafts."""
        return frozenset(of_kind(self.entries, Status.DRAFT))

    @cached_property
    def bound(self) -> frozenset[str]:
        """Return the addresses of the entries that apply to some files alone."""
        return frozenset(entry.address for entry in having(self.entries, "applies_to"))

    @cached_property
    def doubtful(self) -> frozenset[str]:
        """Return the addresses of the entries that may not be active on some day."""
        apart = chain.from_iterable(of_kind(self.entries, one) for one in Status if one is not Status.ACTIVE)
        return frozenset(chain(apart, (entry.address for entry in having(self.entries, "expires_at"))))

    @cached_property
    def plain(self) -> frozenset[str]:
        """Return the addresses of those in force that only words bring in: no invariant, and nothing that overrides."""
        invariants = self.of_type[EntryType.INVARIANT]
        return self.lineage.current.difference(invariants, (entry.address for entry in self.overriding))

    @cached_property
    def hidden(self) -> frozenset[str]:
        """Return the addresses of those that are not in force, where something tells so."""
        lineage = self.lineage
        ended = frozenset(filterfalse(lineage.current.__contains__, self.entries))
        return ended.difference(one for one in lineage.contradictory if lineage.is_unresolved(one))

    @cached_property
    def rated(self) -> frozenset[str]:
        """Return the addresses of the notes whose writers said how relevant they are."""
        rated = having(self.entries, "relevance_score")
        return self.of_type[EntryType.NOTE].intersection(entry.address for entry in rated)
