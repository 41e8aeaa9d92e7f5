"""Which contradictions a change brings, and which it ends."""

from __future__ import annotations

from mdmem.retrieval.retrieve import conflicts_among
from mdmem.review.comparison import Comparison, Side
from mdmem.review.model import Contradiction


def contradictions(comparison: Comparison) -> tuple[Contradiction, ...]:
    """Return the pairs that contradict each other and did not before, then those that do no more, by authority."""
    moved = comparison.moved
    told = _all(comparison.before, comparison.bound)
    before = {tuple(sorted((moved(a), moved(b)))): (a, b, why) for a, b, why in told}
    after = {tuple(sorted((a, b))): (a, b, why) for a, b, why in _all(comparison.after, comparison.binds)}
    new = [_told(comparison.after, *after[ends], is_new=True) for ends in after.keys() - before.keys()]
    old = [_told(comparison.before, *before[ends], is_new=False) for ends in before.keys() - after.keys()]
    return tuple(sorted([*new, *old], key=lambda one: (not one.is_new, one.first.rank, one.second.rank)))


def _all(side: Side, binding: frozenset[str]) -> list[tuple[str, str, str]]:
    entries = side.catalog.entries
    chosen = {address: entries[address] for address in entries if address in binding}
    return [(one.a, one.b, one.why) for one in conflicts_among(side.catalog, chosen)]


def _told(side: Side, a: str, b: str, why: str, *, is_new: bool) -> Contradiction:
    first, second = sorted((side.ref(a), side.ref(b)), key=lambda ref: ref.rank)
    return Contradiction(first, second, why, is_new)
