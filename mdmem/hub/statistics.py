"""How many entries of a wing hold a term, and how long they are: brought up to date by difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mdmem.hub.connection import HubError
from mdmem.hub.rows import HubFile, lengths_in, scored_terms
from mdmem.index.fields import SCORED


class WingFigures:
    """What some entries of a wing add to its figures, or take from them."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.documents = self.passages = 0
        self.lengths = [0] * len(SCORED)
        self.terms: Counter[str] = Counter()

    def add(
        self, terms: Iterable[Mapping[str, Iterable[str]]], lengths: Sequence[Sequence[int]], *, sign: int = 1
    ) -> None:
        """Take an entry in, by the terms and the lengths of its passages; with the sign -1, out."""
        self.documents += sign
        self.passages += sign * len(lengths)
        self.lengths = [sum(column, start) for start, column in zip(self.lengths, _signed(lengths, sign), strict=True)]
        # Each once, however many passages and fields hold it.
        for term in {term for passage in terms for field in passage.values() for term in field}:
            self.terms[term] += sign

    def add_file(self, file: HubFile) -> None:
        """Take a file in, if it is an entry."""
        if file.passages:
            self.add(scored_terms(file.passages), lengths_in(file.passages))


def _signed(lengths: Sequence[Sequence[int]], sign: int) -> list[list[int]]:
    return [[sign * length for length in column] for column in zip(*lengths, strict=True)]


def count_in(cursor: Any, wing: int, figures: WingFigures) -> None:
    """Bring the figures of a wing up to date; raises HubError where they did not count what is taken from them."""
    less = {term: -number for term, number in sorted(figures.terms.items()) if number < 0}
    more = {term: number for term, number in sorted(figures.terms.items()) if number > 0}
    if less:
        arguments = (wing, list(less), list(less.values()))
        cursor.execute(_GONE, arguments)
        counted = cursor.rowcount
        cursor.execute(_LESS, arguments)
        if counted + cursor.rowcount != len(less):
            raise HubError("the hub's figures of a wing are wrong; `mdmem hub rebuild` makes the repository anew")
    if more:
        cursor.execute(_MORE, (wing, list(more), list(more.values())))
    cursor.execute(_WING, (figures.documents, figures.passages, figures.lengths, wing))


_GIVEN = "(SELECT %s::integer AS wing, * FROM unnest(%s::text[], %s::integer[]) AS one (term, number)) AS given"
_SAME = "term.wing_id = given.wing AND term.term = given.term"
_GONE = f"DELETE FROM term USING {_GIVEN} WHERE {_SAME} AND term.documents = given.number"
_LESS = f"UPDATE term SET documents = documents - given.number FROM {_GIVEN} WHERE {_SAME}"
_MORE = (
    f"INSERT INTO term (wing_id, term, documents) SELECT given.* FROM {_GIVEN}"
    " ON CONFLICT (term, wing_id) DO UPDATE SET documents = term.documents + excluded.documents"
)
_WING = (
    "UPDATE wing SET documents = documents + %s, passages = passages + %s, lengths = ("
    "SELECT array_agg(coalesce(had, 0) + coalesce(gained, 0) ORDER BY place)"
    " FROM unnest(wing.lengths, %s::bigint[]) WITH ORDINALITY AS one (had, gained, place)) WHERE id = %s"
)
