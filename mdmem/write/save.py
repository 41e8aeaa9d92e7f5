"""Saving for agents: a record is there afterwards or the answer says why not, whatever happens; nothing is raised."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mdmem.errors import EnvironmentFaultError, MdmemError
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.attempt import SaveExecutor
from mdmem.write.calls import PRODUCED_BY, read_request
from mdmem.write.governance import ask_for_token
from mdmem.write.pending import PendingQueue
from mdmem.write.results import BatchSaveResult, SaveResult, SaveStanding, SaveStatus, failed

Clock = Callable[[], datetime]
# Seconds: behind seven others, of which each takes its time, waits the eighth.
_WAIT = 30.0


def _utc_now() -> datetime:
    return datetime.now(UTC)


def open_queue(workspace: Workspace, *, now: Clock = _utc_now, wait: float = _WAIT) -> PendingQueue:
    """Return the writes of a root that wait; `wait` is how long each waits, in seconds, for other processes."""
    return PendingQueue(SaveExecutor(workspace, now=now, wait=wait))


def save(
    workspace: Workspace, kind: str, arguments: Mapping[str, Any], *, now: Clock = _utc_now, wait: float = _WAIT
) -> SaveResult:
    """Save a record of a kind, compared with what is there, after what failed before was tried again.

    `arguments` are plain JSON values, as `read_request` takes them.
    """
    return _saved(open_queue(workspace, now=now, wait=wait), kind, arguments)


def _saved(queue: PendingQueue, kind: str, arguments: Mapping[str, Any]) -> SaveResult:
    try:
        request = read_request(kind, arguments)
    except MdmemError as error:
        return failed(str(error))
    return queue.run(request)


def save_with_learnings(
    workspace: Workspace, arguments: Mapping[str, Any], *, now: Clock = _utc_now, wait: float = _WAIT
) -> BatchSaveResult:
    """Save a session with what it taught; each part stands for itself, and the session names those that are there.

    What was there before counts as taught, too. `arguments` are the session, its `decisions` and `patterns`, and
    `project_id`, `focus` and `agent` for all of them; rooms are those of the settings.
    """
    queue = open_queue(workspace, now=now, wait=wait)
    rest = {name: arguments.get(name) for name in ("project_id", "focus", "agent")}
    session = {"session": arguments.get("session"), **rest}
    first = _saved(queue, "session", session)
    waiting = read_request("session", session).ledger_id if first.waits else None
    learned = {
        kind: tuple(
            _save_learned(queue, kind, {kind: one, **rest, PRODUCED_BY: first.artifact_id or waiting}, waiting)
            for one in _listed(arguments.get(f"{kind}s"))
        )
        for kind in ("decision", "pattern")
    }
    return BatchSaveResult(session=first, decisions=learned["decision"], patterns=learned["pattern"])


def _save_learned(queue: PendingQueue, kind: str, arguments: Mapping[str, Any], waiting: str | None) -> SaveResult:
    """Save what a session taught; `waiting` is the session's id in the ledger, where it waits.

    Whichever of the two is written last names the other.
    """
    result = _saved(queue, kind, arguments)
    if waiting is not None and result.status is SaveStatus.BLOCKED_SCOPE:
        return queue.executor.keep(read_request(kind, arguments), EnvironmentFaultError("its session waits, too"))
    if waiting is not None and result.artifact_id is not None:
        # Where that cannot be noted, the session waits all the same, only without the link.
        with contextlib.suppress(EnvironmentFaultError):
            queue.name_produced(waiting, result.artifact_id)
    return result


def _listed(given: object) -> Sequence[object]:
    if given is None:
        return ()
    # What is no list is read as one record, and refused as that if it is none.
    return given if isinstance(given, (list, tuple)) else (given,)


def get_save_status(workspace: Workspace, project_id: object) -> SaveStanding:
    """Return how the writes of a project stand, of all projects without one; nothing that waits is tried again."""
    queue = open_queue(workspace)
    try:
        wings = queue.executor.fresh().catalog.wings
    except (MdmemError, OSError):
        wings = {}
    named = project_id.strip() if isinstance(project_id, str) else ""
    return queue.standing(named or None, wings)


def request_approval(workspace: Workspace, *, now: Clock = _utc_now) -> dict[str, Any]:
    """Return a token for one write of scope `global`, or why there is none."""
    try:
        fresh = open_queue(workspace).executor.fresh()
        token = ask_for_token(fresh, now())
    except MdmemError as error:
        return {"blocked": True, "reason": str(error)}
    seconds = fresh.settings.token_seconds
    return {"token": token.text, "expires_at": token.expires_at.isoformat(), "ttl_seconds": seconds}
