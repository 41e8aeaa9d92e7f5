"""Compile the context pack for a goal: gather entries, choose among them by facet, and shorten them to the budget.

A context pack is a list of entries for a goal. A facet is one of its sections, such as constraints or decisions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from mdmem.ask.answer import (
    RELATIONS,
    VIA_NAMED,
    Answer,
    AnswerBasis,
    Coverage,
    Form,
    Item,
    Omission,
    Question,
    count_omitted,
)
from mdmem.ask.excerpt import excerpt, rule_of
from mdmem.ask.facets import LAYER_LIMITS, SESSION, Facet, Intent, Layer, facet_of, facets_for
from mdmem.ask.fallback import UNREAD, basis_without_root, scope_after
from mdmem.ask.rank import authority_key, claimants_first, fit_key
from mdmem.ask.retrieve import Reading, read_with_retry, reading_of, with_lines_outside
from mdmem.ask.select import Selection
from mdmem.errors import MdmemError
from mdmem.markdown.body import content_of, size_of, tokens_of
from mdmem.model.entry import IN_FORCE, Entry, EntryType, Freshness, Status, instant_of
from mdmem.model.lineage import BranchState, Standing, branch_state_json, standing_marks
from mdmem.model.text import visible
from mdmem.record import record_json
from mdmem.store.catalog.links import Neighbour, neighbours
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.analysis import ask
from mdmem.store.state.local_records import append_audit
from mdmem.store.workspace.scope import Filters, Scope, ScopeState, project_scope, resolve_scope
from mdmem.store.workspace.visibility import WING, find_own_memory
from mdmem.store.workspace.workspace import Workspace

Pack = dict[str, Any]
"""A context pack as JSON values in the contract's shape."""

METADATA, PRIVATE = "x-metadata", "private:"
_PROPOSED, _OMITTED, _SHORTENED = 5, 12, 800
_MAX_RESULTS, _MAX_RELATED = 50, 20
# The most words of a goal to search for. A long goal states its subject first, and more words make the search slower.
_WORDS = 48
# In each round, this many items are taken from the first facets, and one item from each further facet.
_WEIGHTS = (3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1)
_OLDEST = datetime(1970, 1, 1, tzinfo=UTC)


class ContextRequest(Struct, frozen=True, kw_only=True):
    """A request for a context pack: a goal, and options.

    `limit` is the most items (1 to 50) besides the unconditional invariants, and `related_limit` the most related
    entries (up to 20) of an item. Numbers out of range become the nearest valid number.
    """

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
    def query(self) -> str:
        """Return the words to search for."""
        return query_of(self.goal, self.domain)


def query_of(*texts: str | None) -> str:
    """Return the first words of some texts, without stop words and repetitions."""
    seen: dict[tuple[str, ...], str] = {}
    for word in " ".join(filter(None, texts)).split():
        if terms := ask(word).terms:
            seen.setdefault(terms, word)
    return " ".join(list(seen.values())[:_WORDS])


def id_of(address: str, *, is_private: bool) -> str:
    """Return the id of an entry: its address, or `private:room/entry-id` in the caller's own memory."""
    return f"{PRIVATE}{address.split('/', 1)[1]}" if is_private else address


class _Memory(Struct, frozen=True):
    """A memory to build a context pack from (the team's or the caller's own), with its answer to the query."""

    reading: Reading
    found: Answer
    is_private: bool = False


class _Candidate(Struct, frozen=True, kw_only=True):
    """An entry that may be in a pack.

    `always` is the reason to include the entry even without a match, or empty. `in_domain` says that the entry belongs
    to the requested domain.
    """

    memory: _Memory
    catalog: Catalog
    item: Item
    facet: Facet
    always: str = ""
    in_domain: bool = False

    @property
    def entry(self) -> Entry:
        return self.item.entry

    @property
    def id(self) -> str:
        """Return the id of the entry, which is unique among all memories."""
        return id_of(self.entry.address, is_private=self.memory.is_private)

    @property
    def authority(self) -> tuple[Any, ...]:
        """Return a sort key: type, current entries first, team before private memory, then the order of `retrieve`."""
        key = authority_key(self.item, starts_shared=self.memory.found.scope.starts_shared)
        return (self.entry.type.rank, not self.item.current, self.memory.is_private, *key)

    @property
    def fitness(self) -> tuple[Any, ...]:
        """Return a sort key: first the entries to include without a match, then the domain's, then the best matches."""
        return (not self.always, not self.in_domain, not self.item.matches, *fit_key(self.item))


