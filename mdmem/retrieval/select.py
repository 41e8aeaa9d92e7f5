"""Which entries answer a question: the unconditional invariants, and every current entry that matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property, partial
from heapq import nsmallest

from mdmem.catalog import Catalog
from mdmem.dataclass import dataclass, field
from mdmem.entry.globs import all_matches, any_match
from mdmem.entry.model import Entry, EntryType, Status
from mdmem.index.protocol import Match, TextAnswer
from mdmem.retrieval.bearings import bearings_of, claimants_first, company_of, doubts_of, partners_of
from mdmem.retrieval.coverage import Held, TermWeights, coverage_of, weights_of
from mdmem.retrieval.overrides import Overrides
from mdmem.retrieval.path_names import Naming, few_of
from mdmem.retrieval.question import Coverage, Omission, OmittedCount, Question, Retrieved, Tier
from mdmem.workspace.scope import Scope

# What holds half of the question's words is no mere neighbour of it.
_MATCHING_SHARE = 0.5
# Among so many of the best matches the likely room is the one that holds most.
_BEST = 10
NOTHING_SHARED = "shares no word or path"


@dataclass(frozen=True)
class Selection:
    """One question put to one scope; `answer` is None where the question has no words.

    `naming` are the paths of the question that entries name in their text.
    """

    catalog: Catalog
    scope: Scope
    question: Question
    answer: TextAnswer | None
    today: date
    naming: Naming = field(default_factory=dict)
    omitted: dict[str, Omission] = field(default_factory=dict)

    @cached_property
    def members(self) -> tuple[Entry, ...]:
        """Return the entries that the question is put to, by address."""
        return members_of(self.catalog, self.scope)

    @cached_property
    def overrides(self) -> Overrides:
        """Return what the active wing overrides."""
        return Overrides(self.catalog, self.scope, self.question)

    @property
    def _is_open(self) -> bool:
        """Say whether nothing in particular is asked."""
        return not self.question.words.strip() and not self.question.paths

    @cached_property
    def _matches(self) -> Mapping[str, Match]:
        return {match.key: match for match in self.answer.matches} if self.answer else {}

    @cached_property
    def _inherited(self) -> dict[str, list[Match]]:
        """Return, for each head, the superseded entries that lead to it and match by words or paths, the best first."""
        found: dict[str, list[Match]] = {}
        on_path = (entry.address for entry in self.members if entry.address in self.naming or self._covers_path(entry))
        matches = {address: Match(address, 0.0, frozenset()) for address in on_path if address not in self._matches}
        for address, match in {**self._matches, **matches}.items():
            for head in self.catalog.lineage.heads(address):
                if head != address and not self.catalog.lineage.is_current(address):
                    found.setdefault(head, []).append(match)
        return found

    def select(self) -> tuple[Retrieved, ...]:
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
        for entry in partners_of(self.catalog, chosen.values(), self.scope):
            if not self._misses_paths(entry) and not self._has_other_focus(entry):
                chosen[entry.address] = entry
                self.omitted.pop(entry.address, None)
        items = [self._retrieved(entry, overriders) for entry in chosen.values()]
        return claimants_first(sorted(items, key=lambda item: item.sort_key))

    def propose(self) -> tuple[Retrieved, ...]:
        """Return the drafts of the scope that match and nothing replaced, in order; they are never authority."""
        drafts = [
            entry
            for entry in self.members
            if entry.status is Status.DRAFT and not self.catalog.lineage.heads(entry.address)
            if self._passes(entry) and self._is_asked_for(entry)
        ]
        return tuple(sorted((self._retrieved(entry, {}) for entry in drafts), key=lambda item: item.sort_key))

    def coverage(self, items: Iterable[Retrieved]) -> tuple[Coverage, tuple[str, ...]]:
        """Return how far a current invariant or decision that is no mere proposal answers, and what it lacks.

        The words are those that nothing binding holds.
        """
        spoken = self.spoken(items)
        if spoken and (self._is_open or any(map(self._covers_path, spoken))):
            return Coverage.FULL, ()
        held = self.texts(spoken)
        found = coverage_of(self.weights, held, self.catalog.body)
        if found is Coverage.NONE and any(entry.address in self.naming for entry in spoken):
            found = Coverage.PARTIAL
        known = frozenset[str]().union(*{one.terms for one in held})
        return found, self._typed(
            term for term in self.weights.of if term not in known
        ) if found is Coverage.PARTIAL else ()

    @cached_property
    def weights(self) -> TermWeights:
        """Return how much each term of the question weighs among the entries that are read."""
        terms = self.answer.terms if self.answer else ()
        return weights_of(terms, (match.terms for match in self._matches.values()), len(self.members))

    def spoken(self, items: Iterable[Retrieved]) -> list[Entry]:
        """Return what binds among some items, each with what it replaced or overrides: that speaks for it."""
        binding = [item.entry for item in items if item.current and not item.is_proposal and item.entry.type.is_rule]
        return [
            text
            for entry in binding
            for text in (entry, *self._replaced_by(entry), *self.overrides.overridden_by(entry))
        ]

    def texts(self, entries: Iterable[Entry]) -> list[Held]:
        """Return those entries that hold a word of the question, with the words that each holds."""
        found = ((entry, self._matches[entry.address]) for entry in entries if entry.address in self._matches)
        return [
            Held(entry.address, " ".join((entry.title, *entry.tags)), match.score, match.terms)
            for entry, match in found
        ]

    def likely_room(self, items: Iterable[Retrieved]) -> str | None:
        """Return the room that holds most of the best matches, several of them; None where rooms are asked for."""
        if self.answer is None or self.scope.rooms:
            return None
        found = (item for item in items if item.score > 0)
        best = nsmallest(_BEST, found, key=lambda item: (-item.score, item.entry.address))
        rooms = Counter(item.entry.address.rpartition("/")[0] for item in best)
        room, count = max(rooms.items(), key=lambda pair: pair[1], default=("", 0))
        return room if count > 1 and 2 * count >= len(best) else None

    def unmatched_terms(self) -> tuple[str, ...]:
        """Return the words of the question, as typed, that no entry of the scope holds."""
        if self.answer is None:
            return ()
        held = frozenset[str]().union(*{match.terms for match in self._matches.values()})
        return self._typed(term for term in self.answer.terms if term not in held)

    def _typed(self, terms: Iterable[str]) -> tuple[str, ...]:
        """Return what was typed for some terms of the question, each word once."""
        words = self.answer.words if self.answer else {}
        return tuple(dict.fromkeys(words[term] for term in terms))

    def unshared(self, items: Iterable[Retrieved]) -> tuple[OmittedCount, ...]:
        """Count the decisions in force that the filters let in and that share no word and no path with the question."""
        named = self.omitted.keys() | {item.entry.address for item in items}
        others = [
            entry
            for entry in self.members
            if entry.type is EntryType.DECISION
            and entry.address not in named
            and self._is_shown(entry)
            and self.question.filters.lets_in(entry)
        ]
        return (OmittedCount(EntryType.DECISION.value, NOTHING_SHARED, len(others)),) if others else ()

    def _candidates(self) -> Iterator[Entry]:
        for entry in self.members:
            # Of most entries it is seen at once that nothing brings them in.
            if not (entry.type is EntryType.INVARIANT or self._is_brought(entry)) or not self._may_bind(entry):
                continue
            if self._is_unconditional(entry):
                if self._invariant_applies(entry):
                    yield entry
            elif self._passes(entry) and self._is_asked_for(entry):
                yield entry

    def _may_bind(self, entry: Entry) -> bool:
        if self._is_shown(entry):
            return True
        wanted = self.question.filters
        with_ended = wanted.include_deprecated or Status.DEPRECATED in wanted.statuses
        return with_ended and entry.status is not Status.DRAFT

    def _is_shown(self, entry: Entry) -> bool:
        lineage = self.catalog.lineage
        return lineage.is_current(entry.address) or lineage.is_unresolved(entry.address)

    def _is_unconditional(self, entry: Entry) -> bool:
        return self.scope.binds(entry) and self._is_shown(entry)

    def _invariant_applies(self, entry: Entry) -> bool:
        """Only these keep an unconditional invariant out, and each is said: a room only where invariants are named."""
        types = self.question.filters.types
        if types and EntryType.INVARIANT not in types:
            return self._leave_out(entry, "type filter")
        if types and not self.scope.holds(entry.address):
            return self._leave_out(entry, "another room")
        if self._misses_paths(entry) or (self.question.lies_aside(entry) and entry.address not in self._named):
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
        asked = self._is_brought(entry)
        return asked and (not self._misses_paths(entry) or self._leave_out(entry, "applies elsewhere"))

    def _is_brought(self, entry: Entry) -> bool:
        """Say whether the words or the paths bring an entry in; with neither, everything is asked for."""
        return entry.address in self._named or self._is_open or self._covers_path(entry)

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset((*self._matches, *self._inherited, *self.naming))

    def _reached_by_chain(self) -> Iterator[Entry]:
        """Yield the heads of superseded entries that match, even where a filter on the head would leave it out."""
        wanted = self.question.filters
        for head, matches in sorted(self._inherited.items()):
            entry = self.catalog.entries[head]
            olds = [self.catalog.entries[match.key] for match in matches]
            if not any(self.scope.holds(old.address) and wanted.lets_in(old) for old in olds):
                continue
            if not self._misses_paths(entry) or self._leave_out(entry, "applies elsewhere"):
                yield entry

    def _replaced_by(self, entry: Entry) -> list[Entry]:
        """Return the superseded entries that match and lead to one."""
        return [self.catalog.entries[match.key] for match in self._inherited.get(entry.address, ())]

    def _retrieved(self, entry: Entry, overriders: Mapping[str, Entry]) -> Retrieved:
        via = tuple(sorted(match.key for match in self._inherited.get(entry.address, ())))
        overrides = tuple(other.address for other in self.overrides.overridden_by(entry)) if entry.overrides else ()
        by = overriders.get(entry.address)
        overridden = [shared for shared in entry.overrides if overriders.get(shared) is entry]
        score = max(self._score(self.catalog.entries[one]) for one in (entry.address, *overridden, *via))
        return Retrieved(
            entry=entry,
            status=entry.status_on(self.today),
            tier=self._tier(entry),
            score=score,
            matches=self._suits(entry),
            current=self.catalog.lineage.is_current(entry.address),
            why=partial(self._reason, entry, via, overriders),
            via=via,
            overrides=overrides,
            terms=self._terms_of(entry, overridden),
            on_path=self._covers_path(entry),
            overridden_by=(by.address,) if by is not None and self.overrides.replaces(by, entry) else (),
            starts_shared=self.scope.starts_shared,
            is_unconditional=self._is_unconditional(entry),
            lies_aside=self.question.lies_aside(entry),
            stance=self.catalog.stance(entry.address),
            **bearings_of(self.catalog, entry, self.scope),
        )

    def _reason(self, entry: Entry, via: tuple[str, ...], overriders: Mapping[str, Entry]) -> str:
        parts = [*self._grounds(entry), *(f"replaces {old}, which matched" for old in via)]
        parts += self.overrides.notes_on(entry)
        by = overriders.get(entry.address)
        if by is not None and self.overrides.replaces(by, entry):
            parts.append(f"overridden here by {by.address}")
        if not parts and not self._is_open:
            parts = company_of(self.catalog, entry, self.scope)
        return "; ".join([*parts, *self._doubts(entry)]) or "in scope"

    def _grounds(self, entry: Entry) -> list[str]:
        parts = []
        if self._is_unconditional(entry):
            parts.append("invariant of the scope")
        match = self._matches.get(entry.address)
        if match is not None and self.answer is not None:
            typed = dict.fromkeys(self.answer.words[term] for term in self.answer.terms if term in match.terms)
            parts.append(f"holds {', '.join(typed)}" if typed else "matches the query")
        met = list(all_matches(entry.applies_to, self.question.paths)) if entry.applies_to else []
        if met:
            return [*parts, f"applies to {few_of(met, len(self.question.paths))}"]
        named = self.naming.get(entry.address, ())
        return [*parts, f"names {few_of(named, len(self.question.paths))}"] if named else parts

    def _doubts(self, entry: Entry) -> list[str]:
        parts = list(doubts_of(self.catalog, entry, entry.status_on(self.today)))
        if entry.status is Status.DRAFT:
            parts.append("a draft: proposed, not binding")
        if (
            entry.is_in_force and not self.catalog.lineage.is_current(entry.address)
        ) or entry.status is Status.DEPRECATED:
            parts.append(self._ended(entry))
        stance = self.catalog.stance(entry.address)
        return [*parts, stance.note] if stance is not None and stance.note else parts

    def _ended(self, entry: Entry) -> str:
        heads = self.catalog.lineage.heads(entry.address)
        if heads:
            return f"ended: replaced by {', '.join(heads)}"
        return f"ended: {entry.why_ended}" if entry.why_ended else "ended, no reason given"

    def _leave_out(self, entry: Entry, why: str) -> bool:
        self.omitted[entry.address] = Omission(entry.address, entry.type.value, why)
        return False

    def _misses_paths(self, entry: Entry) -> bool:
        return bool(self.question.paths and entry.applies_to) and not self._covers_path(entry)

    def _covers_path(self, entry: Entry) -> bool:
        return bool(entry.applies_to) and any_match(entry.applies_to, self.question.paths) is not None

    def _covers(self, entry: Entry) -> bool:
        match, terms = self._matches.get(entry.address), self.answer.terms if self.answer else ()
        holds = len(match.terms) if match is not None else 0
        return self._covers_path(entry) or (bool(terms) and holds / len(terms) >= _MATCHING_SHARE)

    def _suits(self, entry: Entry) -> bool:
        """Say whether an entry, or one it replaced, answers for the question itself; without a question each does."""
        if self._is_open or self._covers(entry):
            return True
        if entry.address not in self._inherited and not entry.overrides:
            return False
        return any(map(self._covers, (*self._replaced_by(entry), *self.overrides.overridden_by(entry))))

    def _score(self, entry: Entry) -> float:
        match = self._matches.get(entry.address)
        return match.score if match is not None else 0.0

    def _terms_of(self, entry: Entry, overridden: Iterable[str]) -> frozenset[str]:
        """Return the terms of the question that an entry holds, or what it replaced or overrides."""
        own, more = self._matches.get(entry.address), self._inherited.get(entry.address, ())
        terms = own.terms if own is not None else frozenset[str]()
        others = (self._matches[address] for address in overridden if address in self._matches)
        return terms.union(*(match.terms for match in (*others, *more)))

    def _tier(self, entry: Entry) -> Tier:
        if self.catalog.wings[entry.wing].is_shared:
            return Tier.SHARED
        is_focus = self.scope.focus is not None and entry.focus == self.scope.focus and entry.wing == self.scope.wing
        return Tier.FOCUS if is_focus else Tier.PROJECT


def members_of(catalog: Catalog, scope: Scope) -> tuple[Entry, ...]:
    """Return the entries that a question to a scope is put to, by address."""
    return tuple(entry for entry in catalog.entries.values() if scope.reads(entry))
