"""A question for a text, and a memory, to its plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from mdmem.catalog import Catalog
from mdmem.catalog.links import Neighbourhood
from mdmem.entry.model import Entry
from mdmem.entry.text import summary_of
from mdmem.finding import Finding
from mdmem.synthesis.answer import SynthesisPlan
from mdmem.synthesis.model import Gap, PlannedSection, Source, SourceLink
from mdmem.synthesis.outlines import Heading, headings_for
from mdmem.synthesis.request import Depth, SynthesisRequest
from mdmem.synthesis.sources import NEEDED, SIZES, Asker, SectionSources, SourceChoice, gaps_of
from mdmem.workspace.scope import Scope

_PREVIEWS = {Depth.BRIEF: 160, Depth.STANDARD: 280, Depth.DEEP: 480}
_NEIGHBOURS = 3

# Says how fresh an entry is, in the words of the contract.
Freshness = Callable[[Entry], str]


def plan_synthesis(
    asked: SynthesisRequest,
    catalog: Catalog,
    scope: Scope,
    *,
    asker: Asker,
    freshness: Freshness,
    today: date,
    faults: Sequence[Finding] = (),
) -> SynthesisPlan:
    """Return the plan; raises GoneError where a file goes away meanwhile."""
    grounding = SectionSources(catalog, scope, asker, today, is_wide=asked.include_neighborhoods)
    about = grounding.found(asked.query)
    forced, gaps = grounding.forced(asked.forced)
    headings, left_out = headings_for(asked)
    placed = _placed(grounding, forced, headings)
    describe = _Describer(catalog, asked, freshness)
    sections = []
    for number, heading in enumerate(headings):
        chosen, found = grounding.sources(heading, about, placed.get(number, ()), size=SIZES[asked.depth])
        lacking = tuple(gaps_of(heading, chosen, found, needed=NEEDED[asked.depth]))
        sources = tuple(map(describe.source, chosen))
        sections.append(_section(heading, sources, lacking))
    given = {source.id for section in sections for source in section.sources}
    return SynthesisPlan(
        asked=asked,
        scope=scope,
        sections=tuple(sections),
        left_out_sections=left_out,
        gaps=tuple(gaps),
        binding=tuple(item.entry.address for item in about.items if grounding.is_binding(item.entry)),
        drafts=tuple(item.entry.address for item in about.proposed)[: SIZES[Depth.STANDARD]],
        conflicts=tuple(one for one in about.conflicts if one.a in given or one.b in given),
        problems=(*faults, *about.problems),
        degraded=about.degraded,
        why_degraded=about.why_degraded,
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


def _section(heading: Heading, sources: tuple[Source, ...], gaps: tuple[Gap, ...]) -> PlannedSection:
    return PlannedSection(
        title=heading.title, prompt=heading.prompt, is_required=heading.is_required, sources=sources, gaps=gaps
    )


class _Describer:
    """Describes chosen entries as sources; each body is read once."""

    def __init__(self, catalog: Catalog, asked: SynthesisRequest, freshness: Freshness) -> None:
        self._catalog, self._asked, self._freshness = catalog, asked, freshness
        self._neighbourhood = Neighbourhood(catalog)

    def source(self, chosen: SourceChoice) -> Source:
        """Return the source of an entry."""
        item, entry = chosen.item, chosen.item.entry
        body = self._catalog.body(entry.address)
        return Source(
            id=entry.address,
            type=entry.type.value,
            name=entry.title,
            preview=_cut(summary_of(entry, body), _PREVIEWS[self._asked.depth]),
            score=item.score,
            freshness=self._freshness(entry),
            status=item.status.value,
            scope=item.tier.value,
            reason=item.reason,
            is_forced=chosen.is_forced,
            neighborhood=tuple(self._links(entry, body)) if self._asked.include_neighborhoods else (),
        )

    def _links(self, entry: Entry, body: str) -> list[SourceLink]:
        near = {one.entry.address: one for one in reversed(self._neighbourhood.of(entry.address, body=body))}
        ordered = list(reversed(near.values()))[:_NEIGHBOURS]
        return [
            SourceLink(
                id=one.entry.address,
                name=one.entry.title,
                relationship=one.relationship,
                direction=one.direction.value,
            )
            for one in ordered
        ]


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    cut = text[: width - 1]
    return (cut[: cut.rfind(" ")] if " " in cut else cut).rstrip(" ,;:") + "…"
