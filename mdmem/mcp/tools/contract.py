"""The reading tools of the retrieval contract: bundles, scope states, hygiene, pending writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict, Unpack

from pydantic import Field

from mdmem.ask.retrieve_context import retrieve_context
from mdmem.ask.surface import get_scope_state, memory_surface
from mdmem.change.hygiene import run_hygiene
from mdmem.mcp.arguments import Agent, Choice, Focus, Listed, Name, Paths, Project, Text
from mdmem.mcp.tools.core import from_top
from mdmem.mcp.tools.shape import Facts, tool
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.save import get_save_status

Scope = Literal["global", "project", "focus"]
_Label = Literal["Invariant", "Decision", "Pattern", "Context", "Session", "EntityFact", "Note"]
# The tool itself answers a call that names no project.
NeededProject = Annotated[Name | None, Field(description="Its id, or the name of its wing.")]
_ScopeState = Literal["resolved", "uncertain", "unresolved"]


class _ContextArguments(TypedDict):
    project_id: NeededProject
    scope: Annotated[Scope, Choice, Field(default="project", description="`global`: the shared wings alone.")]
    focus: Focus
    categories: Annotated[
        tuple[Annotated[_Label, Choice], ...] | None, Listed, Field(default=None, description="Only these.")
    ]
    topic: Annotated[Text | None, Field(default=None, description="Words that items must contain.")]
    agent: Agent
    paths: Paths


class _ContextBundle(TypedDict):
    items: list[dict[str, Any]]
    retrieval_status: Literal["succeeded", "empty", "timed_out", "failed", "conflicted"]
    scope_state: _ScopeState
    conflicts_found: bool
    hygiene_due: bool


def _no_context(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
    return {
        "items": [],
        "retrieval_status": status,
        "scope_state": _state_of(arguments),
        "conflicts_found": False,
        "hygiene_due": False,
        "message": message,
        "proposed": [],
        "degraded": True,
    }


@tool(
    "Load the memory of a project",
    has_at=True,
    kept=frozenset(("id", "label", "title", "rationale", "scope", "created_at")),
    noise=frozenset(("type", "why_degraded")),
    fall_back=_no_context,
    keeps_time=True,
)
def _retrieve_context(workspace: Workspace, **stated: Unpack[_ContextArguments]) -> Annotated[Facts, _ContextBundle]:
    """Before you reason about a project: its memory by scope, focus before project before global, and by authority:
    invariants, which no limit leaves out, then at most 10, 10 and 5 decisions, patterns and notes. Items under
    `proposed`, and those that are only `merged`, do not bind; `conflicted` is for people to resolve; after `failed`
    and `timed_out` go on without memory.
    """
    known: dict[str, Any] = {**stated, "paths": from_top(workspace, stated["paths"])}
    return retrieve_context(workspace, **known).as_json()


class _ScopeAnswer(TypedDict):
    scope_state: _ScopeState
    project_exists: bool


def _unknown_state(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:  # noqa: ARG001  # one signature
    return {
        "scope_state": _state_of(arguments),
        "project_exists": False,
        "write_permitted": False,
        "message": message,
        "degraded": True,
    }


@tool("Whether a project exists", fall_back=_unknown_state)
def _get_scope_state(
    workspace: Workspace, *, project_id: Project = None, focus: Focus = None
) -> Annotated[Facts, _ScopeAnswer]:
    """Call it at the start of every session, before you load or save memory: does the project exist here, and may you
    write? `uncertain`: `save_session` has to create it first. `unresolved`: no project is named.
    """
    return get_scope_state(workspace, project_id=project_id, focus=focus).as_json()


def _state_of(arguments: Mapping[str, Any]) -> str:
    """Return the state of a scope that cannot be looked up."""
    return "uncertain" if (arguments["project_id"] or "").strip() else "unresolved"


class _Matches(TypedDict):
    matches: list[dict[str, Any]]
    query_used: str
    total_found: int
    next_step: str | None


def _no_surface(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
    asked = {"matches": [], "query_used": arguments["query"], "total_found": 0}
    return {"retrieval_status": status, **asked, "next_step": message, "message": message, "degraded": True}


@tool(
    "One quick look-up",
    kept=frozenset(("id", "label", "name", "content", "scope", "freshness", "bm25_score", "project_id")),
    fall_back=_no_surface,
    keeps_time=True,
)
def _memory_surface(
    workspace: Workspace,
    *,
    query: Annotated[Text, Field(description="Plain words.")],
    project_id: Project = None,
    limit: Annotated[int, Field(description="Maximum matches.")] = 5,
) -> Annotated[Facts, _Matches]:
    """Five matches by words: whether the memory knows something. It ranks by words alone, and merges no scopes."""
    return memory_surface(workspace, query=query, project_id=project_id, limit=limit).as_json()


class _HygieneReport(TypedDict):
    project_id: str | None
    scope: str | None
    duplicates_found: int
    outdated_decisions: int
    obsolete_patterns: int
    entity_drift_count: int
    unresolved_saves: int
    stale_items: list[dict[str, Any]]
    candidate_ids: dict[str, Any]
    checked_at: str


@tool("What needs maintenance", noise=frozenset(("column", "address", "fix", "other")))
def _run_hygiene(
    workspace: Workspace,
    *,
    project_id: Annotated[Name | None, Field(description="Default: everything.")] = None,
    scope: Annotated[Annotated[Scope, Choice] | None, Field(description="Only these.")] = None,
    check_pending_only: Annotated[bool, Field(description="Only pending writes.")] = False,
) -> Annotated[Facts, _HygieneReport]:
    """When `hygiene_due` is true, or a save was stopped for `manual_review`: duplicates, outdated decisions, patterns
    not validated for long, several entities of one name, writes that wait. People decide what to merge.
    """
    return run_hygiene(workspace, project_id, scope, check_pending_only=check_pending_only)


class _SaveStatus(TypedDict):
    status: Literal["saved", "pending_retry", "failed", "partial"]
    count: int
    oldest_pending_at: str | None
    artifact_ids: list[str]


@tool("Pending writes of a project")
def _get_save_status(
    workspace: Workspace, *, project_id: Annotated[Name | None, Field(description="Default: all projects.")] = None
) -> Annotated[Facts, _SaveStatus]:
    """After a save answered `pending_retry`: how many writes of a project still wait. The next write tries again."""
    return get_save_status(workspace, project_id).as_json()


CONTRACT = (
    _retrieve_context,
    _get_scope_state,
    _memory_surface,
    _run_hygiene,
    _get_save_status,
)
