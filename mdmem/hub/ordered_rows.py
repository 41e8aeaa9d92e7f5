"""Entries of many repositories in order: by repository, wing and address, as a list is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from mdmem.hub.candidates import EVERYTHING, all_of, candidates, within
from mdmem.hub.origins import Origins
from mdmem.hub.reader import PlacedRow, Reader
from mdmem.hub.rows import SAMPLES, lexeme

# So many are put in order by themselves; of more, wing after wing is asked for until there are enough.
_SORTED = 5_000


class OrderedRows(Struct, frozen=True):
    """Rows in order, from the first, and how many there are, about where not `is_counted`."""

    rows: tuple[PlacedRow, ...]
    origins: Origins
    count: int
    is_counted: bool

    @property
    def is_whole(self) -> bool:
        """Say whether these are all."""
        return self.is_counted and len(self.rows) == self.count


def ordered_rows(reader: Reader, level: str, wings: Collection[int] | None, *, least: int) -> OrderedRows:
    """Return what a level finds in some wings, None for all: whole where it is not too much, else so many at least."""
    ids = candidates(reader, level, wings, most=_SORTED + 1)
    if len(ids) <= _SORTED:
        rows = reader.places(ids)
        origins = Origins(reader, {row.wing_id for row in rows})
        return OrderedRows(tuple(_ordered(rows, origins)), origins, len(rows), is_counted=True)
    origins = Origins(reader, reader.visible_wings() if wings is None else wings)
    found: list[PlacedRow] = []
    for portion in _portions(origins, least):
        found += reader.places(candidates(reader, all_of((within(portion), level)), portion, most=EVERYTHING))
        if len(found) >= least:
            mark, share = next(iter(SAMPLES.items()))
            sampled = candidates(reader, all_of((lexeme(mark), level)), wings, most=EVERYTHING)
            count = max(_SORTED, share * len(sampled))
            return OrderedRows(tuple(_ordered(found, origins)), origins, count, is_counted=False)
    return OrderedRows(tuple(_ordered(found, origins)), origins, len(found), is_counted=True)


def _ordered(rows: Sequence[PlacedRow], origins: Origins) -> list[PlacedRow]:
    return sorted(rows, key=lambda row: (*_place(origins, row.wing_id), row.path))


def _place(origins: Origins, wing: int) -> tuple[bool, str, str, int]:
    """Order wings by repository and name, those that are only pinned behind."""
    origin = origins.of[wing]
    return origin.repository_id is None, origin.name, origin.wing, wing


def _portions(origins: Origins, least: int) -> Iterator[list[int]]:
    """Yield the wings in order, first as few as may hold enough entries, then more and more."""
    portion: list[int] = []
    wanted, held = least, 0
    for wing in sorted(origins.of, key=lambda one: _place(origins, one)):
        portion.append(wing)
        held += origins.wings[wing].documents
        if held >= wanted:
            yield portion
            portion, wanted, held = [], 2 * wanted, 0
    yield portion
