"""How search ranks: `WEIGHTS`, `K1` and the corpus's `LENGTH_SHARE` are the knobs, `rank` orders documents by BM25F."""

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from heapq import nlargest
from itertools import chain, starmap
from operator import add
from typing import cast

from msgspec import Struct

from mdmem.entry.fields import Searched, searched_as
from mdmem.index.analysis import ask
from mdmem.index.corpus import Corpus, Gains, Weights
from mdmem.index.fields import PASSAGE_FIELDS, SCORED
from mdmem.index.postings import Columns, Weighed, held_by, table_of
from mdmem.index.protocol import NO_BAR, Bar, Holding, MatchColumns, Read, holds_one

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
# and KEPs 54 have their record among the first three (48), of the half that chose nothing 24 of 44 (21). A list that
# names one thing a thousand times decides nothing for the others.
MOST_TIMES = 25
# Postings, of a hundred bytes each.
_KEPT, _KEPT_TERMS = 50_000, 64

Frequencies = Callable[[Corpus, str], Sequence[Columns]]
"""How often a field of each live document holds what is asked for."""


@lru_cache(maxsize=256)
def term(text: str) -> Frequencies:
    """Return the frequencies of one term: the same for the same text, so that what was weighed is known again."""
    return lambda corpus, field: corpus.postings(field, text)


def weigh(
    corpus: Corpus, frequencies: Frequencies, *, fields: Sequence[str] = SCORED, few: frozenset[int] | None = None
) -> Weights:
    """Return tf(d, t) of each live document that holds the term in one of the fields.

    With `few`, those alone whose first passages have these numbers, among all that are counted.
    """
    if few is not None:
        return _weigh(corpus, frequencies, fields, few)
    key, known = (frequencies, fields), corpus.weighed
    if key in known:
        return known[key]
    found = _weigh(corpus, frequencies, fields)
    # One answer asks several times for the commonest words; a server must not hold on to all of its index for that.
    size = found.size
    if size <= _KEPT:
        if size + sum(one.size for one in known.values()) > _KEPT or len(known) >= _KEPT_TERMS:
            known.clear()
        known[key] = found
    return found


def _weigh(
    corpus: Corpus, frequencies: Frequencies, fields: Sequence[str], few: frozenset[int] | None = None
) -> Weights:
    passages = corpus.passages_of(few) if few is not None else frozenset[int]()
    stated: Mapping[int, float] = {}
    wholes: Mapping[int, float] = {}
    postings: list[tuple[str, Sequence[Columns]]] = []
    for field in fields:
        columns = frequencies(corpus, field)
        if not columns:
            continue
        postings.append((field, columns))
        is_part = field in PASSAGE_FIELDS
        weight, (flat, slope, lengths) = WEIGHTS[field], corpus.norm(field)
        weighed: Mapping[int, float]
        if few is None and (corpus.is_flat or not is_part):
            weighed = _weighed(columns, weight, flat, slope, lengths)
        else:
            held: Iterable[tuple[int, float]] = chain.from_iterable(starmap(zip, columns))
            held = held if few is None else held_by(passages if is_part else few, columns)
            held = _summed(held, corpus.firsts) if is_part and not corpus.is_flat else held
            weighed = {number: weight * frequency / (flat + slope * lengths[number]) for number, frequency in held}
        if is_part:
            wholes = _sum(wholes, weighed)
        else:
            stated = _sum(stated, weighed)
    # Whole numbers: their sum is the same in any order of the documents.
    times = sum(sum(counts) for _, columns in postings for _, counts in columns)
    count = len({*stated, *wholes}) if few is None else _count(corpus, postings)
    return Weights(stated, wholes, postings, count, times)


def _count(corpus: Corpus, postings: Sequence[tuple[str, Sequence[Columns]]]) -> int:
    """Return how many documents postings are of."""
    columns = [numbers for _, columns in postings for numbers, _ in columns]
    if corpus.is_flat and len(postings) < 2:
        # A field has each number once.
        return sum(map(len, columns))
    return len(set[int]().union(*(one if corpus.is_flat else map(corpus.firsts.__getitem__, one) for one in columns)))


def _weighed(
    columns: Sequence[Columns], weight: float, flat: float, slope: float, lengths: Mapping[int, int] | Sequence[int]
) -> Weighed:
    """Return how much documents weigh by how often each holds a term and how long it is: most are alike in both."""
    numbers, often = ([*chain.from_iterable(column)] for column in zip(*columns, strict=True))
    pairs = list(zip(often, map(lengths.__getitem__, numbers), strict=True))
    known = {(times, length): weight * times / (flat + slope * length) for times, length in set(pairs)}
    return Weighed(numbers, list(map(known.__getitem__, pairs)))


