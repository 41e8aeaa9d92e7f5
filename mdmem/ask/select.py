"""Which entries answer a question: the unconditional invariants, and every current entry that matches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cached_property
from heapq import nsmallest
from itertools import chain, compress, filterfalse
from operator import attrgetter, not_

from msgspec import field

from mdmem.ask.bearings import claims_on, partners_of, runs_by_claims
from mdmem.ask.coverage import HeldGroup, HeldTexts, TermWeights, coverage_of, weights_of
from mdmem.ask.grounds import Grounds
from mdmem.ask.kinds import AheadKey, RankGroup, RankKind, Ranks
from mdmem.ask.matches import MatchColumns
from mdmem.ask.question import ELSEWHERE, Coverage, Described, Omission
from mdmem.ask.ranks import Rank, Ranked, Retrieved
from mdmem.ask.reasons import Reasons
from mdmem.ask.scope_kinds import ScopeKinds, kinds_in
from mdmem.model.entry import Entry, EntryType, Status

_RULES = frozenset(one for one in EntryType if one.is_rule)
# Among so many of the best matches the likely room is the one that holds most.
_BEST = 10
_NO_TERMS = frozenset[str]()
_terms_of, _score_of = attrgetter("terms"), attrgetter("score")


class Selection(Grounds, frozen=True, dict=True):
    """What of a scope answers a question, by address: what is `chosen`, and what was `omitted` on the way."""

    omitted: dict[str, Omission] = field(default_factory=dict)
    chosen: set[str] = field(default_factory=set)

    def select(self) -> Described[Retrieved]:
        """Return the items in the order of authority; what is left out is named in `omitted`."""
        return Described(self.ranks(), attrgetter("described"))

    def ranks(self, few: Set[str] | None = None) -> Ranks[Ranked]:
        """Return what ranks them, or those at a few addresses."""
        entries, alike, among_alike = self.catalog.entries, self._alike, self._among_alike
        apart = {entry.address: entry for entry in (*self._candidates(), *self._reached_by_chain())}
        chosen = self.chosen
        chosen.update(among_alike, apart)
        overriders = self.overrides.of(chosen)
        apart |= {entry.address: entry for entry in (*overriders.values(), *self.overrides.powerless(chosen))}
        chosen.update(apart)
        for address in self.omitted.keys() & chosen:
            del self.omitted[address]
        for address, by in overriders.items():
            one = entries[address]
            if self.overrides.replaces(by, one) and one.type is not EntryType.INVARIANT:
                chosen.remove(address)
                self._leave_out(one, f"overridden by {by.address}")
        for entry in partners_of(self.catalog, chosen, self.scope):
            if not self.misses_paths(entry) and not self._has_other_focus(entry):
                apart[entry.address] = entry
                chosen.add(entry.address)
                self.omitted.pop(entry.address, None)
        # What replaced a match holds more than its own words.
        heads = among_alike & self.inherited.keys()
        own = heads.union(one for one in apart if one not in among_alike) & chosen
        # Not among the chosen: they override nothing, contradict nothing, and bring nothing else in.
        own |= {entry.address for entry in self._drafts() if self.catalog.is_merged(entry.address)}
        without = heads.union(one for one in overriders if one not in chosen)
        if few is not None:
            alone = alike.where(one in few and one not in without for one in alike.keys)
            return self._ranks(alone, own & few, overriders)
        like = alike.where(map(not_, map(without.__contains__, alike.keys))) if without else alike
        self._kinds.learn(among_alike | (own & self.catalog.lineage.current))
        ranks = self._ranks(like, own, overriders)
        claimed = self.catalog.lineage.claimed & chosen
        return ranks.with_ahead(self._claimants(ranks, claimed)) if claimed else ranks

    def _claimants(self, ranks: Ranks[Ranked], claimed: Iterable[str]) -> dict[str, AheadKey]:
        """Return what claims the place of an entry that would stand before it, and where it comes for that."""
        named = {address: claims_on(self.catalog, self.catalog.entries[address], self.scope) for address in claimed}
        found = map(ranks.find, {*named, *chain.from_iterable(named.values())})
        items = ranks.in_order(one for one in found if one is not None)
        ahead: dict[str, AheadKey] = {}
        for run in runs_by_claims(items, lambda rank: named.get(rank.entry.address, ())):
            ahead |= {one.entry.address: (run[-1].sort_key, 0, at) for at, one in enumerate(run[:-1])}
        return ahead

    def propose(self) -> Described[Retrieved]:
        """Return the drafts that match, in order, but for those that were merged; they are never authority."""
        drafts = [entry.address for entry in self._drafts() if not self.catalog.is_merged(entry.address)]
        return Described(self._ranks(MatchColumns(), drafts, {}), attrgetter("described"))

    def _drafts(self) -> Iterator[Entry]:
        """Yield the drafts of the scope that match and nothing replaced."""
        for entry in self.catalog.traits.drafts:
            is_open = entry.address in self.members and not self.catalog.lineage.heads(entry.address)
            if is_open and self._passes(entry) and self._is_asked_for(entry):
                yield entry

    @cached_property
    def _alike(self) -> MatchColumns:
        """What the words alone bring in, and nothing keeps out: of most entries there is nothing else to say."""
        if self.is_open:
            matches = sorted(self._plain if self.is_whole else self._plain & self.members)
            found = MatchColumns(matches, [0.0] * len(matches), [_NO_TERMS] * len(matches))
        else:
            found = self.matches
        entries, plain, members = self.catalog.entries, self._plain, self.members
        if self.narrows:
            return found.where(one in plain and one in members and self._passes(entries[one]) for one in found.keys)
        if self.is_whole:
            return found.where(map(plain.__contains__, found.keys))
        return found.where(one in plain and one in members for one in found.keys)

    @cached_property
    def _among_alike(self) -> frozenset[str]:
        """The addresses of those."""
        return frozenset(self._alike.keys)

    @cached_property
    def _plain(self) -> frozenset[str]:
        """The entries that are ranked by what they are and by the words that they hold."""
        traits = self.catalog.traits
        at_hand = self.question.paths or self.question.beside
        apart = self.naming.keys() | (traits.bound if at_hand else ())
        return traits.plain.difference(apart) if apart else traits.plain

    def _ranks(self, alike: MatchColumns, apart: Iterable[str], overriders: Mapping[str, Entry]) -> Ranks[Ranked]:
        """Return what ranks entries, most of which are like others but for their score."""
        found = defaultdict[tuple[int, frozenset[str]], list[int]](list)
        known = list(map(self._kinds.__getitem__, alike.keys))
        for place, one in enumerate(zip(map(id, known), alike.terms, strict=True)):
            found[one].append(place)
        groups: list[RankGroup] = []
        for (_, terms), places in found.items():
            whole = RankKind(*known[places[0]], self.is_open or self.is_half(terms), terms)
            own = alike.at(places) if len(places) < len(alike) else alike
            groups.append(RankGroup(whole, list(own.keys), list(own.scores), is_alike=True))
        # These are kept by themselves, though they may be of such a kind: few, they need not be sorted among thousands.
        mixed = dict[RankKind, RankGroup]()
        for address in apart:
            whole, score = self._by_itself(address, overriders)
            group = mixed.get(whole) or mixed.setdefault(whole, RankGroup(whole))
            group.addresses.append(address)
            group.scores.append(score)
        for group in mixed.values():
            group.sort()
        return Ranks([*groups, *mixed.values()], self._maker(Reasons(self, overriders).described))

    def _maker(self, describe: Callable[[Rank], Retrieved]) -> Callable[[RankGroup, int], Ranked]:
        entries = self.catalog.entries

        def make(group: RankGroup, at: int) -> Rank:
            kind, entry = group.kind, entries[group.addresses[at]]
            return Rank(
                kind.force,
                entry,
                group.scores[at],
                kind.terms,
                kind.current,
                kind.is_proposal,
                kind.on_path,
                kind.lies_aside,
                kind.matches,
                describe,
            )

        return make

    def _by_itself(self, address: str, overriders: Mapping[str, Entry]) -> tuple[RankKind, float]:
        """Return of what kind an entry is that is looked at by itself, and its score."""
        kind, force = self._kinds[address]
        if address in self._plain and not self.question.paths:
            matches, olds = self.matches, self.inherited.get(address, ())
            held, scores, place = [*map(_terms_of, olds)], [*map(_score_of, olds)], matches.places.get(address)
            if place is not None:
                held.append(matches.terms[place])
                scores.append(matches.scores[place])
            suits, terms = self._held_together(tuple(held))
            return RankKind(kind, force, suits, terms), max(scores, default=0.0)
        entry = self.catalog.entries[address]
        score, terms = self.held_by(entry, overriders)
        on_path, aside = self.covers_path(entry), self.question.lies_aside(entry)
        return RankKind(kind, force, self.suits(entry), terms, on_path, aside), score

    def _held_together(self, held: tuple[frozenset[str], ...]) -> tuple[bool, frozenset[str]]:
        """Return whether one of several holds half of the question's words, and what all of them hold."""
        known = self._known_together
        if held not in known:
            # Thousands of chains share a few sets.
            known[held] = (self.is_open or any(map(self.is_half, held)), _NO_TERMS.union(*held))
        return known[held]

    @cached_property
    def _known_together(self) -> dict[tuple[frozenset[str], ...], tuple[bool, frozenset[str]]]:
        return {}

    @cached_property
    def _kinds(self) -> ScopeKinds:
        return kinds_in(self.catalog, self.scope, self.today)

    def coverage(self, ranks: Ranks[Ranked]) -> tuple[Coverage, tuple[str, ...]]:
        """Return how far a current invariant or decision that is no mere proposal answers, and what it lacks.

        The words are those that nothing binding holds.
        """
        spoken, entries = ranks.where(lambda kind: kind.binds and kind.type in _RULES), self.catalog.entries
        on_path = self.question.paths and any(group.kind.on_path for group in spoken.groups)
        others = self._spoken_for(spoken) if spoken.groups else []
        covered = self.question.paths and any(map(self.covers_path, map(entries.__getitem__, others)))
        if spoken.groups and (self.is_open or on_path or covered):
            return Coverage.FULL, ()
        held = self.texts(spoken, others)
        found = coverage_of(self.weights, held)
        if found is Coverage.NONE and self.naming and self._is_named(spoken, others):
            found = Coverage.PARTIAL
        known = frozenset[str]().union(*{one.terms for one in held.groups})
        return found, self.typed(
            term for term in self.weights.of if term not in known
        ) if found is Coverage.PARTIAL else ()

    @cached_property
    def weights(self) -> TermWeights:
        """Return how much each term of the question weighs among the entries that are read."""
        if self.answer is None:
            return weights_of((), (), len(self.members))
        return weights_of(self.answer.terms, self.matches.terms, len(self.members))

    def _is_named(self, spoken: Ranks[Ranked], others: Iterable[str]) -> bool:
        named = any(address in self.naming for group in spoken.groups for address in group.addresses)
        return named or any(address in self.naming for address in others)

    def _spoken_for(self, spoken: Ranks[Ranked]) -> list[str]:
        """Return what some of what binds replaced or overrides: that speaks for it."""
        # Nothing that did so is like others.
        held = {address for group in spoken.groups if not group.is_alike for address in group.addresses}
        replaced = [match.key for head, olds in self.inherited.items() if head in held for match in olds]
        overriding = [one for one in self.catalog.traits.overriding if one.address in held]
        return [*replaced, *(other.address for one in overriding for other in self.overrides.overridden_by(one))]

    def texts(self, spoken: Ranks[Ranked], others: Iterable[str] = ()) -> HeldTexts:
        """Return those entries that hold a word of the question, by the words that each holds."""
        matches, apart, found = self.matches, list(others), list[HeldGroup]()
        for group in spoken.groups:
            terms, columns = group.kind.terms, (group.addresses, group.scores)
            if not group.is_alike:
                are = [one in self._among_alike and one not in self.inherited for one in group.addresses]
                apart += compress(group.addresses, map(not_, are))
                columns = list(compress(group.addresses, are)), list(compress(group.scores, are))
            if terms and columns[0]:
                found.append(HeldGroup(terms, *columns))
        by_terms = dict[frozenset[str], list[tuple[float, str]]]()
        for address in dict.fromkeys(apart):
            place = matches.places.get(address)
            if place is not None:
                by_terms.setdefault(matches.terms[place], []).append((-matches.scores[place], address))
        for terms, some in by_terms.items():
            some.sort()
            found.append(HeldGroup(terms, [one for _, one in some], [-score for score, _ in some]))
        return HeldTexts(found, self.catalog.entries.__getitem__, self.catalog.body)

    def likely_room(self, ranks: Ranks[Ranked]) -> str | None:
        """Return the room that holds most of the best matches, several of them; None where rooms are asked for."""
        if self.answer is None or self.scope.rooms:
            return None
        leading = [
            (-score, address)
            for group in ranks.groups
            for score, address in zip(group.scores[:_BEST], group.addresses, strict=False)
            if score > 0
        ]
        rooms = Counter(address.rpartition("/")[0] for _, address in nsmallest(_BEST, leading))
        room, count = max(rooms.items(), key=lambda pair: pair[1], default=("", 0))
        return room if count > 1 and 2 * count >= rooms.total() else None

    def unmatched_terms(self) -> tuple[str, ...]:
        """Return the words of the question, as typed, that no entry of the scope holds."""
        if self.answer is None:
            return ()
        held = frozenset[str]().union(*set(self.matches.terms))
        return self.typed(term for term in self.answer.terms if term not in held)

    def _candidates(self) -> Iterator[Entry]:
        """Yield those of the others that come: each is looked at by itself."""
        entries, traits, plain = self.catalog.entries, self.catalog.traits, self._plain
        others = set(filterfalse(plain.__contains__, self.members if self.is_open else self.matches.keys))
        others.update(traits.of_type[EntryType.INVARIANT], self.inherited.keys() - self._among_alike, self.naming)
        others.update(traits.bound if self.question.paths else ())
        others.difference_update(() if self._with_ended else self.catalog.traits.hidden)
        for entry in map(entries.__getitem__, others if self.is_whole else others & self.members):
            if not (entry.type is EntryType.INVARIANT or self.is_brought(entry)) or not self._may_bind(entry):
                continue
            if self.is_unconditional(entry):
                if self._invariant_applies(entry):
                    yield entry
            elif self._passes(entry) and self._is_asked_for(entry):
                yield entry

    @cached_property
    def narrows(self) -> bool:
        """Say whether a filter may keep out what the scope reads."""
        wanted = self.question.filters
        return any((wanted.types, wanted.labels, wanted.tags, wanted.owners, wanted.statuses, wanted.focuses))

    def _may_bind(self, entry: Entry) -> bool:
        return self.is_shown(entry) or (self._with_ended and entry.status is not Status.DRAFT)

    @property
    def _with_ended(self) -> bool:
        wanted = self.question.filters
        return wanted.include_deprecated or Status.DEPRECATED in wanted.statuses

    def _invariant_applies(self, entry: Entry) -> bool:
        """Only these keep an unconditional invariant out, and each is said: a room only where invariants are named."""
        types = self.question.filters.types
        if types and EntryType.INVARIANT not in types:
            return self._leave_out(entry, "type filter")
        if types and not self.scope.holds(entry.address):
            return self._leave_out(entry, "another room")
        if self.misses_paths(entry) or (self.question.lies_aside(entry) and not self.is_named(entry.address)):
            return self._leave_out(entry, ELSEWHERE)
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
        return asked and (not self.misses_paths(entry) or self._leave_out(entry, ELSEWHERE))

    def _reached_by_chain(self) -> Iterator[Entry]:
        """Yield the heads of superseded entries that match, even where a filter on the head would leave it out."""
        wanted = self.question.filters
        for head, matches in sorted(self.inherited.items()):
            if head in self._among_alike:
                continue
            entry = self.catalog.entries[head]
            olds = [self.catalog.entries[match.key] for match in matches]
            if not any(self.scope.holds(old.address) and wanted.lets_in(old) for old in olds):
                continue
            if not self.misses_paths(entry) or self._leave_out(entry, ELSEWHERE):
                yield entry

    def _leave_out(self, entry: Entry, why: str) -> bool:
        self.omitted[entry.address] = Omission(entry.address, entry.type.value, why)
        return False
