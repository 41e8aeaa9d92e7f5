"""One request of an agent: its record with its arguments as JSON values, so that it can wait and be repeated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.store.state.pending_writes import PendingWrite, id_of
from mdmem.write.json_reader import plain_text
from mdmem.write.records import Record, read_context, read_decision, read_entity, read_pattern, read_session

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


class SaveRequest(Struct):
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
        """Say whether a token was used up for this request."""
        return bool(self.arguments.get(GRANTED))

    @property
    def is_never_compared(self) -> bool:
        """Say whether each request of the verb makes an entry of its own, whatever is there."""
        return self.record.kind in _NEVER_COMPARED

    @property
    def ledger_id(self) -> str:
        """Return the id under which the ledger holds this very request, where it does."""
        return id_of(self.verb, self.arguments)

    def text(self, name: str) -> str | None:
        """Return an argument that is a text, None for none and for a blank one."""
        found = self.arguments.get(name)
        return found if isinstance(found, str) and found else None


def read_request(kind: str, arguments: Mapping[str, Any]) -> SaveRequest:
    """Return the request that arguments state; raises UsageError naming the one that does not fit.

    They are plain JSON values: the record under its kind, and beside it `project_id`, `focus`, `agent`, `room` and
    `governance_token`, for an entity `related_entities`, too.
    """
    stated = {name: value for name, value in arguments.items() if value is not None}
    token = stated.pop("governance_token", None)
    for name in ("project_id", "focus", "agent", "room"):
        if name in stated:
            stated[name] = " ".join(plain_text(name, stated[name]).split())
    if token is not None and not isinstance(token, str):
        raise UsageError("`governance_token` must be a text, as `request_global_write_approval` returned it")
    given = stated.get(kind)
    if kind == "entity":
        return SaveRequest(read_entity(given, stated.get("related_entities")), stated, token or None)
    return SaveRequest(_READERS[kind](given), stated, token or None)


def request_again(pending: PendingWrite) -> SaveRequest:
    """Return the request that the ledger holds; raises UsageError for one of another version."""
    if pending.verb not in VERBS:
        raise UsageError(f"`{pending.verb}` is no verb of this version")
    request = read_request(VERBS[pending.verb], pending.arguments)
    request.id = pending.id
    return request