def _sum(one: Mapping[int, float], other: Mapping[int, float]) -> Mapping[int, float]:
    """Return what two hold together; thousands of numbers are in both, so that no step is Python's."""
    if not (one and other):
        return one or other
    few, many = sorted(map(table_of, (one, other)), key=len)
    both = few.keys() & many.keys()
    joined = list(map(add, map(few.__getitem__, both), map(many.__getitem__, both)))
    many.update(few)
    many.update(zip(both, joined, strict=True))
    return many


def _columns(
    held: Mapping[int, float], places: Mapping[int, int] | Sequence[int], rarity: float
) -> tuple[Sequence[int], Sequence[float]]:
    """Return the places of documents in order, and what a term of such rarity adds to each for what it weighs there."""
    ordered = held if isinstance(held, Weighed) else Weighed.of(held)
    gains = [rarity * weight / (K1 + weight) for weight in ordered.weights]
    # A number takes eight bytes here, and thirty in a list.
    found = ordered.numbers if isinstance(places, range) else map(places.__getitem__, ordered.numbers)
    return array("L", found), array("d", gains)


def _added(total: list[float], places: Sequence[int], gains: Sequence[float]) -> list[float]:
    """Return a total by place with what is gained at some places, which come in order."""
    if len(places) == len(total):
        return list(map(add, total, gains))
    for place, gain in zip(places, gains, strict=True):
        total[place] += gain
    return total


def _summed(held: Iterable[tuple[int, float]], firsts: Sequence[int]) -> Iterable[tuple[int, float]]:
    """Return how often documents hold what their passages do."""
    counts: dict[int, float] = {}
    for number, frequency in held:
        first = firsts[number]
        counts[first] = counts.get(first, 0.0) + frequency
    return counts.items()