def compile_context(workspace: Workspace, request: ContextRequest, *, own: bool = True) -> Pack:
    """Return the pack for a goal, and record the call in the audit log.

    `own` says whether to read the caller's own memory, too. If the log cannot be written, the pack has a remark. If
    files disappear meanwhile, the memory is read once more. Raises GoneError if that happens again, and
    AccessDeniedError if the caller may not read the project.
    """

    def audit(returned: Sequence[str], more: Mapping[str, Any]) -> str | None:
        if workspace.location.source == "hub":
            # The copy of a repository in a hub has no state folder for the log.
            return None
        asked = {name: value for name, value in asdict(request).items() if value is not None}
        when, caller = datetime.now(UTC), workspace.access.name
        state = workspace.state_folder
        return append_audit(state, "context", asked, returned, when=when, caller=caller, more=more)

    try:
        pack = read_with_retry(workspace, lambda reading: _compile(reading, request, has_own=own))
    except MdmemError as error:
        audit((), {"refused": str(error)})
        raise
    counts = {"proposed": [item["id"] for item in pack["proposed"]], "problems": len(pack["problems"])}
    if fault := audit([item["id"] for item in items_of(pack)], counts):
        pack["remarks"].append(fault)
    return pack


def context_without_root(cwd: Path, request: ContextRequest, error: MdmemError) -> Pack:
    """Return a pack with lines from outside the memory, because no memory can be read; `error` says why."""
    return _pack(request, scope_after(error), basis_without_root(cwd, request.query, error))


def items_of(pack: Pack) -> list[dict[str, Any]]:
    """Return the items of all sections of a pack."""
    return [item for section in pack["sections"] for item in section["items"]]


def branch_state_marks(item: Mapping[str, Any]) -> list[str]:
    """Return a list with the mark of an item that is not binding, such as `merged, not approved`, or an empty list."""
    if "standing" not in item:
        return []
    branch_state = BranchState(Standing(item["standing"]), **item.get("proposed_by", {}))
    return [visible(mark) for mark in standing_marks(branch_state)]


def is_doubtful(source: Mapping[str, Any]) -> bool:
    """Return whether a source should be confirmed before it is used: it is not active, or it is stale."""
    return bool(source["status"] != Status.ACTIVE or source["freshness"] == Freshness.STALE)


