"""Which entries answer a question: the unconditional invariants, and every current entry that matches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import compress
from operator import attrgetter

from mdmem.dataclass import dataclass, field
from mdmem.entry.model import Entry, EntryType, Status
from mdmem.index.protocol import MatchColumns
from mdmem.retrieval.bearings import claimants_first, claims_on, partners_of
from mdmem.retrieval.coverage import Held, HeldGroup, TermWeights, coverage_of, weights_of
from mdmem.retrieval.grounds import Grounds
from mdmem.retrieval.kinds import Force, RankGroup, RankKind, Ranks, kinds_of
from mdmem.retrieval.question import Coverage, Described, Omission, Tier
from mdmem.retrieval.ranks import Rank, Ranked, Retrieved
from mdmem.retrieval.reasons import Reasons

_RULES = frozenset(one for one in EntryType if one.is_rule)
# Among so many of the best matches the likely room is the one that holds most.
_BEST = 10
_NO_TERMS = frozenset[str]()
# So many scopes of a memory are known by what its entries are in them.
_SCOPES = 8
_KINDS: dict[tuple[EntryType, Force], tuple[EntryType, Force]] = {}


@dataclass(frozen=True)
class Selection(Grounds):
    """What of a scope answers a question, by address: what is `chosen`, and what was `omitted` on the way."""

    omitted: dict[str, Omission] = field(default_factory=dict)
    chosen: dict[str, Entry] = field(default_factory=dict)

    def select(self) -> Described[Retrieved]:
        """Return the items in the order of authority; what is left out is named in `omitted`."""
        return Described(self.ranks(), attrgetter("described"))

    def ranks(self) -> Ranks[Ranked]:
        """Return what ranks them."""
        entries, alike = self.catalog.entries, self._alike
        apart = {entry.address: entry for entry in (*self._candidates(), *self._reached_by_chain())}
        chosen = {**dict(zip(alike.keys, map(entries.__getitem__, alike.keys), strict=True)), **apart}
        overriders = self.overrides.of(chosen)
        for entry in (*overriders.values(), *self.overrides.powerless(chosen)):
            apart[entry.address] = chosen.setdefault(entry.address, entry)
        for address in self.omitted.keys() & chosen.keys():
            del self.omitted[address]
        for address, by in overriders.items():
            one = chosen[address]
            if self.overrides.replaces(by, one) and one.type is not EntryType.INVARIANT:
                self._leave_out(chosen.pop(address), f"overridden by {by.address}")
        for entry in partners_of(self.catalog, chosen, self.scope):
            if not self.misses_paths(entry) and not self._has_other_focus(entry):
                apart[entry.address] = chosen[entry.address] = entry
                self.omitted.pop(entry.address, None)
        self.chosen.update(chosen)
        # What replaced a match holds more than its own words.
        heads = alike.places.keys() & self.inherited.keys()
        own = [one for one in (*apart, *heads) if one in heads or one not in alike.places]
        without = heads.union(one for one in overriders if one not in chosen)
        like = alike.at([place for place, one in enumerate(alike.keys) if one not in without]) if without else alike
        ranks = self._ranks(like, {one: chosen[one] for one in own if one in chosen}, overriders)
        if not chosen.keys().isdisjoint(self.catalog.lineage.claimed):
            ranks = Ranks.listed(claimants_first(ranks, lambda rank: claims_on(self.catalog, rank.entry, self.scope)))
        return ranks

    def propose(self) -> Described[Retrieved]:
        """Return the drafts of the scope that match and nothing replaced, in order; they are never authority."""
        drafts = {
            entry.address: entry
            for entry in self.catalog.traits.drafts
            if entry.address in self.members and not self.catalog.lineage.heads(entry.address)
            if self._passes(entry) and self._is_asked_for(entry)
        }
        return Described(self._ranks(MatchColumns(), drafts, {}), attrgetter("described"))

    @cached_property
    def _alike(self) -> MatchColumns:
        """What the words alone bring in, and nothing keeps out: of most entries there is nothing else to say."""
        if self.is_open:
            matches = sorted(self._plain if self.is_whole else self._plain & self.members)
            found = MatchColumns(matches, [0.0] * len(matches), [_NO_TERMS] * len(matches))
        else:
            found = self.answer.matches if self.answer is not None else MatchColumns()
        entries, plain, members = self.catalog.entries, self._plain, self.members
        if self.narrows:
            are = [one in plain and one in members and self._passes(entries[one]) for one in found.keys]
        elif self.is_whole:
            are = list(map(plain.__contains__, found.keys))
        else:
            are = [one in plain and one in members for one in found.keys]
        keys, scores, terms = compress(found.keys, are), compress(found.scores, are), compress(found.terms, are)
        return MatchColumns(list(keys), list(scores), list(terms))

    @cached_property
    def _plain(self) -> frozenset[str]:
        """The entries that are ranked by what they are and by the words that they hold."""
        traits = self.catalog.traits
        at_hand = self.question.paths or self.question.beside
        return traits.plain.difference(self.naming, traits.bound if at_hand else ())

    def _ranks(self, alike: MatchColumns, apart: Mapping[str, Entry], overriders: Mapping[str, Entry]) -> Ranks[Ranked]:
        """Return what ranks entries, most of which are like others but for their score."""
        found = defaultdict[tuple[int, frozenset[str]], list[int]](list)
        closer = alike.keys if self.scope.focus is not None else ()
        unlike = self.catalog.traits.doubtful.union(self.catalog.stances or (), closer)
        known = kinds_of(alike.keys, self.catalog.entries, self._kinds, apart=unlike, look=self._kind)
        for place, one in enumerate(zip(map(id, known), alike.terms, strict=True)):
            found[one].append(place)
        groups = dict[RankKind, RankGroup]()
        for (_, terms), places in found.items():
            whole = RankKind(*known[places[0]], self.is_open or self.is_half(terms), terms)
            own = alike.at(places)
            groups[whole] = RankGroup(whole, list(own.keys), list(own.scores))
        mixed = set[RankKind]()
        for address, entry in apart.items():
            whole, score = self._by_itself(entry, overriders)
            group = groups.get(whole) or groups.setdefault(whole, RankGroup(whole))
            group.addresses.append(address)
            group.scores.append(score)
            mixed.add(whole)
        for whole in mixed:
            groups[whole].sort()
        return Ranks(list(groups.values()), self._maker(Reasons(self, overriders).described))

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

    def _by_itself(self, entry: Entry, overriders: Mapping[str, Entry]) -> tuple[RankKind, float]:
        """Return of what kind an entry is that is looked at by itself, and its score."""
        address = entry.address
        kind, force = self._kinds.get(address) or self._kind(address)
        if address in self._plain and not self.question.paths:
            matches, olds = self.matches, self.inherited.get(address, ())
            place, held = matches.places.get(address), [match.terms for match in olds]
            score = max((match.score for match in olds), default=0.0)
            if place is not None:
                score, held = max(score, matches.scores[place]), [*held, matches.terms[place]]
            suits = self.is_open or any(map(self.is_half, held))
            return RankKind(kind, force, suits, _NO_TERMS.union(*held)), score
        score, terms = self.held_by(entry, overriders)
        on_path, aside = self.covers_path(entry), self.question.lies_aside(entry)
        return RankKind(kind, force, self.suits(entry), terms, on_path, aside), score

    @cached_property
    def _kinds(self) -> dict[str, tuple[EntryType, Force]]:
        """Type and force by address, as this scope has them today; the same objects for the same ones."""
        kept, scope = self.catalog.traits.kept, self.scope
        told_by = ("kinds", scope.wing, scope.focus, scope.starts_shared, self.today)
        if told_by not in kept and len(kept) > _SCOPES:
            kept.clear()
        known: dict[str, tuple[EntryType, Force]] = kept.setdefault(told_by, {})
        return known

    def _kind(self, address: str) -> tuple[EntryType, Force]:
        entry, stance = self.catalog.entries[address], (self.catalog.stances or {}).get(address)
        is_sure = entry.status is Status.ACTIVE and (
            not entry.expires_at or entry.status_on(self.today) is Status.ACTIVE
        )
        is_proposal = stance is not None and stance.standing.is_proposal
        is_current = address in self.catalog.lineage.current
        force = (not is_current, is_proposal, self._distance(entry), int(not is_sure))
        found = _KINDS.setdefault((entry.type, force), (entry.type, force))
        self._kinds[address] = found
        return found

    def _distance(self, entry: Entry) -> int:
        tier = self.tier_of(entry)
        return int(tier is not Tier.SHARED) if self.scope.starts_shared else tier.rank

    def coverage(self, ranks: Ranks[Ranked]) -> tuple[Coverage, tuple[str, ...]]:
        """Return how far a current invariant or decision that is no mere proposal answers, and what it lacks.

        The words are those that nothing binding holds.
        """
        spoken = ranks.where(lambda kind: kind.binds and kind.type in _RULES)
        on_path = self.question.paths and any(group.kind.on_path for group in spoken.groups)
        others = self._spoken_for(spoken) if spoken.groups else []
        if spoken.groups and (self.is_open or on_path or (self.question.paths and any(map(self.covers_path, others)))):
            return Coverage.FULL, ()
        held = self.texts(spoken, others)
        found = coverage_of(self.weights, held, self.catalog.body)
        if found is Coverage.NONE and self.naming and self._is_named(spoken, others):
            found = Coverage.PARTIAL
        known = frozenset[str]().union(*{one.terms for one in held})
        return found, self.typed(
            term for term in self.weights.of if term not in known
        ) if found is Coverage.PARTIAL else ()

    @cached_property
    def weights(self) -> TermWeights:
        """Return how much each term of the question weighs among the entries that are read."""
        if self.answer is None:
            return weights_of((), (), len(self.members))
        return weights_of(self.answer.terms, self.answer.matches.terms, len(self.members))

    def _is_named(self, spoken: Ranks[Ranked], others: Iterable[Entry]) -> bool:
        named = any(address in self.naming for group in spoken.groups for address in group.addresses)
        return named or any(entry.address in self.naming for entry in others)

    def _spoken_for(self, spoken: Ranks[Ranked]) -> list[Entry]:
        """Return what some of what binds replaced or overrides: that speaks for it."""
        told = [*self.inherited, *(entry.address for entry in self.catalog.traits.overriding)]
        entries = [self.catalog.entries[one] for one in dict.fromkeys(told) if spoken.holds(one)]
        return [one for entry in entries for one in (*self.replaced_by(entry), *self.overrides.overridden_by(entry))]

    def texts(self, spoken: Ranks[Ranked], others: Iterable[Entry] = ()) -> list[HeldGroup]:
        """Return those entries that hold a word of the question, by the words that each holds."""
        entries, matches, apart = self.catalog.entries, self.matches, [entry.address for entry in others]
        found: list[HeldGroup] = []

        def held(columns: tuple[list[str], list[float]], terms: frozenset[str]) -> Sequence[Held]:
            addresses, scores = columns
            return Described(range(len(addresses)), lambda at: Held(entries[addresses[at]], scores[at], terms))

        own = self._alike.places.keys() - self.inherited.keys()
        for group in spoken.groups:
            terms, others_here = group.kind.terms, group.places.keys() - own
            are = [address not in others_here for address in group.addresses] if others_here else None
            columns = (group.addresses, group.scores)
            if are is not None:
                apart += others_here
                columns = list(compress(group.addresses, are)), list(compress(group.scores, are))
            if terms and columns[0]:
                found.append(HeldGroup(terms, held(columns, terms)))
        by_terms = dict[frozenset[str], list[tuple[float, str]]]()
        for address in dict.fromkeys(apart):
            place = matches.places.get(address)
            if place is not None:
                by_terms.setdefault(matches.terms[place], []).append((-matches.scores[place], address))
        for terms, some in by_terms.items():
            some.sort()
            found.append(HeldGroup(terms, held(([one for _, one in some], [-score for score, _ in some]), terms)))
        return found

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
        held = frozenset[str]().union(*set(self.answer.matches.terms))
        return self.typed(term for term in self.answer.terms if term not in held)

    def _candidates(self) -> Iterator[Entry]:
        """Yield those of the others that come: each is looked at by itself."""
        entries, traits, plain = self.catalog.entries, self.catalog.traits, self._plain
        others = set(self.members if self.is_open else self.matches.places).difference(plain)
        others.update(
            traits.of_type[EntryType.INVARIANT], self.inherited.keys() - self._alike.places.keys(), self.naming
        )
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
            if head in self._alike.places:
                continue
            entry = self.catalog.entries[head]
            olds = [self.catalog.entries[match.key] for match in matches]
            if not any(self.scope.holds(old.address) and wanted.lets_in(old) for old in olds):
                continue
            if not self.misses_paths(entry) or self._leave_out(entry, "applies elsewhere"):
                yield entry

    def _leave_out(self, entry: Entry, why: str) -> bool:
        self.omitted[entry.address] = Omission(entry.address, entry.type.value, why)
        return False
