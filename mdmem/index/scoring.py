"""How search ranks: `WEIGHTS`, `K1` and the corpus's `LENGTH_SHARE` are the knobs, `rank` orders documents by BM25F."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache, partial
from heapq import nlargest
from operator import add, itemgetter, or_
from typing import TypeVar

from mdmem.dataclass import dataclass
from mdmem.entry.fields import Searched, searched_as
from mdmem.index.analysis import ask
from mdmem.index.corpus import Corpus, Weights
from mdmem.index.fields import PASSAGE_FIELDS, SCORED
from mdmem.index.protocol import Holding, Match, Read, holds_one

# Round figures from a coarse grid, so as not to fit the corpora. K1 is of the field's range: at 2.0 Cranfield (titles
# and abstracts, 225 questions) has nDCG@10 .408, at 1.5 .405, at 1.2 .394; of 62 questions in other words over PEPs and
# KEPs 48 have their record among the first three, at 1.5 45. A title that weighs 1 loses .020. No corpus has tags.
# PEPs and KEPs, mean reciprocal rank of own titles, of first sentences, of 32 questions in other words, by the share of
# the whole document: .5: .985, .945, .724; .7: .981, .940, .773; 1: .967, .910, .759.
WEIGHTS = {
    **dict.fromkeys(searched_as(Searched.TITLE), 5.0),
    "headings": 1.0,
    "identifiers": 0.5,
    **dict.fromkeys(searched_as(Searched.TAG), 2.0),
    "body": 1.0,
}
K1 = 2.0
WHOLE_SHARE = 0.7
LOOKED_INTO = 100
# What names a subject comes again and again where it comes at all; words of talk (`stays`, `elsewhere`) come once, and
# their rarity misleads. So a term weighs by the root of how often a document that holds it holds it: Cranfield has
# nDCG@10 .420 by it (.408 without, .414 and .421 by the powers .25 and .75); of 88 questions in other words over PEPs
# and KEPs 55 have their record among the first three (48), of the half that chose nothing 24 of 44 (21). A list that
# names one thing a thousand times decides nothing for the others.
MOST_TIMES = 25
# Postings, of a hundred bytes each.
_KEPT, _KEPT_TERMS = 50_000, 64


_Number = TypeVar("_Number", int, float)

Frequencies = Callable[[Corpus, str], Sequence[tuple[int, float]]]
"""How often a field of each live document holds what is asked for."""


@lru_cache(maxsize=256)
def term(text: str) -> Frequencies:
    """Return the frequencies of one term: the same for the same text, so that what was weighed is known again."""
    return lambda corpus, field: corpus.postings(field, text)


def weigh(corpus: Corpus, frequencies: Frequencies, *, fields: Sequence[str] = SCORED) -> Weights:
    """Return tf(d, t) of each live document that holds the term in one of the fields."""
    key, known = (frequencies, fields), corpus.weighed
    if key in known:
        return known[key]
    found = _weigh(corpus, frequencies, fields)
    # One answer asks several times for the commonest words; a server must not hold on to all of its index for that.
    held = sum(len(held) for one in (found, *known.values()) for _, held in one.postings)
    if held > _KEPT or len(known) >= _KEPT_TERMS:
        known.clear()
    known[key] = found
    return found


def _weigh(corpus: Corpus, frequencies: Frequencies, fields: Sequence[str]) -> Weights:
    stated: dict[int, float] = {}
    wholes: dict[int, float] = {}
    postings: list[tuple[str, Mapping[int, float]]] = []
    times = 0.0
    for field in fields:
        held = frequencies(corpus, field)
        if not held:
            continue
        is_part = field in PASSAGE_FIELDS
        if is_part:
            postings.append((field, dict(held)))
            held = held if corpus.is_flat else _summed(held, corpus.firsts)
        # Whole numbers: their sum is the same in any order of the documents.
        times += sum(map(itemgetter(1), held))
        weight = WEIGHTS[field]
        flat, slope, lengths = corpus.norm(field)
        weighed = {number: weight * frequency / (flat + slope * lengths[number]) for number, frequency in held}
        if is_part:
            wholes = _sum(wholes, weighed)
        else:
            stated = _sum(stated, weighed)
    return Weights(stated, wholes, postings, times)


def _joined(
    one: dict[int, _Number], other: dict[int, _Number], how: Callable[[_Number, _Number], _Number]
) -> dict[int, _Number]:
    """Return what two hold, in one of them; thousands of numbers are in both, so that no step is Python's."""
    few, many = (one, other) if len(one) < len(other) else (other, one)
    both = few.keys() & many.keys()
    joined = list(map(how, map(few.__getitem__, both), map(many.__getitem__, both)))
    many.update(few)
    many.update(zip(both, joined, strict=True))
    return many