def _compile(reading: Reading, request: ContextRequest, *, has_own: bool) -> Pack:
    """Return the pack; its keys `scope` and `source` are about the team's memory, not the caller's own."""
    workspace, budget = reading.workspace, reading.settings.budget
    widely = request.intent is Intent.GENERAL
    catalog, tracked = reading.view.effective.catalog, workspace.tracked_files
    scope = project_scope(catalog, reading.settings, request.project, tracked=tracked, widely=widely)
    if request.intent is Intent.LEARN:
        scope = replace(scope, starts_shared=scope.starts_shared or bool(scope.shared_wings))
    question, remarks = Question(words=request.query), list[str]()
    memories = [_Memory(reading, reading.retrieve(scope, question))]
    # The caller's own memory has no history, so it is not read if an earlier commit is asked for.
    if has_own and workspace.snapshot.is_working_tree:
        try:
            if (found := find_own_memory(workspace)) is not None:
                own = reading_of(found)
                own_scope = resolve_scope(found.catalog, own.settings, Filters(wings=(WING,)))
                memories.append(_Memory(own, own.retrieve(own_scope, question), is_private=True))
        except (MdmemError, OSError) as error:
            remarks.append(f"your own memory cannot be read: {error}")
    candidates = [one for memory in memories for one in _candidates(memory, request)]
    if request.domain is not None and not any(one.in_domain for one in candidates):
        remarks.append(
            f"no entry belongs to the domain `{visible(request.domain)}`, so the answer is not limited to it"
        )
    chosen, omitted = _choose(candidates, request)
    chosen.sort(key=lambda one: one.authority)
    chosen = [replace(one, item=one.memory.found.describe(one.item)) for one in chosen]
    claims = {one.entry.address: one.item.relations.get("claimed_by", ()) for one in chosen}
    chosen = claimants_first(chosen, lambda one: one.entry, lambda entry: claims[entry.address])
    drafts = [
        _Candidate(
            memory=memory,
            catalog=memory.reading.view.checkout.catalog,
            item=memory.found.describe_proposed(item),
            facet=facet_of(item.entry),
        )
        for memory in memories
        for item in memory.found.proposed
        if request.query
    ]
    drafts.sort(key=lambda one: one.fitness)
    basis = _basis(memories, omitted, {one.id for one in chosen})
    # At the start of a session, lines from outside that match a word by chance do not help.
    if request.layer is not Layer.WAKE or not chosen:
        is_unread = bool(basis.problems) and not workspace.catalog.entries
        basis = with_lines_outside(basis, workspace, request.query, is_unread=is_unread)
    items, proposed = _items(chosen, request, budget), _items(drafts[:_PROPOSED], request, budget // 4)
    return _pack(request, scope, basis, items=items, proposed=proposed, remarks=remarks)


def _candidates(memory: _Memory, request: ContextRequest) -> Iterator[_Candidate]:
    """Yield the candidates of one memory.

    These are the matches, the invariants, the last session notes, the agent's diary, and the entries whose wing, room,
    label, topic, focus or tag is the domain.
    """
    catalog, scope, limits = memory.reading.view.effective.catalog, memory.found.scope, LAYER_LIMITS[request.layer]
    # Without words, retrieval returns everything; a goal of stop words alone matches nothing.
    items = {item.address: item for item in memory.found.items if request.query or item.unconditional}
    members = [one for one in catalog.entries.values() if scope.contains(one.address)]
    members = [one for one in members if catalog.lineage.is_current(one.address)]
    notes = [one for one in members if one.type is EntryType.NOTE]
    notes.sort(key=lambda one: (-created(one).timestamp(), one.address))
    sessions = [one for one in notes if one.label == SESSION]
    newest = {(one.wing, one.focus): one.address for one in reversed(sessions)}
    own = [one for one in sessions if one.wing == scope.wing]
    always = {one.address: "one of the last sessions" for one in own[: limits.latest]}
    if (agent := request.agent_id) is not None:
        diary = [one for one in notes if one.agent is not None and _folded(one.agent) == _folded(agent)]
        always |= {one.address: f"diary of {agent}" for one in diary[: limits.diary]}
    domain = set()
    if request.domain:
        for one in members:
            stated = (one.wing, one.room, one.label, one.topic, one.focus, *one.tags)
            if _folded(request.domain) in {_folded(word) for word in stated if word}:
                domain.add(one.address)
    if missing := (always.keys() | domain) - items.keys():
        every = Selection(catalog, scope, Question(), None, memory.reading.workspace.today).select(missing)
        items |= {item.address: replace(item, matches=False) for item in every}
    for address, item in items.items():
        yield _Candidate(
            memory=memory,
            catalog=catalog,
            item=item,
            facet=facet_of(item.entry, newest=newest.values()),
            always=always.get(address, ""),
            in_domain=address in domain,
        )


def created(entry: Entry) -> datetime:
    """Return when an entry was created, or the first day of 1970 if it has no date."""
    return instant_of(entry.created_at) if entry.created_at is not None else _OLDEST


def _folded(text: str) -> str:
    """Return a text in lower case with spaces for hyphens and underscores, for comparisons."""
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())


_Omitted = list[tuple[_Candidate, str]]


