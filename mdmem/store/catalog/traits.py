"""Which entries are of what kind: a question is put to sets of them, and looks at a few by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, filterfalse
from typing import Any

from msgspec import Struct, field

from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.lineage import Lineage
from mdmem.model.selection import having, of_kind


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
