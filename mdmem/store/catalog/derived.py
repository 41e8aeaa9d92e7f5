"""Indexes that are derived from all entries: links, amendments and selections by single fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from operator import attrgetter

from msgspec import Struct

from mdmem.model.entry import Entry, EntryType, Status, Wing, having, of_kind
from mdmem.model.lineage import Lineage

SUPERSEDES = "supersedes"
_FIELDS = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "see")

linked = attrgetter(*_FIELDS, "superseded_by", "relations")

# The address at the other end, and the relationship.
FieldLink = tuple[str, str]


class Adjacency(Struct, frozen=True, dict=True):
    """The links in the fields of entries, by the address at either end."""

    entries: Mapping[str, Entry]

    @cached_property
    def outgoing(self) -> Mapping[str, list[FieldLink]]:
        """Return the links of each entry."""
        found: dict[str, list[FieldLink]] = {}
        for address, entry in self.entries.items():
            *named, newer, relations = linked(entry)
            links = [(target, name) for name, targets in zip(_FIELDS, named, strict=True) for target in targets]
            links += [(relation.to, relation.type.casefold()) for relation in relations]
            for target, name in links:
                found.setdefault(address, []).append((target, name))
            # Either end may name a supersession; its source is the newer entry.
            for new in newer:
                found.setdefault(new, []).append((address, SUPERSEDES))
        return found

    @cached_property
    def incoming(self) -> Mapping[str, list[FieldLink]]:
        """Return the links to each address."""
        found: dict[str, list[FieldLink]] = {}
        for source, links in self.outgoing.items():
            for target, relationship in links:
                found.setdefault(target, []).append((source, relationship))
        return found

    @cached_property
    def citing(self) -> Mapping[str, Sequence[str]]:
        """Return the entries that link each address by `see`, as a field or as a relation."""
        found: dict[str, list[str]] = {}
        for address, entry in self.entries.items():
            for target in (*entry.see, *(one.to for one in entry.relations if one.type.casefold() == "see")):
                found.setdefault(target, []).append(address)
        return found


class Amendments(Struct, frozen=True, dict=True):
    """The amendments that count: by a current entry, of no less authority, that may amend the other's wing.

    The successor of an amendment amends in its place. A project amends a shared entry only for itself.
    """

    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    lineage: Lineage

    def of(self, address: str, *, project: str | None = None) -> tuple[str, ...]:
        """Return the sorted amendments of an entry: all, or those of its own wing and one project."""
        found, wing = self._amending.get(address, ()), self.entries[address].wing
        return tuple(one for one in found if project is None or self.entries[one].wing in (wing, project))

    def names(self, address: str) -> bool:
        """Return whether an entry amends another, or is amended."""
        return address in self._amending or address in self._amended

    @property
    def named(self) -> Set[str]:
        """Return every entry that amends another, or is amended."""
        return self._amending.keys() | self._amended.keys()

    def by(self, address: str) -> tuple[str, ...]:
        """Return the sorted addresses that an entry amends."""
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
        # A successor that also replaced the amended entry amends it no longer.
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
    """Return whether an entry has less authority than the one that it amends."""
    return new.type.rank > old.type.rank


def may_speak_for(new: Entry, old: Entry, wings: Mapping[str, Wing]) -> bool:
    """Return whether an entry may amend another: one of its own wing, or a project's entry a shared one."""
    return new.wing == old.wing or (wings[old.wing].is_shared and not wings[new.wing].is_shared)


class Traits(Struct, frozen=True, eq=False, dict=True):
    """The entries of a catalog by single fields."""

    entries: Mapping[str, Entry]
    lineage: Lineage

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
        """Return the entries that state a contradiction."""
        return having(self.entries, "contradicts")

    @cached_property
    def splits(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Return the entries with several current successors and no reason for that, each with these."""
        lineage, found = self.lineage, list[tuple[str, Sequence[str]]]()
        for old, successors in (*lineage.successors.items(), *lineage.claimants.items()):
            if len(successors) < 2:
                continue
            binding = [new for new in successors if lineage.is_current(new)]
            if len(binding) > 1 and not self.entries[old].declares_split(successors):
                found.append((old, binding))
        return found

    @cached_property
    def draft(self) -> frozenset[str]:
        """Return the addresses of the drafts."""
        return frozenset(of_kind(self.entries, Status.DRAFT))

    @cached_property
    def drafts(self) -> Sequence[Entry]:
        """Return the drafts."""
        return [self.entries[address] for address in of_kind(self.entries, Status.DRAFT)]

    @cached_property
    def bound(self) -> frozenset[str]:
        """Return the addresses of the entries that apply only to some files."""
        return frozenset(entry.address for entry in having(self.entries, "applies_to"))