def _choose(candidates: Sequence[_Candidate], request: ContextRequest) -> tuple[list[_Candidate], _Omitted]:
    """Choose the candidates to include, and return them with the omitted ones and the reason for each omission.

    If an entry belongs to the requested domain, others are omitted. Unconditional invariants are always included, and
    do not count against the request's limit. Among the omitted, the best ones over the limit come first.
    """
    limits, facets = LAYER_LIMITS[request.layer], facets_for(request.intent, request.layer)
    floor = limits.floor * max((one.item.score for one in candidates), default=0.0)
    narrows = any(one.in_domain for one in candidates)
    current, later = ({facet: list[_Candidate]() for facet in facets} for _ in range(2))
    taken, fitting, others = list[_Candidate](), list[_Candidate](), _Omitted()
    for one in sorted(candidates, key=lambda one: one.fitness):
        # A rule that covers the goal stays, since the answer reports it as covered.
        is_wanted = one.always or one.in_domain or (one.item.matches and one.entry.type.is_rule)
        if one.item.unconditional:
            taken.append(one)
        elif narrows and not is_wanted:
            others.append((one, f"outside the domain `{request.domain}`"))
        elif one.item.score < floor and not is_wanted:
            others.append((one, "fits far worse than others"))
        elif one.facet not in facets:
            others.append((one, f"{one.facet} is not part of the intent `{request.intent}` at this layer"))
        else:
            fitting.append(one)
            # Proposals use only the space that current entries leave.
            (later if one.item.is_proposal and not one.always else current)[one.facet].append(one)
    size = len(taken) + math.ceil(min(max(request.limit, 1), _MAX_RESULTS) * limits.share)
    for queues in (current.values(), later.values()):
        while len(taken) < size and any(queues):
            for weight, queue in zip(_WEIGHTS, queues, strict=False):
                taken += queue[:weight]
                del queue[:weight]
    taken, ids = taken[:size], {one.id for one in taken[:size]}
    return taken, [*((one, "over the limit") for one in fitting if one.id not in ids), *others]


def _basis(memories: Sequence[_Memory], omitted: _Omitted, shown: set[str]) -> AnswerBasis:
    """Return the facts about the answer from the team's memory, with the files of all memories that cannot be read."""
    bases = [memory.found.basis for memory in memories]
    problems = [
        replace(one, place=replace(one.place, path=f"{PRIVATE}{one.place.path}")) if memory.is_private else one
        for memory in memories
        for one in memory.found.basis.problems
    ]
    left_out = [Omission(one.id, one.entry.type.value, why) for one, why in omitted]
    counts = count_omitted([*left_out, *bases[0].omitted, *bases[0].omitted_counts])
    # In a memory without entries, no words were looked for.
    looked = [memory.found.basis for memory in memories if memory.found.searched]
    unmatched = (word for word in bases[0].unmatched_terms if all(word in one.unmatched_terms for one in looked))
    return replace(
        bases[0],
        problems=tuple(problems),
        conflicts=bases[0].contradictions_of(shown),
        omitted=tuple(left_out[:_OMITTED]),
        omitted_counts=tuple(sorted(counts, key=lambda one: EntryType(one.type).rank)),
        unmatched_terms=tuple(unmatched),
    )


def _items(chosen: Sequence[_Candidate], request: ContextRequest, budget: int) -> list[dict[str, Any]]:
    """Return the items of some candidates; contents are shortened, and links omitted, to fit the budget."""
    limits = LAYER_LIMITS[request.layer]
    has_links, left = request.include_related and not limits.gist_only, int(budget * limits.length)
    most = min(max(request.related_limit, 0), _MAX_RELATED) if has_links else 0
    bodies = [one.catalog.body(one.entry.address) for one in chosen]
    contents = _contents(chosen, bodies, request, left)
    rest = (text for one, (text, _) in zip(chosen, contents, strict=True) if one.entry.type is not EntryType.INVARIANT)
    left -= sum(map(_cost, rest))
    items = []
    for one, body, (content, form) in zip(chosen, bodies, contents, strict=True):
        # Links get the part of the budget that contents leave; the first items get their links first.
        related = []
        for link in links_json(one.catalog, one.entry.address, body, most=most):
            link["id"] = id_of(link["id"], is_private=one.memory.is_private)
            cost = _cost(json.dumps(link, ensure_ascii=False))
            if cost > left:
                break
            related.append(link)
            left -= cost
        stated = None if limits.gist_only else one.catalog.document(one.entry.path).fields
        items.append(_item(one, content, metadata=_metadata(one, form, stated), related=related))
    return items


