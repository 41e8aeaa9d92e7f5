"""What one memory has for a goal: entries that match, the unconditional invariants, and what comes unasked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.context.facets import SESSION, Facet, facet_of
from mdmem.ask.context.request import ContextRequest
from mdmem.ask.context.shape import REACHES
from mdmem.ask.kinds import Ranks
from mdmem.ask.question import Question, likeness_step
from mdmem.ask.ranks import Ranked, Retrieval, Retrieved, fit_key_of
from mdmem.ask.retrieve import Reading
from mdmem.ask.select import Selection
from mdmem.model.entry import Entry, EntryType, instant_of
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.scope import Scope

_OLDEST = datetime.min.replace(tzinfo=UTC)


class Memory(Struct, frozen=True, kw_only=True):
    """One memory that is asked: the team's, or the caller's own, which is read as its files are."""

    reading: Reading
    scope: Scope
    is_private: bool = False

    @property
    def catalog(self) -> Catalog:
        """Return the entries that answer."""
        return self.reading.catalog

    @property
    def proposing(self) -> Catalog:
        """Return the entries among which those that are only proposed stand as they are proposed."""
        view = self.reading.view
        return view.checkout.catalog if view.alternatives else self.catalog


class Candidate(NamedTuple):
    """An entry that may come into a pack.

    `unasked` says why it comes although nothing in the goal names it; `in_domain` that it belongs to the domain;
    `is_far` that the goal starts at shared knowledge, and this is none.
    """

    catalog: Catalog
    item: Ranked
    facet: Facet
    is_private: bool
    is_unconditional: bool = False
    unasked: str = ""
    in_domain: bool = False
    is_far: bool = False

    @property
    def entry(self) -> Entry:
        """Return the entry."""
        return self.item.entry

    @property
    def key(self) -> tuple[bool, str]:
        """Return what tells it from every other candidate."""
        return (self.is_private, self.item.entry.address)

    @property
    def waits(self) -> bool:
        """Say whether it comes only where what binds leaves room: it is a proposal, and not here unasked."""
        return self.item.is_proposal and not self.unasked

    @property
    def authority(self) -> tuple[int, bool, bool, tuple[object, ...]]:
        """Order by type and force, the team's before the caller's own, then as retrieval does."""
        item = self.item
        return (item.entry.type.rank, not item.current, self.is_private, item.sort_key)

    @property
    def fitness(self) -> tuple[object, ...]:
        """Order by how well the entry fits the goal, the best first."""
        return (*self.step, *fit_key_of(self.item.entry, self.item.score))

    @property
    def step(self) -> tuple[bool, bool, bool, bool, float]:
        """Return where its fitness begins, which is told in a fifth of the time."""
        item = self.item
        return (not self.unasked, not self.in_domain, not item.matches, self.is_far, likeness_step(item.score))


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
    # Of a large memory it reads all entries at once, which one by one take four times as long.
    unasked = gathering.unasked()
    items = {item.entry.address: item for item in retrieval.ranks.in_any_order}
    if not request.query:
        # A goal of stop words alone asks for nothing in particular, and everything would match it.
        items = {address: item for address, item in items.items() if memory.scope.binds(item.entry)}
    for address in (*unasked, *gathering.in_domain):
        if address not in items and (item := gathering.everything.find(address)) is not None:
            items[address] = (
                replace(item, matches=False) if isinstance(item, Retrieved) else item._replace(matches=False)
            )
    return MemoryCandidates(
        memory=memory,
        retrieval=retrieval,
        candidates=tuple(gathering.candidate(item, unasked.get(address, "")) for address, item in items.items()),
        domain_is_known=bool(gathering.in_domain),
    )


def is_far(scope: Scope, item: Ranked) -> bool:
    """Say whether a question starts at shared knowledge, and an entry is none."""
    return scope.starts_shared and item.sort_key[3] > 0


def made(entry: Entry) -> datetime:
    """Return when an entry was made, to order by; the beginning of time where no date can be read."""
    return instant_of(entry.created_at) if entry.created_at is not None else _OLDEST.replace(year=1970)


def is_of_domain(entry: Entry, domain: str) -> bool:
    """Say whether an entry's wing, room, label, topic, focus or one of its tags is the domain."""
    wanted = _folded(domain)
    stated = (entry.wing, entry.room, entry.label, entry.topic, entry.focus, *entry.tags)
    return any(_folded(one) == wanted for one in stated if one)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())


class _Gathering(Struct, frozen=True, dict=True):
    """What comes from one memory besides what matches."""

    memory: Memory
    request: ContextRequest

    def _members(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        catalog, scope = self.memory.catalog, self.memory.scope
        held = (entry for entry in entries if scope.holds(entry.address))
        return (entry for entry in held if catalog.lineage.is_current(entry.address))

    @cached_property
    def everything(self) -> Ranks[Ranked]:
        """Every current entry of the scope as retrieval gives it where nothing in particular is asked."""
        today = self.memory.reading.workspace.today
        selection = Selection(self.memory.catalog, self.memory.scope, Question(), None, today)
        return selection.ranks()

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

    def unasked(self) -> dict[str, str]:
        """Return what comes without being asked for, and why: the last sessions, and the agent's diary."""
        reach, agent = REACHES[self.request.layer], self.request.agent_id
        own = [one for one in self._notes if one.label == SESSION and one.wing == self.memory.scope.wing]
        found = {one.address: "one of the last sessions" for one in own[: reach.latest]}
        if agent is not None:
            diary = [one for one in self._notes if one.agent is not None and _folded(one.agent) == _folded(agent)]
            found |= {one.address: f"diary of {agent}" for one in diary[: reach.diary]}
        return found

    @cached_property
    def _notes(self) -> tuple[Entry, ...]:
        """The current notes of the scope, the newest first."""
        notes = (entry for entry in self.memory.catalog.entries.values() if entry.type is EntryType.NOTE)
        return tuple(sorted(self._members(notes), key=_age))

    @cached_property
    def _catalog(self) -> Catalog:
        return self.memory.catalog

    def candidate(self, item: Ranked, unasked: str) -> Candidate:
        """Return an item with what decides whether it comes."""
        entry = item.entry
        return Candidate(
            catalog=self._catalog,
            item=item,
            facet=facet_of(entry, latest=self.latest),
            is_private=self.memory.is_private,
            is_unconditional=self.memory.scope.binds(entry),
            unasked=unasked,
            in_domain=entry.address in self.in_domain,
            is_far=is_far(self.memory.scope, item),
        )


def _age(entry: Entry) -> tuple[float, str]:
    return (-made(entry).timestamp(), entry.address)
