"""A goal and the memories it is asked of to a context pack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from mdmem.context.choose import Choice, choose_items
from mdmem.context.describe import METADATA, Describer, Room, contents_of, id_of
from mdmem.context.facets import TITLES, facet_of
from mdmem.context.gather import Candidate, Gathered, Memory, gather
from mdmem.context.model import Item, LeftOut, PackSection
from mdmem.context.pack import ContextPack
from mdmem.context.request import ContextRequest
from mdmem.context.shape import REACHES, facets_for
from mdmem.entry.model import EntryType
from mdmem.errors import GoneError
from mdmem.finding import Finding
from mdmem.index.analysis import ask
from mdmem.retrieval.question import Omission, Retrieved

PROPOSED = 5
_OMITTED = 12

Key = tuple[bool, str]


def compile_pack(
    asked: ContextRequest, memories: Sequence[Memory], *, today: date, budget: int, remarks: Sequence[str] = ()
) -> ContextPack:
    """Return the pack; the first memory is the team's, and what is asked of scope and source is answered of it.

    `budget` is in tokens for the contents at the layer `recall`. Raises GoneError where a file goes away meanwhile.
    """
    gathered = [gather(memory, asked, today=today) for memory in memories]
    candidates = [one for part in gathered for one in part.candidates]
    choice = choose_items(candidates, asked, narrows=any(part.domain_is_known for part in gathered))
    drafts = _drafts(gathered, asked)
    items = _described(sorted(choice.chosen, key=lambda one: one.authority), asked, budget)
    found = gathered[0].found
    given = {item.id for item in items}
    return ContextPack(
        goal=asked.goal,
        intent=asked.intent,
        query=asked.query,
        domain=asked.domain,
        project=asked.project,
        layer=asked.layer,
        sections=tuple(_sections(items, asked)),
        scope=found.scope,
        problems=_problems(gathered),
        proposed=tuple(_described(drafts, asked, budget // 4)),
        conflicts=tuple(one for one in found.conflicts if one.a in given or one.b in given),
        omitted=tuple(_omitted(choice)),
        left_out=_left_out(choice, gathered),
        covered=any(part.found.covered for part in gathered),
        unmatched_terms=_unmatched(gathered),
        degraded=any(part.found.degraded for part in gathered),
        why_degraded=next((part.found.why_degraded for part in gathered if part.found.degraded), None),
        source=found.source,
        remarks=tuple(remarks),
    )


def _described(chosen: Sequence[Candidate], asked: ContextRequest, budget: int) -> list[Item]:
    """Return the items of candidates, whose files are read now and never before."""
    reach = REACHES[asked.layer]
    terms = frozenset(ask(asked.query).terms) if reach.quotes else frozenset()
    room = Room(tokens=int(budget * reach.length), longest=reach.longest, terms=terms)
    read = {key: found for memory in _memories(chosen) for key, found in _read(memory, chosen)}
    bodies = {key: body for key, (body, _) in read.items()}
    describers = {memory.is_private: _describer(memory, asked) for memory in _memories(chosen)}
    contents = contents_of(chosen, bodies, room)
    return [
        describers[one.memory.is_private].item(one, content, body=bodies[one.key], stated=read[one.key][1])
        for one, content in zip(chosen, contents, strict=True)
    ]


def _describer(memory: Memory, asked: ContextRequest) -> Describer:
    return Describer(memory.catalog, asked.related_size, is_private=memory.is_private)


def _memories(chosen: Sequence[Candidate]) -> list[Memory]:
    return list({one.memory.is_private: one.memory for one in chosen}.values())


def _read(memory: Memory, chosen: Sequence[Candidate]) -> Iterator[tuple[Key, tuple[str, object]]]:
    """Yield the body and the metadata of each candidate of a memory."""
    addresses = [one.item.entry.address for one in chosen if one.memory.is_private is memory.is_private]
    for address, document in memory.catalog.documents(addresses, keep=False):
        if document.fields is None:
            raise GoneError(f"{document.path} went away while it was read; ask again")
        stated = document.fields.get(METADATA)
        yield (memory.is_private, address), (memory.catalog.shown_body(document), stated)


def _sections(items: Sequence[Item], asked: ContextRequest) -> Iterator[PackSection]:
    for facet in facets_for(asked.intent, asked.layer):
        own = tuple(item for item in items if item.facet is facet)
        if own:
            yield PackSection(facet, TITLES[facet], own)


def _drafts(gathered: Sequence[Gathered], asked: ContextRequest) -> list[Candidate]:
    """Return the drafts that match, the team's first; a goal of stop words alone matches nothing."""
    found = [_proposed(part.memory.files or part.memory, item) for part in gathered for item in part.found.proposed]
    return sorted(found, key=lambda one: one.fitness)[:PROPOSED] if asked.query else []


def _proposed(memory: Memory, item: Retrieved) -> Candidate:
    return Candidate(memory=memory, item=item, facet=facet_of(item.entry), is_unconditional=False)


def _problems(gathered: Sequence[Gathered]) -> tuple[Finding, ...]:
    """Return what cannot be read, of the caller's own memory under a path that says so."""
    found = []
    for part in gathered:
        for problem in part.found.problems:
            path = f"private:{problem.place.path}" if part.memory.is_private else problem.place.path
            found.append(replace(problem, place=replace(problem.place, path=path)))
    return tuple(found)


def _omitted(choice: Choice) -> Iterator[Omission]:
    for one, why in choice.left_out[:_OMITTED]:
        entry = one.item.entry
        yield Omission(id_of(entry.address, is_private=one.memory.is_private), entry.type.value, why)


def _left_out(choice: Choice, gathered: Sequence[Gathered]) -> tuple[LeftOut, ...]:
    reasons = Counter((one.item.entry.type, why) for one, why in choice.left_out)
    for part in gathered:
        reasons.update((EntryType(one.type), one.why.split(" by ")[0]) for one in part.found.omitted)
    ordered = sorted(reasons.items(), key=lambda pair: (pair[0][0].rank, pair[0][1]))
    return tuple(LeftOut(type=kind.value, why=why, count=count) for (kind, why), count in ordered)


def _unmatched(gathered: Sequence[Gathered]) -> tuple[str, ...]:
    """Return the words that no memory holds."""
    first, *others = [part.found.unmatched_terms for part in gathered if part.memory.scope.wings] or [()]
    return tuple(word for word in first if all(word in other for other in others))
