"""Save the records of agents. Each answer says whether the record is saved, and no exception is raised.

A lock makes comparing, checking and writing one step, so that two saves cannot overlap. A request that fails for a
temporary reason becomes a waiting write: it is kept in the ledger and tried again before the next request. The hash of
a request is its key, so that no request is written twice.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, LostRaceError, MdmemError, NotFoundError, UsageError, reason_of
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.git.status import state_of
from mdmem.store.settings import Settings
from mdmem.store.state.files import BusyError, write_lock
from mdmem.store.state.local_records import Blocked, PendingWrite, PendingWrites, Receipt, id_of
from mdmem.store.state.tokens import ApprovalTokenError, check_token, request_token, use_token
from mdmem.store.workspace.scope import find_wing
from mdmem.store.workspace.visibility import is_visible, may_retry, require_writable
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet
from mdmem.write.plan import PlannedSave, Saving, start_save
from mdmem.write.records import (
    GRANTED,
    NOT_YET,
    PRODUCED_BY,
    VERBS,
    BatchSaveResult,
    SaveRequest,
    SaveResult,
    SaveStatus,
    blocked_fields,
    failed,
    read_request,
)
from mdmem.write.write import WriteOptions, refuse_text_faults, write

Clock = Callable[[], datetime]
NOW: Clock = partial(datetime.now, UTC)
_Result = TypeVar("_Result")
# The folder whose lock is held from the comparison with existing entries until the write.
SAVING = "saving"
# Seconds that a save waits for the lock. With eight agents, the last one waits for seven others.
_WAIT = 30.0
# The number of attempts if somebody else writes between the plan and the write.
_ATTEMPTS = 3
# The maximum number of waiting writes that are tried again before a new write.
_AT_ONCE = 3
# A client that lost an answer sends the same call again. Within this time it does not create a second entry.
SAME_REQUEST = timedelta(minutes=2)
_NEVER_COMPARED = frozenset({"context", "session"})
_ASK_FOR_TOKEN = "call `request_global_write_approval`, then repeat this call with its token as `governance_token`"


class GlobalWritesForbiddenError(UsageError):
    """The settings forbid writes to shared wings."""


def require_token(workspace: Workspace, wing: str, token: str | None, now: datetime, *, advice: str = "") -> None:
    """Raise UsageError unless a token, not used up yet, permits a write to a shared wing. `advice` ends the message."""
    _refuse_where_forbidden(workspace.settings)
    if token is None:
        raise UsageError(f"a write to the shared wing `{wing}` needs a `governance_token`{advice}")
    check_token(workspace.state_folder, token, now)


def request_approval(workspace: Workspace, *, now: Clock = NOW) -> dict[str, Any]:
    """Return a token for one write to a shared wing as JSON. Raises UsageError where such writes are forbidden."""
    fresh = workspace.reread()
    _refuse_where_forbidden(fresh.settings)
    seconds = fresh.settings.token_seconds
    token = request_token(fresh.state_folder, now(), seconds=seconds)
    return {"token": token.text, "expires_at": token.expires_at.isoformat(timespec="seconds"), "ttl_seconds": seconds}


def _refuse_where_forbidden(settings: Settings) -> None:
    if not settings.global_writes:
        reason = "writes to shared wings are forbidden: mdmem.toml sets `governance.global_writes = false`"
        raise GlobalWritesForbiddenError(reason)


class Saver:
    """Saves records of agents in one memory. A save waits up to `wait` seconds for other processes."""

    def __init__(self, workspace: Workspace, *, now: Clock = NOW, wait: float = _WAIT) -> None:
        """Store the workspace and a clock. The files are read again for each save."""
        self.workspace, self._now, self._wait = workspace, now, wait
        self.ledger = PendingWrites(workspace.state_folder)

    def save(self, kind: str, arguments: Mapping[str, Any]) -> SaveResult:
        """Save a record, or retry it if it is pending, and return the result. Some other writes are retried first."""
        try:
            request = read_request(kind, arguments)
        except MdmemError as error:
            return failed(str(error))
        # Save the record even if the ledger cannot be read.
        with contextlib.suppress(EnvironmentFaultError):
            waiting = {one.id: one for one in self.ledger.pending()}
            same = waiting.pop(request.ledger_id, None)
            others = [one for one in waiting.values() if not one.refused and may_retry(self.workspace, one)]
            # Try the writes with the fewest attempts first, so that one that always fails does not delay the others.
            for record in _sessions_first(sorted(others, key=lambda one: one.attempts))[:_AT_ONCE]:
                result = self._try_again(record)
                if result is not None and result.waits:
                    # The other writes would fail for the same reason, and each attempt takes time.
                    break
            if same is not None:
                message = "the same write is waiting already, and another process is trying it now"
                busy = SaveResult(status=SaveStatus.PENDING_RETRY, message=message)
                return self._try_again(same, request.token) or busy
        return self._run(request)

    def save_with_learnings(self, arguments: Mapping[str, Any]) -> BatchSaveResult:
        """Save a `session`, and each of its `decisions` and `patterns` separately, linked to the session."""
        shared = {name: arguments.get(name) for name in ("project_id", "focus", "agent")}
        session = {"session": arguments.get("session"), **shared}
        first = self.save("session", session)
        waiting = read_request("session", session).ledger_id if first.waits else None
        shared[PRODUCED_BY] = first.artifact_id or waiting

        def learned(kind: str) -> tuple[SaveResult, ...]:
            given = arguments.get(f"{kind}s")
            # A value that is not a list counts as a list of one.
            records = given if isinstance(given, (list, tuple)) else () if given is None else (given,)
            return tuple(self.save(kind, {kind: one, **shared}) for one in records)

        return BatchSaveResult(session=first, decisions=learned("decision"), patterns=learned("pattern"))

    def retry(self, prefix: str | None = None) -> list[tuple[PendingWrite, SaveResult]]:
        """Retry the pending writes, or one by the `prefix` of its id; skip those that another process is retrying."""
        one = self.get(prefix) if prefix is not None else None
        if isinstance(one, Blocked):
            hint = f"save it again with `supersedes` or `distinct_from` set to {one.candidate}"
            raise UsageError(f"{one.id[:12]} cannot be repeated, since it is too similar to {one.candidate}; {hint}")
        records = _sessions_first(self.ledger.pending() if one is None else (one,))
        tried = ((record, self._try_again(record)) for record in records)
        return [(record, result) for record, result in tried if result is not None]

    def get(self, prefix: str) -> PendingWrite | Blocked:
        """Return the write whose id begins with `prefix`. Raises NotFoundError for none, and UsageError for several."""
        known: tuple[PendingWrite | Blocked, ...] = (*self.ledger.pending(), *self.ledger.blocked_writes())
        found = [one for one in known if one.id.startswith(prefix.lower())] if prefix else []
        if len(found) > 1:
            raise UsageError(f"`{prefix}` matches {len(found)} waiting writes; give more characters of the id")
        if not found:
            raise NotFoundError(f"no waiting write has the id `{prefix}`; `mdmem save --waiting` lists them")
        return found[0]

    def drop(self, prefix: str) -> PendingWrite | Blocked:
        """Delete and return a write that `get` finds. Raises UsageError while another process tries the write."""
        record = self.get(prefix)
        if isinstance(record, Blocked):
            self.ledger.remove_blocked(record.key)
            return record
        with self.ledger.claim(record.id) as claimed:
            if claimed is None:
                raise UsageError(f"another process is saving {record.id[:12]} right now; try again later")
            self.ledger.complete(record.id)
        return record

    def _try_again(self, listed: PendingWrite, token: str | None = None) -> SaveResult | None:
        """Try a waiting write again. Return None if another process is trying the same write."""
        with self.ledger.claim(listed.id) as record:
            if record is None:
                return None
            if (address := written_before(self.workspace, record.id)) is not None:
                message = f"{address} was written before"
                result = SaveResult(status=SaveStatus.SAVED, artifact_id=address, message=message)
            elif record.verb not in VERBS:
                result = failed(f"this version of mdmem cannot save a `{record.verb}`, which another version wrote")
            else:
                try:
                    request = read_request(VERBS[record.verb], record.arguments)
                    request.id, request.token = record.id, token
                    result = self._run(request)
                except MdmemError as error:
                    result = failed(str(error))
            # Return the result even if the ledger cannot be written. The next attempt then finds the entry.
            with contextlib.suppress(EnvironmentFaultError):
                if result.is_stored:
                    self.ledger.complete(record.id)
                else:
                    why = (result.message or "").removeprefix(NOT_YET)
                    # A refused save would fail again.
                    refused = not result.waits and result.status is not SaveStatus.BLOCKED_SCOPE
                    self.ledger.record_failure(record.id, why, refused=refused)
            return result

    def _run(self, request: SaveRequest) -> SaveResult:
        """Try to save a request. If it fails for a temporary reason, keep it in the ledger and use up its token."""
        try:
            return with_saving_lock(self.workspace, lambda fresh: self._attempt(fresh, request), wait=self._wait)
        except (EnvironmentFaultError, LostRaceError, OSError) as error:
            why = str(error) if isinstance(error, MdmemError) else reason_of(error)
        except MdmemError as refusal:
            return failed(str(refusal))
        try:
            if request.id is None:
                # Tokens are not stored, so the kept request must not need its token again.
                if request.token is not None and not request.arguments.get(GRANTED):
                    self._spend_token(request)
                verb, arguments = request.record.verb, dict(request.arguments)
                self.ledger.add(PendingWrite(verb=verb, arguments=arguments, created=self._now(), error=why))
        except ApprovalTokenError as refusal:
            return failed(str(refusal))
        except MdmemError as refusal:
            return failed(f"nothing was written: {why}; nor could it be kept for later: {refusal}", "call again later")
        return SaveResult(
            status=SaveStatus.PENDING_RETRY,
            message=f"{NOT_YET}{why}",
            next_step="nothing has to be done: the next write tries this one again, and so does `mdmem save --retry`",
        )

    def _attempt(self, workspace: Workspace, request: SaveRequest) -> SaveResult:
        """Compare, check and write a record while the lock is held. `workspace` has the files as they are now."""
        record, repository, now = request.record, workspace.location.repository, self._now()
        require_writable(workspace, request.text("project_id"), is_global=record.reach == "global")
        if workspace.settings.commit and repository is not None and (operation := state_of(repository)) is not None:
            raise BusyError(f"a {operation} is in progress in the repository, so a write could not be committed")
        # Replace the session's id in the ledger by the address of its entry.
        session = request.text(PRODUCED_BY)
        if session is not None and "/" not in session:
            if (address := written_before(self.workspace, session)) is not None:
                request.arguments[PRODUCED_BY] = address
            elif any(one.id == session and not one.refused for one in self.ledger.pending()):
                raise EnvironmentFaultError("the session of this record is not saved yet")
        saving = start_save(workspace, request, now)
        if not isinstance(saving, Saving):
            return saving
        # Records that are compared need no receipt, because the comparison finds an equal entry.
        key = request.id
        if key is None and record.kind in _NEVER_COMPARED:
            asked = {name: value for name, value in request.arguments.items() if name != "project_id"}
            key = request_key(workspace, record.verb, asked, wing=saving.wing)
            # A write that was tried again has its receipt under its id in the ledger.
            found = (written_before(workspace, one, since=now - SAME_REQUEST) for one in (key, request.ledger_id))
            if known := next(filter(None, found), None):
                return SaveResult(status=SaveStatus.SAVED, artifact_id=known, message=repeated_message(known))
        uses_token = saving.needs_token and not request.arguments.get(GRANTED)
        if uses_token:
            try:
                require_token(workspace, saving.wing, request.token, now)
            except UsageError as refusal:
                return failed(str(refusal), _ASK_FOR_TOKEN if workspace.settings.global_writes else None)
        planned = saving.plan()
        result = planned.result
        if planned.change_set is None:
            return self._remember_blocked(planned, request, now) if planned.blocked_key is not None else result
        change_set = replace(planned.change_set, agent=request.text("agent"))
        if uses_token:
            # Use up the token only if nothing else can refuse the write.
            refuse_text_faults(workspace, change_set.changes)
            write(workspace, lambda _: change_set, WriteOptions(is_dry=True))
            self._spend_token(request)
        if remark := write_new_entry(workspace, change_set, key=key, now=now):
            result = replace(result, message=f"{result.message}; {remark}")
        if planned.blocked_key is not None:
            # If this fails, the same decision can be saved once more.
            with contextlib.suppress(EnvironmentFaultError):
                self.ledger.remove_blocked(planned.blocked_key)
        return result

    def _remember_blocked(self, planned: PlannedSave, request: SaveRequest, now: datetime) -> SaveResult:
        result, confidence = planned.result, getattr(request.record, "confidence", None)
        blocked = Blocked(
            key=planned.blocked_key or "",
            confidence=1.0 if confidence is None else confidence,
            candidate=result.candidate_id or "",
            at=now,
            title=request.record.heading,
            project=request.text("project_id") or "",
            request=request.id or "",
        )
        try:
            self.ledger.add_blocked(blocked)
        except EnvironmentFaultError as error:
            return replace(result, message=f"{result.message}; that could not be recorded: {error}")
        return result

    def _spend_token(self, request: SaveRequest) -> None:
        use_token(self.workspace.state_folder, request.token or "", self._now())
        request.arguments[GRANTED] = True
        if request.id is not None:
            self.ledger.add_results(request.id, {GRANTED: True})


def _sessions_first(records: Iterable[PendingWrite]) -> list[PendingWrite]:
    """Return the writes, with those that belong to a session at the end, because the session must be saved first."""
    return sorted(records, key=lambda one: PRODUCED_BY in one.arguments)


def request_key(workspace: Workspace, verb: str, arguments: Mapping[str, Any], *, wing: str) -> str:
    """Return the hash of a request by this caller. `wing` is hashed in place of the project, which `arguments` lack."""
    access = workspace.access
    wings = [None if some is None else sorted(some) for some in (access.readable, access.writable)]
    return id_of(verb, {"asked": dict(arguments), "wing": wing, "by": [access.name, *wings]})


def repeated_message(address: str) -> str:
    """Return the message for a request whose entry was already saved."""
    return f"{address} was already saved by an identical call"


def written_before(workspace: Workspace, key: str, *, since: datetime | None = None) -> str | None:
    """Return the address of an existing entry that an identical request wrote, at or after `since`; or None."""
    receipt = PendingWrites(workspace.state_folder).receipt(key)
    if receipt is None or (since is not None and receipt.at < since):
        return None
    try:
        content = read_regular(workspace.location.root / f"{receipt.address}.md")
    except OSError:
        return None
    exists = receipt.is_written or hashlib.sha256(content).hexdigest() == receipt.digest
    return receipt.address if exists else None


def with_saving_lock(workspace: Workspace, attempt: Callable[[Workspace], _Result], *, wait: float = _WAIT) -> _Result:
    """Call `attempt` with fresh files while no other agent saves; retry it a few times after a LostRaceError."""
    workspace.location.require_root()

    def locked() -> _Result:
        with write_lock(workspace.state_folder / SAVING, wait=wait):
            return attempt(workspace.reread())

    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(LostRaceError):
            return locked()
    return locked()


def write_new_entry(workspace: Workspace, change_set: ChangeSet, *, key: str | None, now: datetime) -> str | None:
    """Check and write what an agent saves. Return git's message if only the commit fails, else None.

    The receipt under `key`, by which a repeated request is recognised, is stored before the write and completed after
    it; an error there does not stop the save. Raises UsageError for a text that the checks refuse, and the errors of
    `write`.
    """
    refuse_text_faults(workspace, change_set.changes)
    new = next((one for one in change_set.changes if one.before is None and is_entry_place(one.path)), None)
    ledger, receipt, remark = PendingWrites(workspace.state_folder), None, None
    if new is not None and key is not None:
        digest = hashlib.sha256(new.after or b"").hexdigest()
        receipt = Receipt(address=new.to.removesuffix(".md"), digest=digest, at=now)
        with contextlib.suppress(EnvironmentFaultError):
            ledger.add_receipt(key, receipt)
    try:
        write(workspace, lambda _: change_set, WriteOptions())
    except EnvironmentFaultError as error:
        # Only the commit failed if every file has its new content.
        with contextlib.suppress(OSError):
            if all(read_regular(workspace.location.root / one.to) == one.after for one in change_set.changes):
                remark = str(error)
        if remark is None:
            raise
    if receipt is not None and key is not None:
        with contextlib.suppress(EnvironmentFaultError):
            ledger.add_receipt(key, replace(receipt, is_written=True))
    return remark


class WaitingSaves(Struct, frozen=True):
    """The saves that are not done, the oldest first: failed, stopped by a similar entry, or in unreadable files."""

    pending: tuple[PendingWrite, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    unreadable: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether any save waits."""
        return bool(self.pending or self.blocked or self.unreadable)


