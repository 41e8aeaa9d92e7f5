"""The verbs for agents: each saves a record and answers with a result, whatever happens; none raises at its caller."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mdmem.authoring.entities import plan_entity
from mdmem.authoring.gate import Target, find_target
from mdmem.authoring.model import BatchSaveResult, SaveResult, SaveStanding, SaveStatus, failed
from mdmem.authoring.proofreading import fault_in
from mdmem.authoring.records import EntityRecord
from mdmem.authoring.saving import Planned, Saving, Stopped, plan_saving
from mdmem.catalog import full_address
from mdmem.dedup import Outcome
from mdmem.errors import EnvironmentFaultError, LostRaceError, MdmemError, UsageError
from mdmem.gitrepo.ongoing import state_of
from mdmem.governance import status_for_agent, why_no_global_writes
from mdmem.state import BusyError, write_lock
from mdmem.state.ledger import Ledger
from mdmem.state.tokens import TokenError, check_token, use_token
from mdmem.workspace.calls import Call, call_of
from mdmem.workspace.naming import resolve_names
from mdmem.workspace.neighbours import WorkspaceNeighbours
from mdmem.workspace.opened import Opened
from mdmem.workspace.pending import Pending
from mdmem.workspace.permitting import ask_for_token
from mdmem.workspace.writing import WriteOptions, carry

# So often a call is planned anew where somebody else wrote in between.
_ATTEMPTS = 3
# The comparison and the write of one call are one step to all others; behind seven of them waits the eighth.
_WAIT = 30.0
_SAVING = "saving"


class Saves:
    """The verbs over one root, for one process or many at once.

    Arguments are plain JSON values. Every verb first tries again what failed before, a few at a time.
    """

    def __init__(self, workspace: Opened, *, now: Callable[[], datetime] | None = None) -> None:
        """Take the workspace, of which the files are read anew at each call, and the clock for tokens and waiting."""
        self._workspace = workspace
        self._now = now or (lambda: datetime.now(UTC))
        self._seen: dict[str, str] = {}
        self.pending = Pending(Ledger(workspace.state_folder), workspace.location.root, self._try)

    def save_decision(
        self,
        decision: object,
        project_id: object,
        focus: object = None,
        governance_token: object = None,
        *,
        agent: object = None,
        room: object = None,
    ) -> SaveResult:
        """Save a decision, unless it is there already or a similar one is for a person to look at."""
        rest = {"project_id": project_id, "focus": focus, "agent": agent, "room": room}
        return self._save("decision", {"decision": decision, **rest}, governance_token)

    def save_pattern(
        self,
        pattern: object,
        project_id: object,
        focus: object = None,
        governance_token: object = None,
        *,
        agent: object = None,
        room: object = None,
    ) -> SaveResult:
        """Save a pattern, unless one of the same trigger and steps is there."""
        rest = {"project_id": project_id, "focus": focus, "agent": agent, "room": room}
        return self._save("pattern", {"pattern": pattern, **rest}, governance_token)

    def save_context(
        self,
        context: object,
        project_id: object,
        focus: object = None,
        governance_token: object = None,
        *,
        agent: object = None,
        room: object = None,
    ) -> SaveResult:
        """Save a piece of context; nothing is compared."""
        rest = {"project_id": project_id, "focus": focus, "agent": agent, "room": room}
        return self._save("context", {"context": context, **rest}, governance_token)

    def save_session(
        self,
        session: object,
        project_id: object,
        focus: object = None,
        governance_token: object = None,
        *,
        agent: object = None,
        room: object = None,
    ) -> SaveResult:
        """Save what a session of work came to; a project that is not there yet is made."""
        rest = {"project_id": project_id, "focus": focus, "agent": agent, "room": room}
        return self._save("session", {"session": session, **rest}, governance_token)

    def upsert_entity_with_deps(
        self,
        entity: object,
        related_entities: object,
        project_id: object,
        focus: object = None,
        governance_token: object = None,
        *,
        agent: object = None,
        room: object = None,
    ) -> SaveResult:
        """Make an entity, or bring the one of its name within the scope up to date, with its relations."""
        rest = {"project_id": project_id, "focus": focus, "agent": agent, "room": room}
        given = {"entity": entity, "related_entities": related_entities, **rest}
        return self._save("entity", given, governance_token)

    def store_session_with_learnings(
        self,
        session: object,
        decisions: object,
        patterns: object,
        project_id: object,
        focus: object = None,
        *,
        agent: object = None,
    ) -> BatchSaveResult:
        """Save a session with what it taught; each part stands for itself, and the session names those that are there.

        What was there before counts as taught, too. Rooms are those of the settings.
        """
        rest = {"project_id": project_id, "focus": focus, "agent": agent}
        first = self._save("session", {"session": session, **rest})
        rest["produced_by"] = first.artifact_id
        saved = {
            kind: tuple(self._save(kind, {kind: one, **rest}) for one in _listed(given))
            for kind, given in (("decision", decisions), ("pattern", patterns))
        }
        if first.status is SaveStatus.PENDING_RETRY:
            there = [part.artifact_id for parts in saved.values() for part in parts if part.artifact_id]
            self._keep_produced({"session": session, **rest}, there)
        return BatchSaveResult(session=first, decisions=saved["decision"], patterns=saved["pattern"])

    def get_save_status(self, project_id: object) -> SaveStanding:
        """Return how the writes of a project stand; nothing that waits is tried again."""
        try:
            wings = self._fresh().catalog.wings
        except (MdmemError, OSError):
            wings = {}
        return self.pending.standing(project_id if isinstance(project_id, str) else None, wings)

    def request_global_write_approval(self, content_preview: object = None) -> dict[str, Any]:  # noqa: ARG002  # for people
        """Return a token for one write of scope `global`, or why there is none."""
        try:
            token = ask_for_token(self._fresh(), self._now())
        except MdmemError as error:
            return {"blocked": True, "reason": str(error)}
        seconds = self._workspace.settings.token_seconds
        return {"token": token.text, "expires_at": token.expires_at.isoformat(), "ttl_seconds": seconds}

    def _save(self, kind: str, arguments: Mapping[str, Any], token: object = None) -> SaveResult:
        try:
            call = call_of(kind, arguments, token)
        except MdmemError as error:
            return failed(str(error))
        return self.pending.first_then(call, self._now())

    def _try(self, call: Call) -> SaveResult:
        """Carry out a call; what fails on the way is kept, to be tried again."""
        error: Exception = LostRaceError("others write all the time")
        for _ in range(_ATTEMPTS):
            try:
                return self._attempt(call)
            except LostRaceError as lost:
                error = lost
            except (EnvironmentFaultError, OSError) as fault:
                return self._keep(call, fault)
            except MdmemError as refusal:
                return failed(str(refusal))
        return self._keep(call, error)

    def _attempt(self, call: Call) -> SaveResult:
        state = self._workspace.state_folder
        with write_lock(state / _SAVING, wait=_WAIT):
            workspace = self._fresh()
            _refuse_busy_repository(workspace)
            target = self._target(workspace, call)
            if isinstance(target, SaveResult):
                return target
            refusal = self._why_not_global(workspace, call, target)
            if refusal is not None:
                return refusal
            planned = self._plan(workspace, call, target)
            if isinstance(planned, Stopped):
                return self._stopped(planned, call, target)
            return self._carry(workspace, planned, call, target)

    def _fresh(self) -> Opened:
        """Return the workspace with its files read anew; the index, which heeds what changed, stays open."""
        fresh = replace(self._workspace)
        vars(fresh)["index"] = self._workspace.index
        return fresh

    def _target(self, workspace: Opened, call: Call) -> Target | SaveResult:
        return find_target(
            workspace.catalog,
            workspace.settings,
            call.record,
            project_id=call.text("project_id"),
            focus=call.text("focus"),
            is_taken=_is_taken(workspace),
        )

    def _why_not_global(self, workspace: Opened, call: Call, target: Target) -> SaveResult | None:
        if not target.needs_token:
            return None
        why = why_no_global_writes(workspace.settings)
        if why is not None:
            return failed(why)
        if call.is_granted:
            return None
        again = "call `request_global_write_approval`, then repeat this call with its token as `governance_token`"
        if call.token is None:
            return failed(f"a write to the shared wing `{target.wing}` needs a `governance_token`", again)
        try:
            check_token(workspace.state_folder, call.token, self._now())
        except TokenError as error:
            return failed(str(error), again)
        return None

    def _plan(self, workspace: Opened, call: Call, target: Target) -> Planned | Stopped:
        saving = Saving(
            catalog=workspace.catalog,
            settings=workspace.settings,
            today=workspace.today,
            target=target,
            is_taken=_is_taken(workspace),
            neighbours=WorkspaceNeighbours(workspace, self._seen),
            lets_pass=lambda fingerprint: self._lets_pass(call, target, fingerprint),
            status=status_for_agent(workspace.settings, call.record.type),
            room=call.text("room"),
            focus=call.text("focus"),
            agent=call.text("agent"),
            supersedes=_superseded(workspace, call, target),
            produced_by=call.text("produced_by"),
            produced=tuple(one for one in call.arguments.get("produced", ()) if one in workspace.catalog.entries),
        )
        if isinstance(call.record, EntityRecord):
            return plan_entity(saving, call.record)
        return plan_saving(saving, call.record)

    def _lets_pass(self, call: Call, target: Target, fingerprint: str) -> bool:
        blocked = self.pending.ledger.blocked(_blocked_key(target, fingerprint))
        return blocked is not None and blocked.lets_pass(_confidence(call))

    def _stopped(self, stopped: Stopped, call: Call, target: Target) -> SaveResult:
        result = stopped.result
        if stopped.fingerprint is None or result.dedup_outcome is not Outcome.MANUAL_REVIEW:
            return result
        key = _blocked_key(target, stopped.fingerprint)
        try:
            self.pending.ledger.remember_blocked(
                key, _confidence(call), candidate=result.candidate_id or "", now=self._now()
            )
        except EnvironmentFaultError as error:
            return replace(result, message=f"{result.message}; that could not be remembered: {error}")
        return result

    def _carry(self, workspace: Opened, planned: Planned, call: Call, target: Target) -> SaveResult:
        """Prove the plan, use the token up, write; what is in place by then is saved, whatever git says of it."""
        for change in planned.intent.plan.changes:
            if change.before is None and change.after is not None and change.path.count("/") == 2:
                fault = fault_in(change.path, change.after, workspace.settings, today=workspace.today)
                if fault is not None:
                    return failed(f"nothing was written: {fault}")
        if target.needs_token and not call.is_granted:
            carry(workspace, planned.intent, WriteOptions(is_dry=True))
            use_token(workspace.state_folder, call.token or "", self._now())
            call.grant()
        if call.id is not None:
            self.pending.ledger.intend(call.id, _new_files(planned))
        result = planned.result
        try:
            carry(workspace, planned.intent, WriteOptions())
        except EnvironmentFaultError as error:
            if not _is_written(workspace, planned):
                raise
            result = replace(result, message=f"{result.message}; {error}")
        if planned.fingerprint is not None:
            self._forget_blocked(_blocked_key(target, planned.fingerprint))
        return result

    def _forget_blocked(self, key: str) -> None:
        try:
            self.pending.ledger.forget_blocked(key)
        except EnvironmentFaultError:
            # The write is done; what is remembered of it for nothing lets nobody else pass.
            return

    def _keep(self, call: Call, error: Exception) -> SaveResult:
        """Keep a call that failed on the way; its token is used up for it now, since no token is kept."""
        why = str(error) if isinstance(error, MdmemError) else (getattr(error, "strerror", None) or str(error)).lower()
        waiting = SaveResult(
            status=SaveStatus.PENDING_RETRY,
            message=f"not written yet: {why}",
            next_step="nothing has to be done: the next write tries this one again, and so does `mdmem pending retry`",
        )
        if call.id is not None:
            return waiting
        try:
            if call.token is not None and not call.is_granted:
                use_token(self._workspace.state_folder, call.token, self._now())
                call.grant()
            self.pending.ledger.keep(call.pending(self._now(), why))
        except TokenError as refusal:
            return failed(str(refusal))
        except MdmemError as refusal:
            return failed(f"nothing was written: {why}; nor could it be kept for later: {refusal}", "call again later")
        return waiting

    def _keep_produced(self, arguments: Mapping[str, Any], produced: Sequence[str]) -> None:
        """Let a session that waits name what came out of it."""
        ledger = self.pending.ledger
        call = call_of("session", arguments)
        try:
            known = ledger.claim(next(iter(call.ids(self._now())))) if produced else None
            if known is not None:
                call.arguments["produced"] = list(produced)
                ledger.keep(call.pending(known.created, known.error))
                ledger.done(known.id)
        except MdmemError:
            # It waits all the same, only without the links.
            return


def _listed(given: object) -> Sequence[object]:
    if given is None:
        return ()
    # What is no list is read as one record, and refused as that if it is none.
    return given if isinstance(given, (list, tuple)) else (given,)


def _is_taken(workspace: Opened) -> Callable[[str], bool]:
    return lambda path: os.path.lexists(workspace.location.root / path)


def _confidence(call: Call) -> float | None:
    confidence: float | None = getattr(call.record, "confidence", None)
    return confidence


def _blocked_key(target: Target, fingerprint: str) -> str:
    return f"{target.wing} {fingerprint}"


def _superseded(workspace: Opened, call: Call, target: Target) -> str | None:
    """Return the address of the older decision that a call names; raises NotFoundError with the nearest."""
    named: str | None = getattr(call.record, "supersedes", None)
    if named is None:
        return None
    near = f"{target.wing}/{workspace.settings.rooms[call.record.kind]}/-"
    address = full_address(named, near, workspace.catalog.entries)
    return address or _one_named(workspace, named)


def _one_named(workspace: Opened, named: str) -> str:
    found = resolve_names(workspace, [named])
    if len(found) > 1:
        raise UsageError(f"`supersedes` must name one decision; `{named}` means {len(found)}")
    return found[0]


def _refuse_busy_repository(workspace: Opened) -> None:
    """Raise BusyError where every write is committed and a merge or a rebase is going on: it waits until that ends."""
    repository = workspace.location.repository
    operation = state_of(repository) if workspace.settings.commit and repository is not None else None
    if operation is not None:
        raise BusyError(f"a {operation} is going on in the repository; what is written now could not be committed")


def _new_files(planned: Planned) -> dict[str, str]:
    """Return the SHA-256 of each new entry's file by path: whoever finds it in place knows that it was written."""
    return {
        change.to: hashlib.sha256(change.after).hexdigest()
        for change in planned.intent.plan.changes
        if change.before is None and change.after is not None and change.path.count("/") == 2
    }


def _is_written(workspace: Opened, planned: Planned) -> bool:
    """Say whether every file holds what was planned."""
    try:
        return all(
            change.after is not None and (workspace.location.root / change.to).read_bytes() == change.after
            for change in planned.intent.plan.changes
        )
    except OSError:
        return False
