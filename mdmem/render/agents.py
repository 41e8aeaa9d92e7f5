"""Render agents' saves, tokens and the log of context packs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mdmem.model.text import visible
from mdmem.render.json import dump, record_json
from mdmem.render.text import count, entries
from mdmem.store.state.pending_writes import Blocked, PendingWrite
from mdmem.store.state.tokens import ApprovalToken, BearerToken
from mdmem.write.results import BatchSaveResult, SaveResult, blocked_fields
from mdmem.write.save import RetryResult

ID_LENGTH = 12


def saved_json(result: SaveResult | BatchSaveResult) -> str:
    """Return the result of a save, or of a session with its parts."""
    return dump(result.as_json())


RESOLVING = "repeat the save with `supersedes` or `distinct_from`, or `mdmem save --drop ID`"


def stopped_save(blocked: Blocked) -> str:
    """Return a sentence on a save that a similar entry stopped."""
    named = f"decision `{blocked.title}`" if blocked.title else f"a decision for {blocked.wing}"
    return f"{named}, since {blocked.at.date()}: {blocked.candidate} is similar"


def pending_text(waiting: Sequence[PendingWrite], blocked: Sequence[Blocked], unreadable: Sequence[str]) -> str:
    """Return the waiting saves, two lines each: the record and the time, then the reason or the next step."""
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
    """Return the waiting saves with their arguments, and those that a similar entry stopped."""
    stopped = [blocked_fields(one) for one in blocked]
    return dump({"pending": [_write(one) for one in waiting], "blocked": stopped, "unreadable": list(unreadable)})


def retried_text(retried: Sequence[RetryResult]) -> str:
    """Return the results of saves that were tried again, one line each."""
    return "\n".join(
        f"{one.write.id[:ID_LENGTH]}  {one.result.status}  {visible(one.result.message or '')}" for one in retried
    )


def retried_json(retried: Sequence[RetryResult]) -> str:
    """Return the results of saves that were tried again."""
    return dump({"retried": [{"id": one.write.id, **one.result.as_json()} for one in retried]})


def title_of_write(write: PendingWrite | Blocked) -> str:
    """Return the title of a waiting save's record."""
    if isinstance(write, Blocked):
        return write.title or write.wing
    for name in ("decision", "pattern", "context", "session", "entity"):
        record = write.arguments.get(name)
        if isinstance(record, Mapping):
            keys = ("title", "trigger", "topic", "objective", "entity_name")
            return next((str(record[key]) for key in keys if record.get(key)), name)
    return write.verb


def _write(write: PendingWrite) -> dict[str, Any]:
    return record_json(write, "id", "verb", "arguments", "created", "attempts", "error", "refused")


def new_bearer_text(text: str, bearer: BearerToken) -> str:
    """Return a new token on a line of its own, and its permissions."""
    return f"{text}\n{_line(bearer)}; it is shown this once, send it as `Authorization: Bearer TOKEN`"


def new_bearer_json(text: str, bearer: BearerToken) -> str:
    """Return a new token and its permissions."""
    return dump({"token": text, **_facts(bearer)})


def bearers_text(bearers: Sequence[BearerToken]) -> str:
    """Return one line a token."""
    return "\n".join(map(_line, bearers))


def bearers_json(bearers: Sequence[BearerToken]) -> str:
    """Return the tokens by name."""
    return dump({"tokens": [_facts(one) for one in bearers]})


def _line(bearer: BearerToken) -> str:
    since = f", since {bearer.created.date().isoformat()}" if bearer.created else ""
    writes = f"writes {_wings(bearer.access.writable)}" if bearer.access.writable != frozenset() else "writes nothing"
    return f"{bearer.name}: reads {_wings(bearer.access.readable)}, {writes}{since}"


def _wings(names: frozenset[str] | None) -> str:
    return "every wing" if names is None else " ".join(sorted(names))


def _facts(bearer: BearerToken) -> dict[str, Any]:
    readable, writable = bearer.access.readable, bearer.access.writable
    return {
        "name": bearer.name,
        "readable": None if readable is None else sorted(readable),
        "writable": None if writable is None else sorted(writable),
        "created": bearer.created.isoformat(timespec="seconds") if bearer.created else None,
    }


def token_text(token: ApprovalToken, *, seconds: int) -> str:
    """Return the token on a line of its own, and when it expires."""
    return f"{token.text}\nexpires {token.expires_at.isoformat(timespec='seconds')}, in {seconds} s; good for one write"


def token_json(token: ApprovalToken, *, seconds: int) -> str:
    """Return the token, when it expires, and the seconds until then."""
    expires_at = token.expires_at.isoformat(timespec="seconds")
    return dump({"token": token.text, "expires_at": expires_at, "ttl_seconds": seconds})


def forbidden_json(reason: str) -> str:
    """Return why there is no token."""
    return dump({"blocked": True, "reason": reason})


def audit_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return one line a question, the oldest first."""
    return "\n".join(map(_audit_line, lines))


def audit_json(lines: Sequence[Mapping[str, Any]], total: int) -> str:
    """Return lines of the log, and the number of all lines."""
    return dump({"total": total, "lines": list(lines)})


def _audit_line(line: Mapping[str, Any]) -> str:
    # Anybody may have edited the file, so any key may be absent.
    asked = line.get("asked")
    goal = asked.get("goal", "") if isinstance(asked, Mapping) else ""
    returned = line.get("returned")
    came = line.get("refused") or entries(len(returned) if isinstance(returned, list) else 0)
    return f"{line.get('when', '?')}  {line.get('caller') or 'owner'}  {line.get('verb', '?')}: {goal} → {came}"
