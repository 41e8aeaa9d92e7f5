"""Saving for agents: a record is there afterwards or the answer says why not, whatever happens; nothing is raised."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, MdmemError, NotFoundError, UsageError
from mdmem.model.entry import Wing
from mdmem.store.state.pending_writes import (
    Blocked,
    PendingWrite,
    PendingWrites,
)
from mdmem.store.workspace.scope import find_wing
from mdmem.store.workspace.visibility import may_retry
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.attempt import SaveExecutor
from mdmem.write.governance import ask_for_token
from mdmem.write.records import (
    PRODUCED,
    PRODUCED_BY,
    VERBS,
    SaveRequest,
    read_request,
    request_again,
)
from mdmem.write.results import NOT_YET, BatchSaveResult, SaveResult, SaveStanding, SaveStatus, failed

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


def concerns(record: PendingWrite, wings: Mapping[str, Wing], *, project: str | None, scope: str | None) -> bool:
    """Say whether a write belongs to a project and to a scope; None for either is any.

    A project that has no wing yet is known by its words alone.
    """
    return _is_of(record, wings, project) and (scope is None or _is_in(record, scope))


def blocked_saves(
    workspace: Workspace, ledger: PendingWrites, *, project: str | None = None, scope: str | None = None
) -> tuple[Blocked, ...]:
    """Return the saves that a similar entry stopped, of the wings that are seen, of a project and a scope.

    None for either is any; one that stands among the pending writes is no other. Raises EnvironmentFaultError where the
    state cannot be read.
    """
    stopped = [one for one in ledger.blocked_writes() if workspace.access.reads(one.wing)]
    waiting = {one.id for one in ledger.pending()} if stopped else set()
    found = [one for one in stopped if one.request not in waiting]
    wings = workspace.catalog.wings if found and (project, scope) != (None, None) else {}
    meant = find_wing(project, wings) if project is not None else None
    of_project = [one for one in found if project in (None, one.project) or meant == one.wing]
    if scope is None:
        return tuple(of_project)
    return tuple(one for one in of_project if _is_shared(wings, one.wing) is (scope == "global") and scope != "focus")


def _is_shared(wings: Mapping[str, Wing], name: str) -> bool:
    return name in wings and wings[name].is_shared


def _is_of(record: PendingWrite, wings: Mapping[str, Wing], project: str | None) -> bool:
    named = record.arguments.get("project_id")
    if project is None or named == project:
        return True
    meant = find_wing(project, wings)
    return meant is not None and isinstance(named, str) and find_wing(named, wings) == meant


def _is_in(record: PendingWrite, scope: str) -> bool:
    if scope == "focus":
        return bool(record.arguments.get("focus"))
    content = record.arguments.get(VERBS.get(record.verb, ""))
    stated = content if isinstance(content, Mapping) else {}
    is_global = "global" in (stated.get("scope"), stated.get("save_scope"))
    return is_global is (scope == "global")


# Before a write so many are tried again; `mdmem pending retry` tries them all.
_AT_ONCE = 3


class RetryResult(Struct, frozen=True):
    """A write that was tried again, and what became of it."""

    write: PendingWrite
    result: SaveResult


class PendingQueue:
    """The writes of one root that wait."""

    def __init__(self, executor: SaveExecutor) -> None:
        """Take what carries out a request, over the root as its caller sees it."""
        self.executor, self.ledger = executor, executor.ledger
        self._written: dict[str, str] = {}

    def run(self, request: SaveRequest) -> SaveResult:
        """Try again what waits, a few at a time, then carry out a request, which may be one that waits."""
        try:
            waiting = self.ledger.pending()
            others = [one for one in waiting if one.id != request.ledger_id and not one.refused and self._is_ours(one)]
            # Those tried least come first, so that one which never succeeds holds up no other.
            for record in _sessions_first(sorted(others, key=lambda one: one.attempts))[:_AT_ONCE]:
                result = self._again(record)
                if result is not None and result.waits:
                    # What stopped this one stops the others, too, and waiting for it takes time.
                    break
            for record in waiting:
                if record.id == request.ledger_id:
                    return self._repeated(record, request)
        except EnvironmentFaultError:
            # Where the ledger cannot be read, the write itself may pass all the same.
            pass
        session = self._written.get(request.text(PRODUCED_BY) or "")
        if session is not None:
            request.arguments[PRODUCED_BY] = session
        return self.executor.run(request)

    def retry(self, prefix: str | None = None) -> tuple[RetryResult, ...]:
        """Try again what waits, all or the one whose id begins so; raises NotFoundError and EnvironmentFaultError."""
        found = self.ledger.pending() if prefix is None else (self._failed(prefix),)
        tried = ((record, self._again(record)) for record in _sessions_first(found))
        return tuple(RetryResult(record, result) for record, result in tried if result is not None)

    def drop(self, prefix: str) -> PendingWrite | Blocked:
        """Give up a write for good; raises NotFoundError, and UsageError for one that is being tried at this moment."""
        record = self.get(prefix)
        if isinstance(record, Blocked):
            self.ledger.forget_blocked(record.key)
            return record
        if self.ledger.claim(record.id) is None:
            raise UsageError(f"{record.id[:12]} is being tried again at this moment")
        self.ledger.done(record.id)
        return record

    def _failed(self, prefix: str) -> PendingWrite:
        record = self.get(prefix)
        if isinstance(record, Blocked):
            hint = f"save it again with `supersedes` or `distinct_from` set to {record.candidate}"
            raise UsageError(f"{record.id[:12]} did not fail: {record.candidate} says much the same; {hint}")
        return record

    def get(self, prefix: str) -> PendingWrite | Blocked:
        """Return the write whose id begins so; raises NotFoundError for none and UsageError for several."""
        known: tuple[PendingWrite | Blocked, ...] = (*self.ledger.pending(), *self.ledger.blocked_writes())
        found = [one for one in known if one.id.startswith(prefix.lower())] if prefix else []
        if len(found) > 1:
            raise UsageError(f"`{prefix}` means {len(found)} writes; write more of the id")
        if not found:
            raise NotFoundError(f"no write `{prefix}` waits; `mdmem pending` lists them")
        return found[0]

    def standing(self, project_id: str | None, wings: Mapping[str, Wing]) -> SaveStanding:
        """Return how the writes of a project stand, None for all: those that were refused wait for a person."""
        try:
            records = [one for one in self.ledger.pending() if _concerns(one, project_id, wings) and self._is_ours(one)]
            blocked = blocked_saves(self.executor.workspace, self.ledger, project=project_id)
        except EnvironmentFaultError:
            return SaveStanding(status=SaveStatus.FAILED)
        # What a similar entry stopped is not refused: it passes once its caller says how the two stand.
        refused = frozenset((*(one.refused for one in records), *(False for _ in blocked)))
        moments = [*(one.created for one in records), *(one.at for one in blocked)]
        return SaveStanding(
            status=_STANDING[refused],
            oldest_pending_at=min(moments, default=None),
            artifact_ids=tuple(one.id for one in records),
            blocked=blocked,
        )

    def _is_ours(self, record: PendingWrite) -> bool:
        return may_retry(self.executor.workspace, record)

    def _repeated(self, record: PendingWrite, request: SaveRequest) -> SaveResult:
        """Carry out a request that waits already: with its new token, if it came with one."""
        result = self._again(record, request.token)
        if result is not None:
            return result
        message = "the same write waits already, and another process is trying it at this moment"
        return SaveResult(status=SaveStatus.PENDING_RETRY, message=message)

    def _again(self, listed: PendingWrite, token: str | None = None) -> SaveResult | None:
        """Try one write again, alone among all processes; None where another has it."""
        record = self.ledger.claim(listed.id)
        if record is None:
            return None
        result = self._written_before(record) or self._tried(record, token)
        # Where the ledger refuses, what became of the write is the answer all the same: the next attempt finds it.
        with contextlib.suppress(EnvironmentFaultError):
            if result.is_there and result.artifact_id is not None:
                self.ledger.done(record.id)
                self._tell(record, result.artifact_id)
            else:
                error = (result.message or "").removeprefix(NOT_YET)
                self.ledger.give_back(record.id, error, refused=result.is_refused)
        return result

    def _tried(self, record: PendingWrite, token: str | None) -> SaveResult:
        try:
            request = request_again(record)
        except MdmemError as error:
            return failed(str(error))
        request.token = token
        return self.executor.run(request)

    def name_produced(self, session: str, address: str) -> None:
        """Let a session that waits name what came out of it; `session` is its id in the ledger."""
        for known in self.ledger.pending():
            if known.id == session:
                self.ledger.note(session, {PRODUCED: [*known.arguments.get(PRODUCED, ()), address]})

    def _tell(self, record: PendingWrite, address: str) -> None:
        """Let what waits know where its session stands by now, and a session that waits what came out of it."""
        self._written[record.id] = address
        for known in self.ledger.pending():
            if known.arguments.get(PRODUCED_BY) == record.id:
                self.ledger.note(known.id, {PRODUCED_BY: address})
        if PRODUCED_BY in record.arguments:
            self.name_produced(record.arguments[PRODUCED_BY], address)

    def _written_before(self, record: PendingWrite) -> SaveResult | None:
        """Return the answer where an attempt wrote whose process died before it could say so."""
        for path, digest in record.intended.items():
            try:
                content = read_regular(self.executor.workspace.location.root / path)
            except OSError:
                continue
            if hashlib.sha256(content).hexdigest() == digest:
                address = path.removesuffix(".md")
                return SaveResult(status=SaveStatus.SAVED, artifact_id=address, message=f"{address} was written before")
        return None


def _sessions_first(records: Sequence[PendingWrite]) -> list[PendingWrite]:
    """Return the writes with what came out of a session that waits, too, behind all others."""
    waiting = {one.id for one in records}
    return sorted(records, key=lambda one: one.arguments.get(PRODUCED_BY) in waiting)


# By whether those that wait were refused: none waits, all are to be tried again, some, none of them.
_STANDING = {
    frozenset[bool](): SaveStatus.SAVED,
    frozenset({False}): SaveStatus.PENDING_RETRY,
    frozenset({False, True}): SaveStatus.PARTIAL,
    frozenset({True}): SaveStatus.FAILED,
}


def _concerns(record: PendingWrite, project_id: str | None, wings: Mapping[str, Wing]) -> bool:
    named = record.arguments.get("project_id")
    if project_id is None or not isinstance(named, str):
        return project_id is None
    meant = find_wing(project_id, wings)
    return named == project_id or (meant is not None and find_wing(named, wings) == meant)
