"""Plan a text: sections with their sources and gaps, and a verdict on the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import AnswerBasis
from mdmem.ask.excerpt import summary_of
from mdmem.ask.retrieve import Reading, read_steadily
from mdmem.ask.surface import freshness_on
from mdmem.ask.synthesis.outlines import Heading, headings_for
from mdmem.ask.synthesis.request import Depth, SynthesisRequest
from mdmem.ask.synthesis.sources import (
    NEEDED,
    SIZES,
    Gap,
    SectionSources,
    Source,
    SourceChoice,
    SourceLink,
    gaps_of,
    is_doubtful,
)
from mdmem.model.entry import Entry
from mdmem.store.catalog.links import neighbours
from mdmem.store.workspace.scope import Scope
from mdmem.store.workspace.visibility import project_scope
from mdmem.store.workspace.workspace import Workspace

_PREVIEWS = {Depth.BRIEF: 160, Depth.STANDARD: 280, Depth.DEEP: 480}
_NEIGHBOURS = 3


class GroundingVerdict(StrEnum):
    """The verdict on a plan: a source is to be confirmed first, something is missing, or neither."""

    PENDING = "pending"
    GAPS = "gaps"
    PASS = "pass"


class PlannedSection(Struct, frozen=True, kw_only=True):
    """One section of the outline with its source pack."""

    title: str
    prompt: str
    is_required: bool
    sources: tuple[Source, ...]
    gaps: tuple[Gap, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the section as JSON values."""
        return {
            "title": self.title,
            "prompt": self.prompt,
            "required": self.is_required,
            "sources": [source.as_json() for source in self.sources],
            "gaps": [gap.reason for gap in self.gaps],
        }


class SynthesisPlan(Struct, frozen=True, kw_only=True):
    """An outline with sources and gaps; no text is written for it, and the same question gives the same bytes.

    `binding` are the ids of all invariants that nothing leaves out, `drafts` those of matching drafts, which are no
    sources.
    """

    request: SynthesisRequest
    scope: Scope
    sections: tuple[PlannedSection, ...]
    left_out_sections: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    binding: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    basis: AnswerBasis

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return the sources of all sections, each once."""
        return tuple({source.id: source for section in self.sections for source in section.sources}.values())

    @property
    def all_gaps(self) -> tuple[Gap, ...]:
        """Return the gaps of the whole plan, then those of each section."""
        return (*self.gaps, *(gap for section in self.sections for gap in section.gaps))

    @property
    def verdict(self) -> GroundingVerdict:
        """Return gaps where anything is missing or cannot be read, pending where a source is to be confirmed first."""
        if self.all_gaps or self.basis.problems:
            return GroundingVerdict.GAPS
        is_pending = any(map(is_doubtful, self.sources)) or bool(self.basis.conflicts)
        return GroundingVerdict.PENDING if is_pending else GroundingVerdict.PASS


def plan_synthesis(workspace: Workspace, request: SynthesisRequest) -> SynthesisPlan:
    """Return the plan for a request.

    Raises AccessDeniedError for a project that the caller may not read.
    """
    return read_steadily(workspace, lambda reading: _plan(reading, request))


def _plan(reading: Reading, request: SynthesisRequest) -> SynthesisPlan:
    workspace = reading.workspace
    scope = project_scope(workspace, reading.settings, request.project)
    grounding = SectionSources(workspace, scope, is_wide=request.include_neighborhoods)
    about = grounding.retrieve(request.query)
    forced, gaps = grounding.forced(request.forced)
    headings, left_out = headings_for(request)
    placed = _placed(grounding, forced, headings)
    describe = _Describer(workspace, request)
    sections = []
    for number, heading in enumerate(headings):
        chosen, found = grounding.sources(heading, about, placed.get(number, ()), size=SIZES[request.depth])
        section = PlannedSection(
            title=heading.title,
            prompt=heading.prompt,
            is_required=heading.is_required,
            sources=tuple(map(describe.source, chosen)),
            gaps=tuple(gaps_of(heading, chosen, found, needed=NEEDED[request.depth])),
        )
        sections.append(section)
    given = {source.id for section in sections for source in section.sources}
    problems = (*reading.faults, *about.basis.problems)
    return SynthesisPlan(
        request=request,
        scope=scope,
        sections=tuple(sections),
        left_out_sections=left_out,
        gaps=tuple(gaps),
        binding=tuple(item.entry.address for item in about.items if grounding.scope.binds(item.entry)),
        drafts=tuple(item.entry.address for item in about.proposed)[: SIZES[Depth.STANDARD]],
        basis=replace(about.basis, problems=problems, conflicts=about.basis.contradictions_of(given)),
    )


def _placed(
    grounding: SectionSources, forced: Sequence[SourceChoice], headings: Sequence[Heading]
) -> Mapping[int, Sequence[SourceChoice]]:
    """Return the entries that were named by their section: one of their facet, else one of no facet, else the first."""
    found: dict[int, list[SourceChoice]] = {}
    for one in forced:
        facet = grounding.facet_of(one.item.entry)
        numbers = range(len(headings))
        fitting = [number for number in numbers if facet in headings[number].facets]
        fitting += [number for number in numbers if not headings[number].facets]
        found.setdefault(next(iter(fitting), 0), []).append(one)
    return found


class _Describer:
    """Describes chosen entries as sources; each body is read once."""

    def __init__(self, workspace: Workspace, request: SynthesisRequest) -> None:
        self._workspace, self._request = workspace, request

    def source(self, chosen: SourceChoice) -> Source:
        """Return the source of an entry."""
        item, entry = chosen.item, chosen.item.entry
        body = self._workspace.catalog.body(entry.address)
        return Source(
            id=entry.address,
            type=entry.type.value,
            name=entry.title,
            preview=_cut(summary_of(entry, body), _PREVIEWS[self._request.depth]),
            score=item.score,
            freshness=freshness_on(entry, self._workspace.today).value,
            status=item.status.value,
            scope=item.tier.value,
            reason=item.reason,
            is_forced=chosen.is_forced,
            neighborhood=tuple(self._links(entry, body)) if self._request.include_neighborhoods else (),
        )

    def _links(self, entry: Entry, body: str) -> list[SourceLink]:
        found = neighbours(self._workspace.catalog, entry.address, body=body)
        near = {one.entry.address: one for one in reversed(found)}
        ordered = list(reversed(near.values()))[:_NEIGHBOURS]
        return [
            SourceLink(
                id=one.entry.address,
                name=one.entry.title,
                relationship=one.relationship,
                direction=one.direction,
            )
            for one in ordered
        ]


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    cut = text[: width - 1]
    return (cut[: cut.rfind(" ")] if " " in cut else cut).rstrip(" ,;:") + "…"
