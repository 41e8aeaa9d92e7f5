"""Which candidates come: by facet in turn, the best of each first, within the limit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from heapq import nsmallest
from itertools import chain, filterfalse
from operator import attrgetter
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from mdmem.ask.answer import AnswerBasis, Omission, OmittedCount
from mdmem.ask.context.describe import METADATA, Describer, Room, contents_of, gists_of, id_of, with_links_within
from mdmem.ask.context.facets import TITLES, Facet, facet_of
from mdmem.ask.context.gather import Candidate, Memory, MemoryCandidates, gather, is_far
from mdmem.ask.context.pack import ContextItem, ContextPack, PackSection
from mdmem.ask.context.request import ContextRequest, Intent, Layer
from mdmem.ask.context.shape import REACHES, FacetReach, facets_for, weight_of
from mdmem.ask.fallback import NO_SCOPE, basis_without_root
from mdmem.ask.question import Coverage
from mdmem.ask.rank import claimants_first
from mdmem.ask.retrieve import Reading, read_steadily, reading_of, with_fallback, with_outside
from mdmem.errors import GoneError, MdmemError
from mdmem.model.entry import EntryType
from mdmem.model.finding import Finding
from mdmem.model.text import visible
from mdmem.store.catalog import Catalog
from mdmem.store.index.analysis import ask
from mdmem.store.state.files import WING
from mdmem.store.state.journal import Audit, record
from mdmem.store.workspace.own_memory import find_own_memory
from mdmem.store.workspace.scope import Filters, ScopeState, resolve_scope, starting_shared
from mdmem.store.workspace.visibility import project_scope
from mdmem.store.workspace.workspace import Workspace


class Choice(Struct):
    """What comes, and why each other candidate does not, those that are named first, the best fitting before others."""

    chosen: list[Candidate] = field(default_factory=list)
    left_out: list[tuple[Candidate, str]] = field(default_factory=list)


def choose_items(candidates: Iterable[Candidate], request: ContextRequest, *, narrows: bool) -> Choice:
    """Return which candidates come; `narrows` says that the domain is one of the memory's own.

    Unconditional invariants come whatever the limit, and are not counted; proposals take no room from what binds.
    """
    reach, facets = REACHES[request.layer], facets_for(request.intent, request.layer)
    everything = list(candidates)
    choice = Choice([one for one in everything if one.item.unconditional])
    best = max((one.item.score for one in everything), default=0.0)
    queues: dict[Facet, list[Candidate]] = {facet: [] for facet in facets}
    proposed: dict[Facet, list[Candidate]] = {facet: [] for facet in facets}
    others = list[tuple[Candidate, str]]()
    for one in filterfalse(attrgetter("item.unconditional"), everything):
        why = _why_not(one, request, reach, best=best, narrows=narrows)
        if why:
            others.append((one, why))
        elif one.facet not in queues:
            others.append((one, f"{one.facet} is not part of the intent `{request.intent}` at this layer"))
        else:
            (proposed if one.waits else queues)[one.facet].append(one)
    size = math.ceil(request.size * reach.share)
    taken = _in_turn([_best(queue, size) for queue in queues.values()], size)
    room = size - len(taken)
    taken += _in_turn([_best(queue, room) for queue in proposed.values()], room)
    choice.chosen += taken
    kept = {one.key for one in taken}
    waiting = [(one, "over the limit") for one in chain(*queues.values(), *proposed.values()) if one.key not in kept]
    choice.left_out = [*_with_best_first(waiting, _OMITTED), *_with_best_first(others, _OMITTED - len(waiting))]
    return choice


def _best(candidates: Sequence[Candidate], count: int) -> list[Candidate]:
    """Return so many of those that fit best, the best first."""
    return nsmallest(max(0, count), candidates, key=attrgetter("fitness"))


def _with_best_first(left: Sequence[tuple[Candidate, str]], count: int) -> Iterator[tuple[Candidate, str]]:
    """Yield what is left out, before all else so many of those that fit best."""
    best = {id(one): at for at, one in enumerate(_best([one for one, _ in left], count))}
    yield from sorted((pair for pair in left if id(pair[0]) in best), key=lambda pair: best[id(pair[0])])
    yield from (pair for pair in left if id(pair[0]) not in best)


def _why_not(one: Candidate, request: ContextRequest, reach: FacetReach, *, best: float, narrows: bool) -> str:
    if one.always or one.in_domain:
        return ""
    # What covers the goal stays: it is what the answer `covered` means.
    is_answer = one.item.matches and one.item.entry.type.is_rule
    if narrows and not is_answer:
        return f"outside the domain `{request.domain}`"
    return "fits far worse than others" if one.item.score < reach.floor * best and not is_answer else ""


def _in_turn(queues: Sequence[Sequence[Candidate]], size: int) -> list[Candidate]:
    """Take from each queue in turn as many as its place weighs, until there are enough."""
    taken: list[Candidate] = []
    position = [0] * len(queues)
    while len(taken) < size and any(start < len(queue) for start, queue in zip(position, queues, strict=True)):
        for number, queue in enumerate(queues):
            portion = queue[position[number] : position[number] + weight_of(number)]
            position[number] += len(portion)
            taken += portion
    return taken[:size]


PROPOSED = 5
_OMITTED = 12

Key = tuple[bool, str]
Now = Callable[[], datetime]


def compile_context(
    workspace: Workspace, request: ContextRequest, *, at: str | None = None, now: Now | None = None, own: bool = True
) -> ContextPack:
    """Return the pack for a goal; that it was asked for is kept, and a log that cannot be written is only remarked.

    `own` says whether the caller's own memory is read, too. With `at` it is what mattered at a revision or a date.
    Raises AccessDeniedError for a project that the caller may not read, UsageError for a revision or date that is none,
    and GoneError where files keep going away.
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
    """Return the answer of docs, README or workspace where there is no memory to ask; there is no log to keep it in."""
    return ContextPack(request=request, scope=NO_SCOPE, basis=basis_without_root(cwd, request.query, why=why))


