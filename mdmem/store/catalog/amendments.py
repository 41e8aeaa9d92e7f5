"""Which entries amend which: both stay in force, and each is shown with the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cached_property

from msgspec import Struct

from mdmem.model.entry import Entry, Status, Wing
from mdmem.model.lineage import Lineage
from mdmem.model.selection import having


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
