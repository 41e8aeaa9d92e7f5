"""How search ranks: `WEIGHTS`, `LENGTH_SHARE` and `K1` are the knobs, `rank` puts documents in order by BM25F."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

from mdmem.entry.fields import Searched, searched_as
from mdmem.index.analysis import ask
from mdmem.index.postings import Columns
from mdmem.index.protocol import Match, Read
from mdmem.index.terms import PASSAGE_FIELDS, SCORED

# Round figures from a coarse grid, so as not to fit the corpora.
# Cranfield (title and abstract, 225 questions): nDCG@10 .412, Recall@10 .424.
# With a title that weighs 1 nDCG@10 is .392, with K1 at 1.2 .393, without stop words .398. No corpus here has tags.
# PEPs: MRR .920 where the title is the question, .911 where the first sentence of the abstract is.
WEIGHTS = {
    **dict.fromkeys(searched_as(Searched.TITLE), 5.0),
    "headings": 1.0,
    "identifiers": 0.5,
    **dict.fromkeys(searched_as(Searched.TAG), 2.0),
    "body": 1.0,
}
LENGTH_SHARE = {name: 0.75 if name in (*searched_as(Searched.TITLE), "body") else 0.5 for name in SCORED}
K1 = 1.2
WHOLE_SHARE = 0.5


class Postings(Protocol):
    """Which documents hold a term, by number."""

    def postings(self, field: str, term: str) -> Iterable[Columns]:
        """Return the numbers of the documents whose field holds the term, each with how often."""
        ...

    def lexicon(self, field: str, prefix: str) -> Iterable[str]:
        """Yield the field's terms that start with the prefix."""
        ...


@dataclass(frozen=True)
class Corpus:
    """The live passages by number; a number without a key is none, and its lengths are 0.

    The passages of a document follow one another; what is said of all of it stands with the first.
    """

    keys: Sequence[str | None]
    lengths: Mapping[str, Sequence[int]]
    sources: tuple[Postings, ...]

    @cached_property
    def firsts(self) -> Sequence[int]:
        """The number of the first passage of the document that each number belongs to."""
        found: list[int] = []
        first, last = 0, None
        for number, key in enumerate(self.keys):
            if key is None or key != last:
                first, last = number, key
            found.append(first)
        return found

    @cached_property
    def passages(self) -> int:
        """How many passages live."""
        return len(self.keys) - sum(key is None for key in self.keys)

    @cached_property
    def count(self) -> int:
        """How many documents live."""
        return len({key for key in self.keys if key is not None})

    @cached_property
    def whole_lengths(self) -> Mapping[str, Sequence[int]]:
        """The lengths of whole documents, by the number of their first passage."""
        return {name: self._summed(name) if name in PASSAGE_FIELDS else self.lengths[name] for name in SCORED}

    def _summed(self, name: str) -> list[int]:
        summed = [0] * len(self.keys)
        for first, length in zip(self.firsts, self.lengths[name], strict=True):
            summed[first] += length
        return summed

    @cached_property
    def slopes(self) -> dict[str, float]:
        """What one more word of a field of a document adds to the divisor of its frequencies."""
        # Whole numbers up to here: their sums are the same in any order of the documents.
        totals = {name: sum(self.lengths[name]) for name in SCORED}
        return {name: LENGTH_SHARE[name] * self.count / total if total else 0.0 for name, total in totals.items()}

    def postings(self, field: str, term: str) -> Iterator[tuple[int, float]]:
        """Yield number and frequency of the live passages that hold a term."""
        keys = self.keys
        for source in self.sources:
            for numbers, frequencies in source.postings(field, term):
                for number, frequency in zip(numbers, frequencies, strict=True):
                    if keys[number] is not None:
                        yield number, frequency


Frequencies = Callable[[Corpus, str], Iterable[tuple[int, float]]]
"""How often a field of each live document holds what is asked for."""


