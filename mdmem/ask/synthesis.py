"""Plan a text: an outline with the sources and gaps of each section, and a verdict whether the text can be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.answer import Answer, Item
from mdmem.ask.context import created, links_json
from mdmem.ask.excerpt import summary_of
from mdmem.ask.facets import SESSION, Facet, facet_of
from mdmem.ask.outlines import Depth, Heading, SynthesisRequest, headings_for
from mdmem.ask.problems import problems_json
from mdmem.ask.question import Question
from mdmem.ask.retrieve import Reading, read_steadily, retrieve_in
from mdmem.ask.select import Selection
from mdmem.errors import MdmemError
from mdmem.markdown.body import cut_at_word
from mdmem.model.entry import Entry, Freshness, Status, freshness_on
from mdmem.model.text import visible
from mdmem.record import record_json
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.scope import Scope
from mdmem.store.workspace.visibility import project_scope
from mdmem.store.workspace.workspace import Workspace

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
    return read_steadily(workspace, lambda reading: _plan(reading, request))


def is_doubtful(source: Mapping[str, Any]) -> bool:
    """Return whether a source should be confirmed before it is used: it is not active, or it is stale."""
    return bool(source["status"] != Status.ACTIVE or source["freshness"] == Freshness.STALE)


def _plan(reading: Reading, request: SynthesisRequest) -> Plan:
    scope = project_scope(reading.workspace, reading.settings, request.project)
    planner = _Planner(reading.workspace, scope, request)
    about = planner.retrieve(request.query)
    named, missing = planner.find_named()
    headings, left_out = headings_for(request)
    places = {item.address: _place(_facet_of(item.entry), headings) for item in named}
    gaps: list[dict[str, Any]] = [{"section": None, "reason": reason} for reason in missing]
    sections: list[dict[str, Any]] = []
    for at, heading in enumerate(headings):
        found = about if heading.facets else planner.retrieve(heading.words)
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
    conflicts = about.basis.contradictions_of(sources)
    problems = (*reading.faults, *about.basis.problems)
    doubtful = sum(map(is_doubtful, sources.values()))
    return {
        "problems": problems_json(problems),
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
        **replace(about.basis, conflicts=conflicts).as_json("conflicts"),
        "left_out_sections": list(left_out),
        "scope": record_json(scope, "wing", "shared_wings", "state"),
        **about.basis.as_json("degraded"),
    }


def _place(facet: Facet, headings: Sequence[Heading]) -> int:
    """Return the index of the first section with a facet, else of the first one without facets, else of the first."""
    fitting = [at for at, heading in enumerate(headings) if facet in heading.facets]
    return next(iter([*fitting, *(at for at, heading in enumerate(headings) if not heading.facets)]), 0)


def _facet_of(entry: Entry) -> Facet:
    """Return the facet of an entry; a session note with open work is active work, even if it is not the newest."""
    return facet_of(entry, newest=(entry.address,) if entry.label == SESSION else ())


class _Planner(Struct, frozen=True):
    """Chooses the sources of a text from one memory; `used` are the entries that a section already has."""

    workspace: Workspace
    scope: Scope
    request: SynthesisRequest
    used: set[str] = field(default_factory=set)

    def retrieve(self, words: str) -> Answer:
        """Return the answer of the scope to some words."""
        return retrieve_in(self.workspace, self.scope, Question(words=words))

    def find_named(self) -> tuple[list[Item], list[str]]:
        """Return the current entries for the names in the request, and a message for each name without one.

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
        binding, others = list[Item](), list[Item]()
        for item in found.items:
            if item.address in known or (heading.facets and _facet_of(item.entry) not in heading.facets):
                continue
            is_binding = self.scope.always_applies(item.entry)
            is_near = item.score > 0 and (item.matches or item.score >= least)
            # A section about constraints lists every invariant.
            if is_near or (is_binding and Facet.CONSTRAINTS in heading.facets):
                (binding if is_binding else others).append(item)

        def rank(item: Item) -> tuple[object, ...]:
            newest, is_used = -created(item.entry).timestamp(), item.address in self.used
            if heading.is_newest_first:
                return (is_used, newest, -item.score, item.address)
            return (is_used, not item.matches, -item.score, newest, item.address)

        left = max(0, _SIZES[self.request.depth] - len(named) - len(binding))
        chosen = (*sorted(binding, key=rank), *sorted(others, key=rank)[:left])
        self.used.update(known, (item.address for item in chosen))
        return [*named, *map(found.describe, chosen)]

    def source(self, item: Item, *, is_forced: bool) -> dict[str, Any]:
        """Return a source in the contract's shape; `is_forced` says that the request named this entry."""
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
    """Yield the gaps of a section: too few current sources, only doubtful ones, or words that no entry contains."""
    current = [item for item in chosen if item.current and item.status is not Status.DRAFT]
    if not current:
        yield "no entry of the scope supports it"
    elif len(current) < needed:
        sources = "1 source supports" if len(current) == 1 else f"{len(current)} sources support"
        yield f"only {sources} it, and {needed} are needed"
    elif all(item.status is Status.UNDER_REVIEW for item in current):
        yield "every source is under review"
    if not heading.facets and found.basis.unmatched_terms:
        yield f"no entry contains {', '.join(map(visible, found.basis.unmatched_terms[:8]))}"