class Scores:
    """The scores of documents, term by term: most by the whole, the rest by the best passage, the title in both.

    Passages are looked at of the best documents alone, which costs a fifth. Documents are counted by place, in lists:
    thousands may hold a term, and to look each up in a dictionary takes five times as long.
    """

    def __init__(self, corpus: Corpus, bar: Bar | None = None) -> None:
        """Start without a term; `bar` says whose passages are looked at, where that is known."""
        self._corpus, self._given = corpus, bar
        self.bar = bar or NO_BAR
        count = len(corpus.names)
        self._wholes, self._titles = [0.0] * count, [0.0] * count
        # Their postings alone: what thousands of documents weigh takes thirty times as much memory.
        self._terms: list[tuple[float, Sequence[tuple[str, Sequence[Columns]]]]] = []
        self.held: set[int] = set()

    def add(self, weights: Weights, boost: float = 1.0, text: str | None = None) -> Sequence[int]:
        """Take in a term, and return the documents that hold it; `text` is what others may hold of it, too."""
        totals, count = self._corpus.totals, weights.count
        held = max(count, totals.holders.get(text or "", 0)) if totals is not None else count
        rarity = boost * math.log1p((self._corpus.count - held + 0.5) / (held + 0.5))
        rarity *= math.sqrt(min(weights.times / max(count, 1), MOST_TIMES))
        self._terms.append((rarity, weights.postings))
        gains = self._gains(rarity, weights)
        if len(self.held) < len(self._wholes):
            self.held.update(gains.places)
        self._wholes = _added(self._wholes, gains.places, gains.wholes)
        self._titles = _added(self._titles, gains.stated_places, gains.stated)
        return gains.places

    def _gains(self, rarity: float, weights: Weights) -> Gains:
        found = weights.columns.get(rarity)
        if found is None:
            stated, wholes, places = weights.stated, weights.wholes, self._corpus.places
            of_stated = _columns(stated, places, rarity)
            # What only fields of the whole document hold weighs the same in both.
            of_both = _columns(_sum(wholes, stated), places, rarity) if wholes else of_stated
            found = weights.columns[rarity] = Gains(*of_both, *of_stated)
        return found

    def of(self, places: Sequence[int], among: Set[int] | None = None) -> list[float]:
        """Return the scores of documents by place; the passages of some are looked at, where not of all."""
        wholes, parts, of = self._wholes, self._titles.copy(), self._corpus.places
        looked_into = self._looked_into()
        starts = self._corpus.starts
        near = looked_into if among is None else looked_into & among
        best = self._best_passages(frozenset(map(starts.__getitem__, near)))
        for first, gain in best.items():
            parts[of[first]] += gain
        passage_share = 1.0 - WHOLE_SHARE
        return [WHOLE_SHARE * wholes[place] + passage_share * parts[place] for place in places]

    def _looked_into(self) -> Set[int]:
        """Return the best documents by their whole, equal ones by key."""
        held, wholes, names = self.held, self._wholes, self._corpus.names
        if self._given is not None:
            return {place for place in held if (-wholes[place], names[place] or "") <= self._given}
        if len(held) <= LOOKED_INTO:
            return held
        least = nlargest(LOOKED_INTO, map(wholes.__getitem__, held))[-1]
        best = sorted((-wholes[place], names[place] or "", place) for place in held if wholes[place] >= least)
        self.bar = best[LOOKED_INTO - 1][:2]
        return {place for _, _, place in best[:LOOKED_INTO]}

    def _best_passages(self, among: frozenset[int]) -> dict[int, float]:
        """Return what the best passage of each of these documents adds to its title."""
        firsts, near = self._corpus.firsts, self._corpus.passages_of(among)
        parts: Mapping[int, float] = {}
        for rarity, postings in self._terms:
            stated, weighed = self._weighed(postings, among, near)
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

    def _weighed(
        self, postings: Iterable[tuple[str, Sequence[Columns]]], documents: frozenset[int], passages: frozenset[int]
    ) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Return how much a term weighs in what is said of all of some documents, and in some passages."""
        stated: Mapping[int, float] = {}
        weighed: Mapping[int, float] = {}
        for field, columns in postings:
            weight = WEIGHTS[field]
            if field in PASSAGE_FIELDS:
                flat, slope, lengths = self._corpus.part_norm(field)
                held = held_by(passages, columns)
                weighed = _sum(weighed, {n: weight * often / (flat + slope * lengths[n]) for n, often in held})
            else:
                flat, slope, lengths = self._corpus.norm(field)
                held = held_by(documents, columns)
                stated = _sum(stated, {n: weight * often / (flat + slope * lengths[n]) for n, often in held})
        return stated, weighed


class Leaf(Struct, frozen=True, eq=False):
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


class Query(Struct, frozen=True):
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
    bar: Bar | None = None,
) -> MatchColumns:
    """Return the documents that answer a query, best first; those in `among` that hold enough.

    With the `bar` of another version of the corpus, no more than those are scored, which takes a tenth of the time.
    """
    # A bit for each term: adding up sets for each of thousands of documents would take longer than scoring them.
    bits = {text: 1 << position for position, text in enumerate(query.typed)}
    scored, names, few = Scores(corpus, bar), corpus.names, None
    if bar is not None and among is not None:
        few = frozenset(start for start, name in zip(corpus.starts, names, strict=True) if name in among)
    masks, of_all = [0] * len(names), 0
    for leaf in query.leaves:
        mask = sum(bits[text] for text in set(leaf.terms))
        places = scored.add(weigh(corpus, leaf.frequencies, fields=leaf.fields, few=few), leaf.boost, leaf.text)
        if len(places) == len(names):
            of_all |= mask
        else:
            for place in places:
                masks[place] |= mask
    held: set[int] = scored.held
    if not held and query.accept is None:
        # As of most names that another entry might call this one by.
        return MatchColumns(bar=scored.bar)
    if query.accept is not None:
        held = {corpus.places[number] for number in query.accept(corpus, read)}
    if few is not None:
        held = held.intersection(map(corpus.places.__getitem__, few))
    found = _by_name(corpus, held)
    # Thousands of matches share a few sets.
    texts = {mask: frozenset(text for text, bit in bits.items() if (mask | of_all) & bit) for mask in set(masks)}
    if holding:
        holders = {mask for mask, held_terms in texts.items() if holds_one(held_terms, holding)}
        found = [place for place in found if masks[place] in holders]
    if among is not None:
        found = [place for place in found if names[place] in among]
    scores = scored.of(found, set(found) if holding else None)
    # Equal scores stay by key.
    order = sorted(range(len(found)), key=scores.__getitem__, reverse=True)
    places = list(map(found.__getitem__, order))
    keys = cast("list[str]", list(map(names.__getitem__, places)))
    terms = map(texts.__getitem__, map(masks.__getitem__, places))
    return MatchColumns(keys, list(map(scores.__getitem__, order)), list(terms), bar=scored.bar)


def _by_name(corpus: Corpus, held: Set[int]) -> Sequence[int]:
    """Return the places of live documents by key."""
    names = corpus.names
    if 8 * len(held) <= len(names):
        return sorted((place for place in held if names[place] is not None), key=lambda place: names[place] or "")
    if len(held) >= len(corpus.in_order) and held >= corpus.alive:
        return corpus.in_order
    # Of many it takes less to pass over the others.
    return [place for place in corpus.in_order if place in held]
