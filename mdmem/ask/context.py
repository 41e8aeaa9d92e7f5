"""Compile the context pack for a goal: gather entries, choose among them by facet, and shorten them to the budget.

A facet is a section of the pack, such as constraints or decisions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from mdmem.ask.answer import (
    RELATIONS,
    VIA_NAMED,
    AnswerBasis,
    Form,
    Item,
    Omission,
    OmittedCount,
    count_omitted,
    sum_counts,
)
from mdmem.ask.candidates import (
    PRIVATE,
    Candidate,
    ContextRequest,
    Memory,
    Omitted,
    choose,
    id_of,
    iter_candidates,
    iter_proposals,
)
from mdmem.ask.excerpt import excerpt, rule_of
from mdmem.ask.facets import REACHES, TITLES, Intent, Layer, facets_for
from mdmem.ask.fallback import NO_SCOPE, UNREAD, basis_without_root
from mdmem.ask.problems import problems_json
from mdmem.ask.question import Coverage, Question
from mdmem.ask.rank import claimants_first
from mdmem.ask.retrieve import Reading, read_steadily, reading_of, with_fallback, with_outside
from mdmem.errors import GoneError, MdmemError
from mdmem.markdown.body import content_of, tokens_of
from mdmem.model.entry import IN_FORCE, Entry, EntryType, instant_of
from mdmem.model.lineage import Stance, Standing, stance_json, standing_marks
from mdmem.model.text import visible
from mdmem.store.catalog.links import Neighbour, neighbours
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.analysis import ask
from mdmem.store.state.files import WING
from mdmem.store.state.local_records import append_audit
from mdmem.store.workspace.scope import Filters, Scope, ScopeState, resolve_scope
from mdmem.store.workspace.visibility import find_own_memory, project_scope
from mdmem.store.workspace.workspace import Workspace

Pack = dict[str, Any]
"""A context pack as JSON values in the contract's shape."""

METADATA = "x-metadata"
_PROPOSED, _OMITTED, _SHORTENED = 5, 12, 800