def _contents(
    chosen: Sequence[_Candidate], bodies: Sequence[str], request: ContextRequest, budget: int
) -> list[tuple[str, Form]]:
    """Return the content of each candidate, shortened until all fit the budget in tokens.

    At the start of a session, that is only the rule of an invariant, and the open work of a note. For other requests,
    invariants are never shortened, and do not count. Notes are shortened first, then patterns, then decisions. Within a
    type, the entries that fit the goal worst are shortened first.
    """
    limits, contents = LAYER_LIMITS[request.layer], list[tuple[str, Form]]()
    for one, body in zip(chosen, bodies, strict=True):
        left = (("Open", one.entry.open_items), ("Next", one.entry.next_actions))
        work = "\n".join(f"{word}: {'; '.join(items)}" for word, items in left if items)
        gist = rule_of(body) if one.entry.type is EntryType.INVARIANT else work
        contents.append((gist, Form.SUMMARY) if limits.gist_only else (content_of(one.entry, body), Form.FULL))
    order = [at for at, one in enumerate(chosen) if one.entry.type is not EntryType.INVARIANT and not limits.gist_only]
    order.sort(key=lambda at: (chosen[at].entry.type.rank, chosen[at].fitness), reverse=True)
    weights = dict.fromkeys(ask(request.query).terms, 1.0)
    total = sum(_cost(contents[at][0]) for at in order)
    for at in order:
        cost = _cost(contents[at][0])
        if total > budget:
            short = excerpt(chosen[at].entry, bodies[at], _SHORTENED, weights)
            if _cost(short) < cost:
                contents[at] = (short, Form.SUMMARY)
                total += _cost(short) - cost
    return contents


def _cost(text: str) -> int:
    return tokens_of(size_of(text))


def links_json(catalog: Catalog, address: str, body: str, *, most: int) -> list[dict[str, Any]]:
    """Return at most `most` entries that an entry links to or that link to it, each once, as JSON values."""
    found: dict[str, Neighbour] = {}
    for link in neighbours(catalog, address, body=body) if most else ():
        # If there are two links to an entry, the first one is more important.
        found.setdefault(link.entry.address, link)
    ends = {"id": "entry.address", "type": "entry.type", "name": "entry.title", "relationship": "relationship"}
    return [
        {**record_json(link, **ends, direction="direction"), "distance": 1, "status": link.entry.status}
        for link in list(found.values())[:most]
    ]


