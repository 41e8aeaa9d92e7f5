"""Gather the entries that may be in a context pack (candidates), and choose among them facet by facet."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import Answer, Item
from mdmem.ask.facets import REACHES, SESSION, Facet, Intent, Layer, facet_of, facets_for
from mdmem.ask.question import Question, Tier
from mdmem.ask.rank import authority_key, fit_key
from mdmem.ask.retrieve import Reading
from mdmem.ask.select import Selection
from mdmem.model.entry import Entry, EntryType, instant_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.analysis import ask
from mdmem.store.workspace.scope import Scope

PRIVATE = "private:"
_MOST, _MOST_RELATED = 50, 20
# The most words of a goal to search for. A long goal states its subject first, and more words make the search slower.
_WORDS = 48
# In each round, this many items are taken from the first facets, and one item from each further facet.
_WEIGHTS = (3, 3, 3, 2, 2, 2)
_OLDEST = datetime(1970, 1, 1, tzinfo=UTC)


class ContextRequest(Struct, frozen=True, kw_only=True):
    """A request for a context pack: a goal, and options. Numbers out of range become the nearest valid number."""

    goal: str
    intent: Intent = Intent.BUILD
    layer: Layer = Layer.RECALL
    domain: str | None = None
    project: str | None = None
    agent_id: str | None = None
    limit: int = 24
    include_related: bool = True
    related_limit: int = 3

    @property
    def size(self) -> int:
        """Return the number of items that may be included (1 to 50), not counting the unconditional invariants."""
        return min(max(self.limit, 1), _MOST)

    @property
    def related_size(self) -> int:
        """Return the number of related entries that may be listed for one item, 0 if none are wanted."""
        return min(max(self.related_limit, 0), _MOST_RELATED) if self.include_related else 0

    @property
    def query(self) -> str:
        """Return the words to search for: the first words of goal and domain, without stop words and repetitions."""
        seen: dict[tuple[str, ...], str] = {}
        for word in f"{self.goal} {self.domain or ''}".split():
            if terms := ask(word).terms:
                seen.setdefault(terms, word)
        return " ".join(list(seen.values())[:_WORDS])


def id_of(address: str, *, is_private: bool) -> str:
    """Return the id of an entry: its address, or `private:room/entry-id` in the caller's own memory."""
    return f"{PRIVATE}{address.split('/', 1)[1]}" if is_private else address


def created(entry: Entry) -> datetime:
    """Return when an entry was created, or the first day of 1970 if it has no date."""
    return instant_of(entry.created_at) if entry.created_at is not None else _OLDEST


class Memory(Struct, frozen=True):
    """A memory to build a context pack from (the team's or the caller's own), with its answer to the query."""

    reading: Reading
    scope: Scope
    found: Answer
    is_private: bool = False


class Candidate(Struct, frozen=True, kw_only=True):
    """An entry that may be in a pack.

    `always` is the reason to include the entry even without a match, or empty. `in_domain` says that the entry belongs
    to the requested domain.
    """

    memory: Memory
    catalog: Catalog
    item: Item
    facet: Facet
    always: str = ""
    in_domain: bool = False

    @property
    def entry(self) -> Entry:
        """Return the candidate's entry."""
        return self.item.entry

    @property
    def id(self) -> str:
        """Return the id of the entry, which is unique among all memories."""
        return id_of(self.entry.address, is_private=self.memory.is_private)

    @property
    def is_far(self) -> bool:
        """Return whether the request puts shared wings first and this entry belongs to a project."""
        return self.memory.scope.starts_shared and self.item.tier is not Tier.SHARED

    @property
    def authority(self) -> tuple[Any, ...]:
        """Return a sort key: type, then current or not, the team's memory first, then the order of `retrieve`."""
        item, is_private = self.item, self.memory.is_private
        return (self.entry.type.rank, not item.current, is_private, self.is_far, *authority_key(item))

    @property
    def fitness(self) -> tuple[Any, ...]:
        """Return a sort key: the entries of `always` first, then those of the domain, then those that fit best."""
        return (not self.always, not self.in_domain, not self.item.matches, self.is_far, *fit_key(self.item))


