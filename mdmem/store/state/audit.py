"""The audit log: one line of JSON for each question that was answered, rotated by size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mdmem.store.state.files import written_time
from mdmem.store.state.journal import LARGEST, Journal
from mdmem.store.state.lock import BusyError

NAME = "audit.jsonl"
_LONGEST_TEXT = 2000
# Nobody waits long for a log.
_WAIT = 2.0


class Audit(Struct, frozen=True, kw_only=True):
    """One question and its answer: the verb, what was asked, the ids that were returned, when, and by whom.

    `caller` is the name of the caller's token, None for whoever owns the files.
    """

    verb: str
    asked: Mapping[str, Any]
    returned: Sequence[str]
    when: datetime
    caller: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


def record(state: Path, audit: Audit, *, largest: int = LARGEST) -> str | None:
    """Append a line to the log of a state folder, and return why that failed, None where it did not.

    Many processes write at once; a log of more than `largest` bytes makes room first. Nothing is raised.
    """
    try:
        Journal(state, "audit", largest=largest, wait=_WAIT).append(_content(audit))
    except BusyError as error:
        return f"this call is not in the audit log: {error}"
    except OSError as error:
        return f"this call is not in the audit log {state / NAME}: {(error.strerror or str(error)).lower()}"
    return None


def read_audit(state: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of the log, the oldest first; what a crash tore is left out."""
    return Journal(state, "audit").lines()


def _content(audit: Audit) -> dict[str, Any]:
    return {
        "when": written_time(audit.when),
        "caller": audit.caller,
        "verb": audit.verb,
        "asked": {
            name: value[:_LONGEST_TEXT] if isinstance(value, str) else value for name, value in audit.asked.items()
        },
        "returned": list(audit.returned),
        **audit.more,
    }
