"""The decisions in force that share no word and no path with a question: they may bind all the same."""

from __future__ import annotations

from collections.abc import Collection
from heapq import nsmallest
from typing import TYPE_CHECKING

from mdmem.entry.model import EntryType
from mdmem.retrieval.question import NOTHING_SHARED, OmittedCount

if TYPE_CHECKING:
    from mdmem.retrieval.select import Selection

_NAMED = 8


def unshared(selection: Selection) -> Collection[str]:
    """Return those that the filters of a question let in, by address."""
    traits, lineage, entries = selection.catalog.traits, selection.catalog.lineage, selection.catalog.entries
    others = traits.of_type[EntryType.DECISION].difference(selection.chosen, selection.omitted)
    shown = (others & lineage.current) | set(filter(lineage.is_unresolved, others & lineage.contradictory))
    if not selection.is_whole:
        shown &= selection.members
    lets_in = selection.question.filters.lets_in
    return [one for one in shown if lets_in(entries[one])] if selection.narrows else shown


def counted(found: Collection[str]) -> tuple[OmittedCount, ...]:
    """Return their number as an answer tells it."""
    return (OmittedCount(EntryType.DECISION.value, NOTHING_SHARED, len(found)),) if found else ()


def named(selection: Selection, found: Collection[str]) -> tuple[str, ...]:
    """Return a few of them where files are at hand: those in the rooms of what applies to these, and for any file.

    Those of the project come first.
    """
    if not selection.question.paths:
        return ()
    entries, wing = selection.catalog.entries, selection.scope.wing
    chosen = map(entries.__getitem__, selection.chosen)
    rooms = {(one.wing, one.room) for one in chosen if selection.covers_path(one)}

    def order(address: str) -> tuple[bool, bool, str]:
        entry = entries[address]
        return (entry.wing != wing, (entry.wing, entry.room) not in rooms, address)

    near = [one for one in found if not entries[one].applies_to or not order(one)[1]]
    return tuple(nsmallest(_NAMED, near, key=order))
