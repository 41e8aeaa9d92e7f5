"""Define the default sections of each kind of text, and choose those of a plan."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.context.facets import Facet
from mdmem.ask.synthesis.request import Depth, OutputType, SectionRequest, SynthesisRequest


class Heading(Struct, frozen=True, kw_only=True):
    """A section before it has sources: its subject, and the facets of its sources.

    Without facets, its sources are what its own `words` find. `is_newest_first` orders them by age, not by score.
    """

    title: str
    prompt: str
    facets: tuple[Facet, ...] = ()
    depth: Depth = Depth.BRIEF
    is_newest_first: bool = False
    is_required: bool = False
    words: str = ""


_BRIEF, _STANDARD, _DEEP = Depth


def _heading(title: str, prompt: str, depth: Depth, *facets: Facet) -> Heading:
    return Heading(title=title, prompt=prompt, depth=depth, facets=facets)


def _newest(title: str, prompt: str, depth: Depth, *facets: Facet) -> Heading:
    return Heading(title=title, prompt=prompt, depth=depth, facets=facets, is_newest_first=True)


_OUTLINES: dict[OutputType, tuple[Heading, ...]] = {
    OutputType.DOCUMENTATION: (
        _heading("Overview", "What it is, and what it is for", _BRIEF, Facet.DOMAIN, Facet.ARTIFACTS, Facet.DECISIONS),
        _heading("Rules", "What must not be violated, and why", _BRIEF, Facet.CONSTRAINTS),
        _heading("Design", "Which decisions are current, and why", _BRIEF, Facet.DECISIONS),
        _heading("How to", "How recurring problems are solved", _STANDARD, Facet.PROCEDURES),
        _heading("Pitfalls", "What went wrong before, and how to see it", _STANDARD, Facet.GOTCHAS),
        _heading("Verification", "How to tell that it works", _DEEP, Facet.VERIFICATION),
        _heading("Open work", "What is not finished", _DEEP, Facet.ACTIVE_WORK, Facet.PLANNING, Facet.IDEATION),
        _newest("History", "How it came to be so", _DEEP, Facet.RECENT_MEMORY, Facet.DECISIONS),
    ),
    OutputType.REPORT: (
        _heading("Summary", "What was found, in a paragraph", _BRIEF, Facet.DECISIONS, Facet.DOMAIN, Facet.ACTIVE_WORK),
        _heading("Findings", "What is known, with evidence", _BRIEF, Facet.DOMAIN, Facet.GOTCHAS, Facet.ARTIFACTS),
        _heading("Decisions", "What was decided, and why", _BRIEF, Facet.DECISIONS),
        _heading("Constraints", "What limits the choice", _STANDARD, Facet.CONSTRAINTS),
        _heading("Risks", "What may go wrong", _STANDARD, Facet.GOTCHAS, Facet.VERIFICATION),
        _heading("Next steps", "What follows from it", _DEEP, Facet.ACTIVE_WORK, Facet.PLANNING),
        _newest("Background", "What led here", _DEEP, Facet.RECENT_MEMORY, Facet.DOMAIN),
    ),
    OutputType.BRIEFING: (
        _heading("Where we stand", "What is going on right now", _BRIEF, Facet.ACTIVE_WORK, Facet.RECENT_MEMORY),
        _heading("What applies", "The rules and decisions to follow", _BRIEF, Facet.CONSTRAINTS, Facet.DECISIONS),
        _heading("What to watch", "What went wrong before", _STANDARD, Facet.GOTCHAS),
        _heading("What comes next", "What is planned", _STANDARD, Facet.PLANNING, Facet.ACTIVE_WORK),
        _heading("How we work", "Procedures that apply", _DEEP, Facet.PROCEDURES, Facet.VERIFICATION),
    ),
    OutputType.ROADMAP: (
        _heading("Goal", "Where it is to go, and why", _BRIEF, Facet.PLANNING, Facet.DECISIONS, Facet.DOMAIN),
        _heading("In progress", "What is being worked on", _BRIEF, Facet.ACTIVE_WORK),
        _heading("Planned", "What comes after, in order", _BRIEF, Facet.PLANNING),
        _heading("Boundaries", "What limits the plan", _STANDARD, Facet.CONSTRAINTS, Facet.DECISIONS),
        _heading("Risks", "What may hold it up", _STANDARD, Facet.GOTCHAS),
        _heading("Ideas", "What is not decided yet", _DEEP, Facet.IDEATION),
        _newest("Done lately", "What was finished", _DEEP, Facet.RECENT_MEMORY),
    ),
    OutputType.RELEASE_NOTES: (
        _newest("What changed", "What is new or decided otherwise, the latest first", _BRIEF, Facet.DECISIONS),
        _heading("What to do", "What users have to change", _BRIEF, Facet.PLANNING, Facet.PROCEDURES),
        _newest("New rules", "Which rules apply from now on", _STANDARD, Facet.CONSTRAINTS),
        _heading("Known issues", "What does not work yet", _STANDARD, Facet.GOTCHAS),
        _newest("Work behind it", "Which sessions led to it", _DEEP, Facet.RECENT_MEMORY, Facet.ACTIVE_WORK),
    ),
    OutputType.AUDIT_PACKET: (
        _heading("Current rules", "What must not be violated", _BRIEF, Facet.CONSTRAINTS),
        _newest("Current decisions", "What was decided, when and by whom", _BRIEF, Facet.DECISIONS),
        _heading("Controls", "How it is verified", _BRIEF, Facet.VERIFICATION, Facet.PROCEDURES),
        _newest("Incidents", "What went wrong, and what followed", _STANDARD, Facet.GOTCHAS),
        _newest("Record of work", "What was done, and by whom", _STANDARD, Facet.RECENT_MEMORY, Facet.ACTIVE_WORK),
        _heading("Artifacts", "What exists to be inspected", _DEEP, Facet.ARTIFACTS, Facet.DOMAIN),
        _heading("Open points", "What is not settled", _DEEP, Facet.PLANNING, Facet.IDEATION),
    ),
    OutputType.CUSTOM: (
        _heading("Summary", "The matter in a paragraph", _BRIEF, Facet.DECISIONS, Facet.DOMAIN),
        _heading("What is known", "Facts, rules and procedures", _BRIEF, Facet.CONSTRAINTS, Facet.PROCEDURES),
        _heading("What is open", "What is not settled", _STANDARD, Facet.ACTIVE_WORK, Facet.PLANNING, Facet.IDEATION),
    ),
}
_RANKS = {depth: rank for rank, depth in enumerate(Depth)}


def headings_for(request: SynthesisRequest) -> tuple[tuple[Heading, ...], tuple[str, ...]]:
    """Return the sections of a plan in their order, and the titles of those over the limit.

    Required sections are included at any depth, those of the outline in their own place. A custom text with required
    sections has no others.
    """
    wanted = {one.title.casefold(): one for one in request.required_sections}
    outline = () if request.output_type is OutputType.CUSTOM and wanted else _OUTLINES[request.output_type]
    own = [_required(heading, wanted.get(heading.title.casefold())) for heading in outline]
    own = [one for one in own if one.is_required or _RANKS[one.depth] <= _RANKS[request.depth]]
    known = {one.title.casefold() for one in own}
    own += [
        Heading(
            title=one.title,
            prompt=one.prompt or f"What the memory says about {one.title}",
            is_required=True,
            words=f"{one.title} {one.prompt}",
        )
        for key, one in wanted.items()
        if key not in known
    ]
    kept = sorted(range(len(own)), key=lambda number: (not own[number].is_required, number))[: request.size]
    taken = tuple(own[number] for number in sorted(kept))
    return taken, tuple(one.title for number, one in enumerate(own) if number not in kept)


def _required(heading: Heading, wanted: SectionRequest | None) -> Heading:
    if wanted is None:
        return heading
    return replace(heading, prompt=wanted.prompt or heading.prompt, is_required=True)
