"""Append to journals that are rotated: the audit log and the consultations."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mdmem.disk import make_folder, read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.store.state.files import BusyError, read_time, write_lock, written_time

LARGEST = 1024 * 1024


class Journal(Struct, frozen=True):
    """One log of a state folder: `name.jsonl`, and `kept` older files, each of at most `largest` bytes."""

    state: Path
    name: str
    kept: int = 4
    largest: int = LARGEST
    wait: float = 2.0

    def append(self, content: Mapping[str, Any]) -> None:
        """Write one line, after rotating a full file; raises BusyError and OSError."""
        line = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        folder, path = self.state / self.name, self._path(0)
        make_folder(folder, mode=0o700)
        # A lock of its own: a writer of entries may hold the other one for seconds.
        with write_lock(folder, wait=self.wait):
            if path.exists() and path.stat().st_size + len(line) > self.largest:
                for number in range(self.kept, 0, -1):
                    if self._path(number - 1).exists():
                        self._path(number - 1).replace(self._path(number))
            # A pipe that nobody reads refuses at once. Only the user may read the questions.
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            with os.fdopen(os.open(path, flags, 0o600), "a+b") as stream:
                size = stream.seek(0, os.SEEK_END)
                stream.seek(max(0, size - 1))
                # A process that died in the middle of a line must not spoil this one.
                stream.write(b"\n" + line if stream.read(1) not in (b"", b"\n") else line)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines, the oldest first, but for those that a crash tore."""
        for number in range(self.kept, -1, -1):
            lines: list[bytes] = []
            with suppress(OSError):
                lines = read_regular(self._path(number)).splitlines()
            for line in lines:
                with suppress(ValueError, RecursionError):
                    found = json.loads(line)
                    if isinstance(found, dict):
                        yield found

    def _path(self, number: int) -> Path:
        return self.state / (f"{self.name}.{number}.jsonl" if number else f"{self.name}.jsonl")


NAME = "audit.jsonl"
_LONGEST_TEXT = 2000
# In seconds.
_AUDIT_WAIT = 2.0


class Audit(Struct, frozen=True, kw_only=True):
    """One question and its answer: the verb, the question, the ids that were returned, when, and by whom.

    `caller` is the name of the caller's token, None for the owner of the files.
    """

    verb: str
    asked: Mapping[str, Any]
    returned: Sequence[str]
    when: datetime
    caller: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


def record(state: Path, audit: Audit, *, largest: int = LARGEST) -> str | None:
    """Append a line to the audit log of a state folder, and return why that failed, None where it did not."""
    asked = {name: one[:_LONGEST_TEXT] if isinstance(one, str) else one for name, one in audit.asked.items()}
    content = {
        "when": written_time(audit.when),
        "caller": audit.caller,
        "verb": audit.verb,
        "asked": asked,
        "returned": list(audit.returned),
        **audit.more,
    }
    try:
        Journal(state, "audit", largest=largest, wait=_AUDIT_WAIT).append(content)
    except BusyError as error:
        return f"this call is not in the audit log: {error}"
    except OSError as error:
        return f"this call is not in the audit log {state / NAME}: {(error.strerror or str(error)).lower()}"
    return None


def read_audit(state: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of the audit log, the oldest first."""
    return Journal(state, "audit").lines()


# A line has some hundred bytes. No edit waits long for a count.
_LARGEST, _KEPT, _CONSULTATION_WAIT = 512 * 1024, 1, 0.1
_LATELY = timedelta(days=30)


class Consultation(Struct, frozen=True, kw_only=True):
    """The entries of one answer to an agent: when, in which way (`hook codex`, `server`), and which."""

    when: datetime
    way: str
    addresses: Sequence[str]


class Tally(Struct, frozen=True):
    """How often agents got entries lately, by address and by way; `last` is the time of the last answer."""

    times: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[str, int] = field(default_factory=dict)
    last: datetime | None = None


def note(state: Path, consultation: Consultation) -> None:
    """Record one answer; failures do not matter."""
    when, told = written_time(consultation.when), list(consultation.addresses)
    with suppress(OSError, EnvironmentFaultError):
        _consultations(state).append({"when": when, "way": consultation.way, "told": told})


def told_lately(state: Path, now: datetime) -> Tally:
    """Count the entries that agents got in the last thirty days."""
    times: Counter[str] = Counter()
    ways: Counter[str] = Counter()
    last: datetime | None = None
    for line in _consultations(state).lines():
        match line:
            case {"when": when, "way": str(way), "told": list(told)} if (moment := read_time(when)) is not None:
                if now - moment <= _LATELY:
                    addresses = [one for one in told if isinstance(one, str)]
                    times.update(addresses)
                    ways[way] += len(addresses)
                    last = moment if last is None else max(last, moment)
    return Tally(times, ways, last)


def _consultations(state: Path) -> Journal:
    return Journal(state, "consulted", kept=_KEPT, largest=_LARGEST, wait=_CONSULTATION_WAIT)
