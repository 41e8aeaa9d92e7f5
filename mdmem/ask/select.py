"""Select the entries that answer a question: the invariants of the scope, and every current entry that matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import date
from functools import cached_property

from msgspec import Struct, field

from mdmem.ask.answer import ELSEWHERE, OTHER_FOCUS, OTHER_ROOM, TYPE_FILTER, Item, Omission
from mdmem.ask.overrides import Overrides
from mdmem.ask.question import Question, Tier
from mdmem.ask.rank import authority_key, claimants_first, fit_key
from mdmem.ask.relate import claims_on, partners_of
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.globs import any_match
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.records import Match, TextAnswer
from mdmem.store.workspace.scope import Scope

# An entry that holds half of the question's words matches it as a whole.
_HALF = 0.5
_NO_TERMS = frozenset[str]()


class Selection(Struct, frozen=True, dict=True):
    """One question put to one scope.

    `answer` is what the full text found, None for a question without words. `naming` are the entries whose text names a
    given path. `omitted` collects the entries that were left out.
    """

    catalog: Catalog
    scope: Scope
    question: Question
    answer: TextAnswer | None
    today: date
    naming: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    omitted: dict[str, Omission] = field(default_factory=dict)

    def select(self, only: Set[str] | None = None) -> list[Item]:
        """Return the items in the order of authority, or those of `only` some addresses."""
        chosen = {address: self.catalog.entries[address] for address in self._candidates() if self._answers(address)}
        for head, olds in self.inherited.items():
            if head not in chosen and self._comes_for(head, olds):
                chosen[head] = self.catalog.entries[head]
        self._apply_overrides(chosen)
        for entry in partners_of(self.catalog, chosen, self.scope):
            if not self._misses_paths(entry) and not self._has_other_focus(entry):
                chosen.setdefault(entry.address, entry)
        for address in chosen:
            self.omitted.pop(address, None)
        merged = {one.address: one for one in self._drafts() if self.catalog.is_merged(one.address)}
        everything = {**chosen, **merged}
        items = [self.item(entry) for address, entry in everything.items() if only is None or address in only]
        items.sort(key=lambda item: authority_key(item, starts_shared=self.scope.starts_shared))
        if not self.catalog.lineage.claimed.isdisjoint(everything):
            items = claimants_first(
                items, lambda item: item.entry, lambda entry: claims_on(self.catalog, entry, self.scope)
            )
        return items

    def propose(self, only: Set[str] | None = None) -> list[Item]:
        """Return the matching drafts that nobody merged, in the order of authority, though they have none."""
        drafts = (one for one in self._drafts() if not self.catalog.is_merged(one.address))
        return sorted((self.item(one) for one in drafts if only is None or one.address in only), key=authority_key)

    def unmatched_decisions(self, items: Iterable[Item]) -> list[Entry]:
        """Return the current decisions of the scope that match nothing in the question, by address."""
        if self.question.is_open:
            return []
        known = self.omitted.keys() | {item.address for item in items}
        decisions = self.catalog.derived.of_type[EntryType.DECISION] & self.members
        return [
            self.catalog.entries[address]
            for address in sorted(decisions - known)
            if self._is_shown(address) and self.question.filters.lets_in(self.catalog.entries[address])
            if not (self.question.paths and self.catalog.entries[address].applies_to)
            if not self._is_proposal(address)
        ]

    @cached_property
    def members(self) -> Set[str]:
        """Return the addresses of the entries that are read."""
        return frozenset(self.scope.read(self.catalog))

    @cached_property
    def matches(self) -> dict[str, Match]:
        """Return what the full text found, by address, best first."""
        return {match.key: match for match in self.answer.matches} if self.answer else {}

    @cached_property
    def on_path(self) -> frozenset[str]:
        """Return the entries whose `applies_to` matches a given path."""
        entries, paths = self.catalog.entries, self.question.paths
        bound = self.catalog.derived.with_globs & self.members if paths else ()
        return frozenset(one for one in bound if any_match(entries[one].applies_to, paths) is not None)

    @cached_property
    def inherited(self) -> dict[str, list[str]]:
        """Return, for each current entry, the superseded entries that match and lead to it, the best first."""
        lineage, found = self.catalog.lineage, dict[str, list[str]]()
        for address in (*self.matches, *sorted({*self.on_path, *self.naming} - self.matches.keys())):
            for head in lineage.heads(address) if not lineage.is_current(address) else ():
                if head != address:
                    found.setdefault(head, []).append(address)
        return found

    def _candidates(self) -> Iterator[str]:
        """Yield the addresses that may answer, each once."""
        members = self.members
        invariants = self.catalog.derived.of_type[EntryType.INVARIANT]
        if self.question.is_open:
            yield from sorted(members)
            return
        brought = (*self.matches, *sorted((self.on_path | self.naming.keys() | invariants) & members), *self.inherited)
        yield from (address for address in dict.fromkeys(brought) if address in members)

    def _is_brought_in(self, address: str) -> bool:
        """Return whether the words or the paths bring an entry in, or one that it superseded."""
        return self.question.is_open or self._is_brought_in_itself(address) or address in self.inherited

    def _is_brought_in_itself(self, address: str) -> bool:
        return address in self.matches or address in self.on_path or address in self.naming

    def _answers(self, address: str) -> bool:
        entry = self.catalog.entries[address]
        if not self._is_shown(address) and not (self._with_ended and entry.status is not Status.DRAFT):
            return False
        if self.is_unconditional(entry):
            return self._invariant_applies(entry)
        return self._is_brought_in(address) and self._passes(entry) and not self._misses_paths(entry)

    def _comes_for(self, head: str, olds: Iterable[str]) -> bool:
        """Return whether an entry answers for one that it replaced, even where a filter would leave it out itself."""
        entries, lets_in = self.catalog.entries, self.question.filters.lets_in
        wanted = any(self.scope.contains(old) and lets_in(entries[old]) for old in olds)
        return wanted and not self._misses_paths(entries[head])

    def _is_shown(self, address: str) -> bool:
        lineage = self.catalog.lineage
        return lineage.is_current(address) or lineage.is_unresolved(address)

    def _is_proposal(self, address: str) -> bool:
        stance = self.catalog.stance(address)
        return stance is not None and stance.standing.is_unapproved

    @property
    def _with_ended(self) -> bool:
        wanted = self.question.filters
        return wanted.include_deprecated or Status.DEPRECATED in wanted.statuses

    def is_unconditional(self, entry: Entry) -> bool:
        """Return whether an entry is an invariant that is part of every answer."""
        return entry.type is EntryType.INVARIANT and self.scope.always_applies(entry) and self._is_shown(entry.address)

    def _invariant_applies(self, entry: Entry) -> bool:
        """Return whether an unconditional invariant applies; rooms count only if invariants are asked for by type."""
        types = self.question.filters.types
        if types and EntryType.INVARIANT not in types:
            return self._omit(entry, TYPE_FILTER)
        if types and not self.scope.contains(entry.address):
            return self._omit(entry, OTHER_ROOM)
        if self._misses_paths(entry):
            return False
        at_work = self.question.work_paths
        is_bound = at_work and entry.applies_to and entry.address not in self.matches
        if is_bound and any_match(entry.applies_to, at_work) is None:
            return self._omit(entry, ELSEWHERE)
        return not self._has_other_focus(entry) or self._omit(entry, OTHER_FOCUS)

    def _passes(self, entry: Entry) -> bool:
        wanted = self.question.filters
        if not wanted.lets_in(entry):
            return False
        if wanted.statuses and {entry.status, entry.status_on(self.today)}.isdisjoint(wanted.statuses):
            return False
        return not self._has_other_focus(entry) or self._omit(entry, OTHER_FOCUS)

    def _has_other_focus(self, entry: Entry) -> bool:
        focuses = self.question.filters.focuses
        return bool(focuses) and entry.focus not in (None, *focuses)

    def _misses_paths(self, entry: Entry) -> bool:
        """Say, and note, that an entry applies to other paths than the given ones."""
        paths = self.question.paths
        if not (entry.applies_to and paths) or entry.address in self.on_path:
            return False
        if entry.address not in self.members and any_match(entry.applies_to, paths) is not None:
            return False
        return not self._omit(entry, ELSEWHERE)

    def _omit(self, entry: Entry, why: str) -> bool:
        self.omitted[entry.address] = Omission(entry.address, entry.type.value, why)
        return False

    def _drafts(self) -> Iterator[Entry]:
        """Yield the drafts of the scope that match and that nothing replaced."""
        for entry in self.catalog.derived.drafts.values():
            if entry.address not in self.members or self.catalog.lineage.heads(entry.address):
                continue
            if self._is_brought_in(entry.address) and self._passes(entry) and not self._misses_paths(entry):
                yield entry

    @cached_property
    def overrides(self) -> Overrides:
        """Return the overrides of the active wing."""
        return Overrides(self.catalog, self.scope, self.question)

    @cached_property
    def overriders(self) -> dict[str, Entry]:
        """Return, for each selected entry that the active wing overrides, the entry that does; `select` fills it."""
        return {}

    def _apply_overrides(self, chosen: dict[str, Entry]) -> None:
        """Let what the active wing overrides give way, but for invariants, and add the entries that override."""
        self.overriders.update(self.overrides.of(chosen))
        powerless = self.overrides.powerless(chosen)
        for address, by in self.overriders.items():
            chosen.setdefault(by.address, by)
            overridden = chosen[address]
            if self.overrides.replaces(by, overridden) and overridden.type is not EntryType.INVARIANT:
                del chosen[address]
                self._omit(overridden, f"overridden by {by.address}")
        for entry in powerless:
            chosen.setdefault(entry.address, entry)

    def item(self, entry: Entry) -> Item:
        """Return an entry as an item, without its relations to others."""
        address = entry.address
        olds = self.inherited.get(address, ())
        overridden = [one.address for one in self.overrides.overridden_by(entry)] if entry.overrides else []
        spoken_for = (address, *olds, *(one for one in overridden if self.overriders.get(one) is entry))
        held = [self.matches[one] for one in spoken_for if one in self.matches]
        by = self.overriders.get(address)
        return Item(
            entry=entry,
            status=entry.status_on(self.today),
            tier=self._tiers[entry.wing] if entry.focus is None else tier_of(entry, self.scope, self.catalog),
            score=max((match.score for match in held), default=0.0),
            terms=_NO_TERMS.union(*(match.terms for match in held)) if len(held) != 1 else held[0].terms,
            via=tuple(sorted(olds)),
            current=self._is_shown(address) or self.catalog.is_merged(address),
            matches=self._matches(held, spoken_for),
            inherited=bool(olds) and not self._is_brought_in_itself(address),
            on_path=address in self.on_path,
            unconditional=self.is_unconditional(entry),
            overrides=tuple(overridden),
            overridden_by=(by.address,) if by is not None and self.overrides.replaces(by, entry) else (),
            stance=self.catalog.stance(address),
        )

    def _matches(self, held: Iterable[Match], spoken_for: Iterable[str]) -> bool:
        terms = self.answer.terms if self.answer else ()
        if self.question.is_open or any(len(match.terms) >= _HALF * len(terms) for match in held):
            return True
        return not self.on_path.isdisjoint(spoken_for)

    @cached_property
    def _tiers(self) -> dict[str, Tier]:
        return {name: Tier.SHARED if wing.is_shared else Tier.PROJECT for name, wing in self.catalog.wings.items()}

    def likely_room(self, items: Iterable[Item], *, among: int = 10) -> str | None:
        """Return the room that holds most of the best matches; None where the question names rooms."""
        if self.answer is None or self.scope.rooms:
            return None
        best = sorted((item for item in items if item.score > 0), key=fit_key)[:among]
        rooms = Counter(item.address.rpartition("/")[0] for item in best)
        room, count = max(rooms.items(), key=lambda pair: pair[1], default=("", 0))
        return room if count > 1 and 2 * count >= rooms.total() else None

    def typed(self, terms: Iterable[str]) -> tuple[str, ...]:
        """Return the words that the user typed for some terms, each once."""
        words = self.answer.words if self.answer else {}
        return tuple(dict.fromkeys(words[term] for term in terms if term in words))

    def unmatched_terms(self) -> tuple[str, ...]:
        """Return the words of the question, as typed, that no entry of the scope holds."""
        held = _NO_TERMS.union(*{match.terms for match in self.matches.values()})
        return self.typed(term for term in self.answer.terms if term not in held) if self.answer else ()


def tier_of(entry: Entry, scope: Scope, catalog: Catalog) -> Tier:
    """Return how close an entry is to a scope."""
    if catalog.wings[entry.wing].is_shared:
        return Tier.SHARED
    is_focus = scope.focus is not None and entry.focus == scope.focus and entry.wing == scope.wing
    return Tier.FOCUS if is_focus else Tier.PROJECT
