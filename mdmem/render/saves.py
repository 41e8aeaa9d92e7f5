"""What the verbs for agents answer, and the writes that wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mdmem.model.entry import visible
from mdmem.render.json import dump
from mdmem.render.words import count
from mdmem.store.state.pending_writes import Blocked
from mdmem.write.results import blocked_fields

if TYPE_CHECKING:
    from mdmem.store.state.pending_writes import Blocked, PendingWrite
    from mdmem.write.pending import RetryResult
    from mdmem.write.results import BatchSaveResult, SaveResult

ID_LENGTH = 12


def saved_json(result: SaveResult | BatchSaveResult) -> str:
    """Return what became of a write, or of a session with its parts."""
    return dump(result.as_json())


RESOLVING = "repeat the save with `supersedes` or `distinct_from`, or `mdmem pending drop ID`"


def stopped_save(blocked: Blocked) -> str:
    """Return what people know a save by that a similar entry stopped, and that entry."""
    named = f"decision `{blocked.title}`" if blocked.title else f"a decision for {blocked.wing}"
    return f"{named}, since {blocked.at.date()}: much the same says {blocked.candidate}"


def pending_text(waiting: Sequence[PendingWrite], blocked: Sequence[Blocked], unreadable: Sequence[str]) -> str:
    """Return the writes that wait, two lines each: what and when, then why or what to do."""
    lines = []
    for one in waiting:
        tries = count(one.attempts, "attempt") + (", refused" if one.refused else "")
        since = one.created.isoformat(timespec="seconds")
        lines.append(f"{one.id[:ID_LENGTH]}  {one.verb}  {visible(title_of_write(one))}  ({tries}, since {since})")
        lines.append(f"  {visible(one.error)}")
    for stopped in blocked:
        lines += [f"{stopped.id[:ID_LENGTH]}  {visible(stopped_save(stopped))}", f"  {RESOLVING}"]
    lines += [f"{path} cannot be read; it may have been a write" for path in unreadable]
    return "\n".join(lines)


def pending_json(waiting: Sequence[PendingWrite], blocked: Sequence[Blocked], unreadable: Sequence[str]) -> str:
    """Return the writes that wait with all they ask for, and those that a similar entry stopped."""
    stopped = [blocked_fields(one) for one in blocked]
    return dump({"pending": [_write(one) for one in waiting], "blocked": stopped, "unreadable": list(unreadable)})


def retried_text(retried: Sequence[RetryResult]) -> str:
    """Return what became of the writes that were tried again, one line each."""
    return "\n".join(
        f"{one.write.id[:ID_LENGTH]}  {one.result.status}  {visible(one.result.message or '')}" for one in retried
    )


def retried_json(retried: Sequence[RetryResult]) -> str:
    """Return what became of the writes that were tried again."""
    return dump({"retried": [{"id": one.write.id, **one.result.as_json()} for one in retried]})


def title_of_write(write: PendingWrite | Blocked) -> str:
    """Return what people know a waiting write by."""
    if isinstance(write, Blocked):
        return write.title or write.wing
    for name in ("decision", "pattern", "context", "session", "entity"):
        record = write.arguments.get(name)
        if isinstance(record, Mapping):
            keys = ("title", "trigger", "topic", "objective", "entity_name")
            return next((str(record[key]) for key in keys if record.get(key)), name)
    return write.verb


def _write(write: PendingWrite) -> dict[str, Any]:
    return {
        "id": write.id,
        "verb": write.verb,
        "arguments": dict(write.arguments),
        "created": write.created.isoformat(),
        "attempts": write.attempts,
        "error": write.error,
        "refused": write.refused,
    }
