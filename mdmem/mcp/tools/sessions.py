"""Define the tools for sessions, whose answers are fixed by contracts; saving tools answer even after a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypedDict, Unpack, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields
from pydantic import Field, TypeAdapter, WithJsonSchema

from mdmem.ask.answer import read_request
from mdmem.ask.bundle import BundleRequest, get_scope_state, memory_surface, retrieve_context
from mdmem.change.hygiene import run_hygiene
from mdmem.errors import MdmemError
from mdmem.mcp.tools.core import from_top
from mdmem.mcp.tools.tool import (
    PROJECT,
    Agent,
    Choice,
    Facts,
    FlatSchema,
    Focus,
    Listed,
    LongText,
    Name,
    Objects,
    Paths,
    Project,
    Record,
    Room,
    Text,
    optional,
    tool,
    without_memory,
)
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.records import Background, Decision, Entity, Pattern, RelatedEntity, Scope, Session
from mdmem.write.save import Saver, get_save_status, request_approval

_Label = Literal["Invariant", "Decision", "Pattern", "Context", "Session", "EntityFact", "Note"]
# The argument may be null, since the tool itself answers a call without a project.
NeededProject = Annotated[Name | None, Field(description=PROJECT)]
_ScopeState = Literal["resolved", "uncertain", "unresolved"]


def _unknown_state(_: str, arguments: Mapping[str, Any]) -> str:
    """Return the state of a scope if the memory cannot be read: `uncertain`, or `unresolved` without a project."""
    return "uncertain" if (arguments["project_id"] or "").strip() else "unresolved"


class _ContextArguments(TypedDict):
    project_id: NeededProject
    scope: Annotated[
        Scope, Choice, optional("`global`: the shared wings alone, if there is no focus.", default="project")
    ]
    focus: Focus
    categories: Annotated[tuple[Annotated[_Label, Choice], ...] | None, Listed, optional("Only items of these.")]
    topic: Annotated[Text | None, optional("Words that items must contain.")]
    agent: Agent
    paths: Paths


class _ContextBundle(TypedDict):
    items: list[dict[str, Any]]
    retrieval_status: Literal["succeeded", "empty", "timed_out", "failed", "conflicted"]
    scope_state: _ScopeState
    conflicts_found: bool
    hygiene_due: bool


@tool(
    "Load the memory of a project",
    has_at=True,
    kept=("id", "label", "title", "rationale", "scope", "created_at"),
    noise=("type", "why_degraded"),
    fall_back=without_memory(
        scope_state=_unknown_state, items=[], conflicts_found=False, hygiene_due=False, proposed=[]
    ),
    asks=("topic",),
)
def _retrieve_context(workspace: Workspace, **arguments: Unpack[_ContextArguments]) -> Annotated[Facts, _ContextBundle]:
    """Before you reason about a project. It returns the memory of the project by scope (focus, then project, then
    global) and by authority: all invariants, then at most 10 decisions, 10 patterns and 5 notes. Items under
    `proposed`, and those that are only `merged`, do not bind. People resolve what is `conflicted`. After `failed` and
    `timed_out` go on without memory.
    """
    return retrieve_context(workspace, read_request(BundleRequest, arguments), from_top(workspace, arguments["paths"]))


class _ScopeAnswer(TypedDict):
    scope_state: _ScopeState
    project_exists: bool


@tool(
    "Whether a project exists",
    fall_back=without_memory(scope_state=_unknown_state, project_exists=False, write_permitted=False),
)
def _get_scope_state(workspace: Workspace, *, project_id: Project, focus: Focus) -> Annotated[Facts, _ScopeAnswer]:
    """Call it at the start of every session, before you load or save memory: does the project exist here, and may you
    write? `uncertain`: `save_session` has to create it first. `unresolved`: no project is named.
    """
    return get_scope_state(workspace, project_id=project_id, focus=focus).as_json()


class _Matches(TypedDict):
    matches: list[dict[str, Any]]
    query_used: str
    total_found: int
    next_step: str | None


@tool(
    "One quick look-up",
    kept=("id", "label", "name", "content", "scope", "freshness", "bm25_score", "project_id"),
    fall_back=without_memory(
        matches=[],
        query_used=lambda _, arguments: arguments["query"],
        total_found=0,
        next_step=lambda message, _: message,
    ),
)
def _memory_surface(
    workspace: Workspace,
    *,
    query: Annotated[Text, Field(description="Plain words.")],
    project_id: Project,
    limit: Annotated[int, optional("Maximum matches.", default=5)],
) -> Annotated[Facts, _Matches]:
    """Find out quickly whether the memory knows something. It ranks by words alone, and does not merge scopes."""
    return memory_surface(workspace, query=query, project_id=project_id, limit=limit)


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


@tool("What needs maintenance", noise=("column", "address", "fix", "other"))
def _run_hygiene(
    workspace: Workspace,
    *,
    project_id: Annotated[Name | None, optional("Default: everything.")],
    scope: Annotated[Annotated[Scope, Choice] | None, optional("Only this scope.")],
    check_pending_only: Annotated[bool, optional("Only pending writes.", default=False)],
) -> Annotated[Facts, _HygieneReport]:
    """When `hygiene_due` is true, or a save was stopped for `manual_review`: duplicates, outdated decisions, patterns
    not validated for long, several entities of one name, pending writes. People decide what to merge.
    """
    return run_hygiene(workspace, project_id, scope, check_pending_only=check_pending_only)


class _SaveStatus(TypedDict):
    status: Literal["saved", "pending_retry", "failed", "partial"]
    count: int
    oldest_pending_at: str | None
    artifact_ids: list[str]


@tool("Pending writes of a project")
def _get_save_status(
    workspace: Workspace, *, project_id: Annotated[Name | None, optional("Default: all projects.")]
) -> Annotated[Facts, _SaveStatus]:
    """After a save answered `pending_retry`: how many writes of a project still wait. The next write tries again."""
    return get_save_status(workspace, project_id)


def _record(kind: type[Struct]) -> WithJsonSchema:
    """Return the JSON Schema of a record for clients; fields are not validated here, but when the record is saved."""
    properties = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is ClassVar:
            continue
        about = hint.__metadata__[0].description if get_origin(hint) is Annotated else None
        schema = TypeAdapter(hint).json_schema(schema_generator=FlatSchema)
        properties[name] = schema | ({"description": about} if about else {})
    required = [one.name for one in fields(kind) if one.required]
    return WithJsonSchema({"type": "object", "properties": properties, "required": required})


_Decision = Annotated[Record, _record(Decision), Field(description="The decision.")]
_Pattern = Annotated[Record, _record(Pattern), Field(description="The pattern.")]
_Context = Annotated[Record, _record(Background), Field(description="The piece of context.")]
_Session = Annotated[Record, _record(Session), Field(description="The session.")]
_Entity = Annotated[Record, _record(Entity), Field(description="The entity.")]
_Related = Annotated[Record, _record(RelatedEntity)]


class _SaveResult(TypedDict):
    status: Literal["saved", "failed", "blocked_scope", "pending_retry", "duplicate_skip"]
    artifact_id: str | None
    dedup_outcome: str | None
    candidate_id: str | None
    message: str | None
    next_step: str | None


_Saved = Annotated[Facts, _SaveResult]


class _BatchResult(TypedDict):
    session: dict[str, Any]
    decisions: list[dict[str, Any]]
    patterns: list[dict[str, Any]]
    overall: Literal["saved", "partial", "failed"]


class _Approval(TypedDict):
    token: str
    expires_at: str
    ttl_seconds: int
    blocked: bool
    reason: str


class _ProjectArguments(TypedDict):
    project_id: NeededProject
    focus: Focus
    agent: Agent


class _PlaceArguments(_ProjectArguments):
    governance_token: Annotated[Name | None, optional("For a shared wing or global scope: from `mdmem token`.")]
    room: Room


def _failed(message: str, advice: str) -> Facts:
    nothing = dict.fromkeys(("artifact_id", "dedup_outcome", "candidate_id"))
    return {"status": "failed", **nothing, "message": message, "next_step": advice}


@tool("Save a session of work", writes=True, refuse=_failed)
def _save_session(workspace: Workspace, *, session: _Session, **where: Unpack[_PlaceArguments]) -> _Saved:
    """At the end of a session: what it was for, what was done and decided, what is open, what comes next. It creates a
    project that does not exist yet.
    """
    return Saver(workspace).save("session", {"session": session, **where}).as_json()


@tool(
    "Save a session with its learnings",
    writes=True,
    refuse=lambda *why: {"session": _failed(*why), "decisions": [], "patterns": [], "overall": "failed"},
)
def _store_session_with_learnings(
    workspace: Workspace,
    *,
    session: _Session,
    decisions: Annotated[list[_Decision] | None, Objects, optional("The decisions made, as for `save_decision`.")],
    patterns: Annotated[list[_Pattern] | None, Objects, optional("The patterns found, as for `save_pattern`.")],
    **whose: Unpack[_ProjectArguments],
) -> Annotated[Facts, _BatchResult]:
    """Instead of `save_session` where a session made decisions or found patterns: saves and links them in one call,
    each compared as by `save_decision` and `save_pattern`. A part that fails does not stop the others: `overall` is
    then `partial`.
    """
    arguments = {"session": session, "decisions": decisions, "patterns": patterns, **whose}
    return Saver(workspace).save_with_learnings(arguments).as_json()


@tool("Save a decision", writes=True, refuse=_failed)
def _save_decision(workspace: Workspace, *, decision: _Decision, **where: Unpack[_PlaceArguments]) -> _Saved:
    """When an architectural or technical decision was made, outside of a session's end. The same text answers
    `duplicate_skip`; a very similar one supersedes the older; a similar one is not written: `pending_retry` with
    `manual_review` and a `candidate_id`. Then call again with `supersedes` set to it, or with `distinct_from` if
    both should stay. Decisions are drafts until a person approves them; the older one stays current until then.
    """
    return Saver(workspace).save("decision", {"decision": decision, **where}).as_json()


@tool("Save a pattern", writes=True, refuse=_failed)
def _save_pattern(workspace: Workspace, *, pattern: _Pattern, **where: Unpack[_PlaceArguments]) -> _Saved:
    """When a workflow proved itself and should be repeated: its trigger, its steps, and when not to use it. The same
    trigger and steps answer `duplicate_skip`.
    """
    return Saver(workspace).save("pattern", {"pattern": pattern, **where}).as_json()


@tool("Save a piece of context", writes=True, refuse=_failed)
def _save_context(workspace: Workspace, *, context: _Context, **where: Unpack[_PlaceArguments]) -> _Saved:
    """For background that is neither decision nor pattern: reference material, an explanation.

    The same call repeated within two minutes is one entry."""
    return Saver(workspace).save("context", {"context": context, **where}).as_json()


@tool("Save an entity with its relations", writes=True, refuse=_failed)
def _upsert_entity_with_deps(
    workspace: Workspace,
    *,
    entity: _Entity,
    related_entities: Annotated[list[_Related] | None, Objects, optional("Its relations.")],
    **where: Unpack[_PlaceArguments],
) -> _Saved:
    """Store a fact about a named thing (a service, a table, a team) and its relations to others that exist. The same
    name within the scope updates the same entity.
    """
    return Saver(workspace).save("entity", {"entity": entity, "related_entities": related_entities, **where}).as_json()


@tool("Ask for a token for one global write", writes=True, refuse=lambda why, _: {"blocked": True, "reason": why})
def _request_global_write_approval(
    workspace: Workspace,
    *,
    content_preview: Annotated[  # noqa: ARG001  # for people
        LongText, Field(description="What is going to be written.")
    ],
) -> Annotated[Facts, _Approval]:
    """Right before a write of scope `global` or to a shared wing. It returns a token for one write, valid for
    `ttl_seconds`; pass it as `governance_token`. `blocked` is true where such writes are forbidden.
    """
    try:
        return request_approval(workspace)
    except MdmemError as error:
        return {"blocked": True, "reason": str(error)}
