"""How far something binding answers a question: the words weighed by their rarity, within one section of one entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from mdmem.entry.sections import sections_of
from mdmem.index.analysis import text_terms
from mdmem.retrieval.question import Coverage

# Measured by tests/bench/covering_share.py, which has the table.
FULL_SHARE = 0.5
PARTIAL_SHARE = 0.15
# To see what stands within one section a body has to be read: no more than a few are.
_READ = 6


@dataclass(frozen=True, slots=True)
class Held:
    """One text that may answer: what it is called by, and those of the question's terms that it holds anywhere."""

    address: str
    caption: str
    terms: frozenset[str]


def weights_of(terms: Sequence[str], held: Iterable[frozenset[str]], total: int) -> dict[str, float]:
    """Return how much each term of a question weighs among so many entries; one that none holds is the rarest."""
    counts = dict.fromkeys(terms, 0)
    for one in held:
        for term in one & counts.keys():
            counts[term] += 1
    return {term: log(1 + total / (count or 0.5)) for term, count in counts.items()}


def coverage_of(weights: Mapping[str, float], texts: Iterable[Held], body: Callable[[str], str]) -> Coverage:
    """Return how far the best of some texts covers weighed terms.

    Full is half of the weight within one section, the rarest term and one more among it; `body` is asked for the texts
    that hold most, a few of them.
    """

    def weight(terms: Iterable[str]) -> float:
        return sum(weights[term] for term in terms)

    whole = weight(weights)
    best = frozenset[str]()
    ordered = sorted(texts, key=lambda text: (-weight(text.terms), text.address))
    for text in ordered[:_READ]:
        if weight(text.terms) <= weight(best):
            break
        best = max(best, *_within_sections(text, body(text.address)), key=weight)
    if not best:
        return Coverage.NONE
    rarest = max(weights.values())
    has_rarest = any(weights[term] == rarest for term in best)
    if weight(best) >= FULL_SHARE * whole and has_rarest and len(best) >= min(2, len(weights)):
        return Coverage.FULL
    return Coverage.PARTIAL if weight(best) >= PARTIAL_SHARE * whole else Coverage.NONE


def _within_sections(text: Held, body: str) -> Iterator[frozenset[str]]:
    caption = text_terms(text.caption)
    for section in sections_of(body):
        yield text.terms & (caption | text_terms(f"{section.title}\n{section.text}"))
