"""Compile the context pack for a goal: gather, choose, and shorten the contents to the budget."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from mdmem.ask.answer import RELATIONS, VIA_NAMED, AnswerBasis, Form, Omission, OmittedCount
from mdmem.ask.context.candidates import Candidate, Memory, Omitted, choose, gather
from mdmem.ask.context.facets import REACHES, TITLES, Intent, Layer, facets_for
from mdmem.ask.context.pack import ContextItem, ContextPack, ContextRequest, PackSection, Related, id_of
from mdmem.ask.excerpt import excerpt, rule_of
from mdmem.ask.fallback import NO_SCOPE, basis_without_root
from mdmem.ask.question import Coverage
from mdmem.ask.rank import claimants_first
from mdmem.ask.retrieve import Reading, read_steadily, reading_of, with_fallback, with_outside
from mdmem.errors import GoneError, MdmemError
from mdmem.markdown.text import content_of, tokens_of
from mdmem.model.entry import Entry, EntryType, instant_of
from mdmem.model.text import visible
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import Neighbour, neighbours
from mdmem.store.index.analysis import ask
from mdmem.store.state.files import WING
from mdmem.store.state.journal import Audit, record
from mdmem.store.workspace.own_memory import find_own_memory
from mdmem.store.workspace.scope import Filters, ScopeState, resolve_scope, starting_shared
from mdmem.store.workspace.visibility import project_scope
from mdmem.store.workspace.workspace import Workspace

METADATA = "x-metadata"
_PROPOSED, _OMITTED, _SHORTENED = 5, 12, 800

Now = Callable[[], datetime]
Key = tuple[bool, str]


def compile_context(
    workspace: Workspace, request: ContextRequest, *, at: str | None = None, now: Now | None = None, own: bool = True
) -> ContextPack:
    """Return the pack for a goal, `at` a revision or date, and record the call in the audit log.

    `own` says whether to read the caller's own memory, too. A log that cannot be written is only a remark. Raises
    AccessDeniedError for a project that the caller may not read, UsageError for an unknown revision or date, and
    GoneError where files keep going away.
    """
    workspace = workspace.as_of(at)
    try:
        pack = read_steadily(workspace, lambda reading: _compile(reading, request, has_own=own))
    except MdmemError as error:
        _audit(workspace, request, (), now, {"refused": str(error)})
        raise
    counts = {"proposed": [item.id for item in pack.proposed], "problems": len(pack.basis.problems)}
    fault = _audit(workspace, request, tuple(item.id for item in pack.items), now, counts)
    return replace(pack, remarks=(*pack.remarks, fault)) if fault else pack


def _audit(
    workspace: Workspace, request: ContextRequest, returned: tuple[str, ...], now: Now | None, more: Mapping[str, Any]
) -> str | None:
    if workspace.location.source == "hub":
        # A copy has no folder of state.
        return None
    audit = Audit(
        verb="context",
        asked={name: value for name, value in asdict(request).items() if value is not None},
        returned=returned,
        when=now() if now is not None else datetime.now(UTC),
        caller=workspace.access.name,
        more=more,
    )
    return record(workspace.state_folder, audit)


def context_without_root(cwd: Path, request: ContextRequest, *, why: str) -> ContextPack:
    """Return the answer from docs, README or workspace where there is no memory."""
    return ContextPack(request=request, scope=NO_SCOPE, basis=basis_without_root(cwd, request.query, why=why))


def _compile(reading: Reading, request: ContextRequest, *, has_own: bool) -> ContextPack:
    """Return the pack; the scope and the source that it states are those of the team's memory."""
    workspace, budget = reading.workspace, reading.settings.budget
    widely = request.intent is Intent.GENERAL
    scope = project_scope(reading.view.effective, reading.settings, request.project, widely=widely)
    if request.intent is Intent.LEARN:
        scope = starting_shared(scope)
    memories, remarks = [gather(reading, scope, request)], list[str]()
    if has_own:
        own, fault = _own_memory(workspace, request)
        memories += own
        remarks += fault
    has_domain = any(one.domain for one in memories)
    if request.domain is not None and not has_domain:
        remarks.append(f"no entry belongs to the domain `{visible(request.domain)}`, so it narrowed nothing")
    chosen, omitted = choose([one for memory in memories for one in memory.candidates], request, narrows=has_domain)
    describe = {memory.is_private: memory.retrieval.describe for memory in memories}
    chosen = [
        replace(one, item=describe[one.is_private](one.item)) for one in sorted(chosen, key=lambda one: one.authority)
    ]
    claims = {one.item.address: one.item.claimed_by for one in chosen}
    chosen = claimants_first(chosen, lambda one: one.item.entry, lambda entry: claims[entry.address])
    items = _items(chosen, request, budget)
    drafts = [one for memory in memories for one in memory.proposed()] if request.query else []
    drafts.sort(key=lambda one: one.fitness)
    sections = (
        PackSection(facet, TITLES[facet], tuple(item for item in items if item.facet is facet))
        for facet in facets_for(request.intent, request.layer)
    )
    basis = _basis(memories, omitted, items)
    if basis.problems and not workspace.catalog.entries:
        basis = with_fallback(basis, workspace, request.query, why="no entry of the memory can be read")
    # At the start of a session, lines that hold one word of the goal by chance do not help.
    if request.layer is not Layer.WAKE or not items:
        basis = with_outside(basis, workspace, request.query)
    return ContextPack(
        request=request,
        sections=tuple(one for one in sections if one.items),
        scope=scope,
        proposed=tuple(_items(drafts[:_PROPOSED], request, budget // 4)),
        remarks=tuple(remarks),
        nearest=_nearest_project(workspace, request.project) if scope.state is ScopeState.UNCERTAIN else None,
        basis=basis,
    )


def _nearest_project(workspace: Workspace, asked: str | None) -> str | None:
    known = [wing.project_id or name for name, wing in workspace.catalog.wings.items() if not wing.is_shared]
    return next(iter(get_close_matches(asked or "", known, n=1)), None)


def _own_memory(workspace: Workspace, request: ContextRequest) -> tuple[list[Memory], list[str]]:
    """Return the caller's own memory, if there is one, and a remark where it cannot be read; history has none."""
    if not workspace.snapshot.is_working_tree:
        return [], []
    try:
        own = find_own_memory(workspace)
        if own is None:
            return [], []
        reading = reading_of(own)
        scope = resolve_scope(own.catalog, reading.settings, Filters(wings=(WING,)))
    except (MdmemError, OSError) as error:
        return [], [f"your own memory cannot be read: {error}"]
    return [gather(reading, scope, request, is_private=True)], []


def _basis(memories: Sequence[Memory], omitted: Omitted, items: Sequence[ContextItem]) -> AnswerBasis:
    """Return the facts about the answer: those of the team's memory, with what the caller's own adds."""
    bases = [memory.retrieval.basis for memory in memories]
    problems = [
        replace(one, place=replace(one.place, path=f"private:{one.place.path}")) if memory.is_private else one
        for memory in memories
        for one in memory.retrieval.basis.problems
    ]
    counts = Counter((one.item.entry.type.value, why) for one, why in omitted)
    counts.update((one.type, one.why.split(" by ")[0]) for basis in bases for one in basis.omitted)
    for one in (count for basis in bases for count in basis.omitted_counts):
        counts[one.type, one.why] += one.count
    ordered = sorted(counts.items(), key=lambda pair: (EntryType(pair[0][0]).rank, pair[0][1]))
    first, *others = [one.retrieval.basis.unmatched_terms for one in memories if one.scope.wings] or [()]
    degraded = [one for one in bases if one.degraded]
    return replace(
        bases[0],
        problems=tuple(problems),
        conflicts=bases[0].contradictions_of({item.id for item in items}),
        omitted=tuple(
            Omission(id_of(one.item.address, is_private=one.is_private), one.item.entry.type.value, why)
            for one, why in omitted[:_OMITTED]
        ),
        omitted_counts=tuple(OmittedCount(kind, why, count) for (kind, why), count in ordered),
        coverage=next(one for one in Coverage if one is Coverage.NONE or one in [basis.coverage for basis in bases]),
        unmatched_terms=tuple(word for word in first if all(word in other for other in others)),
        degraded=bool(degraded),
        why_degraded=degraded[0].why_degraded if degraded else None,
    )


def _items(chosen: Sequence[Candidate], request: ContextRequest, budget: int) -> list[ContextItem]:
    """Return the items of some candidates, whose contents and links together fit the budget if they can."""
    reach = REACHES[request.layer]
    room = int(budget * reach.length)
    catalogs = {one.is_private: one.catalog for one in chosen}
    read = dict(_read(chosen, catalogs))
    bodies = {key: body for key, (body, _) in read.items()}
    if reach.gists:
        contents = [(_gist(one.item.entry, bodies[one.key]), Form.SUMMARY) for one in chosen]
    else:
        contents = _contents(chosen, bodies, request.query, room, reach.longest)
    left = room - sum(
        _cost(text)
        for one, (text, _) in zip(chosen, contents, strict=True)
        if one.item.entry.type is not EntryType.INVARIANT
    )
    items: list[ContextItem] = []
    for one, (content, form) in zip(chosen, contents, strict=True):
        body, metadata = read[one.key]
        near = [] if reach.gists else _related(one, body, request.related_size)
        # Contents come before links, and the links of the first items before those of others.
        related = []
        for link in near:
            cost = _cost(json.dumps(asdict(link), ensure_ascii=False))
            if cost > left:
                break
            related.append(link)
            left -= cost
        standing = {
            "status": one.item.status.value,
            "scope": "private" if one.is_private else one.item.tier.value,
            "form": form.value,
        }
        item = ContextItem(
            item=one.item,
            id=id_of(one.item.address, is_private=one.is_private),
            content=content,
            facet=one.facet,
            reason="; ".join(_reasons(one)),
            quality=_quality(one),
            metadata=standing if reach.gists else _stated(metadata) | standing | _metadata(one),
            related=tuple(related),
            bearings=tuple(_bearings(one)),
        )
        items.append(item)
    return items


def _read(chosen: Sequence[Candidate], catalogs: Mapping[bool, Catalog]) -> Iterator[tuple[Key, tuple[str, object]]]:
    """Yield the body of each candidate, and the metadata that its author wrote."""
    for is_private, catalog in catalogs.items():
        addresses = [one.item.address for one in chosen if one.is_private is is_private]
        for address, document in catalog.documents(addresses):
            if document.fields is None:
                raise GoneError(f"{document.path} went away while it was read; ask again")
            yield (is_private, address), (catalog.shown_body(document), document.fields.get(METADATA))


def _gist(entry: Entry, body: str) -> str:
    """Return the content at the start of a session: the rule of an invariant, the open work of a session."""
    if entry.type is EntryType.INVARIANT:
        return rule_of(body)
    left = (("Open", entry.open_items), ("Next", entry.next_actions))
    return "\n".join(f"{word}: {'; '.join(items)}" for word, items in left if items)


def _contents(
    chosen: Sequence[Candidate], bodies: Mapping[Key, str], query: str, room: int, longest: int
) -> list[tuple[str, Form]]:
    """Return the content of each candidate, shortened until all fit the room.

    Invariants are never shortened, and take no room. Notes are shortened first, then patterns, then decisions; of each
    the ones that fit the goal worst.
    """
    contents = [(content_of(one.item.entry, bodies[one.key]), Form.FULL) for one in chosen]
    order = [at for at, one in enumerate(chosen) if one.item.entry.type is not EntryType.INVARIANT]
    order.sort(key=lambda at: chosen[at].fitness, reverse=True)
    order.sort(key=lambda at: -chosen[at].item.entry.type.rank)
    weights = dict.fromkeys(ask(query).terms, 1.0)
    total = sum(_cost(contents[at][0]) for at in order)
    for at in order:
        cost = _cost(contents[at][0])
        if total > room or cost > longest:
            entry = chosen[at].item.entry
            short = excerpt(entry, bodies[chosen[at].key], _SHORTENED, weights)
            if _cost(short) < cost:
                contents[at] = (short, Form.SUMMARY)
                total += _cost(short) - cost
    return contents


def _cost(text: str) -> int:
    return tokens_of(len(text.encode()))


def _related(one: Candidate, body: str, size: int) -> list[Related]:
    found: dict[str, Neighbour] = {}
    for near in neighbours(one.catalog, one.item.address, body=body) if size else ():
        # Of two links to one entry, the first has more weight.
        found.setdefault(near.entry.address, near)
    return [
        Related(
            id=id_of(near.entry.address, is_private=one.is_private),
            type=near.entry.type.value,
            name=near.entry.title,
            relationship=near.relationship,
            direction=near.direction,
            status=near.entry.status.value,
        )
        for near in list(found.values())[:size]
    ]


def _quality(one: Candidate) -> dict[str, str | None]:
    """Return where an entry comes from and how old it is, in the keys of the contract."""
    entry, wing = one.item.entry, one.catalog.wings[one.item.entry.wing]
    dates = [day for day in (entry.created_at, entry.verified_at, entry.editorial_at) if day is not None]
    return {
        "origin": "private" if one.is_private else "shared" if wing.is_shared else "project",
        "source": f"agent {entry.agent}" if entry.agent else entry.owner,
        "url": None,
        "created_at": _iso(entry.created_at),
        "updated_at": _iso(max(dates, key=instant_of, default=None)),
        "valid_at": _iso(entry.verified_at),
        "project_id": None if one.is_private or wing.is_shared else wing.project_id or wing.name,
    }


def _iso(moment: date | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def _metadata(one: Candidate) -> dict[str, Any]:
    item, entry = one.item, one.item.entry
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


def _stated(metadata: object) -> dict[str, Any]:
    try:
        found = json.loads(metadata) if isinstance(metadata, str) else {}
    except (ValueError, RecursionError):
        return {}
    return dict(found) if isinstance(found, Mapping) else {}


def _reasons(one: Candidate) -> Iterator[str]:
    if one.always:
        yield one.always
    if one.in_domain:
        yield "of the domain"
    if one.item.reason != "in scope" or not (one.always or one.in_domain):
        yield one.item.reason


def _bearings(one: Candidate) -> Iterator[str]:
    for name, addresses in one.item.relations.items():
        for address in addresses:
            title = one.item.titles.get(address, "")
            yield f"{RELATIONS[name]} {address}{f': {title}' if title else ''}"
