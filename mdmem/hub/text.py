"""The full text of a copy and of an answer: the server finds the rows, and they are ranked as the index ranks files."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.hub.candidates import EVERYTHING, candidates, holding
from mdmem.hub.reader import HeldTerms, Reader, SeenRow, SeenWing
from mdmem.hub.rows import places_in
from mdmem.hub.scoring import Lengths, Rows, Totals, Wanted, wanted_in
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.index.protocol import (
    FullText,
    IndexState,
    IndexWriteError,
    Match,
    Progress,
    Read,
    RefreshResult,
    TextAnswer,
)

# Postings, of some hundred bytes each.
_KEPT = 200_000
_WHY = "the hub's copy has its own"


class CopyText:
    """What the server holds of the words of some wings; it is brought up to date by a push alone."""

    def __init__(self, reader: Reader, wings: Mapping[int, SeenWing]) -> None:
        """Take the wings, by their ids."""
        self._reader, self._wings = reader, wings
        self._documents: _Documents | None = None
        self._read_whole: FullText | None = None
        # A server asks from several threads.
        self._turn = threading.RLock()

    def search(
        self,
        question: str,
        *,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        filters: Mapping[str, Collection[str]] | None = None,
        syntax: bool = False,
        may_refresh: bool = True,  # noqa: ARG002  # the port's names
        read_titles: Read | None = None,  # noqa: ARG002
        is_timed: bool = False,  # noqa: ARG002
    ) -> TextAnswer:
        """Return the live documents that answer a question, or raise `QuerySyntaxError` where `syntax` is asked for."""
        wanted = wanted_in(question)
        with self._turn:
            # What filters and the query language ask for stands in the entries themselves.
            rows = self._rows(wanted.held, live) if live and not (syntax or filters) else None
            if rows is None:
                found = self._whole.search(question, live=live, read=read, among=among, filters=filters, syntax=syntax)
                return replace(found, source="hub")
            matches = rows.rank(wanted, None if among is None else frozenset(among))
        return TextAnswer(matches, tuple(wanted.typed), wanted.typed, "hub")

    @property
    def _whole(self) -> FullText:
        """The index of the entries as they are read from their rows, in memory."""
        if self._read_whole is None:
            self._read_whole = FullTextIndex(None)
        return self._read_whole

    def find_holders(self, texts: Collection[str], *, live: Mapping[str, str], read: Read) -> list[str]:
        """Return the keys of the live documents that hold all words of one of some texts, the best first."""
        sets = [frozenset(wanted_in(text).typed) for text in texts]
        answer = self.search(" ".join(texts), live=live, read=read)
        return [match.key for match in answer.matches if any(match.terms >= one for one in sets)]

    def _rows(self, wanted: Collection[str], live: Mapping[str, str]) -> Rows | None:
        """Return the documents with where they hold some terms, None where the hub has some in another format."""
        if self._documents is None:
            self._documents = _Documents(
                (f"{self._wings[wing].name}/{path.removesuffix('.md')}", key, lengths)
                for key, wing, path, lengths in self._reader.lengths(self._wings)
            )
        documents = self._documents
        if not documents.is_ours or documents.keys != live.keys():
            return None
        documents.forget_some()
        if missing := [term for term in wanted if term not in documents.known]:
            ids = candidates(self._reader, holding(missing, self._wings), self._wings, most=EVERYTHING)
            documents.learn(missing, self._reader.holdings(ids, missing))
        return documents.rows

    def is_behind(self, *, live: Mapping[str, str]) -> bool:  # noqa: ARG002
        """Say that a question brings nothing up to date."""
        return False

    def refresh(
        self,
        *,
        live: Mapping[str, str],  # noqa: ARG002
        read: Read,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
        rebuild: bool = False,  # noqa: ARG002
    ) -> RefreshResult:
        """Raise IndexWriteError: nothing is written through the hub."""
        raise IndexWriteError(_WHY)

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Return that every document is there."""
        return IndexState(exists=True, usable=True, documents=len(live), stale=0, gone=0, bytes=0, folder="", why=_WHY)


