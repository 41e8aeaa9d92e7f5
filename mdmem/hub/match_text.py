"""The full text of an answer's own entries: the question was asked already, and others are asked of these alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mdmem.dataclass import dataclass, field
from mdmem.hub.reader import Reader, SeenRow
from mdmem.hub.text import CopyText, corpus_of
from mdmem.index.protocol import Holding, Match, Read, TextAnswer, holds_one
from mdmem.index.scoring import Query, plain, rank


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found for a question, best first, with the ids of the rows; `begun` are words that only begin others.

    `copies` are, by address, the wings that hold the same entry of the same place at another commit.
    """

    query: Query
    ranked: tuple[Match, ...]
    ids: Mapping[str, int]
    is_all: bool
    begun: tuple[str, ...] = ()
    copies: Mapping[str, frozenset[int]] = field(default_factory=dict)


class FoundText(CopyText):
    """What the server holds of the words of some rows."""

    def __init__(
        self, reader: Reader, rows: Mapping[str, SeenRow], words: str = "", matches: Matches | None = None
    ) -> None:
        """Take the rows by address, and what was found for the words of the question."""
        super().__init__(reader, {})
        self._by_id = {row.id: address for address, row in rows.items()}
        self._words, self._matches = words, matches

    def search(
        self,
        question: str,
        *,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        syntax: bool = False,  # noqa: ARG002  # the port's names
        holding: Holding = (),
        may_refresh: bool = True,  # noqa: ARG002
    ) -> TextAnswer:
        """Return the entries that answer the question, or, to another one, those of its answer that do."""
        if self._matches is not None and question == self._words:
            query, ranked = self._matches.query, self._matches.ranked
        else:
            query = plain(question)
            held = self._reader.terms(self._by_id, query.wanted or ())
            known = {self._by_id[one.id]: one for one in held if one.lengths is not None}
            ranked = rank(query, corpus_of(sorted(known.items()), None), read)
        chosen = live.keys() if among is None else live.keys() & set(among)
        found = tuple(one for one in ranked if one.key in chosen and holds_one(one.terms, holding))
        return TextAnswer(found, tuple(query.typed), query.typed, "index")
