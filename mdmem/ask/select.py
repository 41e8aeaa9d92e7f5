"""Select the entries that answer a question: the invariants of the scope, and every current entry that matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from datetime import date
from functools import cached_property
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.answer import (
    ELSEWHERE,
    OTHER_FOCUS,
    OTHER_ROOM,
    OVERRIDDEN,
    RELATIONS,
    TYPE_FILTER,
    Item,
    Omission,
    replaced_notes,
)
from mdmem.ask.code_paths import few_of
from mdmem.ask.question import Question, Tier
from mdmem.ask.rank import authority_key, claimants_first, fit_key
from mdmem.ask.relate import claims_on, doubts_of, partners_of, relations_of
from mdmem.model.entry import Entry, EntryType, Status, having, of_kind
from mdmem.model.globs import all_matches, any_match
from mdmem.store.catalog.model import Catalog
from mdmem.store.index import Match, TextAnswer
from mdmem.store.workspace.proposals import effects_of
from mdmem.store.workspace.scope import Scope

# An entry matches the question if it contains this share of the question's words.
_HALF = 0.5
_NO_TERMS = frozenset[str]()
# The most globs that are listed in a note about an override that applies only to some paths.
_GLOBS = 3


class Selection(Struct, frozen=True, dict=True):
    """The selection of entries for one question in one scope.

    `answer` is the result of the full-text search, or None if the question has no words. `naming` has the entries whose
    text mentions a given path or its folder, with what they mention. `omitted` collects the entries that were omitted,
    with the reasons.
    """

    catalog: Catalog
    scope: Scope
    question: Question
    answer: TextAnswer | None
    today: date
    naming: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    omitted: dict[str, Omission] = field(default_factory=dict)

    def select(self, only: Set[str] | None = None) -> list[Item]:
        """Return the selected items in the order of authority; with `only`, just those at these addresses."""
        chosen = {address: self.catalog.entries[address] for address in self._candidates() if self._answers(address)}
        for head, olds in self.inherited.items():
            if head not in chosen and self._is_successor_wanted(head, olds):
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
        """Return the matching drafts that are not on the default branch, in the order of authority."""
        drafts = (one for one in self._drafts() if not self.catalog.is_merged(one.address))
        return sorted((self.item(one) for one in drafts if only is None or one.address in only), key=authority_key)

    def unmatched_decisions(self, items: Iterable[Item]) -> list[Entry]:
        """Return the current decisions of the scope that do not match the question, sorted by address."""
        if self.question.is_open:
            return []
        known = self.omitted.keys() | {item.address for item in items}
        decisions = self.catalog.derived.of_type[EntryType.DECISION] & self.members
        return [
            self.catalog.entries[address]
            for address in sorted(decisions - known)
            if self._is_shown(address) and self.question.filters.lets_in(self.catalog.entries[address])
            if not (self.question.paths and self.catalog.entries[address].applies_to)
            if (stance := self.catalog.stance(address)) is None or not stance.standing.is_unapproved
        ]

    @cached_property
    def members(self) -> Set[str]:
        """Return the addresses of all entries in the scope."""
        return frozenset(self.scope.read(self.catalog))

    @cached_property
    def matches(self) -> dict[str, Match]:
        """Return the matches of the full-text search by address, best first."""
        return {match.key: match for match in self.answer.matches} if self.answer else {}

    @cached_property
    def on_path(self) -> frozenset[str]:
        """Return the addresses of the entries in the scope whose `applies_to` matches a given path."""
        paths = self.question.paths
        bound = (one for one in having(self.catalog.entries, "applies_to") if paths and one.address in self.members)
        return frozenset(one.address for one in bound if any_match(one.applies_to, paths) is not None)

    @cached_property
    def inherited(self) -> dict[str, list[str]]:
        """Return, for each current address, the addresses of the matching entries that it replaced, best first."""
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
        found = (*self.matches, *sorted((self.on_path | self.naming.keys() | invariants) & members), *self.inherited)
        yield from (address for address in dict.fromkeys(found) if address in members)

    def _is_found(self, address: str) -> bool:
        """Return whether an entry, or one that it superseded, matches by words or paths."""
        return self.question.is_open or self._is_found_itself(address) or address in self.inherited

    def _is_found_itself(self, address: str) -> bool:
        return address in self.matches or address in self.on_path or address in self.naming

    def _answers(self, address: str) -> bool:
        entry = self.catalog.entries[address]
        if not self._is_shown(address) and not (self.question.filters.with_ended and entry.status is not Status.DRAFT):
            return False
        if self.is_unconditional(entry):
            return self._invariant_applies(entry)
        return self._is_found(address) and self._passes(entry) and not self._misses_paths(entry)

    def _is_successor_wanted(self, head: str, olds: Iterable[str]) -> bool:
        """Return whether to include an entry, even if it does not pass the filters, because a superseded one does."""
        entries, lets_in = self.catalog.entries, self.question.filters.lets_in
        wanted = any(self.scope.contains(old) and lets_in(entries[old]) for old in olds)
        return wanted and not self._misses_paths(entries[head])

    def _is_shown(self, address: str) -> bool:
        lineage = self.catalog.lineage
        return lineage.is_current(address) or lineage.is_unresolved(address)

    def is_unconditional(self, entry: Entry) -> bool:
        """Return whether an entry is an invariant that the scope includes in every answer."""
        return entry.type is EntryType.INVARIANT and self.scope.always_applies(entry) and self._is_shown(entry.address)

    def _invariant_applies(self, entry: Entry) -> bool:
        """Return whether an unconditional invariant applies to the question; if not, note the omission.

        A room filter counts only if the filters also ask for invariants by type.
        """
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
        """Return whether an entry applies only to other paths than the given ones; if so, note the omission."""
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
        """Yield the matching drafts of the scope that are not superseded."""
        for entry in map(self.catalog.entries.__getitem__, of_kind(self.catalog.entries, Status.DRAFT)):
            if entry.address not in self.members or self.catalog.lineage.heads(entry.address):
                continue
            if self._is_found(entry.address) and self._passes(entry) and not self._misses_paths(entry):
                yield entry

    @cached_property
    def overriders(self) -> dict[str, Entry]:
        """Return the entry of the active wing that overrides each selected entry; empty until `select` runs."""
        return {}

    def _apply_overrides(self, chosen: dict[str, Entry]) -> None:
        """Add the overriding entries of the active wing, and omit the overridden ones, except invariants."""
        self.overriders.update(self._overriders_of(chosen))
        powerless = self._powerless(chosen)
        for address, by in self.overriders.items():
            chosen.setdefault(by.address, by)
            overridden = chosen[address]
            if self._replaces(by, overridden) and overridden.type is not EntryType.INVARIANT:
                del chosen[address]
                self._omit(overridden, f"{OVERRIDDEN} by {by.address}")
        for entry in powerless:
            chosen.setdefault(entry.address, entry)

    @cached_property
    def _overriding(self) -> tuple[Entry, ...]:
        """Return the current entries of the active wing that override something and apply to the given paths."""
        wing, wings, paths = self.scope.wing, self.catalog.wings, self.question.paths
        if self.scope.starts_shared and wing is not None and not wings[wing].is_shared:
            return ()
        overriding = having(self.catalog.entries, "overrides")
        found = (one for one in overriding if one.wing == wing and not self._has_other_focus(one))
        current = (one for one in found if self.catalog.lineage.is_current(one.address))
        return tuple(one for one in current if not paths or _applies_to(one, paths))

    def _replaces(self, entry: Entry, other: Entry) -> bool:
        """Return whether an entry replaces the overridden one for all paths and focus areas of the question.

        If the entry covers only some of them, the overridden entry still applies to the rest, and is shown, too.
        """
        if not self._has_its_focus(entry, other):
            return False
        shared = [path for path in self.question.paths if _applies_to(other, [path])]
        return not entry.applies_to or (bool(shared) and all(_applies_to(entry, [path]) for path in shared))

    def _has_its_focus(self, entry: Entry, other: Entry) -> bool:
        return entry.focus in (None, other.focus) or set(self.question.filters.focuses) == {entry.focus}

    def _overriders_of(self, chosen: Collection[str]) -> dict[str, Entry]:
        """Return the overriding entry for each chosen entry that has one, preferably one that fully replaces it."""
        found: dict[str, Entry] = {}
        for entry in self._overriding:
            for other in self._overridden_by(entry):
                if other.address in chosen:
                    before = found.setdefault(other.address, entry)
                    if self._replaces(entry, other) and not self._replaces(before, other):
                        found[other.address] = entry
        return found

    def _powerless(self, chosen: Collection[str]) -> list[Entry]:
        """Return the entries that try to override a chosen entry of higher authority.

        Both entries are shown, and a person decides.
        """
        return [
            entry
            for entry in self._overriding
            if any(other.address in chosen and other.type.rank < entry.type.rank for other in self._named_by(entry))
        ]

    def _overridden_by(self, entry: Entry) -> list[Entry]:
        """Return the shared entries that an entry overrides; their authority must not be higher than its own."""
        named = self._named_by(entry) if entry.overrides else ()
        return [other for other in named if entry.type.rank <= other.type.rank]

    def _named_by(self, entry: Entry) -> list[Entry]:
        if entry.status is Status.DRAFT:
            return []
        named = (self.catalog.entries.get(address) for address in entry.overrides)
        wings = self.catalog.wings
        return [other for other in named if other and other.wing != entry.wing and wings[other.wing].is_shared]

    def override_notes(self, entry: Entry) -> list[str]:
        """Return a note for each shared entry in the `overrides` of an entry, also for those it cannot override."""
        return [self._note_on(entry, other) for other in self._named_by(entry)]

    def _note_on(self, entry: Entry, other: Entry) -> str:
        if entry.type.rank > other.type.rank:
            return f"cannot override the {other.type} {other.address}"
        if self._replaces(entry, other):
            return f"overrides {other.address}"
        focus = [] if self._has_its_focus(entry, other) else [f"the focus {entry.focus}"]
        more = ", …" if entry.applies_to[_GLOBS:] else ""
        return f"overrides {other.address} only in {', '.join([*focus, *entry.applies_to[:_GLOBS]])}{more}"

    def item(self, entry: Entry) -> Item:
        """Return an entry as an item, without its relations to others."""
        address = entry.address
        olds = self.inherited.get(address, ())
        overridden = [one.address for one in self._overridden_by(entry)] if entry.overrides else []
        replaced = (address, *olds, *(one for one in overridden if self.overriders.get(one) is entry))
        found = [self.matches[one] for one in replaced if one in self.matches]
        by = self.overriders.get(address)
        return Item(
            entry=entry,
            status=entry.status_on(self.today),
            tier=self._tiers[entry.wing] if entry.focus is None else tier_of(entry, self.scope, self.catalog),
            score=max((match.score for match in found), default=0.0),
            terms=_NO_TERMS.union(*(match.terms for match in found)) if len(found) != 1 else found[0].terms,
            via=tuple(sorted(olds)),
            current=self._is_shown(address) or self.catalog.is_merged(address),
            matches=self._matches(found, replaced),
            on_path=address in self.on_path,
            names_path=address in self.naming,
            unconditional=self.is_unconditional(entry),
            overrides=tuple(overridden),
            overridden_by=(by.address,) if by is not None and self._replaces(by, entry) else (),
            stance=self.catalog.stance(address),
        )

    def _matches(self, found: Iterable[Match], addresses: Iterable[str]) -> bool:
        terms = self.answer.terms if self.answer else ()
        if self.question.is_open or any(len(match.terms) >= _HALF * len(terms) for match in found):
            return True
        return not self.on_path.isdisjoint(addresses)

    @cached_property
    def _tiers(self) -> dict[str, Tier]:
        return {name: Tier.SHARED if wing.is_shared else Tier.PROJECT for name, wing in self.catalog.wings.items()}

    def describe(self, item: Item) -> Item:
        """Return an item with its relations to other entries and the reasons why it is in the answer."""
        found = relations_of(self.catalog, item.entry, self.scope)
        heads = self.catalog.lineage.heads(item.address)
        return replace(item, heads=heads, reasons=tuple(self._reasons(item, found)), **found)

    def _reasons(self, item: Item, relations: dict[str, Any]) -> Iterator[str]:
        found = [*self._reasons_to_match(item), *replaced_notes(item.via), *self.override_notes(item.entry)]
        found += [f"overridden here by {by}" for by in item.overridden_by]
        if not found and not self.question.is_open:
            named = [name for name in ("claims", "amends") if relations[name]]
            found = [f"{RELATIONS[name]} {', '.join(relations[name])}" for name in named]
        yield from (*found, *self._doubts(item))

    def _reasons_to_match(self, item: Item) -> Iterator[str]:
        """Yield the words and paths of the question that an item matches, as phrases such as `contains retry`."""
        entry, paths = item.entry, self.question.paths
        if item.unconditional:
            yield "invariant of the scope"
        match = self.matches.get(entry.address)
        if match is not None and self.answer is not None:
            # The entry may have the parts of a compound word, and not the word.
            parts = Counter(self.answer.words[term] for term in self.answer.terms)
            contained = self.typed(term for term in self.answer.terms if term in match.terms)
            typed = [one for one in contained if parts[one] == 1]
            yield f"contains {', '.join(typed)}" if typed else "matches the query"
        met = list(all_matches(entry.applies_to, paths)) if entry.applies_to else []
        named = self.naming.get(entry.address, ())
        if met:
            yield f"applies to {few_of(met, paths)}"
        elif named:
            yield f"mentions {few_of(named, ())}"

    def _doubts(self, item: Item) -> Iterator[str]:
        catalog, entry = self.catalog, item.entry
        yield from doubts_of(catalog, entry, item.status)
        note = item.stance.note if item.stance is not None else ""
        if entry.status is Status.DRAFT:
            yield (
                "a draft: merged, not approved"
                if catalog.is_merged(entry.address)
                else "a draft: proposed, not binding"
            )
            note = note or "; ".join(effects_of(entry))
        is_replaced = entry.is_in_force and not catalog.lineage.is_current(entry.address)
        if is_replaced or entry.status is Status.DEPRECATED:
            heads = catalog.lineage.heads(entry.address)
            why = f"not current: {entry.why_ended}" if entry.why_ended else "not current, no reason given"
            yield f"not current: replaced by {', '.join(heads)}" if heads else why
        if note:
            yield note

    def likely_room(self, items: Iterable[Item], *, among: int = 10) -> str | None:
        """Return the room that contains at least two, and at least half, of the best matches; None without one.

        None also if the scope is already limited to rooms.
        """
        if self.answer is None or self.scope.rooms:
            return None
        best = sorted((item for item in items if item.score > 0), key=fit_key)[:among]
        rooms = Counter(item.address.rpartition("/")[0] for item in best)
        room, count = max(rooms.items(), key=lambda pair: pair[1], default=("", 0))
        return room if count > 1 and 2 * count >= rooms.total() else None

    def typed(self, terms: Iterable[str]) -> tuple[str, ...]:
        """Return the words that the user typed for some search terms (stems), each once."""
        words = self.answer.words if self.answer else {}
        return tuple(dict.fromkeys(words[term] for term in terms if term in words))

    def uncovered_terms(self, weights: Mapping[str, float]) -> tuple[str, ...]:
        """Return the words of the question, as typed, that no invariant or decision of the scope contains.

        General words without weight, such as "use", do not count.
        """
        rules = (match.terms for one, match in self.matches.items() if self.catalog.entries[one].type.is_rule)
        found = _NO_TERMS.union(*rules)
        return self.typed(term for term in weights if weights[term] and term not in found)

    def unmatched_terms(self, weights: Mapping[str, float]) -> tuple[str, ...]:
        """Return the words of the question, as typed, that no entry of the scope contains.

        General words without weight, such as "use", do not count.
        """
        found = _NO_TERMS.union(*{match.terms for match in self.matches.values()})
        return self.typed(term for term in weights if weights[term] and term not in found)


def tier_of(entry: Entry, scope: Scope, catalog: Catalog) -> Tier:
    """Return whether an entry belongs to the scope's focus, to a project, or to a shared wing."""
    if catalog.wings[entry.wing].is_shared:
        return Tier.SHARED
    is_focus = scope.focus is not None and entry.focus == scope.focus and entry.wing == scope.wing
    return Tier.FOCUS if is_focus else Tier.PROJECT


def _applies_to(entry: Entry, paths: Collection[str]) -> bool:
    """Return whether an entry has no `applies_to`, or its `applies_to` matches one of the paths."""
    return not entry.applies_to or any_match(entry.applies_to, paths) is not None
