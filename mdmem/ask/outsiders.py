"""The decisions in force that share no word and no path with a question: they may bind all the same."""

from __future__ import annotations

from collections.abc import Collection
from heapq import nsmallest
from typing import TYPE_CHECKING

from mdmem.ask.question import ELSEWHERE, NOTHING_SHARED, OmittedCount
from mdmem.model.entry import EntryType

if TYPE_CHECKING:
    from mdmem.ask.select import Selection

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


def counted(selection: Selection, found: Collection[str]) -> tuple[OmittedCount, ...]:
    """Return their number as an answer tells it: those of other files apart from those that apply to any."""
    # What applies to a file at hand is chosen.
    others = len(selection.catalog.traits.bound.intersection(found)) if selection.question.paths else 0
    counts = {ELSEWHERE: others, NOTHING_SHARED: len(found) - others}
    return tuple(OmittedCount(EntryType.DECISION.value, why, count) for why, count in counts.items() if count)


def named(selection: Selection, found: Collection[str]) -> tuple[str, ...]:
    """Return a few of those that apply to any file, where files are at hand: those in the rooms of what covers these.

    Those of the project come first.
    """
    if not selection.question.paths:
        return ()
    bound, wing = selection.catalog.traits.bound, f"{selection.scope.wing}/"
    covering = filter(selection.covers_path, map(selection.catalog.entries.__getitem__, bound & selection.chosen))
    rooms = {_room_of(one.address) for one in covering}
    # Of thousands none is read for this: an address says its room.
    near = [one for one in found if one not in bound]
    return tuple(nsmallest(_NAMED, near, key=lambda one: (not one.startswith(wing), _room_of(one) not in rooms, one)))


def _room_of(address: str) -> str:
    return address.rpartition("/")[0]
