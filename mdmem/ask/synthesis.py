"""Plan a text: an outline with the sources and gaps of each section, and a verdict whether the text can be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.answer import Answer, Item, Question
from mdmem.ask.context import created, is_doubtful, links_json, query_of
from mdmem.ask.excerpt import summary_of
from mdmem.ask.facets import SESSION, Facet, facet_of
from mdmem.ask.retrieve import Reading, read_with_retry, retrieve_in
from mdmem.ask.select import Selection
from mdmem.errors import MdmemError
from mdmem.markdown.body import cut_at_word
from mdmem.model.entry import Entry, Status, freshness_on
from mdmem.model.text import visible
from mdmem.record import record_json
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.scope import Scope, project_scope
from mdmem.store.workspace.workspace import Workspace

_MAX_SECTIONS = 20


class OutputType(StrEnum):
    """The kind of text that a synthesis plans, such as a report or a roadmap."""

    DOCUMENTATION = "documentation"
    REPORT = "report"
    BRIEFING = "briefing"
    ROADMAP = "roadmap"
    RELEASE_NOTES = "release_notes"
    AUDIT_PACKET = "audit_packet"
    CUSTOM = "custom"


class Depth(StrEnum):
    """How detailed the planned text of a synthesis is."""

    BRIEF = "brief"
    STANDARD = "standard"
    DEEP = "deep"


class SynthesisRequest(Struct, frozen=True, kw_only=True):
    """A request for the outline of a text (a synthesis).

    The outline must cite the entries in `entity_ids` and `decision_ids`. Each of the `required_sections` is a title, or
    `Title::prompt`.
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
        return query_of(self.seed_query or self.goal, self.domain)


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
    ),
    OutputType.REPORT: (
        _of("Summary", "What was found, in a paragraph", _BRIEF, Facet.DECISIONS, Facet.DOMAIN, Facet.ACTIVE_WORK),
        _of("Findings", "What is known, with evidence", _BRIEF, Facet.DOMAIN, Facet.GOTCHAS, Facet.ARTIFACTS),
        _of("Decisions", "What was decided, and why", _BRIEF, Facet.DECISIONS),
        _of("Constraints", "What limits the choice", _STANDARD, Facet.CONSTRAINTS),
        _of("Risks", "What may go wrong", _STANDARD, Facet.GOTCHAS, Facet.VERIFICATION),
        _of("Next steps", "What follows from it", _DEEP, Facet.ACTIVE_WORK, Facet.PLANNING),
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
    ),
    OutputType.CUSTOM: (
        _of("Summary", "The matter in a paragraph", _BRIEF, Facet.DECISIONS, Facet.DOMAIN),
        _of("What is known", "Facts, rules and procedures", _BRIEF, Facet.CONSTRAINTS, Facet.PROCEDURES),
        _of("What is open", "What is not settled", _STANDARD, Facet.ACTIVE_WORK, Facet.PLANNING, Facet.IDEATION),
    ),
}

Plan = dict[str, Any]
"""A synthesis plan as JSON values in the contract's shape."""

# An entry below this share of the best score matches by chance.
_FLOOR = 0.3
# The most sources of a section, the number of current ones that it needs, and the characters of a preview.
_SIZES = {Depth.BRIEF: 3, Depth.STANDARD: 5, Depth.DEEP: 8}
_NEEDED = {Depth.BRIEF: 1, Depth.STANDARD: 2, Depth.DEEP: 3}
_PREVIEWS = {Depth.BRIEF: 160, Depth.STANDARD: 280, Depth.DEEP: 480}
_NEIGHBOURS, _DRAFTS = 3, 5


def plan_synthesis(workspace: Workspace, request: SynthesisRequest) -> Plan:
    """Return the plan for a request, without writing the text itself; the same request gives the same plan.

    Raises AccessDeniedError if the caller may not read the project.
    """
    return read_with_retry(workspace, lambda reading: _plan(reading, request))


