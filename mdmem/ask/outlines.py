"""Define the request for a synthesis plan (the plan of a text), and choose the sections of the text."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.facets import Facet

_MOST_SECTIONS, _MOST_WORDS = 20, 48


class OutputType(StrEnum):
    """The kind of text to write."""

    DOCUMENTATION = "documentation"
    REPORT = "report"
    BRIEFING = "briefing"
    ROADMAP = "roadmap"
    RELEASE_NOTES = "release_notes"
    AUDIT_PACKET = "audit_packet"
    CUSTOM = "custom"


class Depth(StrEnum):
    """How detailed the text is."""

    BRIEF = "brief"
    STANDARD = "standard"
    DEEP = "deep"


class SynthesisRequest(Struct, frozen=True, kw_only=True):
    """A request for the outline of a text.

    The outline must cite the entries in `entity_ids` and `decision_ids`. Each of the `required_sections` is a
    title, or `Title::prompt`.
    """

    goal: str
    output_type: OutputType = OutputType.DOCUMENTATION
    audience: str | None = None
    depth: Depth = Depth.STANDARD
    seed_query: str | None = None
    project: str | None = None
    domain: str | None = None
    entity_ids: tuple[str, ...] = ()
    decision_ids: tuple[str, ...] = ()
    required_sections: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    max_sections: int = 6
    include_neighborhoods: bool = True

    @property
    def query(self) -> str:
        """Return the words to search for: those of `seed_query` or else of the goal, then those of the domain."""
        words = f"{self.seed_query or self.goal} {self.domain or ''}".split()
        return " ".join(list(dict.fromkeys(words))[:_MOST_WORDS])


class Heading(Struct, frozen=True):
    """A section of a text: the title, the prompt for the writer, and where the sources come from.

    The sources are matching entries of the `facets`; without facets, they are found by the `words`. `is_newest_first`
    sorts the sources by age instead of score.
    """

    title: str
    prompt: str
    depth: Depth = Depth.BRIEF
    facets: tuple[Facet, ...] = ()
    is_newest_first: bool = False
    is_required: bool = False
    words: str = ""


def _of(title: str, prompt: str, depth: Depth, *facets: Facet, newest: bool = False) -> Heading:
    return Heading(title, prompt, depth, facets, is_newest_first=newest)


_BRIEF, _STANDARD, _DEEP = Depth
_WORK = (Facet.RECENT_MEMORY, Facet.ACTIVE_WORK)
_OUTLINES: dict[OutputType, tuple[Heading, ...]] = {
    OutputType.DOCUMENTATION: (
        _of("Overview", "What it is, and what it is for", _BRIEF, Facet.DOMAIN, Facet.ARTIFACTS, Facet.DECISIONS),
        _of("Rules", "What must not be violated, and why", _BRIEF, Facet.CONSTRAINTS),
        _of("Design", "Which decisions are current, and why", _BRIEF, Facet.DECISIONS),
        _of("How to", "How recurring problems are solved", _STANDARD, Facet.PROCEDURES),
        _of("Pitfalls", "What went wrong before, and how to see it", _STANDARD, Facet.GOTCHAS),
        _of("Verification", "How to tell that it works", _DEEP, Facet.VERIFICATION),
        _of("Open work", "What is not finished", _DEEP, Facet.ACTIVE_WORK, Facet.PLANNING, Facet.IDEATION),
        _of("History", "How it came to be so", _DEEP, Facet.RECENT_MEMORY, Facet.DECISIONS, newest=True),
    ),
    OutputType.REPORT: (
        _of("Summary", "What was found, in a paragraph", _BRIEF, Facet.DECISIONS, Facet.DOMAIN, Facet.ACTIVE_WORK),
        _of("Findings", "What is known, with evidence", _BRIEF, Facet.DOMAIN, Facet.GOTCHAS, Facet.ARTIFACTS),
        _of("Decisions", "What was decided, and why", _BRIEF, Facet.DECISIONS),
        _of("Constraints", "What limits the choice", _STANDARD, Facet.CONSTRAINTS),
        _of("Risks", "What may go wrong", _STANDARD, Facet.GOTCHAS, Facet.VERIFICATION),
        _of("Next steps", "What follows from it", _DEEP, Facet.ACTIVE_WORK, Facet.PLANNING),
        _of("Background", "What led here", _DEEP, Facet.RECENT_MEMORY, Facet.DOMAIN, newest=True),
    ),
    OutputType.BRIEFING: (
        _of("Where we stand", "What is going on right now", _BRIEF, Facet.ACTIVE_WORK, Facet.RECENT_MEMORY),
        _of("What applies", "The rules and decisions to follow", _BRIEF, Facet.CONSTRAINTS, Facet.DECISIONS),
        _of("What to watch", "What went wrong before", _STANDARD, Facet.GOTCHAS),
        _of("What comes next", "What is planned", _STANDARD, Facet.PLANNING, Facet.ACTIVE_WORK),
        _of("How we work", "Procedures that apply", _DEEP, Facet.PROCEDURES, Facet.VERIFICATION),
    ),
    OutputType.ROADMAP: (
        _of("Goal", "Where it is to go, and why", _BRIEF, Facet.PLANNING, Facet.DECISIONS, Facet.DOMAIN),
        _of("In progress", "What is being worked on", _BRIEF, Facet.ACTIVE_WORK),
        _of("Planned", "What comes after, in order", _BRIEF, Facet.PLANNING),
        _of("Boundaries", "What limits the plan", _STANDARD, Facet.CONSTRAINTS, Facet.DECISIONS),
        _of("Risks", "What may hold it up", _STANDARD, Facet.GOTCHAS),
        _of("Ideas", "What is not decided yet", _DEEP, Facet.IDEATION),
        _of("Done lately", "What was finished", _DEEP, Facet.RECENT_MEMORY, newest=True),
    ),
    OutputType.RELEASE_NOTES: (
        _of("What changed", "What is new or decided otherwise, the latest first", _BRIEF, Facet.DECISIONS, newest=True),
        _of("What to do", "What users have to change", _BRIEF, Facet.PLANNING, Facet.PROCEDURES),
        _of("New rules", "Which rules apply from now on", _STANDARD, Facet.CONSTRAINTS, newest=True),
        _of("Known issues", "What does not work yet", _STANDARD, Facet.GOTCHAS),
        _of("Work behind it", "Which sessions led to it", _DEEP, Facet.RECENT_MEMORY, Facet.ACTIVE_WORK, newest=True),
    ),
    OutputType.AUDIT_PACKET: (
        _of("Current rules", "What must not be violated", _BRIEF, Facet.CONSTRAINTS),
        _of("Current decisions", "What was decided, when and by whom", _BRIEF, Facet.DECISIONS, newest=True),
        _of("Controls", "How it is verified", _BRIEF, Facet.VERIFICATION, Facet.PROCEDURES),
        _of("Incidents", "What went wrong, and what followed", _STANDARD, Facet.GOTCHAS, newest=True),
        _of("Record of work", "What was done, and by whom", _STANDARD, *_WORK, newest=True),
        _of("Artifacts", "What exists to be inspected", _DEEP, Facet.ARTIFACTS, Facet.DOMAIN),
        _of("Open points", "What is not settled", _DEEP, Facet.PLANNING, Facet.IDEATION),
    ),
    OutputType.CUSTOM: (
        _of("Summary", "The matter in a paragraph", _BRIEF, Facet.DECISIONS, Facet.DOMAIN),
        _of("What is known", "Facts, rules and procedures", _BRIEF, Facet.CONSTRAINTS, Facet.PROCEDURES),
        _of("What is open", "What is not settled", _STANDARD, Facet.ACTIVE_WORK, Facet.PLANNING, Facet.IDEATION),
    ),
}


def headings_for(request: SynthesisRequest) -> tuple[tuple[Heading, ...], tuple[str, ...]]:
    """Return the sections of a plan in order, and the titles of the sections over the limit.

    Required sections are included at any depth. A required section with the title of a default section takes its place.
    A custom text with required sections has only these.
    """
    required = {}
    for text in request.required_sections:
        title, _, prompt = (part.strip() for part in text.partition("::"))
        # A prompt without a title becomes the title.
        title, prompt = (title, prompt) if title else (prompt, "")
        required[title.casefold()] = (title, prompt)
    outline = () if request.output_type is OutputType.CUSTOM and required else _OUTLINES[request.output_type]
    depths = list(Depth)[: list(Depth).index(request.depth) + 1]
    own = []
    for heading in outline:
        if (key := heading.title.casefold()) in required:
            own.append(replace(heading, prompt=required.pop(key)[1] or heading.prompt, is_required=True))
        elif heading.depth in depths:
            own.append(heading)
    for title, prompt in required.values():
        about = prompt or f"What the memory says about {title}"
        own.append(Heading(title, about, is_required=True, words=f"{title} {prompt}"))
    best = sorted(own, key=lambda one: not one.is_required)[: min(max(request.max_sections, 1), _MOST_SECTIONS)]
    return tuple(one for one in own if one in best), tuple(one.title for one in own if one not in best)