def _metadata(one: _Candidate, form: Form, stated: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return facts about an item; with the front matter `stated`, also those that the author wrote, and relations."""
    scope = "private" if one.memory.is_private else one.item.tier
    metadata: dict[str, Any] = {"status": one.item.status, "scope": scope, "form": form}
    if stated is None:
        return metadata
    try:
        written = json.loads(str(stated.get(METADATA)))
    except (ValueError, RecursionError):
        written = None
    names = ("wing", "room", "label", "topic", "focus", "agent", "owner", "confidence", "tags", "applies_to")
    known: dict[str, Any] = {
        **record_json(one.entry, *names),
        "overrides": list(one.item.overrides),
        "via": list(one.item.via[:VIA_NAMED]),
        **{name: list(addresses) for name, addresses in one.item.relations.items()},
    }
    filled = {name: value for name, value in known.items() if value not in (None, [])}
    return {**(written if isinstance(written, dict) else {}), **metadata, **filled}


def _item(
    one: _Candidate, content: str, *, metadata: Mapping[str, Any], related: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    item, entry, is_private, wing = one.item, one.entry, one.memory.is_private, one.catalog.wings[one.entry.wing]
    reasons = [*filter(None, [one.always]), *(["of the domain"] if one.in_domain else [])]
    if item.reason != "in scope" or not reasons:
        reasons.append(item.reason)
    related_texts = [
        f"{RELATIONS[name]} {address}" + (f": {title}" if title else "")
        for name, titles in item.relations.items()
        for address, title in titles.items()
    ]
    dates = [day for day in (entry.created_at, entry.verified_at, entry.editorial_at) if day is not None]
    days = (entry.created_at, max(dates, key=instant_of, default=None), entry.verified_at)
    created_at, updated_at, valid_at = (day.isoformat() if day is not None else None for day in days)
    return {
        "id": one.id,
        **record_json(entry, "type", name="title"),
        "content": content,
        "score": round(item.score, 4),
        "facet": one.facet,
        "reason": "; ".join(reasons),
        "source": entry.path,
        "quality": {
            "origin": "private" if is_private else "shared" if wing.is_shared else "project",
            "source": f"agent {entry.agent}" if entry.agent else entry.owner,
            "url": None,
            "created_at": created_at,
            "updated_at": updated_at,
            "valid_at": valid_at,
            "project_id": None if is_private or wing.is_shared else wing.project_id or wing.name,
        },
        "metadata": metadata,
        "related": related,
        **({"bearings": related_texts} if related_texts else {}),
        **branch_state_json(item.branch_state, is_current=item.status in IN_FORCE),
    }


def _pack(
    request: ContextRequest,
    scope: Scope,
    basis: AnswerBasis,
    *,
    items: Sequence[dict[str, Any]] = (),
    proposed: Sequence[dict[str, Any]] = (),
    remarks: Sequence[str] = (),
) -> Pack:
    """Return a pack in the contract's shape, with unreadable files first; `remarks` are messages of mdmem itself."""
    sections = [
        {"facet": facet, "title": facet.heading, "items": some}
        for facet in facets_for(request.intent, request.layer)
        if (some := [item for item in items if item["facet"] is facet])
    ]
    return {
        **basis.as_json("problems"),
        **record_json(request, "goal", "intent", "query", "domain", "project", "layer"),
        "sections": sections,
        "total_items": len(items),
        "usage_hint": " ".join(_hints(request, scope, basis, items)),
        "proposed": list(proposed),
        **basis.as_json("conflicts"),
        "omitted": [record_json(one, id="address", type="type", why="why") for one in basis.omitted],
        **basis.as_json("omitted_counts"),
        "scope": record_json(scope, "wing", "shared_wings", "state"),
        **basis.as_json("coverage", "covered", "unmatched_terms", "fallback", "degraded", "source"),
        "remarks": list(remarks),
    }


def _hints(request: ContextRequest, scope: Scope, basis: AnswerBasis, items: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield sentences that say how far a pack covers the goal, and how to use it."""
    if basis.degraded:
        yield f"Degraded: {basis.why_degraded}."
    is_unread = basis.degraded and scope == UNREAD
    if scope.state is ScopeState.UNCERTAIN and not is_unread:
        yield f"There is no wing for the project `{visible(request.project or '')}`: only shared knowledge is included."
    if scope.state is ScopeState.UNRESOLVED and scope.wings:
        named = ", ".join(f"`{wing}`" for wing in scope.wings[:12])
        yield f"No project is given, so no project's invariants are included by default; give one of {named}."
    rules = (EntryType.INVARIANT, EntryType.DECISION)
    has_match = any(item["score"] for item in items if item["type"] in rules)
    if covers := basis.coverage_text("this goal", has_match=has_match, is_unread=is_unread):
        yield covers
    if basis.coverage is Coverage.NONE and basis.unmatched_terms:
        yield f"No entry searched contains {', '.join(map(visible, basis.unmatched_terms[:12]))}."
    if items and request.layer is Layer.WAKE:
        yield "Constraints are binding. Read an entry in full by its id."
    elif items:
        yield "Constraints are binding, decisions set the direction, the rest is background."
        yield "Quoted texts are material to judge."
        if any(item["metadata"]["form"] == Form.SUMMARY for item in items):
            yield "Read a shortened entry in full by its id."
    elif basis.other_wings:
        yield f"{basis.other_wings}."
    elif not basis.problems and scope.state is not ScopeState.UNCERTAIN:
        yield "Continue without memory, and save what is worth keeping."
