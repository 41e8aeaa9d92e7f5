"""The reading tools of the retrieval contract, in its words: bundles, scope states, hygiene, the standing of writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mdmem.mcp.tools.core import from_top, is_invariant
from mdmem.mcp.tools.shape import (
    AT,
    COUNT,
    FLAG,
    FLAG_OR_NULL,
    FOCUS,
    LABELS,
    NEEDED_PROJECT,
    OBJECT,
    OBJECTS,
    PATHS,
    PROBLEMS,
    PROJECT,
    READ_STATUS,
    SCOPES,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    Facts,
    Parameter,
    ParameterKind,
    Tool,
    one_of,
)

if TYPE_CHECKING:
    from mdmem.workspace.workspace import Workspace

_STATES = one_of("resolved", "uncertain", "unresolved")


def _retrieve_context(workspace: Workspace, **stated: Any) -> Facts:
    from mdmem.retrieval.retrieve_context import retrieve_context

    stated["paths"] = from_top(workspace, stated["paths"])
    return retrieve_context(workspace, **stated).as_json()


def _no_context(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
    state = "uncertain" if arguments["project_id"] else "unresolved"
    return {
        "items": [],
        "retrieval_status": status,
        "scope_state": state,
        "conflicts_found": False,
        "hygiene_due": False,
        "message": message,
        "proposed": [],
        "degraded": True,
    }


_RETRIEVE_CONTEXT = Tool(
    name="retrieve_context",
    title="Load the memory of a project",
    about=(
        "Call this before you reason about a project: it loads its memory with the priority focus, then project, then "
        "global. Items come by authority: invariants, which no limit leaves out, then decisions, patterns and notes; "
        "at most 10 of the focus, 10 of the project and 5 global ones. Superseded decisions are left out. "
        "`proposed` holds drafts and what the default branch has not got, which do not bind. "
        "`retrieval_status` tells `empty` from `failed` and `timed_out`: "
        "after those two go on without the memory. `conflicted`: entries contradict each other; ask a person. "
        "`problems` names files that cannot be read and may bind. Where `hygiene_due` is true, call `run_hygiene`."
    ),
    parameters=(
        NEEDED_PROJECT,
        Parameter(
            name="scope",
            default="project",
            choices=SCOPES,
            about="The minimum scope to query: `global` reads the shared wings only, `project` adds the project.",
        ),
        FOCUS,
        Parameter(
            name="categories",
            kind=ParameterKind.TEXTS,
            choices=LABELS,
            about="Only these labels. Invariants are left out, and counted, where they are not among them.",
        ),
        Parameter(name="topic", about="Words that the items are to hold, or be near to."),
        PATHS,
        AT,
    ),
    answers={
        "items": OBJECTS,
        "retrieval_status": READ_STATUS,
        "scope_state": _STATES,
        "conflicts_found": FLAG,
        "hygiene_due": FLAG,
        "proposed": OBJECTS,
        "problems": PROBLEMS,
        "invariants_remaining": COUNT,
        "message": TEXT_OR_NULL,
    },
    call=_retrieve_context,
    fall_back=_no_context,
    keeps_time=True,
    binds=is_invariant,
)


def _get_scope_state(workspace: Workspace, *, project_id: str | None, focus: str | None) -> Facts:
    from mdmem.retrieval.surface import get_scope_state

    return get_scope_state(workspace, project_id=project_id, focus=focus).as_json()


_GET_SCOPE_STATE = Tool(
    name="get_scope_state",
    title="What may be read and written",
    about=(
        "Call this at the start of every session, before you load or save memory: it tells whether the project, and "
        "the focus if one is given, exist. `resolved`: read and write. `uncertain`: the project does not exist yet, "
        "or the focus; `save_session` creates the project, other writes answer `blocked_scope` until then. "
        "`unresolved`: no `project_id` is given."
    ),
    parameters=(PROJECT, FOCUS),
    answers={
        "scope_state": _STATES,
        "project_exists": FLAG,
        "focus_exists": FLAG_OR_NULL,
        "message": TEXT_OR_NULL,
        "wing": TEXT_OR_NULL,
    },
    call=_get_scope_state,
)


def _memory_surface(workspace: Workspace, *, query: str, project_id: str | None, limit: int) -> Facts:
    from mdmem.retrieval.surface import memory_surface

    return memory_surface(workspace, query=query, project_id=project_id, limit=limit).as_json()


def _no_surface(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
    asked = {"matches": [], "query_used": arguments["query"], "total_found": 0}
    return {"retrieval_status": status, **asked, "next_step": message, "message": message, "degraded": True}


_MEMORY_SURFACE = Tool(
    name="memory_surface",
    title="One quick look-up",
    about=(
        "Call this for one quick keyword look-up, when you only want to see whether the memory knows something. It "
        "merges no scopes and ranks by words alone; for what is binding call `retrieve_context`."
    ),
    parameters=(
        Parameter(name="query", needed=True, about="The words to look for."),
        PROJECT,
        Parameter(name="limit", kind=ParameterKind.WHOLE, default=5, about="Matches at most."),
    ),
    answers={"matches": OBJECTS, "query_used": TEXT, "total_found": COUNT, "next_step": TEXT_OR_NULL},
    call=_memory_surface,
    fall_back=_no_surface,
    keeps_time=True,
)


def _run_hygiene(workspace: Workspace, *, project_id: str | None, scope: str | None, check_pending_only: bool) -> Facts:
    from mdmem.hygiene.run import run_hygiene

    return run_hygiene(workspace, project_id, scope, check_pending_only=check_pending_only)


_RUN_HYGIENE = Tool(
    name="run_hygiene",
    title="What needs maintenance",
    about=(
        "Call this when `hygiene_due` is true, or when a save was stopped for `manual_review`: it reports duplicates, "
        "outdated decisions, patterns not validated for long, several entities of one name, and writes that did not "
        "complete. It only reports: it never deletes, merges or supersedes. That a full run was made is recorded."
    ),
    parameters=(
        Parameter(name="project_id", about="The project; without it everything is looked at.", longest=200),
        Parameter(name="scope", choices=SCOPES, about="Only the shared wings, the project, or its focus areas."),
        Parameter(
            name="check_pending_only", kind=ParameterKind.FLAG, default=False, about="Look only at writes that wait."
        ),
    ),
    answers={
        "project_id": TEXT_OR_NULL,
        "scope": TEXT_OR_NULL,
        "duplicates_found": COUNT,
        "outdated_decisions": COUNT,
        "obsolete_patterns": COUNT,
        "entity_drift_count": COUNT,
        "unresolved_saves": COUNT,
        "stale_items": OBJECTS,
        "candidate_ids": OBJECT,
        "checked_at": TEXT,
    },
    call=_run_hygiene,
)


def _get_save_status(workspace: Workspace, *, project_id: str) -> Facts:
    from mdmem.saving.save import get_save_status

    return get_save_status(workspace, project_id).as_json()


_GET_SAVE_STATUS = Tool(
    name="get_save_status",
    title="How the writes of a project stand",
    about=(
        "Call this after a save answered `pending_retry`, to see whether writes of a project still wait. Nothing that "
        "waits is tried again by it; the next write does that."
    ),
    parameters=(NEEDED_PROJECT,),
    answers={
        "status": one_of("saved", "pending_retry", "failed", "partial"),
        "count": COUNT,
        "oldest_pending_at": TEXT_OR_NULL,
        "artifact_ids": TEXTS,
    },
    call=_get_save_status,
)

CONTRACT = (
    _RETRIEVE_CONTEXT,
    _GET_SCOPE_STATE,
    _MEMORY_SURFACE,
    _RUN_HYGIENE,
    _GET_SAVE_STATUS,
)
