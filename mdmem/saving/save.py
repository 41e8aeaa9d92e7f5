"""The verbs for agents: each saves a record and answers with a result, whatever happens; none raises at its caller."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mdmem.errors import EnvironmentFaultError, MdmemError
from mdmem.saving.approval import ask_for_token
from mdmem.saving.attempt import SaveExecutor
from mdmem.saving.calls import PRODUCED_BY, call_of
from mdmem.saving.pending import PendingQueue
from mdmem.saving.results import BatchSaveResult, SaveResult, SaveStanding, SaveStatus, failed
from mdmem.state.pending_writes import PendingWrites
from mdmem.workspace.visibility import may_retry
from mdmem.workspace.workspace import Workspace

# Seconds: behind seven others, of which each takes its time, waits the eighth.
_WAIT = 30.0


class Saves:
    """The verbs over one root, for one process or many at once.

    Arguments are plain JSON values. Every verb first tries again what failed before, a few at a time.
    """

    def __init__(self, workspace: Workspace, *, now: Callable[[], datetime] | None = None, wait: float = _WAIT) -> None:
        """Take the workspace, of which the files are read anew at each call, and the clock for tokens and waiting.

        `wait` is in seconds, for other processes to be done.
        """
        self._workspace = workspace
        self._now = now or (lambda: datetime.now(UTC))
        ledger = PendingWrites(workspace.state_folder)
        self._attempts = SaveExecutor(workspace, ledger, now=self._now, wait=wait)
        self.pending = PendingQueue(
            ledger, workspace.location.root, self._attempts.carry_out, may_try=lambda one: may_retry(workspace, one)
        )

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
        waiting = call_of("session", {"session": session, **rest}).request if first.waits else None
        learned = {
            kind: tuple(self._save_learned(kind, {kind: one, **rest}, first, waiting) for one in _listed(given))
            for kind, given in (("decision", decisions), ("pattern", patterns))
        }
        return BatchSaveResult(session=first, decisions=learned["decision"], patterns=learned["pattern"])

    def get_save_status(self, project_id: object) -> SaveStanding:
        """Return how the writes of a project stand; nothing that waits is tried again."""
        try:
            wings = self._attempts.fresh().catalog.wings
        except (MdmemError, OSError):
            wings = {}
        return self.pending.standing(project_id if isinstance(project_id, str) else None, wings)

    def request_global_write_approval(self, content_preview: object = None) -> dict[str, Any]:  # noqa: ARG002  # for people
        """Return a token for one write of scope `global`, or why there is none."""
        try:
            workspace = self._attempts.fresh()
            token = ask_for_token(workspace, self._now())
        except MdmemError as error:
            return {"blocked": True, "reason": str(error)}
        seconds = workspace.settings.token_seconds
        return {"token": token.text, "expires_at": token.expires_at.isoformat(), "ttl_seconds": seconds}

    def _save(self, kind: str, arguments: Mapping[str, Any], token: object = None) -> SaveResult:
        try:
            call = call_of(kind, arguments, token)
        except MdmemError as error:
            return failed(str(error))
        return self.pending.first_then(call)

    def _save_learned(
        self, kind: str, arguments: Mapping[str, Any], session: SaveResult, waiting: str | None
    ) -> SaveResult:
        """Save what a session taught; `waiting` is the session's id in the ledger, where it waits.

        Whichever of the two is written last names the other.
        """
        arguments = {**arguments, PRODUCED_BY: session.artifact_id or waiting}
        result = self._save(kind, arguments)
        if waiting is not None and result.status is SaveStatus.BLOCKED_SCOPE:
            return self._attempts.keep(call_of(kind, arguments), EnvironmentFaultError("its session waits, too"))
        if waiting is not None and result.artifact_id is not None:
            # Where that cannot be noted, the session waits all the same, only without the link.
            with contextlib.suppress(EnvironmentFaultError):
                self.pending.name_produced(waiting, result.artifact_id)
        return result


def _listed(given: object) -> Sequence[object]:
    if given is None:
        return ()
    # What is no list is read as one record, and refused as that if it is none.
    return given if isinstance(given, (list, tuple)) else (given,)
