"""A question as leaves that are scored, and its answer from a corpus."""

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache

from mdmem.index.analysis import ask
from mdmem.index.protocol import Match, Read
from mdmem.index.scoring import Corpus, Frequencies, saturate, term, weigh
from mdmem.index.terms import SCORED


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


def matches(query: Query, corpus: Corpus, read: Read, *, among: Set[str] | None = None) -> tuple[Match, ...]:
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