def compile_context(workspace: Workspace, request: ContextRequest, *, own: bool = True) -> Pack:
    """Return the pack for a goal, and record the call in the audit log.

    `own` says whether to read the caller's own memory, too. If the log cannot be written, the pack has a remark. Raises
    AccessDeniedError if the caller may not read the project, and GoneError if files disappear in both attempts.
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
        pack = read_steadily(workspace, lambda reading: _compile(reading, request, has_own=own))
    except MdmemError as error:
        audit((), {"refused": str(error)})
        raise
    counts = {"proposed": [item["id"] for item in pack["proposed"]], "problems": len(pack["problems"])}
    if fault := audit([item["id"] for item in items_of(pack)], counts):
        pack["remarks"].append(fault)
    return pack


def context_without_root(cwd: Path, request: ContextRequest, *, why: str, scope: Scope = NO_SCOPE) -> Pack:
    """Return a pack for a folder without a memory, or with one that cannot be read; `why` says why.

    The pack has lines from outside the memory, as `answer_elsewhere` finds them.
    """
    return _pack(request, scope, basis_without_root(cwd, request.query, why=why))


def items_of(pack: Pack) -> list[dict[str, Any]]:
    """Return the items of all sections of a pack."""
    return [item for section in pack["sections"] for item in section["items"]]


def stance_marks(item: Mapping[str, Any]) -> list[str]:
    """Return a list with the mark of an item that is not binding, such as `merged, not approved`, or an empty list."""
    if "standing" not in item:
        return []
    by = item.get("proposed_by", {})
    stance = Stance(Standing(item["standing"]), author=by.get("author"), commit=by.get("commit"))
    return [visible(mark) for mark in standing_marks(stance)]


def _compile(reading: Reading, request: ContextRequest, *, has_own: bool) -> Pack:
    """Return the pack; its keys `scope` and `source` are about the team's memory, not the caller's own."""
    workspace, budget = reading.workspace, reading.settings.budget
    widely = request.intent is Intent.GENERAL
    scope = project_scope(reading.view.effective, reading.settings, request.project, widely=widely)
    if request.intent is Intent.LEARN:
        scope = replace(scope, starts_shared=scope.starts_shared or bool(scope.shared_wings))
    question, remarks = Question(words=request.query), list[str]()
    memories = [Memory(reading, scope, reading.retrieve(scope, question))]
    if has_own:
        # The caller's own memory has no history, so it is not read if an earlier commit is asked for.
        try:
            found = find_own_memory(workspace) if workspace.snapshot.is_working_tree else None
            if found is not None:
                own = reading_of(found)
                own_scope = resolve_scope(found.catalog, own.settings, Filters(wings=(WING,)))
                memories.append(Memory(own, own_scope, own.retrieve(own_scope, question), is_private=True))
        except (MdmemError, OSError) as error:
            remarks.append(f"your own memory cannot be read: {error}")
    candidates = [one for memory in memories for one in iter_candidates(memory, request)]
    has_domain = any(one.in_domain for one in candidates)
    if request.domain is not None and not has_domain:
        remarks.append(
            f"no entry belongs to the domain `{visible(request.domain)}`, so the answer is not limited to it"
        )
    chosen, omitted = choose(candidates, request, narrows=has_domain)
    chosen.sort(key=lambda one: one.authority)
    chosen = [replace(one, item=one.memory.found.describe(one.item)) for one in chosen]
    claims = {one.entry.address: one.item.claimed_by for one in chosen}
    chosen = claimants_first(chosen, lambda one: one.entry, lambda entry: claims[entry.address])
    drafts = [one for memory in memories for one in iter_proposals(memory)] if request.query else []
    drafts.sort(key=lambda one: one.fitness)
    basis = _basis(memories, omitted, {one.id for one in chosen})
    if basis.problems and not workspace.catalog.entries:
        basis = with_fallback(basis, workspace, request.query, why="no entry of the memory can be read")
    # At the start of a session, lines from outside that match a word by chance do not help.
    if request.layer is not Layer.WAKE or not chosen:
        basis = with_outside(basis, workspace, request.query)
    return _pack(
        request,
        scope,
        basis,
        items=_items(chosen, request, budget),
        proposed=_items(drafts[:_PROPOSED], request, budget // 4),
        remarks=remarks,
    )


def _items(chosen: Sequence[Candidate], request: ContextRequest, budget: int) -> list[dict[str, Any]]:
    """Return the items of some candidates; contents are shortened, and links omitted, to fit the budget."""
    reach = REACHES[request.layer]
    left = int(budget * reach.length)
    read = dict(_read(chosen))
    if reach.gists:
        contents = [(_gist(one.entry, read[one.id][0]), Form.SUMMARY) for one in chosen]
    else:
        bodies = [read[one.id][0] for one in chosen]
        contents = _contents(chosen, bodies, request.query, budget=left, longest=reach.longest)
    pairs = list(zip(chosen, contents, strict=True))
    left -= sum(_cost(text) for one, (text, _) in pairs if one.entry.type is not EntryType.INVARIANT)
    items = []
    for one, (content, form) in pairs:
        body, stated = read[one.id]
        # Links get the part of the budget that contents leave; the first items get their links first.
        related = []
        for link in [] if reach.gists else _related(one, body, request.related_size):
            cost = _cost(json.dumps(link, ensure_ascii=False))
            if cost > left:
                break
            related.append(link)
            left -= cost
        items.append(_item(one, content, form, stated=None if reach.gists else stated, related=related))
    return items


def _read(chosen: Sequence[Candidate]) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    """Yield the id of each candidate with its body and the metadata from its front matter.

    Raises GoneError if a file disappears meanwhile.
    """
    for is_private in (False, True):
        some = {one.entry.address: one for one in chosen if one.memory.is_private is is_private}
        for address, document in next(iter(some.values())).catalog.documents(list(some)) if some else ():
            if document.fields is None:
                raise GoneError(f"{document.path} was deleted while it was read; ask again")
            written = document.fields.get(METADATA)
            try:
                metadata = json.loads(written) if isinstance(written, str) else {}
            except (ValueError, RecursionError):
                metadata = {}
            one = some[address]
            yield one.id, (one.catalog.shown_body(document), metadata if isinstance(metadata, dict) else {})


def _gist(entry: Entry, body: str) -> str:
    """Return the short content for the start of a session: the rule of an invariant, or the open work of a note."""
    if entry.type is EntryType.INVARIANT:
        return rule_of(body)
    left = (("Open", entry.open_items), ("Next", entry.next_actions))
    return "\n".join(f"{word}: {'; '.join(items)}" for word, items in left if items)


def _contents(
    chosen: Sequence[Candidate], bodies: Sequence[str], query: str, *, budget: int, longest: int
) -> list[tuple[str, Form]]:
    """Return the content of each candidate, shortened until all fit the budget in tokens.

    Invariants are never shortened, and do not count. Notes are shortened first, then patterns, then decisions. Within a
    type, the entries that fit the goal worst are shortened first.
    """
    contents = [(content_of(one.entry, body), Form.FULL) for one, body in zip(chosen, bodies, strict=True)]
    order = [at for at, one in enumerate(chosen) if one.entry.type is not EntryType.INVARIANT]
    order.sort(key=lambda at: chosen[at].fitness, reverse=True)
    order.sort(key=lambda at: -chosen[at].entry.type.rank)
    weights = dict.fromkeys(ask(query).terms, 1.0)
    total = sum(_cost(contents[at][0]) for at in order)
    for at in order:
        cost = _cost(contents[at][0])
        if total > budget or cost > longest:
            short = excerpt(chosen[at].entry, bodies[at], _SHORTENED, weights)
            if _cost(short) < cost:
                contents[at] = (short, Form.SUMMARY)
                total += _cost(short) - cost
    return contents


def _cost(text: str) -> int:
    return tokens_of(len(text.encode()))


def _related(one: Candidate, body: str, size: int) -> list[dict[str, Any]]:
    """Return up to `size` entries that an item links to, or that link to it, as JSON values."""
    return [
        {
            "id": id_of(link.entry.address, is_private=one.memory.is_private),
            "type": link.entry.type.value,
            "name": link.entry.title,
            "relationship": link.relationship,
            "direction": link.direction,
            "distance": 1,
            "status": link.entry.status.value,
        }
        for link in linked_with(one.catalog, one.entry.address, body, most=size)
    ]


def linked_with(catalog: Catalog, address: str, body: str, *, most: int) -> list[Neighbour]:
    """Return at most `most` entries that an entry links to or that link to it, each once, sorted as by `neighbours`."""
    found: dict[str, Neighbour] = {}
    for link in neighbours(catalog, address, body=body) if most else ():
        # If there are two links to an entry, the first one is more important.
        found.setdefault(link.entry.address, link)
    return list(found.values())[:most]


def _item(
    one: Candidate, content: str, form: Form, *, stated: Mapping[str, Any] | None, related: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return an item in the contract's shape.

    `stated` is the metadata that the author wrote; with None, the metadata has only status, scope and form.
    """
    item, entry, is_private = one.item, one.entry, one.memory.is_private
    state = {
        "status": item.status.value,
        "scope": "private" if is_private else item.tier.value,
        "form": form.value,
    }
    reasons = [*filter(None, [one.always]), *(["of the domain"] if one.in_domain else [])]
    if item.reason != "in scope" or not reasons:
        reasons.append(item.reason)
    related_texts = [
        f"{RELATIONS[name]} {address}" + (f": {item.titles[address]}" if item.titles.get(address) else "")
        for name, addresses in item.relations.items()
        for address in addresses
    ]
    return {
        "id": one.id,
        "type": entry.type.value,
        "name": entry.title,
        "content": content,
        "score": round(item.score, 4),
        "facet": one.facet,
        "reason": "; ".join(reasons),
        "source": entry.path,
        "quality": _quality(one),
        "metadata": state if stated is None else {**stated, **state, **_metadata(item)},
        "related": list(related),
        **({"bearings": related_texts} if related_texts else {}),
        **stance_json(item.stance, is_current=item.status in IN_FORCE),
    }


