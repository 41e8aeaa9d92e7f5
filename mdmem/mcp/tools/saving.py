"""The saving tools of the contracts: each answers with a result, whatever happens, and raises at nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mdmem.mcp.tools.shape import (
    AGENT,
    COUNT,
    FLAG,
    FOCUS,
    NEEDED_PROJECT,
    NUMBER,
    OBJECT,
    OBJECTS,
    ROOM,
    SCOPES,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    TOKEN,
    Facts,
    Parameter,
    ParameterKind,
    Tool,
    described,
    one_of,
)

if TYPE_CHECKING:
    from mdmem.workspace.workspace import Workspace

_SCOPE = described(one_of(*SCOPES), "for whom it is meant; `global` goes to the shared wing and needs a token")
_STATUS = one_of("saved", "failed", "blocked_scope", "pending_retry", "duplicate_skip")
_RESULT: Mapping[str, Mapping[str, Any]] = {
    "status": _STATUS,
    "artifact_id": TEXT_OR_NULL,
    "dedup_outcome": TEXT_OR_NULL,
    "candidate_id": TEXT_OR_NULL,
    "message": TEXT_OR_NULL,
    "next_step": TEXT_OR_NULL,
}
_DECISION: Mapping[str, Mapping[str, Any]] = {
    "title": described(TEXT, "short decision title"),
    "rationale": described(TEXT, "why this decision was made"),
    "owner": described(TEXT, "who made or owns the decision"),
    "date": described(TEXT, "when it was made, as YYYY-MM-DD"),
    "scope": _SCOPE,
    "supersedes": described(TEXT, "the id of an older decision that this one replaces"),
    "distinct_from": described(TEXTS, "ids of similar decisions that stay in force beside this one"),
    "confidence": described(NUMBER, "0.0 to 1.0"),
}
_PATTERN: Mapping[str, Mapping[str, Any]] = {
    "trigger": described(TEXT, "when the pattern applies"),
    "repeatable_steps": TEXTS,
    "exclusions": described(TEXTS, "when it does not apply"),
    "scope": _SCOPE,
    "last_validated_at": described(TEXT, "ISO 8601"),
}
_SESSION: Mapping[str, Mapping[str, Any]] = {
    "objective": TEXT,
    "actions_taken": TEXTS,
    "decisions_made": TEXTS,
    "open_items": TEXTS,
    "next_actions": TEXTS,
    "save_scope": _SCOPE,
}
_RELATED: Mapping[str, Mapping[str, Any]] = {
    "entity_id": described(TEXT, "the id or the name of an entity that exists"),
    "relationship_type": one_of(
        "BELONGS_TO", "CONFLICTS_WITH", "PRODUCED", "MERGES_INTO", "PRODUCES", "CONSUMES", "READS", "WRITES", "INVOLVES"
    ),
    "properties": OBJECT,
}
_BATCH: Mapping[str, Mapping[str, Any]] = {
    "session": OBJECT,
    "decisions": OBJECTS,
    "patterns": OBJECTS,
    "overall": one_of("saved", "partial", "failed"),
}


def _saving(kind: str) -> Callable[..., Facts]:
    def save_kind(workspace: Workspace, **stated: Any) -> Facts:
        from mdmem.saving.save import save

        return save(workspace, kind, stated).as_json()

    return save_kind


def _save_with_learnings(workspace: Workspace, **stated: Any) -> Facts:
    from mdmem.saving.save import save_with_learnings

    return save_with_learnings(workspace, stated).as_json()


def _failed(message: str, advice: str) -> Facts:
    nothing = dict.fromkeys(("artifact_id", "dedup_outcome", "candidate_id"))
    return {"status": "failed", **nothing, "message": message, "next_step": advice}


def _failed_batch(message: str, advice: str) -> Facts:
    return {"session": _failed(message, advice), "decisions": [], "patterns": [], "overall": "failed"}


def _record(name: str, about: str, fields: Mapping[str, Mapping[str, Any]], *needed: str) -> Parameter:
    return Parameter(
        name=name, kind=ParameterKind.RECORD, needed=True, about=about, fields=fields, needed_fields=needed
    )


def _save_tool(kind: str, name: str, title: str, about: str, *records: Parameter) -> Tool:
    return Tool(
        name=name,
        title=title,
        about=about,
        parameters=(*records, NEEDED_PROJECT, FOCUS, TOKEN, AGENT, ROOM),
        answers=_RESULT,
        call=_saving(kind),
        writes=True,
        repeats=False,
        refuse=_failed,
    )


_SAVE_DECISION = _save_tool(
    "decision",
    "save_decision",
    "Save a decision",
    "When an architectural or technical decision was made, outside of a session's end. The same text answers "
    "`duplicate_skip`; a very similar one supersedes the older; a similar one is not written: `pending_retry` with "
    "`manual_review` and a `candidate_id`. Then call again with `supersedes` set to it, or with `distinct_from` where "
    "both are to stand. Decisions are drafts until a person approves them; the older stays in force until then.",
    _record("decision", "The decision.", _DECISION, "title", "rationale"),
)
_SAVE_PATTERN = _save_tool(
    "pattern",
    "save_pattern",
    "Save a pattern",
    "When a workflow proved itself and should be repeated: its trigger, its steps, and when not to use it. The same "
    "trigger and steps answer `duplicate_skip`.",
    _record("pattern", "The pattern.", _PATTERN, "trigger", "repeatable_steps"),
)
_SAVE_CONTEXT = _save_tool(
    "context",
    "save_context",
    "Save a piece of context",
    "To keep background that is neither decision nor pattern: reference material, an explanation. Saved twice, it is "
    "there twice.",
    _record(
        "context",
        "The piece of context.",
        {
            "content": TEXT,
            "topic": described(TEXT, "a short tag"),
            "scope": _SCOPE,
            "relevance_score": described(NUMBER, "0.0 to 1.0; higher is likelier to be surfaced"),
        },
        "content",
        "topic",
    ),
)
_SAVE_SESSION = _save_tool(
    "session",
    "save_session",
    "Save a session of work",
    "At the end of a session: what it was for, what was done and decided, what is open, what comes next. It creates "
    "a project that does not exist yet.",
    _record("session", "The session.", _SESSION, "objective"),
)
_STORE_SESSION = Tool(
    name="store_session_with_learnings",
    title="Save a session with what it taught",
    about=(
        "Instead of `save_session` where a session made decisions or found patterns: saves and links them in one "
        "call, each compared as by `save_decision` and `save_pattern`. A part that fails does not stop the others: "
        "`overall` is then `partial`."
    ),
    parameters=(
        _record("session", "The session.", _SESSION, "objective"),
        Parameter(
            name="decisions",
            kind=ParameterKind.RECORDS,
            about="The decisions made, as for `save_decision`.",
            fields=_DECISION,
            needed_fields=("title", "rationale"),
        ),
        Parameter(
            name="patterns",
            kind=ParameterKind.RECORDS,
            about="The patterns found, as for `save_pattern`.",
            fields=_PATTERN,
            needed_fields=("trigger", "repeatable_steps"),
        ),
        NEEDED_PROJECT,
        FOCUS,
        AGENT,
    ),
    answers=_BATCH,
    call=_save_with_learnings,
    writes=True,
    repeats=False,
    refuse=_failed_batch,
)
_UPSERT = _save_tool(
    "entity",
    "upsert_entity_with_deps",
    "Save an entity with its relations",
    "To keep a fact about a named thing (a service, a table, a team) and what it has to do with others that exist. The "
    "same name within the scope updates the same entity.",
    _record(
        "entity",
        "The entity.",
        {"entity_name": TEXT, "fact": TEXT, "scope": _SCOPE},
        "entity_name",
        "fact",
    ),
    Parameter(
        name="related_entities",
        kind=ParameterKind.RECORDS,
        about="Its relations.",
        fields=_RELATED,
        needed_fields=("entity_id", "relationship_type"),
    ),
)


def _request_approval(workspace: Workspace, *, content_preview: str) -> Facts:  # noqa: ARG001  # for people
    from mdmem.saving.save import request_approval

    return request_approval(workspace)


_APPROVAL = Tool(
    name="request_global_write_approval",
    title="Ask for a token for one global write",
    about=(
        "Right before a write of scope `global` or to a shared wing: a token for one write, good for `ttl_seconds`, to "
        "hand on as `governance_token`. `blocked` where such writes are forbidden."
    ),
    parameters=(Parameter(name="content_preview", needed=True, about="What is going to be written.", longest=60_000),),
    answers={"token": TEXT, "expires_at": TEXT, "ttl_seconds": COUNT, "blocked": FLAG, "reason": TEXT},
    call=_request_approval,
    writes=True,
    repeats=False,
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