def _sum(one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    return _joined(one, other, add)


def _summed(held: Iterable[tuple[int, float]], firsts: Sequence[int]) -> Sequence[tuple[int, float]]:
    """Return how often documents hold what their passages do."""
    counts: dict[int, float] = {}
    for number, frequency in held:
        first = firsts[number]
        counts[first] = counts.get(first, 0.0) + frequency
    return list(counts.items())


class Scores:
    """The scores of documents, term by term: most by the whole, the rest by the best passage, the title in both.

    Passages are looked at of the best documents alone, which costs a fifth.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Start without a term."""
        self._corpus = corpus
        self._wholes: dict[int, float] = {}
        self._titles: dict[int, float] = {}
        self._terms: list[tuple[float, Weights]] = []

    def add(self, weights: Weights, boost: float = 1.0, text: str | None = None) -> Set[int]:
        """Take in a term, and return the documents that hold it; `text` is what others may hold of it, too."""
        stated, wholes, totals = weights.stated, weights.wholes, self._corpus.totals
        both = {first: weight + wholes.get(first, 0.0) for first, weight in stated.items()} if wholes else stated
        weighed = {**wholes, **both} if wholes and both else wholes or both
        held = max(len(weighed), totals.holders.get(text or "", 0)) if totals is not None else len(weighed)
        rarity = boost * math.log1p((self._corpus.count - held + 0.5) / (held + 0.5))
        rarity *= math.sqrt(min(weights.times / max(len(weighed), 1), MOST_TIMES))
        self._terms.append((rarity, weights))
        gains = {first: rarity * weight / (K1 + weight) for first, weight in weighed.items()}
        if weighed is stated:
            self._titles = _sum(self._titles, dict(gains))
        elif stated:
            titles = {first: rarity * weight / (K1 + weight) for first, weight in stated.items()}
            self._titles = _sum(self._titles, titles)
        self._wholes = _sum(self._wholes, gains)
        return weighed.keys()

    def result(self, among: Set[int] | None = None) -> dict[int, float]:
        """Return the score of each document, or of some."""
        wholes, titles = self._wholes, self._titles
        looked_into = self._looked_into()
        if among is not None:
            looked_into &= among
            wholes, titles = _in(among, wholes), _in(among, titles)
        parts = _sum(dict(titles), self._best_passages(looked_into))
        scores = {first: WHOLE_SHARE * score for first, score in wholes.items()}
        for first, score in parts.items():
            scores[first] += (1.0 - WHOLE_SHARE) * score
        return scores

    def _looked_into(self) -> frozenset[int]:
        """Return the best documents by their whole, equal ones by key."""
        wholes, keys = self._wholes, self._corpus.keys
        if len(wholes) <= LOOKED_INTO:
            return frozenset(wholes)
        least = nlargest(LOOKED_INTO, wholes.values())[-1]
        best = sorted((-score, keys[first] or "", first) for first, score in wholes.items() if score >= least)
        return frozenset(first for _, _, first in best[:LOOKED_INTO])

    def _best_passages(self, among: Set[int]) -> dict[int, float]:
        """Return what the best passage of each of these documents adds to its title."""
        firsts, parts, near = self._corpus.firsts, dict[int, float](), self._corpus.passages_of(among)
        for rarity, weights in self._terms:
            stated, weighed = weights.stated, self._weighed(weights, near)
            gains = {number: rarity * (weight / (K1 + weight)) for number, weight in weighed.items()}
            for number, weight in weighed.items() if stated else ():
                if title := stated.get(firsts[number]):
                    gains[number] = rarity * ((title + weight) / (K1 + title + weight) - title / (K1 + title))
            parts = _sum(parts, gains)
        best: dict[int, float] = {}
        for number, gain in parts.items():
            if gain > best.get(firsts[number], 0.0):
                best[firsts[number]] = gain
        return best

    def _weighed(self, weights: Weights, among: Set[int]) -> dict[int, float]:
        weighed = dict[int, float]()
        for field, held in weights.postings:
            weight, (flat, slope, lengths) = WEIGHTS[field], self._corpus.part_norm(field)
            # Of thousands of passages a few are near, which are told without a step of Python's.
            near = among & held.keys()
            weighed = _sum(
                weighed, {number: weight * held[number] / (flat + slope * lengths[number]) for number in near}
            )
        return weighed


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One thing that is looked for in some fields; whoever holds it holds `terms` of the question.

    `text` is the one term that it is, where it is one of plain words.
    """

    frequencies: Frequencies
    terms: tuple[str, ...]
    fields: tuple[str, ...] = SCORED
    boost: float = 1.0
    text: str | None = None


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
    leaves = [Leaf(term(text), (text,), text=text) for text in asked.terms]
    leaves += [Leaf(term(whole), tuple(held), text=whole) for whole, held in asked.wholes.items()]
    return Query(tuple(leaves), asked.typed, frozenset(asked.terms).union(asked.wholes))


def rank(
    query: Query,
    corpus: Corpus,
    read: Read,
    *,
    among: Set[str] | None = None,
    holding: Holding = (),
) -> tuple[Match, ...]:
    """Return the documents that answer a query, best first; those in `among` that hold enough."""
    # A bit for each term: adding up sets for each of thousands of documents would take longer than scoring them.
    bits = {text: 1 << position for position, text in enumerate(query.typed)}
    scored = Scores(corpus)
    held: dict[int, int] = {}
    for leaf in query.leaves:
        mask = sum(bits[text] for text in set(leaf.terms))
        numbers = scored.add(weigh(corpus, leaf.frequencies, fields=leaf.fields), leaf.boost, leaf.text)
        held = _joined(held, dict.fromkeys(numbers, mask), or_)
    if query.accept is not None:
        accepted = query.accept(corpus, read)
        held = {number: held.get(number, 0) for number in accepted}
    # Thousands of matches share a few sets.
    texts = {mask: frozenset(text for text, bit in bits.items() if mask & bit) for mask in set(held.values())}
    if holding:
        held = {n: mask for n, mask in held.items() if holds_one(texts[mask], holding)}
    keys = corpus.keys
    names = {n: key for n in held if (key := keys[n]) is not None and (among is None or key in among)}
    known = scored.result(names.keys() if holding else None)
    scores = {n: known.get(n, 0.0) for n in names} if query.accept is not None else known
    # Equal scores by key. Most numbers are in the order of their keys, and pairs would be compared one by one.
    found = sorted(sorted(names), key=names.__getitem__)
    found.sort(key=scores.__getitem__, reverse=True)
    columns = [names[n] for n in found], [scores[n] for n in found], [texts[held[n]] for n in found]
    return tuple(map(_match, zip(*columns, strict=True)))


# Without the function in Python that `NamedTuple` makes for it, in a third of the time.
_match: Callable[[tuple[object, ...]], Match] = partial(tuple.__new__, Match)


def _in(numbers: Set[int], known: Mapping[int, float]) -> dict[int, float]:
    return {number: known[number] for number in numbers & known.keys()}
