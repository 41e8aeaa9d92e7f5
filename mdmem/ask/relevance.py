"""How much of a question each entry holds: what matches best, what more than touches it, how rare its words are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from heapq import nlargest
from math import fsum, log

from msgspec import Struct

from mdmem.ask.kinds import RankGroup, RankKind, Ranks, kind_of
from mdmem.ask.pack import CITED, Mention
from mdmem.ask.ranks import Ranked, Retrieval, Retrieved
from mdmem.model.entry import Entry, EntryType

# The best matches by score that come before all authority but that of invariants (the figures stand in
# tests/bench/bench_packs.py: filled by type alone, packs lost 70 of 732 records asked for by their own title).
_BEST = 10
_NEXT = 3
# What is newer than the best match and cites it counts for so much more among the next best.
_CITING = 1.25
# Where little of a question's weight is held, or the best is far better, a line is enough.
_TOUCHES, _FAR = 0.34, 0.5
# Where the second is nearly as good as the best, it needs the room, too.
_NEARLY = 0.85
# Of 48 questions over PEPs and KEPs the governing records that were listed by hand have .72 of the best score or more.
NEAR = 0.66


class Relevance(Struct, frozen=True, dict=True):
    """The items of a retrieval as one question holds them together; in little room notes come last among the best."""

    found: Retrieval
    is_pressed: bool
    beneath: Callable[[Retrieved], Iterable[Mention]] = lambda _item: ()

    @cached_property
    def standing(self) -> list[Ranked]:
        """Return the invariants that always stand."""
        return list(self.found.ranks.where(lambda kind: kind.always_stands))

    @cached_property
    def bystanders(self) -> frozenset[str]:
        """Return the invariants that stand though nothing of the question touches them, where these are only named."""
        if not self.found.names_bystanders:
            return frozenset()
        matching = set(filter(self._is_matching, (*(item.entry.address for item in self.standing), *self.against)))
        touched = matching.union(*(self.against.get(one, ()) for one in matching))
        return frozenset(item.entry.address for item in self.standing) - touched

    def _is_matching(self, address: str) -> bool:
        item = self.found.ranks.find(address)
        return item is not None and item.score > 0 and not self.is_touched(item)

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
        found = map(self.found.ranks.find, self.against)
        matching = {item.entry.address for item in found if item is not None and item.score > 0}
        return frozenset(one for one in matching if not matching.isdisjoint(self.against[one]))

    def others(self, addresses: Iterable[str] | None = None) -> Iterator[Ranked]:
        """Yield everything but the invariants that always stand, in the order of authority, what ended last, or some.

        Of all of it mostly a few are asked for: thousands may match.
        """
        for part in self._others:
            if addresses is None:
                yield from part
            else:
                found = map(part.find, addresses)
                yield from part.in_order(item for item in found if item is not None)

    def others_while(self, lines_fit: Callable[[], bool], known: Iterable[str]) -> Iterator[Ranked]:
        """Yield the others in their order, but of thousands none that could only have a line that finds no room.

        What is `known` by its address may be said to be.
        """
        also, tried = {*self.against, *known}, set[str]()
        for item in self._worth_a_line(also):
            if not lines_fit():
                break
            tried.add(item.entry.address)
            yield item
        else:
            return
        also.update(one.entry.address for one in self._rivals if self.found.is_brief)
        for item in self._some(lambda group: 0 if self.found.is_brief else self._counting(group), also):
            if item.entry.address not in tried:
                yield item
                if lines_fit():
                    # It had a line, and has more now.
                    rest = self._worth_a_line(also)
                    if any(one is item for one in rest):
                        yield from rest
                    return

    def _worth_a_line(self, also: Set[str]) -> Iterator[Ranked]:
        if not self.found.is_brief:
            return self.others()
        return self._some(lambda group: group.reaching(NEAR * self.top), also)

    def _counting(self, group: RankGroup) -> int:
        """Return how many of a group may count."""
        if group.kind.lies_aside or self.is_elsewhere or not self._holds_enough(group.kind):
            return 0
        return group.reaching(_FAR * self.top)

    def _some(self, near: Callable[[RankGroup], int], also: Set[str]) -> Iterator[Ranked]:
        """Yield, of all others in their order, so many of each group, what is on a path, and some by address."""

        def places(group: RankGroup) -> list[int]:
            is_whole = group.kind.on_path or not self.found.terms
            first = range(len(group.scores) if is_whole else near(group))
            return sorted({*first, *map(group.places.__getitem__, also & group.places.keys())})

        for part in self._others:
            yield from part.some(places)

    def with_opponents(self, items: Iterable[Ranked]) -> Iterator[Ranked]:
        """Yield items, each with what is said to contradict it right behind it."""
        others = self.others(self.against)
        by_address = {item.entry.address: item for item in others if item.current}
        for item in items:
            yield item
            against = self.against.get(item.entry.address, ())
            yield from (by_address[one] for one in against if one in by_address)

    @cached_property
    def _others(self) -> tuple[Ranks[Ranked], Ranks[Ranked]]:
        others = self.found.ranks.where(lambda kind: not kind.always_stands)
        return others.where(lambda kind: kind.binds), others.where(lambda kind: not kind.binds)

    @cached_property
    def best(self) -> list[Ranked]:
        """Return the best matches by score, of any type that is in force."""
        best = self._others[0].best(_BEST)
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
        told = [item for item in self.best[:1] if not item.lies_aside and not (is_line and self.is_touched(item))]
        return [item for item in told if not self.found.is_brief or self._holds_enough(item)]

    @cached_property
    def nearest(self) -> list[Ranked]:
        """Return the best match in a list, where a part of it is worth its room: a title alone would be asked about.

        In a short answer that is more than one word of the question, and of what applies to other files enough of it.
        """
        is_worth = self.found.is_brief and not self.is_elsewhere
        held = [item for item in self.best[:1] if is_worth and len(item.terms) > 1]
        return self.first or [item for item in held if not item.lies_aside or self._holds_enough(item)]

    @cached_property
    def next_best(self) -> list[Ranked]:
        """Return the best matches that have room before the others have a line.

        What is newer than the best and cites it may say what holds now: it counts for more than its words.
        """
        if self.is_elsewhere:
            return []
        first, rest = self.best[:1], self.best[1:]
        rest.sort(key=lambda item: item.score * (_CITING if item in self.succeeding else 1.0), reverse=True)
        return [*first, *rest[: _NEXT - 1]]

    @property
    def near(self) -> list[Ranked]:
        """Return the best matches but for those that are far from the best: these have a line where room is left."""
        return [item for item in self.best if not self.is_far(item)]

    @cached_property
    def succeeding(self) -> list[Ranked]:
        """Return those of the best matches that are newer than the best and cite it."""
        named = {one.address for item in self.best[:1] for one in self.beneath(item.described) if one.how == CITED}
        return [item for item in self.best if item.entry.address in named]

    def rivals(self, item: Ranked) -> bool:
        """Say whether an item matches as well as one of the best few that are in force."""
        return item.score >= min((one.score for one in self.best[:_NEXT]), default=0.0)

    @cached_property
    def is_elsewhere(self) -> bool:
        """Say whether the answer lies in a wing that was not read: what only comes near is a line then."""
        return bool(self.found.basis.unread) and not self.found.basis.covered

    @cached_property
    def on_path(self) -> list[Ranked]:
        """Return what covers a path, by authority and then by score."""
        on_path = self._others[0].where(lambda kind: kind.on_path)
        return sorted(on_path, key=lambda item: (item.entry.type.rank, -item.score))

    @cached_property
    def applying(self) -> list[Ranked]:
        """Return what covers a path, then the invariants that would stand if they were not merely proposed."""
        rules = self._others[1].where(lambda kind: kind.would_stand)
        return [*self.on_path, *(() if self.found.names_bystanders else rules)]

    @cached_property
    def shaping(self) -> list[Ranked]:
        """Return what is given whole while it fits: the best match, then the decisions that match best."""
        if not self.found.terms:
            return [item for item in self.others() if item.entry.type is EntryType.DECISION and item.current]
        if not self.is_pressed:
            return self.first
        decisions = [item for item in self.best if item.entry.type is EntryType.DECISION and self.counts(item)]
        return [*self.first, *decisions]

    def counts(self, item: Ranked) -> bool:
        """Say whether an item is more than touched by the question; without one each is."""
        if item.on_path or not self.found.terms:
            return True
        if item.lies_aside or self.is_elsewhere or item.score < _FAR * self.top:
            return False
        if self.found.is_brief and (
            self.is_touched(item) or item not in self._rivals or item.score < _NEARLY * self.top
        ):
            return False
        return self._holds_enough(item)

    def rises(self, draft: Ranked) -> bool:
        """Say whether a draft counts, or, in a short answer, one of other files does as the best in force would."""
        is_near = self.found.is_brief and draft.lies_aside and not self.is_elsewhere and len(draft.terms) > 1
        return self.counts(draft) or (is_near and self.rivals(draft) and self._holds_enough(draft))

    def _holds_enough(self, item: Ranked | RankKind) -> bool:
        """Say whether an item holds a third of the question.

        In a short answer words that no entry holds count as the rarest, unless it holds half of all words.
        """
        unheld = len(self.found.terms) - len(self.weights) if self.found.is_brief and not item.matches else 0
        beside = unheld * log(1 + 2 * len(self.found.items))
        return self._weight_of(item.terms) >= _TOUCHES * (self._whole + beside)

    def is_far(self, item: Ranked) -> bool:
        """Say whether an item is no title worth reading: the best is far better; in a short answer sooner."""
        if self.found.is_brief:
            return bool(self.found.terms) and item.score <= NEAR * self.top
        # What holds no word bears on something that does.
        return not item.on_path and 0 < item.score < _FAR * self.top

    def alike(self, group: RankGroup) -> Iterator[Sequence[int]]:
        """Yield the places in a group of those that count or do not alike."""
        size, near = len(group.scores), group.reaching(_FAR * self.top)
        # In a short answer each rival is by itself, and no other counts.
        rivals = {one.entry.address for one in self._rivals} if self.found.is_brief else frozenset[str]()
        apart = [place for place in range(near) if group.addresses[place] in rivals] if rivals else []
        yield from ([place] for place in apart)
        yield [place for place in range(near) if place not in apart] if apart else range(near)
        yield range(near, size)

    def is_touched(self, item: Ranked) -> bool:
        """Say whether an item holds one common word of the question alone: a line is enough."""
        return not item.on_path and len(item.terms) == 1 and item.terms <= self.found.common

    @cached_property
    def _rivals(self) -> list[Ranked]:
        """Return the two that match best, of what is only proposed, too."""
        binding, other = self._others
        best = (
            *binding.best(2, with_score=False),
            *other.best(2, with_score=False),
            *self.found.proposed_ranks,
        )
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
        for group in self.found.ranks.groups:
            held.update(dict.fromkeys(group.kind.terms, len(group.scores)))
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


def always_stands(item: Ranked) -> bool:
    """Say whether an item is given whole whatever the budget: an invariant in force that the work at hand may meet."""
    return kind_of(item).always_stands
