"""What an answer leaves out, why, and how much of it there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import compress, count, filterfalse, islice

from msgspec import Struct

from mdmem.ask.kinds import RankGroup
from mdmem.ask.pack import Plan, Texts
from mdmem.ask.ranks import Ranked, Retrieval
from mdmem.ask.relevance import Relevance

# In bytes: to so many an entry is shortened.
SHORT = 600
# What covers a file at hand is named first where it is left out: so many at most, in a text's line of counts always.
_COVERING = 12


class Remainder(Struct, frozen=True):
    """What of a retrieval a plan does not give; `texts` are those of what binds, and of what is proposed."""

    found: Retrieval
    relevance: Relevance
    texts: tuple[Texts, Texts]

    def out_of(self, plan: Plan) -> Iterator[tuple[str, str, str]]:
        """Yield address, type and reason of what is not given: of thousands a few are named, and the others counted."""
        yield from ((one.address, one.type, one.why) for one in self.found.basis.omitted)
        for item in self.found.ranks:
            if item.entry.address not in plan.taken:
                yield item.entry.address, item.entry.type, self.why(item, plan)
        for item in self._drafts_left(plan):
            yield item.entry.address, item.entry.type, self._limit(item, plan, is_draft=True)

    def named(self, plan: Plan, addresses: Collection[str]) -> Iterator[tuple[str, str, str]]:
        """Yield the same of some addresses."""
        ranks = self.found.ranks
        found = (ranks.find(address) for address in addresses if address not in plan.taken)
        for item in ranks.in_order(item for item in found if item is not None):
            yield item.entry.address, item.entry.type, self.why(item, plan)
        for item in self._drafts_left(plan):
            if item.entry.address in addresses:
                yield item.entry.address, item.entry.type, self._limit(item, plan, is_draft=True)

    def first(self, plan: Plan, covering: Collection[str], *, most: int) -> list[tuple[str, str, str]]:
        """Return the same of so many at most, what covers a given path first."""
        left = list(islice(self.out_of(plan), most))
        if covering:
            left = [*self.named(plan, covering), *(one for one in left if one[0] not in covering)]
        return left[:most]

    def covering(self, plan: Plan) -> Iterator[Ranked]:
        """Yield the first of what covers a given path, is in force and is not given."""
        return islice((one for one in self.relevance.on_path if one.entry.address not in plan.taken), _COVERING)

    def reasons(self, plan: Plan) -> Counter[tuple[str, str]]:
        """Count types and reasons of what is not given; of thousands of items most are alike."""
        counted = Counter[tuple[str, str]]((one.type, one.why) for one in self.found.basis.omitted)
        for group in self.found.ranks.groups:
            given = set(compress(count(), map(plan.taken.__contains__, group.addresses)))
            for places in self.relevance.alike(group):
                left = list(filterfalse(given.__contains__, places)) if given else places
                for part in self._by_size(group, left, plan):
                    item = self.found.ranks.at(group, part[0])
                    counted[item.entry.type, self.why(item, plan)] += len(part)
        drafts = ((item.entry.type, self._limit(item, plan, is_draft=True)) for item in self._drafts_left(plan))
        counted.update(drafts)
        return counted

    def _by_size(self, group: RankGroup, places: Sequence[int], plan: Plan) -> Iterator[Sequence[int]]:
        """Yield those of a group that are too long for what is left, and the others, as far as there are any."""
        room = plan.room - plan.used
        if self.relevance.is_pressed or room >= SHORT:
            yield from (places,) if places else ()
            return
        size = self.texts[False].size
        over = [place for place in places if size(group.addresses[place]) > room]
        yield from filter(None, (over, sorted(set(places).difference(over))))

    def _drafts_left(self, plan: Plan) -> Iterator[Ranked]:
        return (item for item in self.found.proposed_ranks if item.entry.address not in plan.drafts)

    def why(self, item: Ranked, plan: Plan) -> str:
        """Return why an item is not given."""
        if not item.current:
            return "no longer in force"
        if item.is_proposal:
            return f"proposed, {self._limit(item, plan)}"
        return self._limit(item, plan)

    def _limit(self, item: Ranked, plan: Plan, *, is_draft: bool = False) -> str:
        """Return whether the question or the budget keeps an item out, or that an answer is kept shorter than that."""
        if not self.relevance.counts(item):
            return "holds little of the question"
        size, room = self.texts[is_draft].size, plan.room - plan.used
        is_over = self.relevance.is_pressed or (room < SHORT and room < size(item.entry.address))
        return "over the budget" if is_over else "beyond a short answer"