def _compile(reading: Reading, request: ContextRequest, *, has_own: bool) -> ContextPack:
    """Return the pack; the team's memory is the first, and says of which scope and source the answer is."""
    workspace, settings, answers = reading.workspace, reading.settings, reading.view.effective
    scope = project_scope(answers, settings, request.project, widely=request.intent is Intent.GENERAL)
    if request.intent is Intent.LEARN:
        scope = starting_shared(scope)
    own, remarks = _own_memory(workspace) if has_own else ([], ())
    gathered = [gather(memory, request) for memory in (Memory(reading=reading, scope=scope), *own)]
    choice = choose_items(
        [one for part in gathered for one in part.candidates],
        request,
        narrows=any(part.domain_is_known for part in gathered),
    )
    chosen = sorted(choice.chosen, key=attrgetter("authority"))
    describe = {part.memory.is_private: part.retrieval.describe for part in gathered}
    chosen = [replace(one, item=describe[one.is_private](one.item)) for one in chosen]
    claims = {one.item.address: one.item.claimed_by for one in chosen}
    ordered = claimants_first(chosen, attrgetter("item.entry"), lambda entry: claims[entry.address])
    items = _described(ordered, request, settings.budget)
    basis = _basis(gathered, choice, items)
    if basis.problems and not workspace.catalog.entries:
        basis = with_fallback(basis, workspace, request.query, why="no entry of the memory can be read")
    # A session begins with little, and not with lines that a word of its goal happens to find.
    if request.layer is not Layer.WAKE or not items:
        basis = with_outside(basis, workspace, request.query)
    return ContextPack(
        request=request,
        sections=tuple(_sections(items, request)),
        scope=scope,
        proposed=tuple(_described(_drafts(gathered, request), request, settings.budget // 4)),
        remarks=(*remarks, *_unknown_domain(gathered, request)),
        nearest=_nearest_project(workspace, request.project) if scope.state is ScopeState.UNCERTAIN else None,
        basis=basis,
    )


def _nearest_project(workspace: Workspace, asked: str | None) -> str | None:
    known = [wing.project_id or name for name, wing in workspace.catalog.wings.items() if not wing.is_shared]
    return next(iter(get_close_matches(asked or "", known, n=1)), None)


def _unknown_domain(gathered: Sequence[MemoryCandidates], request: ContextRequest) -> Iterator[str]:
    if request.domain is not None and not any(part.domain_is_known for part in gathered):
        yield f"no entry belongs to the domain `{visible(request.domain)}`, so it narrowed nothing"


def _own_memory(workspace: Workspace) -> tuple[list[Memory], tuple[str, ...]]:
    """Return the caller's own memory where there is one; history has none, and a fault of it is only remarked."""
    if not workspace.snapshot.is_working_tree:
        return [], ()
    try:
        own = find_own_memory(workspace)
        if own is None:
            return [], ()
        reading = reading_of(own)
        scope = resolve_scope(own.catalog, reading.settings, Filters(wings=(WING,)))
    except (MdmemError, OSError) as error:
        return [], (f"your own memory cannot be read: {error}",)
    return [Memory(reading=reading, scope=scope, is_private=True)], ()


def _basis(gathered: Sequence[MemoryCandidates], choice: Choice, items: Sequence[ContextItem]) -> AnswerBasis:
    """Return what the pack says of itself: of the team's memory, but for what the caller's own cannot say or lacks."""
    bases = [part.retrieval.basis for part in gathered]
    return replace(
        bases[0],
        problems=_problems(gathered),
        conflicts=bases[0].contradictions_of({item.id for item in items}),
        omitted=tuple(_omitted(choice)),
        omitted_counts=_omitted_counts(choice, bases),
        coverage=next((one for one in Coverage if any(basis.coverage is one for basis in bases)), Coverage.NONE),
        unmatched_terms=_unmatched(gathered),
        degraded=any(one.degraded for one in bases),
        why_degraded=next((one.why_degraded for one in bases if one.degraded), None),
    )


def _described(chosen: Sequence[Candidate], request: ContextRequest, budget: int) -> list[ContextItem]:
    """Return the items of candidates, whose files are read now and never before."""
    reach = REACHES[request.layer]
    room = Room(tokens=int(budget * reach.length), longest=reach.longest, terms=frozenset(ask(request.query).terms))
    read = dict(_read(chosen))
    bodies = {key: body for key, (body, _) in read.items()}
    describers = {
        is_private: Describer(catalog, request.related_size, is_private=is_private, is_brief=reach.gists)
        for is_private, catalog in _catalogs(chosen).items()
    }
    contents = gists_of(chosen, bodies) if reach.gists else contents_of(chosen, bodies, room)
    items = [
        describers[one.is_private].item(one, content, body=bodies[one.key], stated=read[one.key][1])
        for one, content in zip(chosen, contents, strict=True)
    ]
    return with_links_within(room, items)


def _catalogs(chosen: Sequence[Candidate]) -> dict[bool, Catalog]:
    """Return the entries that some candidates are of: the team's, and the caller's own."""
    return {one.is_private: one.catalog for one in chosen}


def _read(chosen: Sequence[Candidate]) -> Iterator[tuple[Key, tuple[str, object]]]:
    """Yield the body and the metadata of each candidate."""
    for is_private, catalog in _catalogs(chosen).items():
        addresses = [one.item.entry.address for one in chosen if one.is_private is is_private]
        for address, document in catalog.documents(addresses, keep=False):
            if document.fields is None:
                raise GoneError(f"{document.path} went away while it was read; ask again")
            yield (is_private, address), (catalog.shown_body(document), document.fields.get(METADATA))


def _sections(items: Sequence[ContextItem], request: ContextRequest) -> Iterator[PackSection]:
    for facet in facets_for(request.intent, request.layer):
        own = tuple(item for item in items if item.facet is facet)
        if own:
            yield PackSection(facet, TITLES[facet], own)


def _drafts(gathered: Sequence[MemoryCandidates], request: ContextRequest) -> list[Candidate]:
    """Return the drafts that match, the team's first; a goal of stop words alone matches nothing."""
    found = [
        Candidate(
            catalog=part.memory.proposing,
            item=item,
            facet=facet_of(item.entry),
            is_private=part.memory.is_private,
            is_far=is_far(part.memory.scope, item),
        )
        for part in gathered
        for item in map(part.retrieval.describe_proposed, part.retrieval.proposed)
    ]
    return sorted(found, key=lambda one: one.fitness)[:PROPOSED] if request.query else []


def _problems(gathered: Sequence[MemoryCandidates]) -> tuple[Finding, ...]:
    """Return what cannot be read, of the caller's own memory under a path that says so."""
    found = []
    for part in gathered:
        for problem in part.retrieval.basis.problems:
            path = f"private:{problem.place.path}" if part.memory.is_private else problem.place.path
            found.append(replace(problem, place=replace(problem.place, path=path)))
    return tuple(found)


def _omitted(choice: Choice) -> Iterator[Omission]:
    for one, why in choice.left_out[:_OMITTED]:
        entry = one.item.entry
        yield Omission(id_of(entry.address, is_private=one.is_private), entry.type.value, why)


def _omitted_counts(choice: Choice, bases: Sequence[AnswerBasis]) -> tuple[OmittedCount, ...]:
    """Return how many of each type are left out for each reason, by authority."""
    reasons = Counter((one.item.entry.type, why) for one, why in choice.left_out)
    reasons.update((EntryType(one.type), one.why.split(" by ")[0]) for basis in bases for one in basis.omitted)
    for one in (count for basis in bases for count in basis.omitted_counts):
        reasons[EntryType(one.type), one.why] += one.count
    ordered = sorted(reasons.items(), key=lambda pair: (pair[0][0].rank, pair[0][1]))
    return tuple(OmittedCount(kind.value, why, count) for (kind, why), count in ordered)


def _unmatched(gathered: Sequence[MemoryCandidates]) -> tuple[str, ...]:
    """Return the words that no memory holds."""
    first, *others = [part.retrieval.basis.unmatched_terms for part in gathered if part.memory.scope.wings] or [()]
    return tuple(word for word in first if all(word in other for other in others))