class Matches(Struct, frozen=True):
    """What was found for a question, best first, with the ids of the rows; `begun` are words that only begin others.

    `binding` are the ids of invariants among them, which no better match displaces; `pinned` are, by address, the wings
    that others pin, and that hold the same entry of the same place.
    """

    wanted: Wanted
    ranked: Sequence[Match]
    ids: Mapping[str, int]
    is_all: bool
    begun: tuple[str, ...] = ()
    binding: frozenset[int] = frozenset()
    pinned: Mapping[str, frozenset[int]] = field(default_factory=dict)


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
        read: Read,  # noqa: ARG002  # the port's names
        among: Collection[str] | None = None,
        filters: Mapping[str, Collection[str]] | None = None,  # noqa: ARG002  # the rows were found by them
        syntax: bool = False,  # noqa: ARG002
        may_refresh: bool = True,  # noqa: ARG002
        read_titles: Read | None = None,  # noqa: ARG002
        is_timed: bool = False,  # noqa: ARG002
    ) -> TextAnswer:
        """Return the entries that answer the question, or, to another one, those of its answer that do."""
        if self._matches is not None and question == self._words:
            wanted, ranked = self._matches.wanted, self._matches.ranked
        else:
            wanted = wanted_in(question)
            ranked = self._known(wanted.held).rank(wanted)
        chosen = live.keys() if among is None else live.keys() & set(among)
        found = [one for one in ranked if one.key in chosen]
        return TextAnswer(found, tuple(wanted.typed), wanted.typed, "hub")

    def _known(self, wanted: Collection[str]) -> Rows:
        """Return the entries with where they hold some terms; several questions are put to the same ones."""
        if self._documents is None:
            held = list(self._reader.terms(self._by_id, wanted))
            known = ((self._by_id[one.id], one.id, one.lengths) for one in held if one.lengths is not None)
            self._documents = _Documents(known)
            self._documents.learn(wanted, ((one.id, one.held) for one in held))
        elif missing := [term for term in wanted if term not in self._documents.known]:
            self._documents.learn(missing, self._reader.holdings(self._by_id, missing))
        return self._documents.rows


class _Documents:
    """Some entries, and where they hold the terms that were asked for."""

    def __init__(self, listed: Iterable[tuple[str, int, Lengths | None]]) -> None:
        """Take the address of each, the id of its row, and how long its passages are."""
        found = sorted(listed)
        self.is_ours = all(lengths is not None for _, _, lengths in found)
        self.keys = dict.fromkeys(key for key, _, _ in found).keys()
        self.known: set[str] = set()
        self.rows = Rows()
        self._places = {row: (self.rows.add(key, lengths or ()), len(lengths or ())) for key, row, lengths in found}

    def learn(self, terms: Iterable[str], held: Iterable[tuple[int, Mapping[str, str]]]) -> None:
        """Take in where entries hold some terms, whatever order the server gives them in."""
        for row, places in held:
            if row in self._places:
                _hold(self.rows, *self._places[row], places)
        self.known.update(terms)

    def forget_some(self) -> None:
        """Let go of all terms where they are many."""
        if self.rows.size > _KEPT:
            self.known = set()
            self.rows.forget_terms()


def rows_of(held: Iterable[tuple[str, HeldTerms]], totals: Totals | None) -> Rows:
    """Return entries with where they hold some terms, and what is known of all of which they are a part."""
    rows = Rows(totals)
    for key, one in held:
        lengths = one.lengths or ()
        _hold(rows, rows.add(key, lengths), len(lengths), one.held)
    return rows


def _hold(rows: Rows, number: int, passages: int, held: Mapping[str, str]) -> None:
    for term, places in held.items():
        rows.hold(number, term, places_in(places, passages))
