"""One call of a verb for agents: its record with its arguments as JSON values, so that it can wait and be repeated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mdmem.errors import UsageError
from mdmem.saving.json_reader import plain_text
from mdmem.saving.records import Record, read_context, read_decision, read_entity, read_pattern, read_session
from mdmem.state.pending_writes import PendingWrite, id_of

# The verb of each kind in the ledger, which outlives versions.
VERBS = {
    "save_decision": "decision",
    "save_pattern": "pattern",
    "save_context": "context",
    "save_session": "session",
    "upsert_entity_with_deps": "entity",
}
_VERB_OF = {kind: verb for verb, kind in VERBS.items()}
_NEVER_COMPARED = frozenset({"context", "session"})
_READERS: Mapping[str, Callable[[object], Record]] = {
    "decision": read_decision,
    "pattern": read_pattern,
    "context": read_context,
    "session": read_session,
}
# Beside what the caller stated: a token was used up; the session a record came from; what came out of a session.
GRANTED, PRODUCED_BY, PRODUCED = "granted", "produced_by", "produced"


@dataclass(slots=True)
class SaveRequest:
    """A record on its way; `is_granted` says that its token was used up for it, `id` is set where the ledger has it."""

    record: Record
    arguments: dict[str, Any]
    token: str | None = None
    id: str | None = None

    @property
    def verb(self) -> str:
        """Return the name of the verb in the ledger."""
        return _VERB_OF[self.record.kind]

    @property
    def is_granted(self) -> bool:
        """Say whether a token was used up for this call."""
        return bool(self.arguments.get(GRANTED))

    @property
    def is_never_compared(self) -> bool:
        """Say whether each call of the verb makes an entry of its own, whatever is there."""
        return self.record.kind in _NEVER_COMPARED

    @property
    def request(self) -> str:
        """Return the id under which the ledger holds this very call, where it does."""
        return id_of(self.verb, self.arguments)

    def grant(self) -> None:
        """Note that a token was used up for this call."""
        self.arguments[GRANTED] = True

    def text(self, name: str) -> str | None:
        """Return an argument that is a text, None for none and for a blank one."""
        found = self.arguments.get(name)
        return found if isinstance(found, str) and found else None

    def pending(self, now: datetime, error: str) -> PendingWrite:
        """Return the call as the ledger keeps it."""
        return PendingWrite(verb=self.verb, arguments=dict(self.arguments), created=now, error=error)


def call_of(kind: str, arguments: Mapping[str, Any], token: object = None) -> SaveRequest:
    """Return the call that arguments state; raises UsageError naming the one that does not fit."""
    stated = {name: value for name, value in arguments.items() if value is not None}
    for name in ("project_id", "focus", "agent", "room"):
        if name in stated:
            stated[name] = " ".join(plain_text(name, stated[name]).split())
    if token is not None and not isinstance(token, str):
        raise UsageError("`governance_token` must be a text, as `request_global_write_approval` returned it")
    given = stated.get(kind)
    if kind == "entity":
        return SaveRequest(read_entity(given, stated.get("related_entities")), stated, token or None)
    return SaveRequest(_READERS[kind](given), stated, token or None)


def call_again(pending: PendingWrite) -> SaveRequest:
    """Return the call that the ledger holds; raises UsageError for one of another version."""
    if pending.verb not in VERBS:
        raise UsageError(f"`{pending.verb}` is no verb of this version")
    call = call_of(VERBS[pending.verb], pending.arguments)
    call.id = pending.id
    return call