def _quality(one: Candidate) -> dict[str, str | None]:
    """Return the origin, the source and the dates of an entry."""
    entry, wing, is_private = one.entry, one.catalog.wings[one.entry.wing], one.memory.is_private
    dates = [day for day in (entry.created_at, entry.verified_at, entry.editorial_at) if day is not None]

    def iso(moment: date | None) -> str | None:
        return moment.isoformat() if moment is not None else None

    return {
        "origin": "private" if is_private else "shared" if wing.is_shared else "project",
        "source": f"agent {entry.agent}" if entry.agent else entry.owner,
        "url": None,
        "created_at": iso(entry.created_at),
        "updated_at": iso(max(dates, key=instant_of, default=None)),
        "valid_at": iso(entry.verified_at),
        "project_id": None if is_private or wing.is_shared else wing.project_id or wing.name,
    }


def _metadata(item: Item) -> dict[str, Any]:
    entry = item.entry
    known: dict[str, Any] = {
        "wing": entry.wing,
        "room": entry.room,
        "label": entry.label,
        "topic": entry.topic,
        "focus": entry.focus,
        "agent": entry.agent,
        "owner": entry.owner,
        "confidence": entry.confidence,
        "tags": list(entry.tags),
        "applies_to": list(entry.applies_to),
        "overrides": list(item.overrides),
        "via": list(item.via[:VIA_NAMED]),
        **{name: list(addresses) for name, addresses in item.relations.items()},
    }
    return {name: value for name, value in known.items() if value not in (None, [])}


