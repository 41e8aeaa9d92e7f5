"""What the verbs for agents answer, and the writes that wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mdmem.entry.model import visible
from mdmem.render.json import dump
from mdmem.render.words import count

if TYPE_CHECKING:
    from mdmem.saving.pending import RetryResult
    from mdmem.saving.results import BatchSaveResult, SaveResult
    from mdmem.state.pending_writes import PendingWrite

ID_LENGTH = 12


def saved_json(result: SaveResult | BatchSaveResult) -> str:
    """Return what became of a write, or of a session with its parts."""
    return dump(result.as_json())


def pending_text(waiting: Sequence[PendingWrite], unreadable: Sequence[str]) -> str:
    """Return the writes that wait, two lines each: what and when, then why."""
    lines = []
    for one in waiting:
        tries = count(one.attempts, "attempt") + (", refused" if one.refused else "")
        since = one.created.isoformat(timespec="seconds")
        lines.append(f"{one.id[:ID_LENGTH]}  {one.verb}  {visible(title_of_write(one))}  ({tries}, since {since})")
        lines.append(f"  {visible(one.error)}")
    lines += [f"{path} cannot be read; it may have been a write" for path in unreadable]
    return "\n".join(lines)


def pending_json(waiting: Sequence[PendingWrite], unreadable: Sequence[str]) -> str:
    """Return the writes that wait with all they ask for."""
    return dump({"pending": [_write(one) for one in waiting], "unreadable": list(unreadable)})


def retried_text(retried: Sequence[RetryResult]) -> str:
    """Return what became of the writes that were tried again, one line each."""
    return "\n".join(
        f"{one.write.id[:ID_LENGTH]}  {one.result.status}  {visible(one.result.message or '')}" for one in retried
    )


def retried_json(retried: Sequence[RetryResult]) -> str:
    """Return what became of the writes that were tried again."""
    return dump({"retried": [{"id": one.write.id, **one.result.as_json()} for one in retried]})


def title_of_write(write: PendingWrite) -> str:
    """Return what people know a waiting write by."""
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
