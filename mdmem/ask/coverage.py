"""Measure how far the current invariants and decisions cover a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import log

from mdmem.ask.limits import FULL_COVERAGE, GENERAL_WORDS, PARTIAL_COVERAGE, PASSAGE
from mdmem.ask.question import Coverage
from mdmem.model.entry import Entry
from mdmem.store.index import Match
from mdmem.store.index.analysis import ask, finder, normal

# Only the bodies of this many best matches are read.
_READ = 3


def weights_of(terms: Iterable[str], matched: Iterable[frozenset[str]], total: int) -> dict[str, float]:
    """Return a weight for each term; rare terms have a high weight.

    `total` is the number of entries, and `matched` has the terms that each matching entry contains. The weight is
    log(1 + N / n), with n = 1/2 for a term that no entry contains. General words have the weight 0.
    """
    counts: Counter[str] = Counter()
    for some, times in Counter(matched).items():
        counts.update(dict.fromkeys(some, times))
    general = ask(GENERAL_WORDS).terms
    return {term: 0.0 if term in general else log(1 + total / (counts[term] or 0.5)) for term in terms}


def coverage_of(
    weights: Mapping[str, float], matches: Iterable[tuple[Entry, Match]], body: Callable[[str], str]
) -> Coverage:
    """Return how well the best single passage of the best matches covers a question.

    A term counts if the passage or the title of its entry contains it. Coverage is full if all terms count, or terms
    with half of the total weight, among them the rarest term and a term of the title. Coverage is partial if the terms
    that count have the share `PARTIAL_COVERAGE` of the weight.
    """
    whole = sum(weights.values())
    if not whole:
        return Coverage.NONE
    rarest = {term for term, weight in weights.items() if weight == max(weights.values())}
    best = 0.0
    for entry, match in sorted(matches, key=lambda one: -one[1].score)[:_READ]:
        title = frozenset(ask(" ".join((entry.title, *entry.tags))).terms) & weights.keys()
        if _weight(weights, match.terms | title) < min(best, FULL_COVERAGE * whole):
            continue
        for terms in _passages(weights, title, body(entry.address)):
            weight = _weight(weights, terms)
            if weight >= whole or (weight >= FULL_COVERAGE * whole and title and terms & rarest):
                return Coverage.FULL
            best = max(best, weight)
    return Coverage.PARTIAL if best >= PARTIAL_COVERAGE * whole else Coverage.NONE


def _weight(weights: Mapping[str, float], terms: Iterable[str]) -> float:
    return sum(weights.get(term, 0.0) for term in terms)


def _passages(weights: Mapping[str, float], title: frozenset[str], body: str) -> Iterable[frozenset[str]]:
    """Yield the terms of the title, then for each passage of the body the terms of title and passage together."""
    yield title
    hits = finder(frozenset(weights))(normal(body))
    for first, (start, _, _) in enumerate(hits):
        terms = set(title)
        for later in range(first, len(hits)):
            at, _, contained = hits[later]
            if at - start > PASSAGE:
                break
            terms |= contained
        yield frozenset(terms)
