"""The score of a document for a question: BM25F over live documents.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), section 3.6: the frequency of a
term in each field is divided by the field's relative length, weighted, summed over the fields, and saturated once.

    tf(d, t)    = sum over fields f of  weight_f * frequency_f(d, t) / (1 - b_f + b_f * length_f(d) / mean length_f)
    idf(t)      = log(1 + (N - n(t) + 0.5) / (n(t) + 0.5))
    score(d, q) = sum over terms t of q of  idf(t) * tf(d, t) / (k1 + tf(d, t))

The 1 inside the logarithm keeps a term that most documents hold from counting against them.
Every sum runs in a fixed order, terms as in the question and fields as in `SCORED`: equal files and questions give
equal bits, whether frequencies come from the index, from documents beside it, or from a scan.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from mdmem.entry.fields import Searched, searched_as
from mdmem.index.postings import Columns
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
