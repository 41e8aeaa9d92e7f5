"""Gather the entries of one memory that may be in a context pack, and choose among them facet by facet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import Item, Retrieval
from mdmem.ask.context.facets import REACHES, SESSION, Facet, facet_of, facets_for, weight_of
from mdmem.ask.context.pack import ContextRequest
from mdmem.ask.question import Question, Tier
from mdmem.ask.rank import authority_key, fit_key
from mdmem.ask.retrieve import Reading
from mdmem.ask.select import Selection
from mdmem.model.entry import Entry, EntryType, instant_of
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.scope import Scope

_OLDEST = datetime(1970, 1, 1, tzinfo=UTC)


class Candidate(Struct, frozen=True):
    """An entry that may be in a pack.

    `always` is the reason to include it although it does not match; `in_domain` says that it belongs to the domain;
    `is_far` that the search starts at shared knowledge, and this is of a project.
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
        """Return the key of the entry among those of all memories."""
        return (self.is_private, self.item.address)

    @property
    def authority(self) -> tuple[Any, ...]:
        """Order by type and currency, the team's before the caller's own, then as retrieval does."""
        item = self.item
        return (item.entry.type.rank, not item.current, self.is_private, self.is_far, *authority_key(item))

    @property
    def fitness(self) -> tuple[Any, ...]:
        """Order by how well the entry fits the goal, the best first."""
        return (not self.always, not self.in_domain, not self.item.matches, self.is_far, *fit_key(self.item))


class Memory(Struct, frozen=True, kw_only=True):
    """One memory, the team's or the caller's own, with its answer to a request.

    `domain` are the addresses of the entries that belong to the domain asked for.
    """

    reading: Reading
    scope: Scope
    is_private: bool
    retrieval: Retrieval
    candidates: tuple[Candidate, ...]
    domain: frozenset[str]

    def proposed(self) -> Iterator[Candidate]:
        """Yield the matching drafts and proposed versions."""
        view = self.reading.view
        catalog = (view.checkout if view.alternatives else view.effective).catalog
        for item in map(self.retrieval.describe_proposed, self.retrieval.proposed):
            yield Candidate(catalog, item, facet_of(item.entry), self.is_private, is_far=_is_far(self.scope, item))


def gather(reading: Reading, scope: Scope, request: ContextRequest, *, is_private: bool = False) -> Memory:
    """Return a memory with its candidates: matches, invariants, last sessions, diary, and the entries of the domain."""
    catalog, retrieval = reading.view.effective.catalog, reading.retrieve(scope, Question(words=request.query))
    # Without words, retrieval returns everything; a goal of stop words alone matches nothing.
    items = {item.address: item for item in retrieval.items if request.query or item.unconditional}
    members = [one for one in catalog.entries.values() if scope.holds(one.address)]
    members = [one for one in members if catalog.lineage.is_current(one.address)]
    notes = [one for one in members if one.type is EntryType.NOTE]
    notes.sort(key=lambda one: (-created(one).timestamp(), one.address))
    domain = frozenset(one.address for one in members if request.domain and is_of_domain(one, request.domain))
    always = _always(notes, scope, request)
    missing = [address for address in (*always, *domain) if address not in items]
    if missing:
        every = Selection(catalog, scope, Question(), None, reading.workspace.today).select(set(missing))
        items |= {item.address: replace(item, matches=False) for item in every}
    latest: dict[tuple[str, str | None], str] = {}
    for note in notes:
        if note.label == SESSION:
            latest.setdefault((note.wing, note.focus), note.address)
    newest = frozenset(latest.values())
    candidates = tuple(
        Candidate(
            catalog=catalog,
            item=item,
            facet=facet_of(item.entry, latest=newest),
            is_private=is_private,
            always=always.get(address, ""),
            in_domain=address in domain,
            is_far=_is_far(scope, item),
        )
        for address, item in items.items()
    )
    return Memory(
        reading=reading,
        scope=scope,
        is_private=is_private,
        retrieval=retrieval,
        candidates=candidates,
        domain=domain,
    )


