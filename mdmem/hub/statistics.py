"""How many entries and passages a wing has, and how long these are: brought up to date by difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdmem.hub.rows import HubFile, lengths_in
from mdmem.index.fields import SCORED


class WingFigures:
    """What some entries of a wing add to its figures, or take from them."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.documents = self.passages = 0
        self.lengths = [0] * len(SCORED)

    def add(self, lengths: Sequence[Sequence[int]], *, sign: int = 1) -> None:
        """Take an entry in, by the lengths of its passages; with the sign -1, out."""
        self.documents += sign
        self.passages += sign * len(lengths)
        self.lengths = [sum(column, start) for start, column in zip(self.lengths, _signed(lengths, sign), strict=True)]

    def add_file(self, file: HubFile) -> None:
        """Take a file in, if it is an entry."""
        if file.passages:
            self.add(lengths_in(file.passages))


def _signed(lengths: Sequence[Sequence[int]], sign: int) -> list[list[int]]:
    return [[sign * length for length in column] for column in zip(*lengths, strict=True)]


def count_in(cursor: Any, wing: int, figures: WingFigures) -> None:
    """Bring the figures of a wing up to date."""
    cursor.execute(_WING, (figures.documents, figures.passages, figures.lengths, wing))


_WING = (
    "UPDATE wing SET documents = documents + %s, passages = passages + %s, lengths = ("
    "SELECT array_agg(coalesce(had, 0) + coalesce(gained, 0) ORDER BY place)"
    " FROM unnest(wing.lengths, %s::bigint[]) WITH ORDINALITY AS one (had, gained, place)) WHERE id = %s"
)
