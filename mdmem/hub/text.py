"""The full text of a copy and of an answer: the server finds the rows, `index.scoring` ranks them as in the clone."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter

from msgspec import Struct, field

from mdmem.hub.candidates import EVERYTHING, candidates, holding
from mdmem.hub.reader import HeldTerms, Reader, SeenRow, SeenWing
from mdmem.hub.rows import Lengths, places_in
from mdmem.index.corpus import Corpus, Totals
from mdmem.index.fields import SCORED
from mdmem.index.overlay import scanned
from mdmem.index.postings import Columns
from mdmem.index.protocol import (
    Bar,
    Holding,
    IndexState,
    IndexWriteError,
    Match,
    MatchColumns,
    Progress,
    Read,
    RefreshResult,
    TextAnswer,
    holds_one,
)
from mdmem.index.scoring import Query, plain, rank

# Postings, of some hundred bytes each.
_KEPT = 200_000
_WHY = "the hub's copy has its own"


class CopyText:
    """What the server holds of the words of some wings; it is brought up to date by a push alone."""

    def __init__(self, reader: Reader, wings: Mapping[int, SeenWing]) -> None:
        """Take the wings, by their ids."""
        self._reader, self._wings = reader, wings
        self._documents: _Documents | None = None
        # A server asks from several threads.
        self._turn = threading.RLock()

    def search(
        self,
        question: str,
        *,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        syntax: bool = False,
        holding: Holding = (),
        may_refresh: bool = True,  # noqa: ARG002  # the port's name
        bar: Bar | None = None,  # noqa: ARG002  # no repository of a hub has another version
    ) -> TextAnswer:
        """Return the live documents that answer a question, or raise `QuerySyntaxError` where `syntax` is asked for."""
        if syntax:
            # Imported here: the library that reads it takes longer than most questions.
            from mdmem.index.syntax import parse

        query = parse(question) if syntax else plain(question)
        if query.is_empty or not live:
            return TextAnswer(MatchColumns(), tuple(query.typed), query.typed, "hub")
        with self._turn:
            # What the query language may ask for stands in the entries themselves.
            corpus = self._corpus(query.wanted, live) if query.wanted is not None else None
            chosen = None if among is None else frozenset(among)
            found = rank(query, corpus or scanned(query, live, read), read, among=chosen, holding=holding)
        return TextAnswer(found, tuple(query.typed), query.typed, "hub")

    def _corpus(self, wanted: Collection[str], live: Mapping[str, str]) -> Corpus | None:
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
        return documents.corpus

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

    query: Query
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
        read: Read,
        among: Collection[str] | None = None,
        syntax: bool = False,  # noqa: ARG002  # the port's names
        holding: Holding = (),
        may_refresh: bool = True,  # noqa: ARG002
        bar: Bar | None = None,  # noqa: ARG002
    ) -> TextAnswer:
        """Return the entries that answer the question, or, to another one, those of its answer that do."""
        if self._matches is not None and question == self._words:
            query, ranked = self._matches.query, self._matches.ranked
        else:
            query = plain(question)
            ranked = rank(query, self._known(query.wanted or ()), read)
        chosen = live.keys() if among is None else live.keys() & set(among)
        found = MatchColumns.of(one for one in ranked if one.key in chosen and holds_one(one.terms, holding))
        return TextAnswer(found, tuple(query.typed), query.typed, "hub")

    def _known(self, wanted: Collection[str]) -> Corpus:
        """Return the entries with where they hold some terms; several questions are put to the same ones."""
        if self._documents is None:
            held = list(self._reader.terms(self._by_id, wanted))
            known = ((self._by_id[one.id], one.id, one.lengths) for one in held if one.lengths is not None)
            self._documents = _Documents(known)
            self._documents.learn(wanted, ((one.id, one.held) for one in held))
        elif missing := [term for term in wanted if term not in self._documents.known]:
            self._documents.learn(missing, self._reader.holdings(self._by_id, missing))
        return self._documents.corpus


class _Documents:
    """Some entries, and where they hold the terms that were asked for."""

    def __init__(self, listed: Iterable[tuple[str, int, Lengths | None]]) -> None:
        """Take the address of each, the id of its row, and how long its passages are."""
        found = sorted(listed)
        self.is_ours = all(lengths is not None for _, _, lengths in found)
        self.keys = dict.fromkeys(key for key, _, _ in found).keys()
        self.known: set[str] = set()
        self._postings = HeldPostings()
        self._passages, self._lengths = list[str](), {name: list[int]() for name in SCORED}
        self._places: dict[int, tuple[int, int]] = {}
        for key, row, lengths in found:
            self._places[row] = len(self._passages), len(lengths or ())
            _take_in(self._passages, self._lengths, key, lengths or ())
        self.corpus = Corpus(self._passages, self._lengths, (self._postings,))

    def learn(self, terms: Iterable[str], held: Iterable[tuple[int, Mapping[str, str]]]) -> None:
        """Take in where entries hold some terms, whatever order the server gives them in: postings stand in order."""
        found = ((*self._places[row], places) for row, places in held if row in self._places)
        for one in sorted(found, key=itemgetter(0)):
            self._postings.add(*one)
        self.known.update(terms)

    def forget_some(self) -> None:
        """Let go of all terms where they are many."""
        if self._postings.size > _KEPT:
            self.known, self._postings = set(), HeldPostings()
            self.corpus = Corpus(self._passages, self._lengths, (self._postings,))


class HeldPostings:
    """Where some documents hold some terms."""

    def __init__(self) -> None:
        """Start without documents."""
        self._postings: dict[tuple[str, str], tuple[list[int], list[float]]] = {}
        self.size = 0

    def add(self, first: int, passages: int, held: Mapping[str, str]) -> None:
        """Take in a document by the number of its first passage, and how many it has."""
        for text, places in held.items():
            for number, name, times in places_in(places, passages):
                numbers, frequencies = self._postings.setdefault((name, text), ([], []))
                numbers.append(first + number)
                frequencies.append(times)
                self.size += 1

    def postings(self, field: str, term: str) -> list[Columns]:
        """Return the postings of one term."""
        return [self._postings[field, term]] if (field, term) in self._postings else []

    def lexicon(self, field: str, prefix: str) -> Iterable[str]:
        """Return the field's terms that start with the prefix."""
        return [text for name, text in self._postings if name == field and text.startswith(prefix)]


def corpus_of(held: Iterable[tuple[str, HeldTerms]], totals: Totals | None) -> Corpus:
    """Return documents in the order of their keys, and what is known of all of which they are a part."""
    postings, keys = HeldPostings(), list[str]()
    lengths: dict[str, list[int]] = {name: [] for name in SCORED}
    for key, one in held:
        postings.add(len(keys), len(one.lengths or ()), one.held)
        _take_in(keys, lengths, key, one.lengths or ())
    return Corpus(keys, lengths, (postings,), totals)


def _take_in(keys: list[str], lengths: Mapping[str, list[int]], key: str, passages: Lengths) -> None:
    keys += [key] * len(passages)
    for column, words in zip(lengths.values(), zip(*passages, strict=True), strict=True) if passages else ():
        column += words
