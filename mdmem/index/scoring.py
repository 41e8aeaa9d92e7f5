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
from mdmem.index.terms import SCORED

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
K1 = 2.5


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
    """The live documents by number; a number without a key is no live document, and its lengths are 0."""

    keys: Sequence[str | None]
    lengths: Mapping[str, Sequence[int]]
    sources: tuple[Postings, ...]

    @cached_property
    def count(self) -> int:
        """How many documents live."""
        return len(self.keys) - sum(key is None for key in self.keys)

    @cached_property
    def slopes(self) -> dict[str, float]:
        """What one more word of a field adds to the divisor of its frequencies."""
        # Whole numbers up to here: their sums are the same in any order of the documents.
        totals = {name: sum(self.lengths[name]) for name in SCORED}
        return {name: LENGTH_SHARE[name] * self.count / total if total else 0.0 for name, total in totals.items()}

    def postings(self, field: str, term: str) -> Iterator[tuple[int, float]]:
        """Yield number and frequency of the live documents that hold a term."""
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


def weigh(corpus: Corpus, frequencies: Frequencies, *, fields: Sequence[str] = SCORED) -> dict[int, float]:
    """Return tf(d, t) of each live document that holds the term in one of the fields."""
    weighed: dict[int, float] = {}
    for field in fields:
        flat, slope, lengths = 1.0 - LENGTH_SHARE[field], corpus.slopes[field], corpus.lengths[field]
        weight = WEIGHTS[field]
        for number, frequency in frequencies(corpus, field):
            weighed[number] = weighed.get(number, 0.0) + weight * frequency / (flat + slope * lengths[number])
    return weighed


def saturate(corpus: Corpus, weighed: Mapping[int, float]) -> Iterator[tuple[int, float]]:
    """Yield what one term adds to the score of each document that holds it."""
    held = len(weighed)
    rarity = math.log1p((corpus.count - held + 0.5) / (held + 0.5))
    for number, frequency in weighed.items():
        yield number, rarity * frequency / (K1 + frequency)


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
    scores: dict[int, float] = {}
    held: dict[int, int] = {}
    for leaf in query.leaves:
        mask = sum(bits[text] for text in set(leaf.terms))
        for number, gain in saturate(corpus, weigh(corpus, leaf.frequencies, fields=leaf.fields)):
            scores[number] = scores.get(number, 0.0) + leaf.boost * gain
            held[number] = held.get(number, 0) | mask
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
