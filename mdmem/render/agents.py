"""Render waiting saves of agents, their access tokens, and the audit log of their calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mdmem.model.text import visible
from mdmem.render.json import record_json
from mdmem.render.text import count, entries
from mdmem.store.state.local_records import Blocked, PendingWrite
from mdmem.store.state.tokens import BearerToken
from mdmem.write.records import blocked_fields
from mdmem.write.save import WaitingSaves

ID_LENGTH = 12
RESOLVING = "repeat the save with `supersedes` or `distinct_from`, or `mdmem save --drop ID`"


def stopped_save(blocked: Blocked) -> str:
    """Describe a save that was stopped because a similar entry exists."""
    named = f"decision `{blocked.title}`" if blocked.title else f"a decision for {blocked.wing}"
    return f"{named}, since {blocked.at.date()}: {blocked.candidate} is similar"


def pending_text(found: WaitingSaves) -> str:
    """Return two lines for each save that waits or that a similar entry stopped, and one for each unreadable file."""
    lines = []
    for one in found.pending:
        tries = count(one.attempts, "attempt") + (", refused" if one.refused else "")
        since = one.created.isoformat(timespec="seconds")
        lines.append(f"{one.id[:ID_LENGTH]}  {one.verb}  {visible(title_of_write(one))}  ({tries}, since {since})")
        lines.append(f"  {visible(one.error)}")
    for stopped in found.blocked:
        lines += [f"{stopped.id[:ID_LENGTH]}  {visible(stopped_save(stopped))}", f"  {RESOLVING}"]
    lines += [f"{path} cannot be read; it may be a pending write" for path in found.unreadable]
    return "\n".join(lines)


def pending_json(found: WaitingSaves) -> dict[str, Any]:
    """Return the saves that are not done as JSON values: waiting, stopped by a similar entry, or unreadable."""
    names = ("id", "verb", "arguments", "created", "attempts", "error", "refused")
    return {
        "pending": [record_json(one, *names) for one in found.pending],
        "blocked": [blocked_fields(one) for one in found.blocked],
        "unreadable": found.unreadable,
    }


def title_of_write(write: PendingWrite | Blocked) -> str:
    """Return the title of the record in a waiting save, or else the kind of record or the verb.

    For a save that was stopped, return its title, or else its wing.
    """
    if isinstance(write, Blocked):
        return write.title or write.wing
    for name in ("decision", "pattern", "context", "session", "entity"):
        record = write.arguments.get(name)
        if isinstance(record, Mapping):
            keys = ("title", "trigger", "topic", "objective", "entity_name")
            return next((str(record[key]) for key in keys if record.get(key)), name)
    return write.verb


def bearers_text(bearers: Sequence[BearerToken]) -> str:
    """Return one line for each token: its name, the wings that it reads and writes, and the day of its creation."""

    def wings(names: frozenset[str] | None) -> str:
        return "every wing" if names is None else " ".join(sorted(names)) or "nothing"

    lines = []
    for one in bearers:
        since = f", since {one.created.date().isoformat()}" if one.created else ""
        lines.append(f"{one.name}: reads {wings(one.access.readable)}, writes {wings(one.access.writable)}{since}")
    return "\n".join(lines)


def bearer_json(bearer: BearerToken) -> dict[str, Any]:
    """Return the name and the permissions of a token as JSON values; None stands for every wing."""
    readable, writable = bearer.access.readable, bearer.access.writable
    return {
        "name": bearer.name,
        "readable": None if readable is None else sorted(readable),
        "writable": None if writable is None else sorted(writable),
        "created": bearer.created.isoformat(timespec="seconds") if bearer.created else None,
    }


def audit_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return one line for each call in the audit log, the oldest first."""
    rows = []
    for line in lines:
        # The file may have been edited by hand, so any key may be missing.
        asked, returned = line.get("asked"), line.get("returned")
        goal = asked.get("goal", "") if isinstance(asked, Mapping) else ""
        result = line.get("refused") or entries(len(returned) if isinstance(returned, list) else 0)
        caller = line.get("caller") or "owner"
        rows.append(f"{line.get('when', '?')}  {caller}  {line.get('verb', '?')}: {goal} → {result}")
    return "\n".join(rows)
