"""Measure how far the current invariants and decisions cover a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import log

from mdmem.ask.limits import FULL_COVERAGE, GENERAL_WORDS, PARTIAL_COVERAGE, PASSAGE
from mdmem.ask.question import Coverage
from mdmem.model.entry import Entry
from mdmem.store.index.analysis import ask
from mdmem.store.index.records import Match
from mdmem.store.index.snippet import finder

# The bodies of so many of the best matches are read.
_READ = 3


def weights_of(terms: Iterable[str], held: Iterable[frozenset[str]], total: int) -> dict[str, float]:
    """Return the rarity of each term among `total` entries, some of which hold some; a term that none holds is rarest.

    The rarity is log(1 + N / n), with n = 1/2 for a term that no entry holds. General words have none.
    """
    counts: Counter[str] = Counter()
    for some, times in Counter(held).items():
        counts.update(dict.fromkeys(some, times))
    general = ask(GENERAL_WORDS).terms
    return {term: 0.0 if term in general else log(1 + total / (counts[term] or 0.5)) for term in terms}


def coverage_of(
    weights: Mapping[str, float], matches: Iterable[tuple[Entry, Match]], body: Callable[[str], str]
) -> Coverage:
    """Return how far the best passage of one matching entry covers a question.

    Full is all of the weight, or half of it with the rarest word and a word of the title among it; partial is
    `PARTIAL_COVERAGE`. The title counts as part of each passage. The best scored of the entries are read.
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
    """Yield the terms that the title and each passage of an entry hold together."""
    yield title
    hits = finder(weights)(body)
    for first, (start, _, _) in enumerate(hits):
        terms = set(title)
        for at, _, held in hits[first:]:
            if at - start > PASSAGE:
                break
            terms |= held
        yield frozenset(terms)
