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


@dataclass(frozen=True, slots=True)
class Hold:
    """What of a question the best section of one entry holds: its share of the weight, how many terms, the rarest too."""

    share: float = 0.0
    terms: int = 0
    has_rarest: bool = False

    @property
    def coverage(self) -> Coverage:
        """Return full for half of the weight, the rarest term and one more among it."""
        if self.share >= FULL_SHARE and self.has_rarest and (self.terms > 1 or self.share == 1):
            return Coverage.FULL
        return Coverage.PARTIAL if self.share >= PARTIAL_SHARE else Coverage.NONE


def best_hold(weights: Mapping[str, float], texts: Iterable[Held], body: Callable[[str], str]) -> Hold:
    """Return what the best section of some texts holds; `body` is asked for a few that hold most."""

    def weight(terms: Iterable[str]) -> float:
        return sum(weights[term] for term in terms)

    best = frozenset[str]()
    for text in sorted(texts, key=lambda one: (-weight(one.terms), one.address))[:_READ]:
        if weight(text.terms) <= weight(best):
            break
        best = max(best, *_within_sections(text, body(text.address)), key=weight)
    if not best:
        return Hold()
    rarest = max(weights.values())
    share = 1.0 if len(best) == len(weights) else weight(best) / weight(weights)
    return Hold(share, len(best), any(weights[term] == rarest for term in best))


def _within_sections(text: Held, body: str) -> Iterator[frozenset[str]]:
    caption = text_terms(text.caption)
    for section in sections_of(body):
        yield text.terms & (caption | text_terms(f"{section.title}\n{section.text}"))