def _always(notes: Sequence[Entry], scope: Scope, request: ContextRequest) -> dict[str, str]:
    """Return the notes that every pack includes, with the reason: the last sessions, and the agent's diary."""
    reach, agent = REACHES[request.layer], request.agent_id
    own = [one for one in notes if one.label == SESSION and one.wing == scope.wing]
    found = {one.address: "one of the last sessions" for one in own[: reach.latest]}
    if agent is not None:
        diary = [one for one in notes if one.agent is not None and _folded(one.agent) == _folded(agent)]
        found |= {one.address: f"diary of {agent}" for one in diary[: reach.diary]}
    return found


def _is_far(scope: Scope, item: Item) -> bool:
    return scope.starts_shared and item.tier is not Tier.SHARED


def created(entry: Entry) -> datetime:
    """Return when an entry was created; the beginning of time where it has no date."""
    return instant_of(entry.created_at) if entry.created_at is not None else _OLDEST


def is_of_domain(entry: Entry, domain: str) -> bool:
    """Say whether an entry's wing, room, label, topic, focus or one of its tags is the domain."""
    stated = (entry.wing, entry.room, entry.label, entry.topic, entry.focus, *entry.tags)
    return any(_folded(one) == _folded(domain) for one in stated if one)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())


Omitted = list[tuple[Candidate, str]]


def choose(
    candidates: Iterable[Candidate], request: ContextRequest, *, narrows: bool
) -> tuple[list[Candidate], Omitted]:
    """Return the candidates to include, and the others with the reason, the best of those over the limit first.

    `narrows` says that some entry belongs to the domain. Unconditional invariants do not count against the limit.
    """
    reach, facets = REACHES[request.layer], facets_for(request.intent, request.layer)
    ordered = sorted(candidates, key=lambda one: one.fitness)
    best = max((one.item.score for one in ordered), default=0.0)
    current: dict[Facet, list[Candidate]] = {facet: [] for facet in facets}
    proposed: dict[Facet, list[Candidate]] = {facet: [] for facet in facets}
    others: Omitted = []
    for one in ordered:
        if one.item.unconditional:
            continue
        why = _why_not(one, request, floor=reach.floor * best, narrows=narrows)
        if not why and one.facet not in current:
            why = f"{one.facet} is not part of the intent `{request.intent}` at this layer"
        if why:
            others.append((one, why))
        else:
            # Proposals use only the space that current entries leave.
            is_later = one.item.is_proposal and not one.always
            (proposed if is_later else current)[one.facet].append(one)
    size = math.ceil(request.size * reach.share)
    taken = _in_turn(list(current.values()), size)
    taken += _in_turn(list(proposed.values()), size - len(taken))
    keys = {one.key for one in taken} | {one.key for one, _ in others}
    over = [(one, "over the limit") for one in ordered if not one.item.unconditional and one.key not in keys]
    return [*(one for one in ordered if one.item.unconditional), *taken], [*over, *others]


def _why_not(one: Candidate, request: ContextRequest, *, floor: float, narrows: bool) -> str:
    # A rule that covers the goal stays, since the answer reports it as covered.
    if one.always or one.in_domain or (one.item.matches and one.item.entry.type.is_rule):
        return ""
    if narrows:
        return f"outside the domain `{request.domain}`"
    return "fits far worse than others" if one.item.score < floor else ""


def _in_turn(queues: Sequence[Sequence[Candidate]], size: int) -> list[Candidate]:
    """Take from each queue in turn as many as its position allows, until there are enough."""
    taken: list[Candidate] = []
    rest = list(queues)
    while len(taken) < size and any(rest):
        for number, queue in enumerate(rest):
            taken += queue[: weight_of(number)]
            rest[number] = queue[weight_of(number) :]
    return taken[: max(size, 0)]
