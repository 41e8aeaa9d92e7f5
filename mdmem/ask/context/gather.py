"""Gather what one memory has for a goal: entries that match, the invariants, and entries that always come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import Item, Retrieval
from mdmem.ask.context.facets import SESSION, Facet, facet_of
from mdmem.ask.context.request import ContextRequest
from mdmem.ask.context.shape import REACHES
from mdmem.ask.question import Question, Tier
from mdmem.ask.rank import authority_key, fit_key
from mdmem.ask.retrieve import Reading
from mdmem.ask.select import Selection
from mdmem.model.entry import Entry, EntryType, instant_of
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.scope import Scope

_OLDEST = datetime(1970, 1, 1, tzinfo=UTC)


class Memory(Struct, frozen=True, kw_only=True):
    """One memory that is asked: the team's, or the caller's own, which is read as its files are."""

    reading: Reading
    scope: Scope
    is_private: bool = False

    @property
    def catalog(self) -> Catalog:
        """Return the entries that answer."""
        return self.reading.view.effective.catalog

    @property
    def proposing(self) -> Catalog:
        """Return the entries among which those that are only proposed are as they are proposed."""
        view = self.reading.view
        return view.checkout.catalog if view.alternatives else self.catalog


class Candidate(Struct, frozen=True):
    """An entry that may come into a pack.

    `always` says why it comes although nothing in the goal mentions it; `in_domain` that it belongs to the domain;
    `is_far` that the goal starts at shared knowledge, and this is none.
    """

    catalog: Catalog
    item: Item
    facet: Facet
    is_private: bool
    always: str = ""
    in_domain: bool = False
    is_far: bool = False

    @property
    def key(self) -> tuple[bool, str]:
        """Return what identifies it among all candidates."""
        return (self.is_private, self.item.address)

    @property
    def waits(self) -> bool:
        """Say whether it comes only where current entries leave room: it is a proposal that comes by its words."""
        return self.item.is_proposal and not self.always

    @property
    def authority(self) -> tuple[Any, ...]:
        """Order by type and currency, the team's before the caller's own, then as retrieval does."""
        item = self.item
        return (item.entry.type.rank, not item.current, self.is_private, self.is_far, *authority_key(item))

    @property
    def fitness(self) -> tuple[Any, ...]:
        """Order by how well the entry fits the goal, the best first."""
        return (not self.always, not self.in_domain, not self.item.matches, self.is_far, *fit_key(self.item))


class MemoryCandidates(Struct, frozen=True, kw_only=True):
    """All that one memory has; `domain_is_known` says that an entry of the scope belongs to the domain."""

    memory: Memory
    retrieval: Retrieval
    candidates: tuple[Candidate, ...]
    domain_is_known: bool = False


def gather(memory: Memory, request: ContextRequest) -> MemoryCandidates:
    """Return what a memory has for a request."""
    retrieval = memory.reading.retrieve(memory.scope, Question(words=request.query))
    gathering = _Gathering(memory, request)
    items = {item.address: item for item in retrieval.items}
    if not request.query:
        # A goal of stop words alone asks for nothing in particular, and everything would match it.
        items = {address: item for address, item in items.items() if item.unconditional}
    always = gathering.always()
    for address in (*always, *gathering.in_domain):
        if address not in items and address in gathering.everything:
            items[address] = replace(gathering.everything[address], matches=False)
    return MemoryCandidates(
        memory=memory,
        retrieval=retrieval,
        candidates=tuple(gathering.candidate(item, always.get(address, "")) for address, item in items.items()),
        domain_is_known=bool(gathering.in_domain),
    )


def is_far(scope: Scope, item: Item) -> bool:
    """Say whether a question starts at shared knowledge, and an entry is none."""
    return scope.starts_shared and item.tier is not Tier.SHARED


def created(entry: Entry) -> datetime:
    """Return when an entry was created; the beginning of time where no date can be read."""
    return instant_of(entry.created_at) if entry.created_at is not None else _OLDEST


def is_of_domain(entry: Entry, domain: str) -> bool:
    """Say whether an entry's wing, room, label, topic, focus or one of its tags is the domain."""
    stated = (entry.wing, entry.room, entry.label, entry.topic, entry.focus, *entry.tags)
    return any(_folded(one) == _folded(domain) for one in stated if one)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())


class _Gathering(Struct, frozen=True, dict=True):
    """The entries of one memory that come without matching the goal."""

    memory: Memory
    request: ContextRequest

    def _members(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        catalog, scope = self.memory.catalog, self.memory.scope
        held = (entry for entry in entries if scope.holds(entry.address))
        return (entry for entry in held if catalog.lineage.is_current(entry.address))

    @cached_property
    def everything(self) -> dict[str, Item]:
        """Every current entry of the scope, as retrieval gives it for a question without words."""
        today = self.memory.reading.workspace.today
        selection = Selection(self.memory.catalog, self.memory.scope, Question(), None, today)
        return {item.address: item for item in selection.select()}

    @cached_property
    def in_domain(self) -> frozenset[str]:
        """The addresses of the entries that belong to the domain asked for."""
        domain, entries = self.request.domain, self.memory.catalog.entries.values()
        if domain is None:
            return frozenset()
        return frozenset(one.address for one in self._members(entries) if is_of_domain(one, domain))

    @cached_property
    def latest(self) -> frozenset[str]:
        """The addresses of the newest session note of each wing and focus."""
        found: dict[tuple[str, str | None], Entry] = {}
        for entry in self._notes:
            if entry.label == SESSION:
                found.setdefault((entry.wing, entry.focus), entry)
        return frozenset(entry.address for entry in found.values())

    def always(self) -> dict[str, str]:
        """Return the entries that every pack includes, with the reason: the last sessions, and the agent's diary."""
        reach, agent = REACHES[self.request.layer], self.request.agent_id
        own = [one for one in self._notes if one.label == SESSION and one.wing == self.memory.scope.wing]
        found = {one.address: "one of the last sessions" for one in own[: reach.latest]}
        if agent is not None:
            diary = [one for one in self._notes if one.agent is not None and _folded(one.agent) == _folded(agent)]
            found |= {one.address: f"diary of {agent}" for one in diary[: reach.diary]}
        return found

    @cached_property
    def _notes(self) -> list[Entry]:
        """The current notes of the scope, the newest first."""
        notes = (entry for entry in self.memory.catalog.entries.values() if entry.type is EntryType.NOTE)
        return sorted(self._members(notes), key=lambda entry: (-created(entry).timestamp(), entry.address))

    def candidate(self, item: Item, always: str) -> Candidate:
        """Return an item with what decides whether it comes."""
        return Candidate(
            catalog=self.memory.catalog,
            item=item,
            facet=facet_of(item.entry, latest=self.latest),
            is_private=self.memory.is_private,
            always=always,
            in_domain=item.address in self.in_domain,
            is_far=is_far(self.memory.scope, item),
        )