def waiting_saves(workspace: Workspace, *, project: str | None = None, scope: str | None = None) -> WaitingSaves:
    """Return the unfinished saves in visible wings, only those of `project` and of `scope` if they are given."""
    ledger = PendingWrites(workspace.state_folder)
    known = ledger.pending()
    ids, pending = {one.id for one in known}, [one for one in known if is_visible(workspace, one)]
    # A blocked save may also be a pending write.
    blocked = [one for one in ledger.blocked_writes() if workspace.access.reads(one.wing) and one.request not in ids]
    wings = workspace.catalog.wings if known or blocked else {}
    if project is not None:
        wing = find_wing(project, wings)

        def is_of_project(name: object) -> bool:
            return name == project or (wing is not None and isinstance(name, str) and find_wing(name, wings) == wing)

        pending = [one for one in pending if is_of_project(one.arguments.get("project_id"))]
        blocked = [one for one in blocked if one.project == project or one.wing == wing]
    if scope == "focus":
        pending, blocked = [one for one in pending if one.arguments.get("focus")], []
    elif scope is not None:

        def is_global(one: PendingWrite) -> bool:
            record = one.arguments.get(VERBS.get(one.verb, ""))
            return isinstance(record, Mapping) and "global" in (record.get("scope"), record.get("save_scope"))

        shared = {name for name, one in wings.items() if one.is_shared}
        pending = [one for one in pending if is_global(one) is (scope == "global")]
        blocked = [one for one in blocked if (one.wing in shared) is (scope == "global")]
    return WaitingSaves(tuple(pending), tuple(blocked), ledger.unreadable())


