"""How much of a question each entry holds: what matches best, what more than touches it, how rare its words are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import nlargest
from math import fsum, log

from mdmem.dataclass import dataclass
from mdmem.entry.model import Entry, EntryType
from mdmem.retrieval.order import in_any_order, in_order
from mdmem.retrieval.pack import CITED, Mention
from mdmem.retrieval.ranks import Ranked, Retrieval, Retrieved

# The best matches by score that come before all authority but that of invariants (the figures stand in
# tests/bench/bench_packs.py: filled by type alone, packs lost 70 of 732 records asked for by their own title).
_BEST = 10
_NEXT = 3
# Where little of a question's weight is held, or the best is far better, a line is enough.
_TOUCHES, _FAR = 0.34, 0.5
# Where the second is nearly as good as the best, it needs the room, too.
_NEARLY = 0.85
# Of 48 questions over PEPs and KEPs, what governs and is not the best has .72 of its score or more.
NEAR = 0.66


@dataclass(frozen=True)
class Relevance:
    """The items of a retrieval as one question holds them together; in little room notes come last among the best."""

    found: Retrieval
    is_pressed: bool
    beneath: Callable[[Retrieved], Iterable[Mention]] = lambda _item: ()

    @cached_property
    def standing(self) -> list[Ranked]:
        """Return the invariants that always stand."""
        ranks, invariant = self.found.ranks, EntryType.INVARIANT
        found = [item for item in in_any_order(ranks) if item.entry.type is invariant and always_stands(item)]
        return in_order(ranks, found)

    @cached_property
    def bystanders(self) -> frozenset[str]:
        """Return the invariants that stand though nothing of the question touches them, where these are only named."""
        if not self.found.names_bystanders:
            return frozenset()
        ranks = in_any_order(self.found.ranks)
        matching = {item.entry.address for item in ranks if item.score > 0 and not self.is_touched(item)}
        touched = matching.union(*(self.against.get(one, ()) for one in matching))
        return frozenset(item.entry.address for item in self.standing) - touched

    @cached_property
    def against(self) -> dict[str, list[str]]:
        """Return what is said to contradict each entry."""
        found: dict[str, list[str]] = {}
        for one in filter(lambda one: one.is_declared, self.found.basis.conflicts):
            found.setdefault(one.a, []).append(one.b)
            found.setdefault(one.b, []).append(one.a)
        return found

    def is_ruled(self, entry: Entry) -> bool:
        """Say whether a line says what an entry rules: its title need not, and two that differ tell nobody."""
        return entry.type is EntryType.INVARIANT or entry.address in self._disputed

    @cached_property
    def _disputed(self) -> frozenset[str]:
        """Return what matches and contradicts something else that matches."""
        if not self.against:
            return frozenset()
        matching = {item.entry.address for item in in_any_order(self.found.ranks) if item.score > 0}
        return frozenset(one for one in matching if not matching.isdisjoint(self.against.get(one, ())))

    @cached_property
    def others(self) -> list[Ranked]:
        """Return everything but the invariants that always stand, in the order of authority, what ended last."""
        return list(self.iter_others())

    def iter_others(self) -> Iterator[Ranked]:
        """Yield the same, of which mostly a few are asked for: thousands may match."""
        for is_binding in (True, False):
            for item in self.found.ranks:
                if (item.current and not item.is_proposal) is is_binding and not always_stands(item):
                    yield item

    @cached_property
    def _matches(self) -> list[Ranked]:
        """Return what matches and is in force but for the invariants that always stand, in any order."""
        standing, invariant = set(map(id, self.standing)), EntryType.INVARIANT
        ranks = in_any_order(self.found.ranks)
        found = [item for item in ranks if item.score > 0 and item.current and not item.is_proposal]
        return [item for item in found if item.entry.type is not invariant or id(item) not in standing]

    @cached_property
    def best(self) -> list[Ranked]:
        """Return the best matches by score, of any type that is in force."""
        best = _best_of(self.found.ranks, self._matches, _BEST)
        if self.is_pressed and not self.found.is_brief:
            best.sort(key=lambda item: item.entry.type is EntryType.NOTE)
        return best

    def is_best(self, entry: Entry) -> bool:
        """Say whether an entry is the best match."""
        return any(one.entry is entry for one in self.best[:1])

    @cached_property
    def first(self) -> list[Ranked]:
        """Return the best match in a list, where more than a line of it is worth its room.

        Under pressure nothing is a mere line.
        """
        if self.is_elsewhere:
            return []
        is_line = self.found.is_brief or not self.is_pressed
        told = [item for item in self.best[:1] if not (is_line and self.is_touched(item))]
        return [item for item in told if not self.found.is_brief or self._holds_enough(item)]

    @cached_property
    def nearest(self) -> list[Ranked]:
        """Return the best match in a list, where a part of it is worth its room: a title alone would be asked about.

        In a short answer that is more than one word of the question.
        """
        is_worth = self.found.is_brief and not self.is_elsewhere
        return self.first or [item for item in self.best[:1] if is_worth and len(item.terms) > 1]

    @cached_property
    def next_best(self) -> list[Ranked]:
        """Return the best matches that have room before the others have a line, what speaks of the best before others."""
        told = [] if self.is_elsewhere else (*self.best[:1], *self.succeeding, *self.best)
        return list({id(item): item for item in told}.values())[:_NEXT]

    @cached_property
    def succeeding(self) -> list[Ranked]:
        """Return those of the best matches that are newer than the best and cite it: they may say what holds now."""
        named = {one.address for item in self.best[:1] for one in self.beneath(item.described) if one.how == CITED}
        return [item for item in self.best if item.entry.address in named]

    @cached_property
    def is_elsewhere(self) -> bool:
        """Say whether the answer lies in a wing that was not read: what only comes near is a line then."""
        return bool(self.found.basis.unread) and not self.found.basis.covered

    @cached_property
    def on_path(self) -> list[Ranked]:
        """Return what covers a path, by authority and then by score."""
        ranks = self.found.ranks
        found = [item for item in in_any_order(ranks) if item.on_path and item.current and not item.is_proposal]
        on_path = [item for item in in_order(ranks, found) if not always_stands(item)]
        return sorted(on_path, key=lambda item: (item.entry.type.rank, -item.score))

    @cached_property
    def shaping(self) -> list[Ranked]:
        """Return what is given whole while it fits: the best match, then the decisions that match best."""
        if not self.found.terms:
            return [item for item in self.others if item.entry.type is EntryType.DECISION and item.current]
        if not self.is_pressed:
            return self.first
        decisions = [item for item in self.best if item.entry.type is EntryType.DECISION and self.counts(item)]
        return [*self.first, *decisions]

    def counts(self, item: Ranked) -> bool:
        """Say whether an item is more than touched by the question; without one each is."""
        if item.on_path or not self.found.terms:
            return True
        if self.is_elsewhere or item.score < _FAR * self.top:
            return False
        if self.found.is_brief and (
            self.is_touched(item) or item not in self._rivals or item.score < _NEARLY * self.top
        ):
            return False
        return self._holds_enough(item)

    def _holds_enough(self, item: Ranked) -> bool:
        """Say whether an item holds a third of the question.

        In a short answer words that no entry holds count as the rarest, unless it holds half of all words.
        """
        unheld = len(self.found.terms) - len(self.weights) if self.found.is_brief and not item.matches else 0
        beside = unheld * log(1 + 2 * len(self.found.items))
        return self._weight_of(item.terms) >= _TOUCHES * (self._whole + beside)

    def is_far(self, item: Ranked) -> bool:
        """Say whether an item is no title worth reading in a short answer: the best is far better."""
        return self.found.is_brief and bool(self.found.terms) and item.score <= NEAR * self.top

    def grade(self, item: Ranked) -> Hashable:
        """Return what is the same for items that count or do not alike; in a short answer each is by itself."""
        if self.found.is_brief:
            return id(item)
        return item.on_path, item.score < _FAR * self.top, item.terms

    def is_touched(self, item: Ranked) -> bool:
        """Say whether an item holds one common word of the question alone: a line is enough."""
        return not item.on_path and len(item.terms) == 1 and item.terms <= self.found.common

    @cached_property
    def _rivals(self) -> list[Ranked]:
        """Return the two that match best, of what is only proposed, too."""
        ranks = self.found.ranks
        others = [item for item in in_any_order(ranks) if not always_stands(item)]
        in_force = [item for item in others if item.current and not item.is_proposal]
        ended = [item for item in others if item.is_proposal or not item.current]
        best = (*_best_of(ranks, in_force, 2), *_best_of(ranks, ended, 2), *self.found.proposed_ranks)
        return nlargest(2, best, key=lambda item: item.score)

    @property
    def is_contested(self) -> bool:
        """Say whether the second best match is nearly as good as the best."""
        return self._is_near(1)

    @property
    def is_open(self) -> bool:
        """Say whether the third is, too: which of them answers is then for the reader to see."""
        return self._is_near(_NEXT - 1)

    def _is_near(self, at: int) -> bool:
        return len(self.best) > at and self.best[at].score >= _NEARLY * self.top

    @cached_property
    def top(self) -> float:
        """Return the score of the best match."""
        return max((item.score for item in self.best), default=0.0)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Return what each term of the question weighs: the rarer, the more."""
        # Thousands of items share a few sets.
        held = Counter[str]()
        for terms, times in Counter([item.terms for item in in_any_order(self.found.ranks)]).items():
            held.update(dict.fromkeys(terms, times))
        return {term: log(1 + len(self.found.items) / held[term]) for term in self.found.terms if held[term]}

    def _weight_of(self, terms: frozenset[str]) -> float:
        if terms not in self._weighed:
            self._weighed[terms] = fsum(self.weights.get(term, 0.0) for term in terms)
        return self._weighed[terms]

    @cached_property
    def _whole(self) -> float:
        return fsum(self.weights.values())

    @cached_property
    def _weighed(self) -> dict[frozenset[str], float]:
        return {}


def _best_of(ranks: Sequence[Ranked], items: Sequence[Ranked], count: int) -> list[Ranked]:
    """Return the best of some ranked items by score, of equal ones the first."""
    least = min(nlargest(count, [item.score for item in items]), default=0.0)
    found = in_order(ranks, [item for item in items if item.score >= least])
    return nlargest(count, found, key=lambda item: item.score)


def always_stands(item: Ranked) -> bool:
    """Say whether an item is given whole whatever the budget: an invariant in force that the work at hand may meet."""
    is_binding = item.entry.type is EntryType.INVARIANT and item.current and not item.is_proposal
    return is_binding and not item.lies_aside
