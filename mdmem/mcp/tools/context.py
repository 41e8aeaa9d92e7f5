"""The tools of the context contract: a pack for a goal, a memory to keep, the outline of a text with its sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.mcp.tools.core import is_invariant
from mdmem.mcp.tools.shape import (
    AGENT,
    AT,
    COUNT,
    FLAG,
    OBJECT,
    OBJECTS,
    PROBLEMS,
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


def _context(workspace: Workspace, **stated: Any) -> Facts:
    from mdmem.context.answer import pack_answer
    from mdmem.context.compile import compile_context
    from mdmem.context.request import read_request

    return pack_answer(compile_context(workspace, read_request(stated)))


def _context_elsewhere(cwd: Path, why: str, **stated: Any) -> Facts:
    from mdmem.context.answer import pack_answer
    from mdmem.context.compile import context_without_root
    from mdmem.context.request import read_request

    return pack_answer(context_without_root(cwd, read_request(stated), why=why))


def _no_context(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
    asked = {name: arguments[name] for name in ("goal", "intent", "domain", "project", "layer")}
    empty: Facts = {"sections": [], "total_items": 0, "usage_hint": message, "markdown": message}
    return {"retrieval_status": status, **asked, "query": arguments["goal"], **empty, "degraded": True}


_CONTEXT = Tool(
    name="context",
    title="A context pack for a goal",
    about=(
        "Call this when you start or resume work on a goal: it compiles the memory that matters for it into facets, "
        "as constraints, decisions, active work, gotchas, procedures and recent memory, each item with the reason why "
        "it is there. Invariants of the project always come, whatever the limit. Use layer `wake` at the start of a "
        "session, `recall` for the work at hand, `deep_search` for research. Before a change of code call `retrieve`, "
        "which answers what binds the files at hand."
    ),
    parameters=(
        Parameter(name="goal", needed=True, about="What you are trying to accomplish."),
        Parameter(name="intent", default="build", choices=_INTENTS, about="What the goal is about."),
        Parameter(name="layer", default="recall", choices=_LAYERS, about="How deep to look."),
        Parameter(name="domain", about="A tag, topic, label, room or focus to keep to.", longest=200),
        Parameter(name="project", about="The project: its id, or the name of its wing.", longest=200),
        Parameter(name="agent_id", about="The agent whose diary comes, too.", longest=200),
        Parameter(name="limit", kind=ParameterKind.WHOLE, default=24, about="Items at most, clamped to 1 to 50."),
        Parameter(
            name="include_related", kind=ParameterKind.FLAG, default=True, about="Add what the items are linked with."
        ),
        Parameter(name="related_limit", kind=ParameterKind.WHOLE, default=3, about="Related entries an item at most."),
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
        "proposed": OBJECTS,
        "conflicts": OBJECTS,
        "problems": PROBLEMS,
        "covered": FLAG,
        "degraded": FLAG,
        "invariants_remaining": COUNT,
    },
    call=_context,
    fall_back=_no_context,
    rootless=_context_elsewhere,
    binds=is_invariant,
)


def _remember(workspace: Workspace, **stated: Any) -> Facts:
    from mdmem.saving.remember import remember

    return remember(workspace, {name: value for name, value in stated.items() if value is not None}).as_json()


def _not_remembered(message: str) -> Facts:
    return {"success": False, "id": None, "message": message, "timestamp": None, "conflicts": []}


_REMEMBER = Tool(
    name="remember",
    title="Keep what was learned",
    about=(
        "Call this to keep what future agents should not have to learn again: what happened, how something is done, "
        "a plan, an idea, a rule, a decision; at the end of a session, with kind `session`, what was done and what is "
        "open. The content is kept word for word. It belongs to the wing of `project`, else to the default wing, and "
        "rules and decisions are drafts until a person approves them; with project `private`, or where there is no "
        "default wing, only your own `context` reads it. `conflicts` names entries that it may contradict or repeat."
    ),
    parameters=(
        Parameter(name="title", needed=True, about="A short title.", longest=300),
        Parameter(name="content", needed=True, about="The text, in Markdown.", longest=100_000),
        Parameter(name="kind", default="episode", choices=_KINDS, about="What kind of memory it is."),
        Parameter(name="domain", about="The subject area, by which `context` narrows.", longest=200),
        Parameter(name="project", about="The project: its id, or the name of its wing.", longest=200),
        Parameter(name="tags", kind=ParameterKind.TEXTS, about="Tags."),
        Parameter(name="related_to", kind=ParameterKind.TEXTS, about="Ids of entries that it has to do with."),
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
        "Call this before you write a document, a report, a briefing, a roadmap, release notes or an audit packet from "
        "the memory: it returns an outline whose every section carries its sources and its gaps. Write from the "
        "sources of each section, and say where there are gaps. It generates no text, and the same memory gives the "
        "same plan. `verification` tells whether every section has enough to stand on."
    ),
    parameters=(
        Parameter(name="goal", needed=True, about="What the text is to achieve."),
        Parameter(name="output_type", default="documentation", choices=_OUTPUTS, about="What kind of text it is."),
        Parameter(name="audience", about="For whom it is written."),
        Parameter(name="depth", default="standard", choices=("brief", "standard", "deep"), about="How much of it."),
        Parameter(name="seed_query", about="What to look for, where the goal's own words do not say it."),
        Parameter(name="project", about="The project: its id, or the name of its wing.", longest=200),
        Parameter(name="domain", about="A tag, topic, label, room or focus to keep to.", longest=200),
        Parameter(name="entity_ids", kind=ParameterKind.TEXTS, about="Entities that must be among the sources."),
        Parameter(name="decision_ids", kind=ParameterKind.TEXTS, about="Decisions that must be among the sources."),
        Parameter(
            name="required_sections",
            kind=ParameterKind.TEXTS,
            about="Sections that must be there, each a title or `Title::what it is to say`.",
        ),
        Parameter(name="constraints", kind=ParameterKind.TEXTS, about="What the text has to keep to."),
        Parameter(name="max_sections", kind=ParameterKind.WHOLE, default=6, about="Sections at most."),
        Parameter(
            name="include_neighborhoods",
            kind=ParameterKind.FLAG,
            default=True,
            about="Add what the sources are linked with.",
        ),
    ),
    answers={
        "goal": TEXT,
        "output_type": TEXT,
        "sections": OBJECTS,
        "gaps": OBJECTS,
        "verification": OBJECT,
        "problems": PROBLEMS,
        "invariants_remaining": COUNT,
    },
    call=_synthesis_plan,
    binds=is_invariant,
)

CONTEXT = (_CONTEXT, _REMEMBER, _SYNTHESIS_PLAN)