def _plan(reading: Reading, request: SynthesisRequest) -> Plan:
    catalog, tracked = reading.workspace.catalog, reading.workspace.tracked_files
    scope = project_scope(catalog, reading.settings, request.project, tracked=tracked)
    planner = _Planner(reading.workspace, scope, request)
    about = retrieve_in(reading.workspace, scope, Question(words=request.query))
    named, missing = planner.find_named()
    headings, left_out = headings_for(request)
    # A requested entry is a source of the first section with its facet, or else of the first section.
    places = {}
    for item in named:
        facet = _facet_of(item.entry)
        places[item.address] = next((at for at, one in enumerate(headings) if facet in one.facets), 0)
    gaps: list[dict[str, Any]] = [{"section": None, "reason": reason} for reason in missing]
    sections: list[dict[str, Any]] = []
    for at, heading in enumerate(headings):
        found = about
        if not heading.facets:
            found = retrieve_in(reading.workspace, scope, Question(words=heading.words))
        chosen = planner.choose(heading, found, [item for item in named if places[item.address] == at])
        reasons = list(_gaps(heading, chosen, found, needed=_NEEDED[request.depth]))
        gaps += [{"section": heading.title, "reason": reason} for reason in reasons]
        section = {
            **record_json(heading, "title", "prompt", required="is_required"),
            "sources": [planner.source(item, is_forced=places.get(item.address) == at) for item in chosen],
            "gaps": reasons,
        }
        sections.append(section)
    sources = {source["id"]: source for section in sections for source in section["sources"]}
    conflicts, problems = about.basis.contradictions_of(sources), (*reading.faults, *about.basis.problems)
    basis = replace(about.basis, conflicts=conflicts, problems=problems)
    doubtful = sum(map(is_doubtful, sources.values()))
    return {
        **basis.as_json("problems"),
        **record_json(request, "goal", "output_type", "audience", "depth", "query", "project", "domain", "constraints"),
        "sections": sections,
        "gaps": gaps,
        "verification": {
            # "gaps" if something is missing or unreadable, "pending" if a source must be confirmed first.
            "status": "gaps" if gaps or problems else "pending" if doubtful or conflicts else "pass",
            "sections": len(sections),
            "grounded_sections": sum(not section["gaps"] for section in sections),
            "gaps": len(gaps),
            "sources": len(sources),
            "doubtful_sources": doubtful,
            "conflicts": len(conflicts),
            "problems": len(problems),
        },
        "binding": [item.address for item in about.items if scope.always_applies(item.entry)],
        "proposed": [item.address for item in about.proposed][:_DRAFTS],
        **basis.as_json("conflicts"),
        "left_out_sections": list(left_out),
        "scope": record_json(scope, "wing", "shared_wings", "state"),
        **basis.as_json("degraded"),
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
    best = sorted(own, key=lambda one: not one.is_required)[: min(max(request.max_sections, 1), _MAX_SECTIONS)]
    return tuple(one for one in own if one in best), tuple(one.title for one in own if one not in best)


def _facet_of(entry: Entry) -> Facet:
    """Return the facet of an entry; a session note with open work is active work, even if it is not the newest."""
    return facet_of(entry, newest=(entry.address,) if entry.label == SESSION else ())


class _Planner(Struct, frozen=True):
    """Chooses the sources of a text from one memory; `used` are the entries that a section already has."""

    workspace: Workspace
    scope: Scope
    request: SynthesisRequest
    used: set[str] = field(default_factory=set)

    def find_named(self) -> tuple[list[Item], list[str]]:
        """Return the current entries for the names in the request, and a message for each name without an entry.

        A name is an `entity` or an address. The entries may be from any wing. A superseded entry is replaced by its
        current successors.
        """
        entries, lineage = self.workspace.catalog.entries, self.workspace.catalog.lineage
        everything = Selection(self.workspace.catalog, self.scope, Question(), None, self.workspace.today)
        chosen: dict[str, Item] = {}
        missing = []
        for name in dict.fromkeys((*self.request.decision_ids, *self.request.entity_ids)):
            entities = [one for one in entries.values() if (one.entity or "").casefold() == name.casefold()]
            try:
                address = entities[0].address if len(entities) == 1 else resolve_name(self.workspace, name)
            except MdmemError as error:
                missing.append(visible(str(error)))
                continue
            heads = (address,) if entries[address].status is Status.DRAFT else lineage.heads(address)
            if not heads:
                missing.append(f"`{address}` is no longer current, and nothing supersedes it")
            for head in heads:
                replaced = [f"replaces {address}, which was requested"] if head != address else []
                reasons = ("named as a source", *replaced)
                chosen.setdefault(head, replace(everything.item(entries[head]), reasons=reasons))
        return list(chosen.values()), missing

    def choose(self, heading: Heading, found: Answer, named: Sequence[Item]) -> list[Item]:
        """Return the sources of a section, the requested ones first; invariants that always apply are all included."""
        least = _FLOOR * max((item.score for item in found.items), default=0.0)
        known = {item.address for item in named}

        def fits(item: Item) -> bool:
            if item.address in known or (heading.facets and _facet_of(item.entry) not in heading.facets):
                return False
            # A section about constraints lists every invariant.
            is_near = item.score > 0 and (item.matches or item.score >= least)
            return is_near or (self.scope.always_applies(item.entry) and Facet.CONSTRAINTS in heading.facets)

        def rank(item: Item) -> tuple[object, ...]:
            newest = -created(item.entry).timestamp()
            by = (newest, -item.score) if heading.is_newest_first else (not item.matches, -item.score, newest)
            return (item.address in self.used, *by)

        fitting = sorted(filter(fits, found.items), key=rank)
        binding = [item for item in fitting if self.scope.always_applies(item.entry)]
        left = max(0, _SIZES[self.request.depth] - len(named) - len(binding))
        others = [item for item in fitting if not self.scope.always_applies(item.entry)][:left]
        self.used.update(known, (item.address for item in (*binding, *others)))
        return [*named, *map(found.describe, (*binding, *others))]

    def source(self, item: Item, *, is_forced: bool) -> dict[str, Any]:
        """Return a source with the JSON keys of the contract; `is_forced` says that the request named this entry."""
        entry, catalog = item.entry, self.workspace.catalog
        body, most = catalog.body(item.address), _NEIGHBOURS if self.request.include_neighborhoods else 0
        return {
            **record_json(entry, id="address", type="type", name="title"),
            "preview": cut_at_word(summary_of(entry, body), _PREVIEWS[self.request.depth]),
            "score": round(item.score, 4),
            "freshness": freshness_on(entry, self.workspace.today),
            **record_json(item, status="status", scope="tier", reason="reason"),
            "neighborhood": [
                {name: link[name] for name in ("id", "name", "relationship", "direction")}
                for link in links_json(catalog, item.address, body, most=most)
            ],
            "forced": is_forced,
        }


def _gaps(heading: Heading, chosen: Sequence[Item], found: Answer, *, needed: int) -> Iterator[str]:
    """Yield the gaps of a section: too few current sources, or words that no entry contains."""
    current = [item for item in chosen if item.current and item.status is not Status.DRAFT]
    if not current:
        yield "no entry of the scope supports it"
    elif len(current) < needed:
        sources = "1 source supports" if len(current) == 1 else f"{len(current)} sources support"
        yield f"only {sources} it, and {needed} are needed"
    if not heading.facets and found.basis.unmatched_terms:
        yield f"no entry contains {', '.join(map(visible, found.basis.unmatched_terms[:8]))}"