def get_save_status(workspace: Workspace, project_id: object) -> dict[str, Any]:
    """Return as JSON the state of the saves that are not done: pending ones, then blocked ones, the oldest first."""
    project = project_id.strip() or None if isinstance(project_id, str) else None
    try:
        found = waiting_saves(workspace.reread(), project=project)
    except (MdmemError, OSError):
        return {"status": SaveStatus.FAILED, "count": 0, "oldest_pending_at": None, "artifact_ids": []}
    # A save that a similar entry stopped is not refused. It succeeds after the caller says how both are related.
    waits = [(one.created, one.id, one.refused) for one in found.pending]
    waits += [(one.at, one.id, False) for one in found.blocked]
    kinds = {SaveStatus.FAILED if is_refused else SaveStatus.PENDING_RETRY for _, _, is_refused in waits}
    oldest = min((when for when, _, _ in waits), default=None)
    return {
        "status": SaveStatus.PARTIAL if len(kinds) > 1 else next(iter(kinds), SaveStatus.SAVED),
        "count": len(waits),
        "oldest_pending_at": oldest.isoformat() if oldest else None,
        "artifact_ids": [id_ for _, id_, _ in waits],
        **({"blocked": [blocked_fields(one) for one in found.blocked]} if found.blocked else {}),
    }
