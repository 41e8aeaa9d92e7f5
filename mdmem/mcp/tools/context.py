"""The tools of the context contract: a pack for a goal, a memory to keep, the outline of a text with its sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.mcp.pages import mark_line
from mdmem.mcp.tools.core import is_invariant
from mdmem.mcp.tools.shape import (
    AGENT,
    AT,
    COUNT,
    FLAG,
    OBJECT,
    OBJECTS,
    ROOM,
    TEXT,
    TEXT_OR_NULL,
    Facts,
    Parameter,
    ParameterKind,
    Tool,
)

if TYPE_CHECKING:
    from mdmem.workspace.workspace import Workspace

_INTENTS = ("build", "plan", "ideate", "research", "debug", "decide", "learn", "general")
_LAYERS = ("wake", "recall", "deep_search")
_OUTPUTS = ("documentation", "report", "briefing", "roadmap", "release_notes", "audit_packet", "custom")
_KINDS = (
    "episode",
    "decision",
    "plan",
    "idea",
    "claim",
    "artifact",
    "procedure",
    "domain",
    "session",
    "pattern",
    "rule",
)


_PROJECT = Parameter(name="project", about="Its id, or the name of its wing.", longest=200)
_DOMAIN = Parameter(name="domain", about="A tag, topic, label, room or focus to keep to.", longest=200)
_QUALITY = ("origin", "source", "url", "created_at", "updated_at", "valid_at", "project_id")
_ITEM = ("id", "type", "name", "content", "score", "facet", "title", "reason", "source", "metadata", "related")


def _context(workspace: Workspace, **stated: Any) -> Facts:
    from mdmem.context.answer import pack_facts
    from mdmem.context.compile import compile_context
    from mdmem.context.request import read_request

    return pack_facts(compile_context(workspace, read_request(stated)))


def _context_elsewhere(cwd: Path, why: str, **stated: Any) -> Facts:
    from mdmem.context.answer import pack_facts
    from mdmem.context.compile import context_without_root
    from mdmem.context.request import read_request

    return pack_facts(context_without_root(cwd, read_request(stated), why=why))


def _no_context(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
    asked = {name: arguments[name] for name in ("goal", "intent", "domain", "project", "layer")}
    empty: Facts = {"sections": [], "total_items": 0, "usage_hint": message}
    return {"retrieval_status": status, **asked, "query": arguments["goal"], **empty, "degraded": True}


def _as_markdown(facts: Facts) -> str:
    from mdmem.context.answer import markdown_of

    return "\n\n".join(part for part in (mark_line(facts), markdown_of(facts)) if part)


_CONTEXT = Tool(
    name="context",
    title="An overview for a goal",
    about=(
        "Once, at the start of a task without known files: an overview by facets (constraints, decisions, open work, "
        "gotchas), each item with its reason."
    ),
    points={"retrieve": "Then `retrieve` for the files."},
    parameters=(
        Parameter(name="goal", needed=True, about="What you want to accomplish."),
        Parameter(name="intent", default="build", choices=_INTENTS, about="What the goal is about."),
        Parameter(
            name="layer", default="recall", choices=_LAYERS, about="`wake`: compact. `deep_search`: for research."
        ),
        _DOMAIN,
        _PROJECT,
        Parameter(name="agent_id", about="Whose diary comes, too.", longest=200),
        Parameter(name="limit", kind=ParameterKind.WHOLE, default=24, about="Items at most, 1 to 50."),
        Parameter(name="include_related", kind=ParameterKind.FLAG, default=True, about="Add linked entries."),
        Parameter(name="related_limit", kind=ParameterKind.WHOLE, default=3, about="So many an item."),
        AT,
    ),
    answers={
        "goal": TEXT,
        "intent": TEXT,
        "query": TEXT,
        "domain": TEXT_OR_NULL,
        "project": TEXT_OR_NULL,
        "layer": TEXT,
        "sections": OBJECTS,
        "total_items": COUNT,
        "usage_hint": TEXT,
        "markdown": TEXT,
    },
    kept=frozenset(("items", "quality", "relationship", "direction", "distance", *_QUALITY, *_ITEM)),
    call=_context,
    tell=_as_markdown,
    fall_back=_no_context,
    asks=("goal",),
    rootless=_context_elsewhere,
    binds=is_invariant,
    reads_own=True,
)


def _remember(workspace: Workspace, **stated: Any) -> Facts:
    from mdmem.saving.remember import remember

    return remember(workspace, {name: value for name, value in stated.items() if value is not None}).as_json()


def _not_remembered(message: str, advice: str) -> Facts:  # noqa: ARG001  # one signature
    return {"success": False, "id": None, "message": message, "timestamp": None, "conflicts": []}


_REMEMBER = Tool(
    name="remember",
    title="Keep what was learned",
    about=(
        "Keep an experience, plan or procedure for later agents, word for word; at the end of a session, with kind "
        "`session`, what was done and what is open. It never binds, and belongs to the wing of `project`, else to the "
        "default wing; with project `private` only your own `context` reads it. `conflicts` names what it may "
        "contradict or repeat."
    ),
    points={"propose": "For rules and decisions use `propose`."},
    parameters=(
        Parameter(name="title", needed=True, about="Short.", longest=300),
        Parameter(name="content", needed=True, about="Markdown.", longest=100_000),
        Parameter(name="kind", default="episode", choices=_KINDS, about="What it is."),
        Parameter(name="domain", about="The subject area.", longest=200),
        _PROJECT,
        Parameter(name="tags", kind=ParameterKind.TEXTS, about="Tags."),
        Parameter(name="related_to", kind=ParameterKind.TEXTS, about="Ids of entries."),
        Parameter(name="metadata", kind=ParameterKind.RECORD, about="Anything else, by name."),
        AGENT,
        ROOM,
    ),
    answers={
        "success": FLAG,
        "id": TEXT_OR_NULL,
        "message": TEXT_OR_NULL,
        "timestamp": TEXT_OR_NULL,
        "conflicts": {"type": "array"},
    },
    call=_remember,
    writes=True,
    repeats=False,
    refuse=_not_remembered,
)


def _synthesis_plan(workspace: Workspace, **stated: Any) -> Facts:
    from mdmem.synthesis.answer import plan_answer
    from mdmem.synthesis.plan import plan_synthesis
    from mdmem.synthesis.request import read_request

    return plan_answer(plan_synthesis(workspace, read_request(stated)))


_SYNTHESIS_PLAN = Tool(
    name="synthesis_plan",
    title="Outline a text with its sources",
    about=(
        "Before writing a document, report, briefing, roadmap, release notes or audit packet from the memory: an "
        "outline whose every section carries its sources and its gaps. Write from these, and say where there are gaps. "
        "`verification` tells whether every section has enough to stand on."
    ),
    parameters=(
        Parameter(name="goal", needed=True, about="What the text is to achieve."),
        Parameter(name="output_type", default="documentation", choices=_OUTPUTS, about="What kind of text."),
        Parameter(name="audience", about="For whom."),
        Parameter(name="depth", default="standard", choices=("brief", "standard", "deep"), about="How much of it."),
        Parameter(name="seed_query", about="What to look for, where the goal does not say it."),
        _PROJECT,
        _DOMAIN,
        Parameter(name="entity_ids", kind=ParameterKind.TEXTS, about="Entities that must be sources."),
        Parameter(name="decision_ids", kind=ParameterKind.TEXTS, about="Decisions that must be sources."),
        Parameter(
            name="required_sections",
            kind=ParameterKind.TEXTS,
            about="Each a title or `Title::what it is to say`.",
        ),
        Parameter(name="constraints", kind=ParameterKind.TEXTS, about="What the text has to keep to."),
        Parameter(name="max_sections", kind=ParameterKind.WHOLE, default=6, about="Sections at most."),
        Parameter(name="include_neighborhoods", kind=ParameterKind.FLAG, default=True, about="Add linked entries."),
    ),
    answers={
        "goal": TEXT,
        "output_type": TEXT,
        "sections": OBJECTS,
        "gaps": OBJECTS,
        "verification": OBJECT,
    },
    call=_synthesis_plan,
    binds=is_invariant,
)

CONTEXT = (_CONTEXT, _REMEMBER, _SYNTHESIS_PLAN)
