"""Which entries answer a question: the unconditional invariants, and every current entry that matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from math import inf
from operator import attrgetter

from mdmem.dataclass import dataclass, field
from mdmem.entry.model import Entry, EntryType, Status
from mdmem.retrieval.bearings import claimants_first, claims_on, partners_of
from mdmem.retrieval.coverage import Held, TermWeights, coverage_of, held_of, weights_of
from mdmem.retrieval.grounds import Grounds
from mdmem.retrieval.order import in_any_order, in_order
from mdmem.retrieval.question import Coverage, Described, Omission, OmittedCount, Tier
from mdmem.retrieval.ranks import Rank, Ranked, Retrieved, by_rank, rank_of
from mdmem.retrieval.reasons import Reasons

_RULES = frozenset(one for one in EntryType if one.is_rule)
# Among so many of the best matches the likely room is the one that holds most.
_BEST = 10
_NO_TERMS = frozenset[str]()
NOTHING_SHARED = "shares no word or path"


@dataclass(frozen=True)
class Selection(Grounds):
    """What of a scope answers a question; `omitted` is what was left out on the way, by address."""

    omitted: dict[str, Omission] = field(default_factory=dict)

    def select(self) -> Described[Retrieved]:
        """Return the items in the order of authority; what is left out is named in `omitted`."""
        chosen = {entry.address: entry for entry in self._candidates()}
        chosen.update((entry.address, entry) for entry in self._reached_by_chain())
        overriders = self.overrides.of(chosen)
        for entry in (*overriders.values(), *self.overrides.powerless(chosen)):
            chosen.setdefault(entry.address, entry)
        for address in self.omitted.keys() & chosen.keys():
            del self.omitted[address]
        for address, by in overriders.items():
            one = chosen[address]
            if self.overrides.replaces(by, one) and one.type is not EntryType.INVARIANT:
                self._leave_out(chosen.pop(address), f"overridden by {by.address}")
        for entry in partners_of(self.catalog, chosen, self.scope):
            if not self.misses_paths(entry) and not self._has_other_focus(entry):
                chosen[entry.address] = entry
                self.omitted.pop(entry.address, None)
        ranks: Sequence[Rank] = by_rank(self._ranked(chosen.values(), overriders))
        if not self.catalog.lineage.claimed.isdisjoint(chosen):
            ranks = claimants_first(
                in_order(ranks, in_any_order(ranks)), lambda rank: claims_on(self.catalog, rank.entry, self.scope)
            )
        return Described(ranks, attrgetter("described"))

    def propose(self) -> Described[Retrieved]:
        """Return the drafts of the scope that match and nothing replaced, in order; they are never authority."""
        drafts = [
            entry
            for entry in self.members
            if entry.status is Status.DRAFT and not self.catalog.lineage.heads(entry.address)
            if self._passes(entry) and self._is_asked_for(entry)
        ]
        return Described(by_rank(self._ranked(drafts, {})), attrgetter("described"))

    def _ranked(self, entries: Iterable[Entry], overriders: Mapping[str, Entry]) -> Iterator[Rank]:
        describe, current = Reasons(self, overriders).described, self.catalog.lineage.current
        distances, halves = dict[tuple[str, str | None], int](), dict[frozenset[str], bool]()
        has_focus = self.scope.focus is not None
        proposals, inherited, has_paths = self._proposals, self.inherited, bool(self.question.paths)
        matches, beside, today, nothing = self.matches, bool(self.question.beside), self.today, (0.0, _NO_TERMS)
        for entry in entries:
            address = entry.address
            place = address.partition("/")[0], entry.focus if has_focus else None
            if place not in distances:
                distances[place] = self._distance(entry)
            is_current, is_proposal = address in current, address in proposals
            is_sure = entry.status is Status.ACTIVE and (
                not entry.expires_at or entry.status_on(today) is Status.ACTIVE
            )
            if entry.overrides or address in inherited or has_paths:
                score, terms = self.held_by(entry, overriders)
                suits = self.suits(entry)
            else:
                # As those two say it of most, and in a fifth of their time.
                _, score, terms = matches.get(address, (address, *nothing))
                if terms not in halves:
                    halves[terms] = self.is_open or self.is_half(terms)
                suits = halves[terms]
            yield rank_of(
                (
                    (not is_current, is_proposal, distances[place], int(not is_sure)),
                    entry,
                    score,
                    terms,
                    is_current,
                    is_proposal,
                    has_paths and self.covers_path(entry),
                    beside and self.question.lies_aside(entry),
                    suits,
                    describe,
                )
            )

    def _distance(self, entry: Entry) -> int:
        tier = self.tier_of(entry)
        return int(tier is not Tier.SHARED) if self.scope.starts_shared else tier.rank

    @cached_property
    def _proposals(self) -> frozenset[str]:
        stances = self.catalog.stances or {}
        return frozenset(address for address, stance in stances.items() if stance.standing.is_proposal)

    def coverage(self, items: Iterable[Ranked]) -> tuple[Coverage, tuple[str, ...]]:
        """Return how far a current invariant or decision that is no mere proposal answers, and what it lacks.

        The words are those that nothing binding holds.
        """
        spoken = self.spoken(items)
        if spoken and (self.is_open or (self.question.paths and any(map(self.covers_path, spoken)))):
            return Coverage.FULL, ()
        held = self.texts(spoken)
        found = coverage_of(self.weights, held, self.catalog.body)
        if found is Coverage.NONE and self.naming and any(entry.address in self.naming for entry in spoken):
            found = Coverage.PARTIAL
        known = frozenset[str]().union(*{one.terms for one in held})
        return found, self.typed(
            term for term in self.weights.of if term not in known
        ) if found is Coverage.PARTIAL else ()

    @cached_property
    def weights(self) -> TermWeights:
        """Return how much each term of the question weighs among the entries that are read."""
        terms = self.answer.terms if self.answer else ()
        return weights_of(terms, (match.terms for match in self.matches.values()), len(self.members))

    def spoken(self, items: Iterable[Ranked]) -> list[Entry]:
        """Return what binds among some items, each with what it replaced or overrides: that speaks for it."""
        inherited = self.inherited
        binding = [item.entry for item in items if item.current and not item.is_proposal]
        found = [entry for entry in binding if entry.type in _RULES]
        more = [entry for entry in found if entry.overrides or entry.address in inherited]
        others = [one for entry in more for one in (*self.replaced_by(entry), *self.overrides.overridden_by(entry))]
        return found + others

    def texts(self, entries: Iterable[Entry]) -> list[Held]:
        """Return those entries that hold a word of the question, with the words that each holds."""
        matches = self.matches
        return [held_of((entry, *matches[entry.address][1:])) for entry in entries if entry.address in matches]

    def likely_room(self, items: Iterable[Ranked]) -> str | None:
        """Return the room that holds most of the best matches, several of them; None where rooms are asked for."""
        if self.answer is None or self.scope.rooms:
            return None
        least = min(nlargest(_BEST, (item.score for item in items if item.score > 0)), default=inf)
        best = sorted((-item.score, item.entry.address) for item in items if item.score >= least)[:_BEST]
        rooms = Counter(address.rpartition("/")[0] for _, address in best)
        room, count = max(rooms.items(), key=lambda pair: pair[1], default=("", 0))
        return room if count > 1 and 2 * count >= len(best) else None

    def unmatched_terms(self) -> tuple[str, ...]:
        """Return the words of the question, as typed, that no entry of the scope holds."""
        if self.answer is None:
            return ()
        held = frozenset[str]().union(*{match.terms for match in self.matches.values()})
        return self.typed(term for term in self.answer.terms if term not in held)

    def unshared(self, items: Iterable[Ranked]) -> tuple[OmittedCount, ...]:
        """Count the decisions in force that the filters let in and that share no word and no path with the question."""
        named = self.omitted.keys() | {item.entry.address for item in items}
        decision = EntryType.DECISION
        others = [
            entry
            for entry in self.members
            if entry.type is decision
            and entry.address not in named
            and self.is_shown(entry)
            and self.question.filters.lets_in(entry)
        ]
        return (OmittedCount(EntryType.DECISION.value, NOTHING_SHARED, len(others)),) if others else ()

    def _candidates(self) -> Iterator[Entry]:
        named, current, paths = self.named, self.catalog.lineage.current, self.question.paths
        invariant, is_open, narrows = EntryType.INVARIANT, self.is_open, self._narrows
        for entry in self.members:
            is_invariant, applies = entry.type is invariant, paths and entry.applies_to
            # Of most entries it is seen at once that nothing brings them in, or that nothing keeps them out.
            if not (is_invariant or entry.address in named or is_open or (applies and self.covers_path(entry))):
                continue
            if not (is_invariant or applies or narrows) and entry.address in current:
                yield entry
            elif self._may_bind(entry):
                if self.is_unconditional(entry):
                    if self._invariant_applies(entry):
                        yield entry
                elif self._passes(entry) and self._is_asked_for(entry):
                    yield entry

    @cached_property
    def _narrows(self) -> bool:
        """Say whether a filter may keep out what the scope reads."""
        wanted = self.question.filters
        return any((wanted.types, wanted.labels, wanted.tags, wanted.owners, wanted.statuses, wanted.focuses))

    def _may_bind(self, entry: Entry) -> bool:
        if self.is_shown(entry):
            return True
        wanted = self.question.filters
        with_ended = wanted.include_deprecated or Status.DEPRECATED in wanted.statuses
        return with_ended and entry.status is not Status.DRAFT

    def _invariant_applies(self, entry: Entry) -> bool:
        """Only these keep an unconditional invariant out, and each is said: a room only where invariants are named."""
        types = self.question.filters.types
        if types and EntryType.INVARIANT not in types:
            return self._leave_out(entry, "type filter")
        if types and not self.scope.holds(entry.address):
            return self._leave_out(entry, "another room")
        if self.misses_paths(entry) or (self.question.lies_aside(entry) and entry.address not in self.named):
            return self._leave_out(entry, "applies elsewhere")
        return not self._has_other_focus(entry) or self._leave_out(entry, "another focus")

    def _has_other_focus(self, entry: Entry) -> bool:
        focuses = self.question.filters.focuses
        return bool(focuses) and entry.focus not in (None, *focuses)

    def _passes(self, entry: Entry) -> bool:
        wanted = self.question.filters
        if not wanted.lets_in(entry):
            return False
        if wanted.statuses and {entry.status, entry.status_on(self.today)}.isdisjoint(wanted.statuses):
            return False
        if self._has_other_focus(entry):
            return self._is_asked_for(entry) and self._leave_out(entry, "another focus")
        return True

    def _is_asked_for(self, entry: Entry) -> bool:
        """Say whether an entry is brought in, and does not apply elsewhere."""
        asked = self.is_brought(entry)
        return asked and (not self.misses_paths(entry) or self._leave_out(entry, "applies elsewhere"))

    def _reached_by_chain(self) -> Iterator[Entry]:
        """Yield the heads of superseded entries that match, even where a filter on the head would leave it out."""
        wanted = self.question.filters
        for head, matches in sorted(self.inherited.items()):
            entry = self.catalog.entries[head]
            olds = [self.catalog.entries[match.key] for match in matches]
            if not any(self.scope.holds(old.address) and wanted.lets_in(old) for old in olds):
                continue
            if not self.misses_paths(entry) or self._leave_out(entry, "applies elsewhere"):
                yield entry

    def _leave_out(self, entry: Entry, why: str) -> bool:
        self.omitted[entry.address] = Omission(entry.address, entry.type.value, why)
        return False
