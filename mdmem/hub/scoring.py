"""How the rows of a hub rank: BM25 of the title, of the whole text and of the best passage, as the index ranks files.

A row has its words counted by passage, which is all that a server without files can tell of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log

from msgspec import Struct

from mdmem.model.fields import Searched, searched_as
from mdmem.store.index.analysis import ask, positions_of
from mdmem.store.index.protocol import IndexDocument, Match
from mdmem.store.index.scores import stored_length

SCORED = ("title", "text")
"""The fields whose words are counted; the second has the whole entry."""

Terms = Mapping[str, Mapping[str, int]]
"""Field to term to how often one passage holds it; the title is of the first."""

Lengths = tuple[tuple[int, ...], ...]
Posting = tuple[int, int]
"""The number of a passage, and how often it holds a term."""

_PASSAGE = 80
_B, _K1, _DIGITS = 0.75, 1.2, 6


class Totals(Struct, frozen=True):
    """What is known of all entries where those alone are at hand that a question may find."""

    documents: int
    lengths: Sequence[int]
    holders: Mapping[str, int]


class Wanted(Struct, frozen=True):
    """What a question asks for: the word that was typed for each term, and what the holders of a term hold."""

    typed: Mapping[str, str]
    held: Mapping[str, tuple[str, ...]]


def wanted_in(question: str) -> Wanted:
    """Return what a question in plain words asks for."""
    asked = ask(question)
    return Wanted(asked.typed, {**{term: (term,) for term in asked.terms}, **asked.wholes})


def terms_of(document: IndexDocument) -> tuple[Terms, ...]:
    """Return what the passages of a document hold."""
    title = "\n".join(text for name in searched_as(Searched.TITLE) for text in document.fields.get(name, ()))
    tags = "\n".join(text for name in searched_as(Searched.TAG) for text in document.fields.get(name, ()))
    passages: list[dict[str, Counter[str]]] = [{"title": Counter(), "text": Counter()}]
    passages[0]["title"].update({term: len(places) for term, places in positions_of(title).items()})
    for term, places in positions_of(f"{title}\n{document.body}\n{tags}").items():
        for place in places:
            while len(passages) <= place // _PASSAGE:
                passages.append({"text": Counter()})
            passages[place // _PASSAGE]["text"][term] += 1
    return tuple(passages)


def lengths_of(terms: Terms) -> tuple[int, ...]:
    """Return how many words each field of a passage holds."""
    return tuple(sum(terms.get(name, {}).values()) for name in SCORED)


class Rows:
    """Some entries: how long they are, and where they hold the terms that were asked for."""

    def __init__(self, totals: Totals | None = None) -> None:
        """Start without entries."""
        self.keys: list[str] = []
        self._lengths: list[tuple[int, ...]] = []
        self._totals = totals
        self._postings: dict[tuple[str, str], dict[int, list[Posting]]] = defaultdict(dict)

    def add(self, key: str, passages: Lengths) -> int:
        """Take in an entry and return its number."""
        self.keys.append(key)
        sums = map(sum, zip(*passages, strict=True)) if passages else (0,) * len(SCORED)
        self._lengths.append(tuple(map(stored_length, sums)))
        return len(self.keys) - 1

    def hold(self, number: int, term: str, places: Iterable[tuple[int, str, int]]) -> None:
        """Note where an entry holds a term: passage, field and how often."""
        for passage, field, times in places:
            self._postings[field, term].setdefault(number, []).append((passage, times))

    def forget_terms(self) -> None:
        """Let go of all terms."""
        self._postings.clear()

    @property
    def size(self) -> int:
        """How many postings there are."""
        return sum(map(len, self._postings.values()))

    def rank(self, wanted: Wanted, among: Collection[str] | None = None) -> list[Match]:
        """Return the entries that hold any term, best first, equal ones by key."""
        scores: defaultdict[int, float] = defaultdict(float)
        passages: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
        terms: defaultdict[int, set[str]] = defaultdict(set)
        for term, held in wanted.held.items():
            for field in SCORED:
                postings, rarity = self._postings.get((field, term), {}), self._rarity(term)
                for number, found in postings.items():
                    scores[number] += rarity * self._whole(field, number, sum(times for _, times in found))
                    terms[number].update(held)
                    for passage, times in found if field == "text" else ():
                        passages[number][passage] += rarity * times * (_K1 + 1) / (times + _K1)
        found_all = (
            Match(
                self.keys[number],
                round(score + max(passages[number].values(), default=0.0), 6),
                frozenset(terms[number]),
            )
            for number, score in scores.items()
            if among is None or self.keys[number] in among
        )
        return sorted(found_all, key=lambda one: (-one.score, one.key))

    def _rarity(self, term: str) -> float:
        count = len(self._postings.get(("text", term), ()))
        if self._totals is None:
            return log(max(len(self.keys), 1) / (count + 1)) + 1
        return log(max(self._totals.documents, 1) / (max(count, self._totals.holders.get(term, 0)) + 1)) + 1

    def _whole(self, field: str, number: int, times: int) -> float:
        at = SCORED.index(field)
        if self._totals is None:
            mean = sum(lengths[at] for lengths in self._lengths) / len(self.keys)
        else:
            mean = self._totals.lengths[at] / max(self._totals.documents, 1)
        norm = 1 - _B + _B * self._lengths[number][at] / (mean or 1.0)
        return times * (_K1 + 1) / (times + _K1 * norm)
