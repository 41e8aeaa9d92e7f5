"""Which candidates come: by facet in turn, the best of each first, within the limit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mdmem.context.facets import Facet
from mdmem.context.gather import Candidate
from mdmem.context.request import ContextRequest
from mdmem.context.shape import REACHES, FacetReach, facets_for, weight_of
from mdmem.entry.model import EntryType


@dataclass(slots=True)
class Choice:
    """What comes, and why each other candidate does not, the best fitting first."""

    chosen: list[Candidate] = field(default_factory=list)
    left_out: list[tuple[Candidate, str]] = field(default_factory=list)


def choose_items(candidates: Iterable[Candidate], request: ContextRequest, *, narrows: bool) -> Choice:
    """Return which candidates come; `narrows` says that the domain is one of the memory's own.

    Unconditional invariants come whatever the limit, and are not counted; proposals take no room from what binds.
    """
    reach, facets = REACHES[request.layer], facets_for(request.intent, request.layer)
    everything = list(candidates)
    choice = Choice([one for one in everything if one.is_unconditional])
    rest = sorted((one for one in everything if not one.is_unconditional), key=lambda one: one.fitness)
    best = max((one.item.score for one in everything), default=0.0)
    queues: dict[Facet, list[Candidate]] = {facet: [] for facet in facets}
    for one in rest:
        why = _why_not(one, request, reach, best=best, narrows=narrows)
        if why:
            choice.left_out.append((one, why))
        elif one.facet not in queues:
            choice.left_out.append((one, f"{one.facet} is not part of the intent `{request.intent}` at this layer"))
        else:
            queues[one.facet].append(one)
    size = math.ceil(request.size * reach.share)
    taken = _in_turn([[one for one in queues[facet] if not one.waits] for facet in facets], size)
    taken += _in_turn([[one for one in queues[facet] if one.waits] for facet in facets], size - len(taken))
    choice.chosen += taken
    kept = {one.key for one in taken}
    waiting = sorted((one for queue in queues.values() for one in queue), key=lambda one: one.fitness)
    choice.left_out = [(one, "over the limit") for one in waiting if one.key not in kept] + choice.left_out
    return choice


def _why_not(one: Candidate, request: ContextRequest, reach: FacetReach, *, best: float, narrows: bool) -> str:
    if one.unasked or one.in_domain:
        return ""
    # What covers the goal stays: it is what the answer `covered` means.
    is_answer = one.item.matches and one.item.entry.type.rank <= EntryType.DECISION.rank
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