def iter_candidates(memory: Memory, request: ContextRequest) -> Iterator[Candidate]:
    """Yield the candidates of one memory.

    They are the matches, the invariants, the last session notes, the agent's diary, and the entries of the domain.
    """
    catalog, scope, found = memory.reading.view.effective.catalog, memory.scope, memory.found
    # Without words, retrieval returns everything; a goal of stop words alone matches nothing.
    items = {item.address: item for item in found.items if request.query or item.unconditional}
    members = [one for one in catalog.entries.values() if scope.contains(one.address)]
    members = [one for one in members if catalog.lineage.is_current(one.address)]
    notes = [one for one in members if one.type is EntryType.NOTE]
    notes.sort(key=lambda one: (-created(one).timestamp(), one.address))
    always = _always(notes, scope, request)
    domain = {one.address for one in members if request.domain and is_of_domain(one, request.domain)}
    missing = (always.keys() | domain) - items.keys()
    if missing:
        every = Selection(catalog, scope, Question(), None, memory.reading.workspace.today).select(missing)
        items |= {item.address: replace(item, matches=False) for item in every}
    newest: dict[tuple[str, str | None], str] = {}
    for note in notes:
        if note.label == SESSION:
            newest.setdefault((note.wing, note.focus), note.address)
    for address, item in items.items():
        yield Candidate(
            memory=memory,
            catalog=catalog,
            item=item,
            facet=facet_of(item.entry, newest=newest.values()),
            always=always.get(address, ""),
            in_domain=address in domain,
        )


def _always(notes: Sequence[Entry], scope: Scope, request: ContextRequest) -> dict[str, str]:
    """Return the notes that every pack includes, with the reason: the last session notes, and the agent's diary."""
    reach, agent = REACHES[request.layer], request.agent_id
    sessions = [one for one in notes if one.label == SESSION and one.wing == scope.wing]
    found = {one.address: "one of the last sessions" for one in sessions[: reach.latest]}
    if agent is not None:
        diary = [one for one in notes if one.agent is not None and _folded(one.agent) == _folded(agent)]
        found |= {one.address: f"diary of {agent}" for one in diary[: reach.diary]}
    return found


def is_of_domain(entry: Entry, domain: str) -> bool:
    """Return whether an entry's wing, room, label, topic, focus or one of its tags is the domain.

    Case does not count, and hyphens and underscores count as spaces.
    """
    stated = (entry.wing, entry.room, entry.label, entry.topic, entry.focus, *entry.tags)
    return any(_folded(one) == _folded(domain) for one in stated if one)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())


def iter_proposals(memory: Memory) -> Iterator[Candidate]:
    """Yield the matching drafts of a memory, and the versions of this checkout that the default branch lacks."""
    view, found = memory.reading.view, memory.found
    catalog = (view.checkout if view.alternatives else view.effective).catalog
    for item in map(found.describe_proposed, found.proposed):
        yield Candidate(memory=memory, catalog=catalog, item=item, facet=facet_of(item.entry))


Omitted = list[tuple[Candidate, str]]


def choose(
    candidates: Sequence[Candidate], request: ContextRequest, *, narrows: bool
) -> tuple[list[Candidate], Omitted]:
    """Choose the candidates to include, and return them with the omitted ones and the reason for each omission.

    `narrows` says whether to omit entries outside the requested domain. Unconditional invariants are always included,
    and do not count against the request's limit. Among the omitted, the best ones over the limit come first.
    """
    reach, facets = REACHES[request.layer], facets_for(request.intent, request.layer)
    floor = reach.floor * max((one.item.score for one in candidates), default=0.0)
    current: dict[Facet, list[Candidate]] = {facet: [] for facet in facets}
    proposed: dict[Facet, list[Candidate]] = {facet: [] for facet in facets}
    always = sorted((one for one in candidates if one.item.unconditional), key=lambda one: one.fitness)
    ordered = sorted((one for one in candidates if not one.item.unconditional), key=lambda one: one.fitness)
    fitting, others = list[Candidate](), Omitted()
    for one in ordered:
        # A rule that covers the goal stays, since the answer reports it as covered.
        is_wanted = one.always or one.in_domain or (one.item.matches and one.entry.type.is_rule)
        if narrows and not is_wanted:
            others.append((one, f"outside the domain `{request.domain}`"))
        elif one.item.score < floor and not is_wanted:
            others.append((one, "fits far worse than others"))
        elif one.facet not in current:
            others.append((one, f"{one.facet} is not part of the intent `{request.intent}` at this layer"))
        else:
            fitting.append(one)
            # Proposals use only the space that current entries leave.
            is_later = one.item.is_proposal and not one.always
            (proposed if is_later else current)[one.facet].append(one)
    size = math.ceil(request.size * reach.share)
    taken = _in_turn(list(current.values()), size)
    taken += _in_turn(list(proposed.values()), size - len(taken))
    ids = {one.id for one in taken}
    over = [(one, "over the limit") for one in fitting if one.id not in ids]
    return [*always, *taken], [*over, *others]


def _in_turn(queues: list[list[Candidate]], size: int) -> list[Candidate]:
    """Take items from the queues in turn until there are `size`; the first queues give more items in each round."""
    taken: list[Candidate] = []
    while len(taken) < size and any(queues):
        for at, queue in enumerate(queues):
            weight = _WEIGHTS[at] if at < len(_WEIGHTS) else 1
            taken += queue[:weight]
            queues[at] = queue[weight:]
    return taken[: max(size, 0)]
