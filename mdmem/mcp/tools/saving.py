"""The saving tools of the contracts: each answers with a result, whatever happens, and raises at nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict, Unpack, get_args

from pydantic import Field, WithJsonSchema

from mdmem.mcp.arguments import Agent, Focus, LongText, Name, Objects, Record, Room
from mdmem.mcp.tools.contract import NeededProject, Scope
from mdmem.mcp.tools.shape import (
    COUNT,
    FLAG,
    NUMBER,
    OBJECT,
    OBJECTS,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    Facts,
    Tool,
    described,
    one_of,
)
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.save import request_approval, save, save_with_learnings

_SCOPE = described(one_of(*get_args(Scope)), "for whom it is meant; `global` goes to the shared wing and needs a token")
_STATUS = one_of("saved", "failed", "blocked_scope", "pending_retry", "duplicate_skip")
_RESULT: Mapping[str, Mapping[str, Any]] = {
    "status": _STATUS,
    "artifact_id": TEXT_OR_NULL,
    "dedup_outcome": TEXT_OR_NULL,
    "candidate_id": TEXT_OR_NULL,
    "message": TEXT_OR_NULL,
    "next_step": TEXT_OR_NULL,
}
_BATCH: Mapping[str, Mapping[str, Any]] = {
    "session": OBJECT,
    "decisions": OBJECTS,
    "patterns": OBJECTS,
    "overall": one_of("saved", "partial", "failed"),
}


def _record(*needed: str, **fields: Mapping[str, Any]) -> WithJsonSchema:
    """Return the schema of an object; the feature itself says which of its fields are wrong."""
    properties = {name: dict(one) for name, one in fields.items()}
    return WithJsonSchema({"type": "object", "properties": properties, "required": list(needed)})


_Decision = Annotated[
    Record,
    _record(
        "title",
        "rationale",
        title=described(TEXT, "short decision title"),
        rationale=described(TEXT, "why this decision was made"),
        owner=described(TEXT, "who made or owns the decision"),
        date=described(TEXT, "when it was made, as YYYY-MM-DD"),
        scope=_SCOPE,
        supersedes=described(TEXT, "the id of an older decision that this one replaces"),
        distinct_from=described(TEXTS, "ids of similar decisions that stay in force beside this one"),
        confidence=described(NUMBER, "0.0 to 1.0"),
    ),
]
_Pattern = Annotated[
    Record,
    _record(
        "trigger",
        "repeatable_steps",
        trigger=described(TEXT, "when the pattern applies"),
        repeatable_steps=TEXTS,
        exclusions=described(TEXTS, "when it does not apply"),
        scope=_SCOPE,
        last_validated_at=described(TEXT, "ISO 8601"),
    ),
]
_Context = Annotated[
    Record,
    _record(
        "content",
        "topic",
        content=TEXT,
        topic=described(TEXT, "a short tag"),
        scope=_SCOPE,
        relevance_score=described(NUMBER, "0.0 to 1.0; higher is likelier to be surfaced"),
    ),
]
_Session = Annotated[
    Record,
    _record(
        "objective",
        objective=TEXT,
        actions_taken=TEXTS,
        decisions_made=TEXTS,
        open_items=TEXTS,
        next_actions=TEXTS,
        save_scope=_SCOPE,
    ),
]
_Entity = Annotated[Record, _record("entity_name", "fact", entity_name=TEXT, fact=TEXT, scope=_SCOPE)]
_Related = Annotated[
    Record,
    _record(
        "entity_id",
        "relationship_type",
        entity_id=described(TEXT, "the id or the name of an entity that exists"),
        relationship_type=one_of(
            *("BELONGS_TO", "CONFLICTS_WITH", "PRODUCED", "MERGES_INTO", "PRODUCES", "CONSUMES", "READS", "WRITES"),
            "INVOLVES",
        ),
        properties=OBJECT,
    ),
]


class _Whose(TypedDict):
    project_id: NeededProject
    focus: Focus
    agent: Agent


class _Where(_Whose):
    governance_token: Annotated[
        Name | None, Field(default=None, description="For a shared wing or global scope: of `mdmem token`.")
    ]
    room: Room


def _save_decision(
    workspace: Workspace,
    *,
    decision: Annotated[_Decision, Field(description="The decision.")],
    **where: Unpack[_Where],
) -> Facts:
    return save(workspace, "decision", {"decision": decision, **where}).as_json()


def _save_pattern(
    workspace: Workspace, *, pattern: Annotated[_Pattern, Field(description="The pattern.")], **where: Unpack[_Where]
) -> Facts:
    return save(workspace, "pattern", {"pattern": pattern, **where}).as_json()


def _save_context(
    workspace: Workspace,
    *,
    context: Annotated[_Context, Field(description="The piece of context.")],
    **where: Unpack[_Where],
) -> Facts:
    return save(workspace, "context", {"context": context, **where}).as_json()


def _save_session(
    workspace: Workspace, *, session: Annotated[_Session, Field(description="The session.")], **where: Unpack[_Where]
) -> Facts:
    return save(workspace, "session", {"session": session, **where}).as_json()


def _upsert_entity(
    workspace: Workspace,
    *,
    entity: Annotated[_Entity, Field(description="The entity.")],
    related_entities: Annotated[list[_Related] | None, Objects, Field(description="Its relations.")] = None,
    **where: Unpack[_Where],
) -> Facts:
    return save(workspace, "entity", {"entity": entity, "related_entities": related_entities, **where}).as_json()


def _save_with_learnings(
    workspace: Workspace,
    *,
    session: Annotated[_Session, Field(description="The session.")],
    decisions: Annotated[
        list[_Decision] | None, Objects, Field(description="The decisions made, as for `save_decision`.")
    ] = None,
    patterns: Annotated[
        list[_Pattern] | None, Objects, Field(description="The patterns found, as for `save_pattern`.")
    ] = None,
    **whose: Unpack[_Whose],
) -> Facts:
    stated = {"session": session, "decisions": decisions, "patterns": patterns, **whose}
    return save_with_learnings(workspace, stated).as_json()


def _failed(message: str, advice: str) -> Facts:
    nothing = dict.fromkeys(("artifact_id", "dedup_outcome", "candidate_id"))
    return {"status": "failed", **nothing, "message": message, "next_step": advice}


def _failed_batch(message: str, advice: str) -> Facts:
    return {"session": _failed(message, advice), "decisions": [], "patterns": [], "overall": "failed"}


_SAVE_DECISION = Tool(
    name="save_decision",
    title="Save a decision",
    about=(
        "When an architectural or technical decision was made, outside of a session's end. The same text answers "
        "`duplicate_skip`; a very similar one supersedes the older; a similar one is not written: `pending_retry` with "
        "`manual_review` and a `candidate_id`. Then call again with `supersedes` set to it, or with `distinct_from` "
        "where both are to stand. Decisions are drafts until a person approves them; the older stays in force until "
        "then."
    ),
    call=_save_decision,
    answers=_RESULT,
    writes=True,
    refuse=_failed,
)
_SAVE_PATTERN = Tool(
    name="save_pattern",
    title="Save a pattern",
    about=(
        "When a workflow proved itself and should be repeated: its trigger, its steps, and when not to use it. The "
        "same trigger and steps answer `duplicate_skip`."
    ),
    call=_save_pattern,
    answers=_RESULT,
    writes=True,
    refuse=_failed,
)
_SAVE_CONTEXT = Tool(
    name="save_context",
    title="Save a piece of context",
    about=(
        "To keep background that is neither decision nor pattern: reference material, an explanation. Saved twice, it "
        "is there twice."
    ),
    call=_save_context,
    answers=_RESULT,
    writes=True,
    refuse=_failed,
)
_SAVE_SESSION = Tool(
    name="save_session",
    title="Save a session of work",
    about=(
        "At the end of a session: what it was for, what was done and decided, what is open, what comes next. It "
        "creates a project that does not exist yet."
    ),
    call=_save_session,
    answers=_RESULT,
    writes=True,
    refuse=_failed,
)
_STORE_SESSION = Tool(
    name="store_session_with_learnings",
    title="Save a session with what it taught",
    about=(
        "Instead of `save_session` where a session made decisions or found patterns: saves and links them in one "
        "call, each compared as by `save_decision` and `save_pattern`. A part that fails does not stop the others: "
        "`overall` is then `partial`."
    ),
    call=_save_with_learnings,
    answers=_BATCH,
    writes=True,
    refuse=_failed_batch,
)
_UPSERT = Tool(
    name="upsert_entity_with_deps",
    title="Save an entity with its relations",
    about=(
        "To keep a fact about a named thing (a service, a table, a team) and what it has to do with others that exist. "
        "The same name within the scope updates the same entity."
    ),
    call=_upsert_entity,
    answers=_RESULT,
    writes=True,
    refuse=_failed,
)


def _request_approval(
    workspace: Workspace,
    *,
    content_preview: Annotated[  # noqa: ARG001  # for people
        LongText, Field(description="What is going to be written.")
    ],
) -> Facts:
    return request_approval(workspace)


_APPROVAL = Tool(
    name="request_global_write_approval",
    title="Ask for a token for one global write",
    about=(
        "Right before a write of scope `global` or to a shared wing: a token for one write, good for `ttl_seconds`, to "
        "hand on as `governance_token`. `blocked` where such writes are forbidden."
    ),
    answers={"token": TEXT, "expires_at": TEXT, "ttl_seconds": COUNT, "blocked": FLAG, "reason": TEXT},
    call=_request_approval,
    writes=True,
    refuse=lambda message, _: {"blocked": True, "reason": message},
)

SAVING = (
    _SAVE_SESSION,
    _STORE_SESSION,
    _SAVE_DECISION,
    _SAVE_PATTERN,
    _SAVE_CONTEXT,
    _UPSERT,
    _APPROVAL,
)
