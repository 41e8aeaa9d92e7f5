"""Full text over the hub's rows: the candidates that the server finds, and the search of a copy."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.hub.reader import HeldTerms, Reader, SeenRow, SeenWing
from mdmem.hub.rows import (
    LARGE,
    SAMPLES,
    Lengths,
    Rows,
    Totals,
    Wanted,
    lexeme,
    places_in,
    title_mark,
    wanted_in,
    wing_mark,
)
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

# More of them are compared with the row's own wing, which the intersection finds first.
_MARKED_WINGS = 32
EVERY_ROW = 1 << 30

# So many are counted; of what more hold, a sample tells it well enough for a logarithm.
_COUNTED, _MOST_COUNTED = 2_000, 4_000
# What a word adds to a score, as a share of its rarity: in a body of common length, and in a title.
_GAINS = (0.0, 0.33, 0.72)
# A title has so few of an entry's words.
_TITLE_SHARE = 0.03
_MOST_WORDS = 5
_EXPECTED = (500, 3_000)
_ENOUGH, _MOST = 100, 8_000
# Entries in which words that begin as one does are looked for, and such words.
_GROWN_IN, _GROWN = 200, 12


def any_of(lexemes: Iterable[str]) -> str:
    """Return the text of a `tsquery` that finds the rows which hold any of some lexemes."""
    return f"({' | '.join(map(lexeme, lexemes))})"


def all_of(parts: Iterable[str]) -> str:
    """Return the text of a `tsquery` that finds the rows which each of some finds."""
    return " & ".join(part for part in parts if part)


def holding(terms: Iterable[str], wings: Collection[int]) -> str:
    """Return the text of a `tsquery` for the rows of some wings that hold any of some terms, or more than fit."""
    return all_of((within(wings), any_of((*terms, LARGE))))


def within(wings: Collection[int] | None) -> str:
    """Return what of a `tsquery` narrows to a few wings; nothing where they are many, or all."""
    return any_of(map(wing_mark, sorted(wings))) if wings and len(wings) <= _MARKED_WINGS else ""


def candidates(reader: Reader, asked: str, wings: Collection[int] | None, *, most: int) -> set[int]:
    """Return the ids of rows that the text of a `tsquery` finds, whichever come first where there are more."""
    named = None if wings is None else sorted(wings)
    return {row[0] for row in reader.rows("SELECT candidate(%s::tsquery, %s::int[], %s)", asked, named, most)}


def holders(reader: Reader, terms: Sequence[str], wings: Collection[int] | None) -> dict[str, int]:
    """Return how many entries of some wings hold each term, of common ones about; None are all that are seen."""
    found, asked = dict.fromkeys(terms, 0), list(terms)
    for mark, share in SAMPLES.items():
        sampled = {term: all_of((lexeme(mark), lexeme(term))) for term in asked}
        counts = dict(_counted(reader, sampled, wings, is_of_sample=True))
        found |= {term: max(found[term], share * number) for term, number in counts.items()}
        asked = [term for term, number in counts.items() if number == _MOST_COUNTED]
        if not asked:
            break
    rare = {term: lexeme(term) for term, number in found.items() if number < _COUNTED}
    return found | dict(_counted(reader, rare, wings))


def _counted(
    reader: Reader,
    asked: Mapping[str, str],
    wings: Collection[int] | None,
    *,
    most: int = _MOST_COUNTED,
    is_of_sample: bool = False,
) -> list[tuple[str, int]]:
    if not asked:
        return []
    found = reader.rows(
        "SELECT place, (SELECT count(*) FROM candidate(one::tsquery, %s::int[], %s, %s))"
        " FROM unnest(%s::text[]) WITH ORDINALITY AS asked (one, place) ORDER BY place",
        *(None if wings is None else sorted(wings), min(most, EVERY_ROW), is_of_sample, list(asked.values())),
    )
    return [(term, count) for term, (_, count) in zip(asked, found, strict=True)]


def likely(
    reader: Reader, known: Mapping[str, int], wings: Collection[int] | None, *, documents: int, narrow: str = ""
) -> tuple[set[int], bool]:
    """Return the ids of the entries that may score best, and whether there are more that hold some of the terms.

    `known` says how many entries of the wings hold each term, `narrow` is the text of a `tsquery` that all must meet.
    """
    asked = levels(known, documents, share=_passing(reader, narrow, wings, documents))
    for number, level in enumerate(asked, start=1):
        found = candidates(reader, all_of((narrow, f"({level})")), wings, most=_MOST)
        if len(found) >= _ENOUGH or number == len(asked):
            return found, number < len(asked) or len(found) == _MOST
    return set(), False


def foremost(
    reader: Reader, known: Mapping[str, int], wings: Collection[int] | None, *, documents: int, narrow: str, most: int
) -> frozenset[int]:
    """Return the ids of entries that meet `narrow` and hold some of the terms: so many at least that may score best."""
    share, found = _passing(reader, narrow, wings, documents), set[int]()
    # One by one: without what was found before each is an easy question.
    for level in levels(known, documents, share=share, expected=(most, 4 * most)):
        found |= candidates(reader, all_of((narrow, f"({level})")), wings, most=most)
        if len(found) >= most:
            break
    return frozenset(found)


def _passing(reader: Reader, narrow: str, wings: Collection[int] | None, documents: int) -> float:
    """Return which share of the entries meets `narrow`."""
    if not narrow or not documents:
        return 1.0
    mark, one_of = next(iter(SAMPLES.items()))
    level = all_of((lexeme(mark), narrow))
    ((_, sampled),) = _counted(reader, {narrow: level}, wings, most=documents, is_of_sample=True)
    return one_of * sampled / documents


def levels(
    known: Mapping[str, int], documents: int, *, share: float = 1.0, expected: Sequence[int] = _EXPECTED
) -> list[str]:
    """Return the texts of a `tsquery` for the entries that may score best, for more of them, and for all.

    What an entry's score is about follows from which of the terms it holds, and which in its title; a level is all that
    reach a score which so many entries are expected to reach, of that share of them that meets the filters.
    """
    terms = sorted(known, key=lambda term: (known[term], term))[:_MOST_WORDS]
    if not terms:
        return []
    kinds = sorted(
        (
            _kind(places, [known[one] for one in terms], documents)
            for places in product(range(3), repeat=len(terms))
            if any(places)
        ),
        reverse=True,
    )
    found: list[str] = []
    for most in expected:
        so_far, taken = 0.0, list[tuple[int, ...]]()
        for _, number, places in kinds:
            if taken and share * (so_far + number) > most:
                break
            so_far += number
            taken.append(places)
        if len(taken) == len(kinds) and len(terms) == len(known):
            break
        found.append(_any_kind(terms, taken))
    return [*dict.fromkeys(found), " | ".join(map(lexeme, (*known, LARGE)))]


def _kind(places: tuple[int, ...], counts: Sequence[int], documents: int) -> tuple[float, float, tuple[int, ...]]:
    """Return what entries score that hold terms in such places, and how many such there may be."""
    score, number = 0.0, float(documents)
    for place, count in zip(places, counts, strict=True):
        share = min(1.0, count / documents) if documents else 0.0
        score += _GAINS[place] * math.log1p((documents - min(count, documents) + 0.5) / (count + 0.5))
        number *= (1.0 - share, share * (1.0 - _TITLE_SHARE), share * _TITLE_SHARE)[place]
    return score, number, places


def _any_kind(terms: Sequence[str], taken: Sequence[tuple[int, ...]]) -> str:
    least = list[tuple[int, ...]]()
    # Whatever is met by one that asks for less is met by one of these, which come first.
    for one in sorted(taken, key=sum):
        if not any(all(map(int.__le__, other, one)) for other in least):
            least.append(one)
    return " | ".join(f"({_held(terms, places)})" for places in sorted(least, key=taken.index))


def _held(terms: Sequence[str], places: Sequence[int]) -> str:
    held = zip(terms, places, strict=True)
    return all_of(lexeme(term if place == 1 else title_mark(term)) for term, place in held if place)


def terms_beginning(reader: Reader, begun: str, wings: Collection[int] | None, *, narrow: str = "") -> list[str]:
    """Return the terms that begin so in some entries of those that hold any, the commonest first."""
    ids = candidates(reader, all_of((narrow, f"{lexeme(begun)}:*")), wings, most=_GROWN_IN)
    return reader.terms_beginning(begun, ids, most=_GROWN) if ids else []


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
            ids = candidates(self._reader, holding(missing, self._wings), self._wings, most=EVERY_ROW)
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
