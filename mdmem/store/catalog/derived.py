"""The supersession graph, the links and the selections that are derived from all entries of a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from operator import attrgetter

from msgspec import Struct

from mdmem.model.entry import Entry, EntryType, Status, Wing, having, of_kind
from mdmem.model.lineage import Lineage

SUPERSEDES = "supersedes"
_FIELDS = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "see")
_linked = attrgetter(*_FIELDS, "superseded_by", "relations")

# The address at the other end, and the relationship.
_FieldLink = tuple[str, str]


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for one, other in sorted(pairs):
        found.setdefault(one, []).append(other)
    return {one: tuple(others) for one, others in found.items()}


def is_lower(new: Entry, old: Entry) -> bool:
    """Return whether an entry has less authority than the one that it amends."""
    return new.type.rank > old.type.rank


def may_speak_for(new: Entry, old: Entry, wings: Mapping[str, Wing]) -> bool:
    """Return whether an entry may amend another: both are in one wing, or a project's entry amends a shared one."""
    return new.wing == old.wing or (wings[old.wing].is_shared and not wings[new.wing].is_shared)


class Derived(Struct, frozen=True, eq=False, dict=True):
    """Values derived from the entries and wings alone, each computed on first use.

    An amendment counts if it is by a current entry, of no less authority, that may amend the other's wing. The
    successor of an amendment amends in its place. A project amends a shared entry only for itself.
    """

    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    one_end_suffices: bool | frozenset[str]

    @cached_property
    def lineage(self) -> Lineage:
        """Return the supersession graph."""
        return Lineage(self.entries, self.one_end_suffices)

    @cached_property
    def rooms(self) -> Mapping[str, Sequence[str]]:
        """Return the addresses of the entries by wing and room, as `wing/room`, in their order."""
        found: dict[str, list[str]] = {}
        for address in self.entries:
            found.setdefault(address.rpartition("/")[0], []).append(address)
        return found

    @cached_property
    def outgoing(self) -> Mapping[str, Sequence[_FieldLink]]:
        """Return the links in the fields of each entry."""
        found: dict[str, list[_FieldLink]] = {}
        for address, entry in self.entries.items():
            *named, newer, relations = _linked(entry)
            links = [(target, name) for name, targets in zip(_FIELDS, named, strict=True) for target in targets]
            links += [(relation.to, relation.type.casefold()) for relation in relations]
            if links:
                found.setdefault(address, []).extend(links)
            # Either end may state a supersession; its source is the newer entry.
            for new in newer:
                found.setdefault(new, []).append((address, SUPERSEDES))
        return found

    @cached_property
    def incoming(self) -> Mapping[str, Sequence[_FieldLink]]:
        """Return the links to each address."""
        found: dict[str, list[_FieldLink]] = {}
        for source, links in self.outgoing.items():
            for target, relationship in links:
                found.setdefault(target, []).append((source, relationship))
        return found

    def amended_by(self, address: str, *, project: str | None = None) -> tuple[str, ...]:
        """Return the sorted amendments of an entry: all, or those of its own wing and one project."""
        found, wing = self._amended_by.get(address, ()), self.entries[address].wing
        return tuple(one for one in found if project is None or self.entries[one].wing in (wing, project))

    def amends(self, address: str) -> tuple[str, ...]:
        """Return the sorted addresses that an entry amends."""
        return self._amends.get(address, ())

    @cached_property
    def with_amendments(self) -> Set[str]:
        """Return every entry that amends another, or is amended."""
        return self._amended_by.keys() | self._amends.keys()

    @cached_property
    def _amended_by(self) -> dict[str, tuple[str, ...]]:
        entries, heads, pairs = self.entries, self.lineage.heads, set[tuple[str, str]]()
        for entry in having(entries, "amends"):
            for old in entry.amends if entry.status is not Status.DRAFT else ():
                # A successor that also replaced the amended entry amends it no longer.
                for new in heads(entry.address) if old in entries else ():
                    counts = not is_lower(entries[new], entries[old])
                    counts = counts and may_speak_for(entries[new], entries[old], self.wings)
                    if counts and new not in heads(old):
                        pairs.add((old, new))
        return _grouped(pairs)

    @cached_property
    def _amends(self) -> dict[str, tuple[str, ...]]:
        return _grouped((new, old) for old, amendments in self._amended_by.items() for new in amendments)

    @cached_property
    def of_type(self) -> Mapping[EntryType, frozenset[str]]:
        """Return the addresses of the entries of each type."""
        return {kind: frozenset(of_kind(self.entries, kind)) for kind in EntryType}

    @cached_property
    def drafts(self) -> Mapping[str, Entry]:
        """Return the drafts by address."""
        return {address: self.entries[address] for address in of_kind(self.entries, Status.DRAFT)}

    @cached_property
    def overriding(self) -> Sequence[Entry]:
        """Return the entries that override another."""
        return having(self.entries, "overrides")

    @cached_property
    def contested(self) -> Sequence[Entry]:
        """Return the entries that state a contradiction."""
        return having(self.entries, "contradicts")

    @cached_property
    def with_globs(self) -> frozenset[str]:
        """Return the addresses of the entries that apply only to some files."""
        return frozenset(entry.address for entry in having(self.entries, "applies_to"))

    @cached_property
    def splits(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Return the entries with several current successors and no reason for that, each with these."""
        lineage, found = self.lineage, list[tuple[str, Sequence[str]]]()
        for old, successors in (*lineage.successors.items(), *lineage.claimants.items()):
            current = [new for new in successors if lineage.is_current(new)] if len(successors) > 1 else []
            if len(current) > 1 and not self.entries[old].declares_split(successors):
                found.append((old, current))
        return found