def term(text: str) -> Frequencies:
    """Return the frequencies of one term."""
    return lambda corpus, field: corpus.postings(field, text)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a term weighs: `stated` in the fields of a document, `parts` in each passage, `wholes` in all of them.

    Documents go by the number of their first passage.
    """

    stated: Mapping[int, float]
    parts: Mapping[int, float]
    wholes: Mapping[int, float]


def weigh(corpus: Corpus, frequencies: Frequencies, *, fields: Sequence[str] = SCORED) -> Weights:
    """Return tf(d, t) of each live document, and of each passage, that holds the term in one of the fields."""
    stated: dict[int, float] = {}
    parts: dict[int, float] = {}
    wholes: dict[int, float] = {}
    firsts = corpus.firsts
    for field in fields:
        flat, weight, lengths = 1.0 - LENGTH_SHARE[field], WEIGHTS[field], corpus.lengths[field]
        slope, all_lengths = corpus.slopes[field], corpus.whole_lengths[field]
        if field not in PASSAGE_FIELDS:
            for number, frequency in frequencies(corpus, field):
                stated[number] = stated.get(number, 0.0) + weight * frequency / (flat + slope * lengths[number])
            continue
        part_slope = slope * corpus.passages / corpus.count
        for number, frequency in frequencies(corpus, field):
            gain, first = weight * frequency, firsts[number]
            parts[number] = parts.get(number, 0.0) + gain / (flat + part_slope * lengths[number])
            wholes[first] = wholes.get(first, 0.0) + gain / (flat + slope * all_lengths[first])
    return Weights(stated, parts, wholes)


class Scores:
    """The scores of documents, term by term: half by the whole, half by the best passage, the title in both."""

    def __init__(self, corpus: Corpus) -> None:
        """Start without a term."""
        self._corpus = corpus
        self._shared: dict[int, float] = {}
        self._parts: dict[int, float] = {}

    def add(self, weights: Weights, boost: float = 1.0) -> Set[int]:
        """Take in a term, and return the documents that hold it."""
        stated, wholes = weights.stated, weights.wholes
        holding = stated.keys() | wholes.keys()
        held, shared, parts = len(holding), self._shared, self._parts
        rarity = boost * math.log1p((self._corpus.count - held + 0.5) / (held + 0.5))
        whole, part = rarity * WHOLE_SHARE, rarity * (1.0 - WHOLE_SHARE)
        for first in holding:
            title = stated.get(first, 0.0)
            both = title + wholes.get(first, 0.0)
            gain = whole * both / (K1 + both) + part * title / (K1 + title)
            shared[first] = shared.get(first, 0.0) + gain
        firsts = self._corpus.firsts
        for number, weight in weights.parts.items():
            # What the passage adds to the title, which counts for each.
            title = stated.get(firsts[number], 0.0)
            gain = (title + weight) / (K1 + title + weight) - title / (K1 + title)
            parts[number] = parts.get(number, 0.0) + part * gain
        return holding

    def result(self) -> dict[int, float]:
        """Return the score of each document."""
        best: dict[int, float] = {}
        firsts = self._corpus.firsts
        for number, gain in self._parts.items():
            first = firsts[number]
            if gain > best.get(first, 0.0):
                best[first] = gain
        return {first: score + best.get(first, 0.0) for first, score in self._shared.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One thing that is looked for in some fields; whoever holds it holds `terms` of the question."""

    frequencies: Frequencies
    terms: tuple[str, ...]
    fields: tuple[str, ...] = SCORED
    boost: float = 1.0


Accept = Callable[[Corpus, Read], Set[int]]
"""The numbers of the documents that a question in query syntax lets through."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: `wanted` are all terms that can matter, or none where that is not known beforehand."""

    leaves: tuple[Leaf, ...]
    typed: Mapping[str, str]
    wanted: frozenset[str] | None = None
    accept: Accept | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return not self.leaves and self.accept is None


def plain(question: str) -> Query:
    """Return what a question in plain words looks for: any of its words."""
    asked = ask(question)
    leaves = [Leaf(term(text), (text,)) for text in asked.terms]
    leaves += [Leaf(term(whole), tuple(held)) for whole, held in asked.wholes.items()]
    return Query(tuple(leaves), asked.typed, frozenset(asked.terms).union(asked.wholes))


def rank(query: Query, corpus: Corpus, read: Read, *, among: Set[str] | None = None) -> tuple[Match, ...]:
    """Return the documents that answer a query, best first."""
    # A bit for each term: adding up sets for each of thousands of documents would take longer than scoring them.
    bits = {text: 1 << position for position, text in enumerate(query.typed)}
    scored = Scores(corpus)
    held: dict[int, int] = {}
    for leaf in query.leaves:
        mask = sum(bits[text] for text in set(leaf.terms))
        for number in scored.add(weigh(corpus, leaf.frequencies, fields=leaf.fields), leaf.boost):
            held[number] = held.get(number, 0) | mask
    scores = scored.result()
    numbers = scores.keys() if query.accept is None else query.accept(corpus, read)

    # Thousands of matches share a few sets.
    @cache
    def texts(mask: int) -> frozenset[str]:
        return frozenset(text for text, bit in bits.items() if mask & bit)

    found = _keyed(corpus, numbers, among)
    ranked = sorted((-scores.get(number, 0.0), key, held.get(number, 0)) for number, key in found)
    return tuple(Match(key, 0.0 - negative, texts(mask)) for negative, key, mask in ranked)


def _keyed(corpus: Corpus, numbers: Set[int], among: Set[str] | None) -> Iterator[tuple[int, str]]:
    for number in numbers:
        key = corpus.keys[number]
        if key is not None and (among is None or key in among):
            yield number, key
