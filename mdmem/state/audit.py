"""The audit log: one line of JSON for each question that was answered, rotated by size."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from mdmem.dataclass import dataclass, field
from mdmem.disk import make_folder, read_regular
from mdmem.state.files import written_time
from mdmem.state.lock import BusyError, write_lock

NAME = "audit.jsonl"
_LARGEST = 1024 * 1024
# The newest is `audit.jsonl`, then come `audit.1.jsonl` to `audit.4.jsonl`.
_KEPT = 4
_LONGEST_TEXT = 2000
# Nobody waits long for a log.
_WAIT = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """One question and its answer: the verb, what was asked, the ids that were returned, when, and by whom.

    `caller` is the name of the caller's token, None for whoever owns the files.
    """

    verb: str
    asked: Mapping[str, Any]
    returned: Sequence[str]
    when: datetime
    caller: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


def record(state: Path, audit: Audit, *, largest: int = _LARGEST) -> str | None:
    """Append a line to the log of a state folder, and return why that failed, None where it did not.

    Many processes write at once; a log of more than `largest` bytes makes room first. Nothing is raised.
    """
    try:
        folder = state / "audit"
        make_folder(folder, mode=0o700)
        # A lock of its own: a writer of entries may hold the other one for seconds.
        with write_lock(folder, wait=_WAIT):
            _append(state, _line(audit), largest)
    except BusyError as error:
        return f"this call is not in the audit log: {error}"
    except OSError as error:
        return f"this call is not in the audit log {state / NAME}: {(error.strerror or str(error)).lower()}"
    return None


def read_audit(state: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of the log, the oldest first; what a crash tore is left out."""
    for path in (*(_older(state, number) for number in range(_KEPT, 0, -1)), state / NAME):
        try:
            lines = read_regular(path).splitlines()
        except OSError:
            continue
        for line in lines:
            found = _parsed(line)
            if found is not None:
                yield found


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _append(state: Path, line: bytes, largest: int) -> None:
    path = state / NAME
    # A pipe that nobody reads refuses at once.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.exists() and path.stat().st_size + len(line) > largest:
        _rotate(state)
    # What is asked is nobody else's business.
    handle = os.open(path, flags, 0o600)
    with os.fdopen(handle, "ab") as stream:
        if stream.tell() and not _ends_its_line(path):
            # A process died in the middle of a line: it is not to swallow this one.
            stream.write(b"\n")
        stream.write(line)


def _ends_its_line(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


def _rotate(state: Path) -> None:
    for number in range(_KEPT, 0, -1):
        newer = _older(state, number - 1) if number > 1 else state / NAME
        if newer.exists():
            newer.replace(_older(state, number))


def _older(state: Path, number: int) -> Path:
    return state / f"audit.{number}.jsonl"


def _line(audit: Audit) -> bytes:
    content = {
        "when": written_time(audit.when),
        "caller": audit.caller,
        "verb": audit.verb,
        "asked": {
            name: value[:_LONGEST_TEXT] if isinstance(value, str) else value for name, value in audit.asked.items()
        },
        "returned": list(audit.returned),
        **audit.more,
    }
    return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
