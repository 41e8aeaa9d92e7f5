"""Define the tools `context` (an overview for a goal), `remember`, and `synthesis_plan` (the outline of a text)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict, Unpack

from pydantic import Field

from mdmem.ask.candidates import ContextRequest
from mdmem.ask.context import compile_context, context_without_root
from mdmem.ask.outlines import SynthesisRequest
from mdmem.ask.question import read_request
from mdmem.ask.synthesis import plan_synthesis
from mdmem.mcp.answers import mark_line
from mdmem.mcp.tools.tool import (
    Agent,
    AsText,
    Choice,
    Facts,
    Name,
    Project,
    Record,
    Room,
    Text,
    Texts,
    tool,
    without_memory,
)
from mdmem.render.context import pack_markdown, plan_json
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.remember import Kind, remember

_Intent = Literal["build", "plan", "ideate", "research", "debug", "decide", "learn", "general"]
_Layer = Literal["wake", "recall", "deep_search"]
_Output = Literal["documentation", "report", "briefing", "roadmap", "release_notes", "audit_packet", "custom"]
_Domain = Annotated[Name | None, Field(default=None, description="Only this tag, topic, label, room or focus.")]
_QUALITY = ("origin", "source", "url", "created_at", "updated_at", "valid_at", "project_id")
_ITEM = ("id", "type", "name", "content", "score", "facet", "title", "reason", "source", "metadata", "related")


class _ContextArguments(TypedDict):
    goal: Annotated[Text, Field(description="What you want to accomplish.")]
    intent: Annotated[_Intent, Choice, Field(default="build", description="What the goal is about.")]
    layer: Annotated[
        _Layer, Choice, Field(default="recall", description="`wake`: compact. `deep_search`: for research.")
    ]
    domain: _Domain
    project: Project
    agent_id: Annotated[Name | None, Field(default=None, description="Include this agent's diary.")]
    limit: Annotated[int, Field(default=24, description="Maximum items, 1 to 50.")]
    include_related: Annotated[bool, Field(default=True, description="Add linked entries.")]
    related_limit: Annotated[int, Field(default=3, description="Linked entries for each item.")]


class _ContextPack(TypedDict):
    goal: str
    intent: str
    query: str
    domain: str | None
    project: str | None
    layer: str
    sections: list[dict[str, Any]]
    total_items: int
    usage_hint: str
    markdown: str


def _no_context(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
    empty: Facts = {"query": arguments["goal"], "sections": [], "total_items": 0, "usage_hint": message}
    asked = ("goal", "intent", "domain", "project", "layer")
    return without_memory(*asked, **empty)(status, message, arguments)


@tool(
    "An overview for a goal",
    has_at=True,
    kept=frozenset(("items", "quality", "relationship", "direction", "distance", *_QUALITY, *_ITEM)),
    view=lambda facts: "\n\n".join(filter(None, (mark_line(facts), pack_markdown(facts)))),
    fall_back=_no_context,
    asks=("goal",),
    rootless=lambda cwd, why, **stated: context_without_root(cwd, read_request(ContextRequest, stated), why=why),
)
def _context(workspace: Workspace, **stated: Unpack[_ContextArguments]) -> Annotated[Facts, _ContextPack]:
    """Call it once, before a task whose files are not known yet. It returns an overview by facets (constraints,
    decisions, open work, gotchas), each item with its reason.
    """
    return compile_context(workspace, read_request(ContextRequest, stated))


class _RememberArguments(TypedDict):
    title: Annotated[str, Field(max_length=300, description="Short."), AsText]
    content: Annotated[str, Field(max_length=100_000, description="Text in Markdown."), AsText]
    kind: Annotated[Kind, Choice, Field(default="episode", description="What kind of memory it is.")]
    domain: Annotated[Name | None, Field(default=None, description="The subject area.")]
    project: Project
    tags: Annotated[Texts | None, Field(default=None, description="Tags.")]
    related_to: Annotated[Texts | None, Field(default=None, description="Ids of entries.")]
    metadata: Annotated[Record | None, Field(default=None, description="Anything else, by name.")]
    agent: Agent
    room: Room


class _Remembered(TypedDict):
    success: bool
    id: str | None
    message: str | None
    timestamp: str | None
    conflicts: list[dict[str, Any]]


_NOT_SAVED: Facts = {"success": False, "id": None, "timestamp": None, "conflicts": []}


@tool("Keep what was learned", writes=True, refuse=lambda message, _: {**_NOT_SAVED, "message": message})
def _remember(workspace: Workspace, **stated: Unpack[_RememberArguments]) -> Annotated[Facts, _Remembered]:
    """Store an experience, plan or procedure for later agents, word for word. After a session, use kind `session`
    for what was done and what is open. It never binds. It goes to the wing of `project`, else to the
    default wing; with project `private` only your own `context` reads it. `conflicts` lists entries that it may
    contradict or repeat.
    """
    return remember(workspace, {name: value for name, value in stated.items() if value is not None}).as_json()


class _PlanArguments(TypedDict):
    goal: Annotated[Text, Field(description="What the text is to achieve.")]
    output_type: Annotated[_Output, Choice, Field(default="documentation", description="What kind of text it is.")]
    audience: Annotated[Text | None, Field(default=None, description="Who reads it.")]
    depth: Annotated[
        Literal["brief", "standard", "deep"], Choice, Field(default="standard", description="How detailed it is.")
    ]
    seed_query: Annotated[
        Text | None, Field(default=None, description="What to search for, if the goal does not say it.")
    ]
    project: Project
    domain: _Domain
    entity_ids: Annotated[Texts | None, Field(default=None, description="Entities that must be sources.")]
    decision_ids: Annotated[Texts | None, Field(default=None, description="Decisions that must be sources.")]
    required_sections: Annotated[
        Texts | None, Field(default=None, description="Each a title or `Title::what it should say`.")
    ]
    constraints: Annotated[Texts | None, Field(default=None, description="What the text must comply with.")]
    max_sections: Annotated[int, Field(default=6, description="Maximum sections.")]
    include_neighborhoods: Annotated[bool, Field(default=True, description="Add linked entries.")]


class _Plan(TypedDict):
    goal: str
    output_type: str
    sections: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    verification: dict[str, Any]


@tool("Outline a text with its sources")
def _synthesis_plan(workspace: Workspace, **stated: Unpack[_PlanArguments]) -> Annotated[Facts, _Plan]:
    """Before writing a document, report, briefing, roadmap, release notes or audit packet from the memory. It returns
    an outline: each section has its sources and its gaps. Write from these, and say where there are gaps.
    `verification` says whether every section has enough sources.
    """
    return plan_json(plan_synthesis(workspace, read_request(SynthesisRequest, stated)))


CONTEXT = (_context, _remember, _synthesis_plan)
