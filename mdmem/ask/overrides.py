"""Find the shared entries that entries of the active wing override for the paths and focus of a question."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from msgspec import Struct

from mdmem.ask.question import Question
from mdmem.model.entry import Entry, Status
from mdmem.model.globs import any_match
from mdmem.store.catalog.model import Catalog
from mdmem.store.workspace.scope import Scope

# The globs that a note on a narrower override names.
_GLOBS = 3


class Overrides(Struct, frozen=True, dict=True):
    """The overrides of the active wing for one question; rooms do not matter."""

    catalog: Catalog
    scope: Scope
    question: Question

    @cached_property
    def _current(self) -> tuple[Entry, ...]:
        """Return the current entries that override something and may apply."""
        wing, wings = self.scope.wing, self.catalog.wings
        if self.scope.starts_shared and wing is not None and not wings[wing].is_shared:
            return ()
        found = (one for one in self.catalog.derived.overriding if one.wing == wing)
        return tuple(filter(self._may_apply, found))

    def _may_apply(self, entry: Entry) -> bool:
        focuses, is_current = self.question.filters.focuses, self.catalog.lineage.is_current(entry.address)
        has_focus = not focuses or entry.focus in (None, *focuses)
        paths = self.question.paths
        return is_current and has_focus and (not paths or _applies_to(entry, paths))

    def replaces(self, entry: Entry, other: Entry) -> bool:
        """Return whether an entry applies wherever the one that it overrides does, for the question's paths and focus.

        Where one of several paths or focus areas is outside, the other entry applies there.
        """
        if not self._has_its_focus(entry, other):
            return False
        shared = [path for path in self.question.paths if _applies_to(other, [path])]
        return not entry.applies_to or (bool(shared) and all(_applies_to(entry, [path]) for path in shared))

    def _has_its_focus(self, entry: Entry, other: Entry) -> bool:
        return entry.focus in (None, other.focus) or set(self.question.filters.focuses) == {entry.focus}

    def of(self, chosen: Collection[str]) -> dict[str, Entry]:
        """Return the overriding entry of each chosen entry, preferably one that applies wherever that does."""
        found: dict[str, Entry] = {}
        for entry in self._current:
            for other in self.overridden_by(entry):
                if other.address in chosen:
                    before = found.setdefault(other.address, entry)
                    if self.replaces(entry, other) and not self.replaces(before, other):
                        found[other.address] = entry
        return found

    def powerless(self, chosen: Collection[str]) -> list[Entry]:
        """Return the entries that name a chosen one of more authority: both are shown, and a person decides."""
        return [
            entry
            for entry in self._current
            if any(other.address in chosen and other.type.rank < entry.type.rank for other in self._named_by(entry))
        ]

    def overridden_by(self, entry: Entry) -> list[Entry]:
        """Return the shared entries that an entry overrides: those of its own authority, or of a lower one."""
        named = self._named_by(entry) if entry.overrides else ()
        return [other for other in named if entry.type.rank <= other.type.rank]

    def _named_by(self, entry: Entry) -> list[Entry]:
        if entry.status is Status.DRAFT:
            return []
        named = (self.catalog.entries.get(address) for address in entry.overrides)
        wings = self.catalog.wings
        return [other for other in named if other and other.wing != entry.wing and wings[other.wing].is_shared]

    def notes_on(self, entry: Entry) -> list[str]:
        """Return a note on each shared entry that an entry overrides, or cannot override."""
        return [self._note_on(entry, other) for other in self._named_by(entry)]

    def _note_on(self, entry: Entry, other: Entry) -> str:
        if entry.type.rank > other.type.rank:
            return f"cannot override the {other.type} {other.address}"
        if self.replaces(entry, other):
            return f"overrides {other.address}"
        focus = [] if self._has_its_focus(entry, other) else [f"the focus {entry.focus}"]
        more = ", …" if entry.applies_to[_GLOBS:] else ""
        return f"overrides {other.address} only in {', '.join([*focus, *entry.applies_to[:_GLOBS]])}{more}"


def _applies_to(entry: Entry, paths: Collection[str]) -> bool:
    """Return whether an entry applies everywhere, or to one of some paths."""
    return not entry.applies_to or any_match(entry.applies_to, paths) is not None