def _basis(memories: Sequence[Memory], omitted: Omitted, shown: set[str]) -> AnswerBasis:
    """Combine the facts about the answers from the team's memory and from the caller's own memory."""
    bases = [memory.found.basis for memory in memories]
    problems = [
        replace(one, place=replace(one.place, path=f"{PRIVATE}{one.place.path}")) if memory.is_private else one
        for memory in memories
        for one in memory.found.basis.problems
    ]
    counts = [OmittedCount(one.entry.type.value, why, 1) for one, why in omitted]
    counts += [count for basis in bases for count in (*count_omitted(basis.omitted), *basis.omitted_counts)]
    ordered = sorted(sum_counts(counts), key=lambda one: (EntryType(one.type).rank, one.why))
    first, *others = [one.found.basis.unmatched_terms for one in memories if one.scope.wings] or [()]
    degraded = [one for one in bases if one.degraded]
    return replace(
        bases[0],
        problems=tuple(problems),
        conflicts=bases[0].contradictions_of(shown),
        omitted=tuple(Omission(one.id, one.entry.type.value, why) for one, why in omitted[:_OMITTED]),
        omitted_counts=tuple(ordered),
        coverage=next(one for one in Coverage if one is Coverage.NONE or one in [basis.coverage for basis in bases]),
        unmatched_terms=tuple(word for word in first if all(word in other for other in others)),
        degraded=bool(degraded),
        why_degraded=degraded[0].why_degraded if degraded else None,
    )


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
        {"facet": facet, "title": TITLES[facet], "items": some}
        for facet in facets_for(request.intent, request.layer)
        if (some := [item for item in items if item["facet"] is facet])
    ]
    return {
        "problems": problems_json(basis.problems),
        "goal": request.goal,
        "intent": request.intent,
        "query": request.query,
        "domain": request.domain,
        "project": request.project,
        "layer": request.layer,
        "sections": sections,
        "total_items": len(items),
        "usage_hint": " ".join(filter(None, _hints(request, scope, basis, items))),
        "proposed": list(proposed),
        **basis.as_json("conflicts"),
        "omitted": [{"id": one.address, "type": one.type, "why": one.why} for one in basis.omitted],
        **basis.as_json("omitted_counts"),
        "scope": scope_json(scope),
        **basis.as_json("coverage", "covered", "unmatched_terms", "fallback", "degraded", "source"),
        "remarks": list(remarks),
    }


def scope_json(scope: Scope) -> dict[str, Any]:
    """Return the wings that an answer comes from, and whether the scope is known, as JSON values."""
    return {"wing": scope.wing, "shared_wings": list(scope.shared_wings), "state": scope.state}


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
    yield from _verdict(basis, items, is_unread=is_unread)
    if items and request.layer is Layer.WAKE:
        yield "Constraints are binding. Read an entry in full by its id."
    elif items:
        yield "Constraints are binding, decisions set the direction, the rest is background."
        yield "Quoted texts are material to judge."
        if any(item["metadata"]["form"] == Form.SUMMARY for item in items):
            yield "Read a shortened entry in full by its id."
    elif not basis.problems and scope.state is not ScopeState.UNCERTAIN:
        yield "Continue without memory, and save what is worth keeping."


def _verdict(basis: AnswerBasis, items: Sequence[dict[str, Any]], *, is_unread: bool) -> Iterator[str]:
    if basis.coverage is Coverage.PARTIAL:
        words = ", ".join(map(visible, basis.uncovered_terms[:12]))
        lacks = f"; no invariant or decision that applies here contains {words}" if words else ""
        yield f"This goal is covered in part{lacks}."
    elif basis.coverage is Coverage.NONE:
        rules = [item for item in items if item["type"] == EntryType.INVARIANT]
        none = "No other invariant or decision" if rules else "No invariant or decision"
        # An invariant that matches in part, or any decision in the pack, may cover the goal after all.
        if any(rule["score"] > 0 for rule in rules) or any(item["type"] == EntryType.DECISION for item in items):
            none = "No invariant or decision clearly"
        # An unreadable file may contain the rule that covers the goal.
        yield f"{'Nothing that could be read' if basis.problems or is_unread else none} covers this goal."
        if basis.unmatched_terms:
            yield f"No entry searched contains {', '.join(map(visible, basis.unmatched_terms[:12]))}."
