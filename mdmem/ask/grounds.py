"""What the words and the paths of a question say of the entries that it is put to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from datetime import date
from functools import cached_property

from msgspec import Struct, field

from mdmem.ask.matches import MatchColumns
from mdmem.ask.overrides import Overrides
from mdmem.ask.path_names import Naming
from mdmem.ask.question import Question, Tier
from mdmem.ask.scope_kinds import tier_of
from mdmem.model.entry import Entry, EntryType
from mdmem.model.globs import any_match
from mdmem.store.catalog import Catalog
from mdmem.store.index.protocol import Match, TextAnswer
from mdmem.store.workspace.scope import Scope

# What holds half of the question's words is no mere neighbour of it.
MATCHING_SHARE = 0.5
_NO_TERMS = frozenset[str]()


class Grounds(Struct, frozen=True, dict=True):
    """One question put to one scope; `answer` is None where the question has no words.

    `naming` are the paths of the question that entries name in their text.
    """

    catalog: Catalog
    scope: Scope
    question: Question
    answer: TextAnswer | None
    today: date
    naming: Naming = field(default_factory=dict)

    @cached_property
    def members(self) -> Set[str]:
        """Return the addresses of the entries that the question is put to."""
        read = self.scope.read(self.catalog)
        return read if isinstance(read, Set) else frozenset(read)

    @cached_property
    def is_whole(self) -> bool:
        """Say whether the question is put to every entry."""
        return len(self.members) == len(self.catalog.entries)

    @cached_property
    def overrides(self) -> Overrides:
        """Return what the active wing overrides."""
        return Overrides(self.catalog, self.scope, self.question)

    @cached_property
    def is_open(self) -> bool:
        """Say whether nothing in particular is asked."""
        return not self.question.words.strip() and not self.question.paths

    @cached_property
    def matches(self) -> MatchColumns:
        """Return what the full text found."""
        return MatchColumns.of(self.answer.matches) if self.answer else MatchColumns()

    @cached_property
    def inherited(self) -> dict[str, list[Match]]:
        """Return, for each head, the superseded entries that lead to it and match by words or paths, the best first."""
        found: dict[str, list[Match]] = {}
        lineage, places = self.catalog.lineage, self.matches.places
        current = lineage.current
        # Of what stands on no chain the head is the entry itself, and a common word brings in thousands of those.
        matching = list(self.matches.at(sorted(map(places.__getitem__, lineage.replaced & places.keys()))))
        if self.question.paths or self.naming:
            near = sorted((self.catalog.traits.bound | self.naming.keys()) & self.members)
            on_path = (one for one in near if one in self.naming or self.covers_path(self.catalog.entries[one]))
            matching += (Match(one, 0.0, _NO_TERMS) for one in on_path if one not in places)
        for match in matching:
            for head in lineage.heads(match.key) if match.key not in current else ():
                if head != match.key:
                    found.setdefault(head, []).append(match)
        return found

    def replaced_by(self, entry: Entry) -> list[Entry]:
        """Return the superseded entries that match and lead to one."""
        return [self.catalog.entries[match.key] for match in self.inherited.get(entry.address, ())]

    def is_named(self, address: str) -> bool:
        """Say whether the words bring an entry in, or the paths by their names."""
        return address in self.matches.places or address in self.inherited or address in self.naming

    def is_brought(self, entry: Entry) -> bool:
        """Say whether the words or the paths bring an entry in; with neither, everything is asked for."""
        return self.is_open or self.is_named(entry.address) or self.covers_path(entry)

    def covers_path(self, entry: Entry) -> bool:
        """Say whether an entry applies to one of the paths."""
        return bool(entry.applies_to) and any_match(entry.applies_to, self.question.paths) is not None

    def misses_paths(self, entry: Entry) -> bool:
        """Say whether an entry applies to other paths than those of the question."""
        return bool(entry.applies_to and self.question.paths) and not self.covers_path(entry)

    def covers(self, entry: Entry) -> bool:
        """Say whether an entry itself applies to a path, or holds half of the question's words."""
        match = self.matches.find(entry.address)
        return self.covers_path(entry) or self.is_half(match.terms if match is not None else _NO_TERMS)

    def is_half(self, held: frozenset[str]) -> bool:
        """Say whether these are half of the question's words."""
        terms = self.answer.terms if self.answer else ()
        return bool(terms) and len(held) / len(terms) >= MATCHING_SHARE

    def suits(self, entry: Entry) -> bool:
        """Say whether an entry, or one it replaced, answers for the question itself; without a question each does."""
        if self.is_open or self.covers(entry):
            return True
        if entry.address not in self.inherited and not entry.overrides:
            return False
        return any(map(self.covers, (*self.replaced_by(entry), *self.overrides.overridden_by(entry))))

    def held_by(self, entry: Entry, overriders: Mapping[str, Entry]) -> tuple[float, frozenset[str]]:
        """Return the best score of an entry and of what it replaced or overrides, and which terms they hold."""
        match = self.matches.find(entry.address)
        if not entry.overrides and entry.address not in self.inherited:
            return (match.score, match.terms) if match is not None else (0.0, _NO_TERMS)
        overridden = (self.matches.find(shared) for shared in entry.overrides if overriders.get(shared) is entry)
        # What is superseded counts by its words alone, where it matches by them.
        replaced = (self.matches.find(one.key) for one in self.inherited.get(entry.address, ()))
        found = [one for one in (match, *overridden, *replaced) if one is not None]
        return max((one.score for one in found), default=0.0), _NO_TERMS.union(*(one.terms for one in found))

    def tier_of(self, entry: Entry) -> Tier:
        """Return how near an entry stands to the scope."""
        return tier_of(entry, self.scope, self.catalog.wings)

    def is_shown(self, entry: Entry) -> bool:
        """Say whether an entry is in force, or nothing tells whether it is."""
        lineage = self.catalog.lineage
        return lineage.is_current(entry.address) or lineage.is_unresolved(entry.address)

    def is_unconditional(self, entry: Entry) -> bool:
        """Say whether an entry is part of every answer."""
        return entry.type is EntryType.INVARIANT and self.scope.binds(entry) and self.is_shown(entry)

    def typed(self, terms: Iterable[str]) -> tuple[str, ...]:
        """Return what was typed for some terms of the question, each word once."""
        words = self.answer.words if self.answer else {}
        return tuple(dict.fromkeys(words[term] for term in terms))
