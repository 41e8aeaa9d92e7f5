"""Select the entries that answer a question: the invariants of the scope, and every current entry that matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from datetime import date
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.answer import RELATIONS, Item, Omission, Question, Reason, Tier, replaced_notes
from mdmem.ask.rank import authority_key, claimants_first
from mdmem.ask.relate import claimants_in_scope, doubts_of, related_entries, relations_of
from mdmem.model.entry import Entry, EntryType, Status, entries_with
from mdmem.model.globs import all_matches, any_match
from mdmem.model.text import first_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.index import Match, TextAnswer
from mdmem.store.workspace.proposals import effects_of
from mdmem.store.workspace.scope import Scope

# An entry matches the question if it contains this share of the question's words.
_HALF = 0.5
# The most paths that a reason lists, or globs and focus areas of an override.
_PATHS = 2


class Selection(Struct, frozen=True, dict=True):
    """The selection of entries for one question in one scope.

    `answer` is the result of the full-text search, or None if the question has no words. `mentioning` has the entries
    whose text mentions a given path or its folder, with what they mention. `omitted` collects the entries that were
    omitted, with the reasons, and `overriders` the overriding entry of each selected entry that has one.
    """

    catalog: Catalog
    scope: Scope
    question: Question
    answer: TextAnswer | None
    today: date
    mentioning: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    omitted: dict[str, Omission] = field(default_factory=dict)
    overriders: dict[str, Entry] = field(default_factory=dict)

    def select(self, only: Set[str] | None = None) -> list[Item]:
        """Return the selected items in the order of authority; with `only`, just those at these addresses."""
        entries, matches_entry = self.catalog.entries, self.question.filters.matches_entry
        if self.question.is_open:
            found = sorted(self.members)
        else:
            more = self.on_path | self.mentioning.keys() | self.catalog.derived.of_type[EntryType.INVARIANT]
            found = list(dict.fromkeys((*self.matches, *sorted(more & self.members), *self.inherited)))
        chosen = {one: entries[one] for one in found if one in self.members and self._answers(entries[one])}
        for head, olds in self.inherited.items():
            # A successor need not pass the filters if an entry that it superseded does.
            is_wanted = any(self.scope.contains(old) and matches_entry(entries[old]) for old in olds)
            if is_wanted and head not in chosen and not self._misses_paths(entries[head]):
                chosen[head] = entries[head]
        self._apply_overrides(chosen)
        for entry in related_entries(self.catalog, chosen, self.scope):
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
                items, lambda item: item.entry, lambda entry: claimants_in_scope(self.catalog, entry, self.scope)
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
            if self._is_shown(address) and self.question.filters.matches_entry(self.catalog.entries[address])
            if not (self.question.paths and self.catalog.entries[address].applies_to)
            if (state := self.catalog.branch_state(address)) is None or not state.standing.is_unapproved
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
        paths, entries = self.question.paths, entries_with(self.catalog.entries, "applies_to")
        bound = (one for one in entries if paths and one.address in self.members)
        return frozenset(one.address for one in bound if any_match(one.applies_to, paths) is not None)

    @cached_property
    def inherited(self) -> dict[str, list[str]]:
        """Return, for each current address, the addresses of the matching entries that it replaced, best first."""
        lineage, found = self.catalog.lineage, dict[str, list[str]]()
        for address in (*self.matches, *sorted({*self.on_path, *self.mentioning} - self.matches.keys())):
            for head in lineage.heads(address) if not lineage.is_current(address) else ():
                if head != address:
                    found.setdefault(head, []).append(address)
        return found

    def _answers(self, entry: Entry) -> bool:
        """Return whether an entry belongs to the answer; note the omission of an unconditional invariant."""
        filters, address = self.question.filters, entry.address
        if not self._is_shown(address) and not (filters.includes_ended and entry.status is not Status.DRAFT):
            return False
        if not self.is_unconditional(entry):
            return self._is_match(entry)
        # A room filter counts only if the filters also ask for invariants by type.
        if filters.types and EntryType.INVARIANT not in filters.types:
            return self._omit(entry, Reason.TYPE_FILTER)
        if filters.types and not self.scope.contains(address):
            return self._omit(entry, Reason.OTHER_ROOM)
        if self._misses_paths(entry):
            return False
        at_work = self.question.work_paths
        if at_work and address not in self.matches and not _applies_to(entry, at_work):
            return self._omit(entry, Reason.ELSEWHERE)
        return not self._has_other_focus(entry) or self._omit(entry, Reason.OTHER_FOCUS)

    def _is_match(self, entry: Entry) -> bool:
        """Return whether an entry, or one that it superseded, matches by words or paths, and passes all filters."""
        wanted, address = self.question.filters, entry.address
        found = (self.matches, self.on_path, self.mentioning, self.inherited)
        if not self.question.is_open and not any(address in some for some in found):
            return False
        if not wanted.matches_entry(entry):
            return False
        if wanted.statuses and {entry.status, entry.status_on(self.today)}.isdisjoint(wanted.statuses):
            return False
        if self._has_other_focus(entry):
            return self._omit(entry, Reason.OTHER_FOCUS)
        return not self._misses_paths(entry)

    def _is_shown(self, address: str) -> bool:
        lineage = self.catalog.lineage
        return lineage.is_current(address) or lineage.is_unresolved(address)

    def is_unconditional(self, entry: Entry) -> bool:
        """Return whether an entry is an invariant that the scope includes in every answer."""
        return entry.type is EntryType.INVARIANT and self.scope.always_applies(entry) and self._is_shown(entry.address)

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
        return not self._omit(entry, Reason.ELSEWHERE)

    def _omit(self, entry: Entry, why: str) -> bool:
        self.omitted[entry.address] = Omission(entry.address, entry.type.value, why)
        return False

    def _drafts(self) -> Iterator[Entry]:
        """Yield the matching drafts of the scope that are not superseded."""
        for address, entry in self.catalog.entries.items():
            is_candidate = entry.status is Status.DRAFT and address in self.members
            if is_candidate and not self.catalog.lineage.heads(address) and self._is_match(entry):
                yield entry

    def _apply_overrides(self, chosen: dict[str, Entry]) -> None:
        """Add the overriding entries of the active wing, and omit the overridden ones, except invariants.

        If several entries override one, an entry that fully replaces it is preferred. An entry that tries to override
        one of higher authority is added, too, so that a person can decide.
        """
        wing, paths, powerless = self.scope.wing, self.question.paths, list[Entry]()
        is_shared_first = self.scope.starts_shared and wing is not None and not self.catalog.wings[wing].is_shared
        for entry in () if is_shared_first else entries_with(self.catalog.entries, "overrides"):
            is_active = entry.wing == wing and self.catalog.lineage.is_current(entry.address)
            if not is_active or self._has_other_focus(entry) or (paths and not _applies_to(entry, paths)):
                continue
            for other in (one for one in self._named_by(entry) if one.address in chosen):
                if other.type.rank < entry.type.rank:
                    powerless.append(entry)
                    continue
                before = self.overriders.setdefault(other.address, entry)
                if self._replaces(entry, other) and not self._replaces(before, other):
                    self.overriders[other.address] = entry
        for address, by in self.overriders.items():
            chosen.setdefault(by.address, by)
            overridden = chosen[address]
            if self._replaces(by, overridden) and overridden.type is not EntryType.INVARIANT:
                del chosen[address]
                self._omit(overridden, f"{Reason.OVERRIDDEN} by {by.address}")
        for entry in powerless:
            chosen.setdefault(entry.address, entry)

    def _replaces(self, entry: Entry, other: Entry) -> bool:
        """Return whether an entry replaces the overridden one for all paths and focus areas of the question.

        If the entry covers only some of them, the overridden entry still applies to the rest, and is shown, too.
        """
        if entry.focus not in (None, other.focus) and set(self.question.filters.focuses) != {entry.focus}:
            return False
        shared = [path for path in self.question.paths if _applies_to(other, [path])]
        return not entry.applies_to or (bool(shared) and all(_applies_to(entry, [path]) for path in shared))

    def _named_by(self, entry: Entry) -> list[Entry]:
        """Return the shared entries in the `overrides` of an entry, also those of higher authority."""
        if entry.status is Status.DRAFT:
            return []
        named = (self.catalog.entries.get(address) for address in entry.overrides)
        wings = self.catalog.wings
        return [other for other in named if other and other.wing != entry.wing and wings[other.wing].is_shared]

    def item(self, entry: Entry) -> Item:
        """Return an entry as an item, without its relations to others."""
        address = entry.address
        olds = self.inherited.get(address, ())
        overridden = [one.address for one in self._named_by(entry) if entry.type.rank <= one.type.rank]
        replaced = (address, *olds, *(one for one in overridden if self.overriders.get(one) is entry))
        found = [self.matches[one] for one in replaced if one in self.matches]
        is_focus = self.scope.focus is not None and (entry.focus, entry.wing) == (self.scope.focus, self.scope.wing)
        own = Tier.FOCUS if is_focus else Tier.PROJECT
        half = _HALF * len(self.answer.terms if self.answer else ())
        is_match = self.question.is_open or any(len(match.terms) >= half for match in found)
        by = self.overriders.get(address)
        return Item(
            entry=entry,
            status=entry.status_on(self.today),
            tier=Tier.SHARED if self.catalog.wings[entry.wing].is_shared else own,
            score=max((match.score for match in found), default=0.0),
            terms=frozenset[str]().union(*(match.terms for match in found)),
            via=tuple(sorted(olds)),
            current=self._is_shown(address) or self.catalog.is_merged(address),
            matches=is_match or not self.on_path.isdisjoint(replaced),
            on_path=address in self.on_path,
            mentions_path=address in self.mentioning,
            unconditional=self.is_unconditional(entry),
            overrides=tuple(overridden),
            overridden_by=(by.address,) if by is not None and self._replaces(by, entry) else (),
            branch_state=self.catalog.branch_state(address),
        )

    def describe(self, item: Item) -> Item:
        """Return an item with its relations to other entries and the reasons why it is in the answer."""
        found = relations_of(self.catalog, item.entry, self.scope)
        reasons = list(self._reasons(item))
        if not reasons and not self.question.is_open:
            reasons = [f"{RELATIONS[name]} {', '.join(found[name])}" for name in ("claims", "amends") if name in found]
        catalog, entry, heads = self.catalog, item.entry, self.catalog.lineage.heads(item.address)
        reasons += doubts_of(catalog, entry, item.status)
        note = item.branch_state.note if item.branch_state is not None else ""
        if entry.status is Status.DRAFT:
            is_merged = catalog.is_merged(entry.address)
            reasons.append("a draft: merged, not approved" if is_merged else "a draft: proposed, not binding")
            note = note or "; ".join(effects_of(entry))
        is_replaced = entry.is_in_force and not catalog.lineage.is_current(entry.address)
        if is_replaced or entry.status is Status.DEPRECATED:
            why = f": {entry.why_ended}" if entry.why_ended else ", no reason given"
            reasons.append(f"not current: replaced by {', '.join(heads)}" if heads else f"not current{why}")
        return replace(item, heads=heads, reasons=(*reasons, *([note] if note else [])), relations=found)

    def _reasons(self, item: Item) -> Iterator[str]:
        """Yield the matching words and paths as phrases such as `contains retry`, then replacements and overrides."""
        entry, paths = item.entry, self.question.paths
        if item.unconditional:
            yield "invariant of the scope"
        match = self.matches.get(entry.address)
        if match is not None and self.answer is not None:
            # The entry may have the parts of a compound word, and not the word.
            parts = Counter(self.answer.words[term] for term in self.answer.terms)
            contained = self._typed(term for term in self.answer.terms if term in match.terms)
            typed = [one for one in contained if parts[one] == 1]
            yield f"contains {', '.join(typed)}" if typed else "matches the query"
        if met := list(all_matches(entry.applies_to, paths)) if entry.applies_to else []:
            yield f"applies to {f'all {len(met)} files' if len(met) == len(paths) > 1 else first_of(met, _PATHS)}"
        elif named := self.mentioning.get(entry.address, ()):
            yield f"mentions {first_of(named, _PATHS)}"
        yield from replaced_notes(item.via)
        for other in self._named_by(entry):
            if entry.type.rank > other.type.rank:
                yield f"cannot override the {other.type} {other.address}"
            else:
                places = [*([f"the focus {entry.focus}"] if entry.focus else []), *entry.applies_to]
                where = "" if self._replaces(entry, other) else f" only in {first_of(places, _PATHS)}"
                yield f"overrides {other.address}{where}"
        yield from (f"overridden here by {by}" for by in item.overridden_by)

    def _typed(self, terms: Iterable[str]) -> tuple[str, ...]:
        """Return the words that the user typed for some search terms (stems), each once."""
        words = self.answer.words if self.answer else {}
        return tuple(dict.fromkeys(words[term] for term in terms if term in words))

    def missing_terms(self, weights: Mapping[str, float], *, of_rules: bool = False) -> tuple[str, ...]:
        """Return the question's words, except general ones, that no entry of the scope contains (or no rule)."""
        matches, entries = self.matches.items(), self.catalog.entries
        counted = {match.terms for one, match in matches if not of_rules or entries[one].type.is_rule}
        found = frozenset[str]().union(*counted)
        return self._typed(term for term in weights if weights[term] and term not in found)


def _applies_to(entry: Entry, paths: Collection[str]) -> bool:
    return not entry.applies_to or any_match(entry.applies_to, paths) is not None
