"""Append to the rotated journals: audit log and consultations."""

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
    """One log of a state folder: `name.jsonl`, and `kept` older ones before it, each of at most `largest` bytes."""

    state: Path
    name: str
    kept: int = 4
    largest: int = LARGEST
    wait: float = 2.0

    @property
    def path(self) -> Path:
        """Return the file that is written."""
        return self.state / f"{self.name}.jsonl"

    def append(self, content: Mapping[str, Any]) -> None:
        """Write one line, and make room first where the file is full; raises BusyError and OSError."""
        line = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        folder = self.state / self.name
        make_folder(folder, mode=0o700)
        # A lock of its own: a writer of entries may hold the other one for seconds.
        with write_lock(folder, wait=self.wait):
            self._append(line)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines, the oldest first; what a crash tore is left out."""
        for path in (*(self._older(number) for number in range(self.kept, 0, -1)), self.path):
            try:
                lines = read_regular(path).splitlines()
            except OSError:
                continue
            yield from (found for line in lines if (found := _parsed(line)) is not None)

    def _append(self, line: bytes) -> None:
        path = self.path
        # A pipe that nobody reads refuses at once.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        if path.exists() and path.stat().st_size + len(line) > self.largest:
            self._rotate()
        # What is asked is nobody else's business.
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "ab") as stream:
            if stream.tell() and not _ends_its_line(path):
                # A process died in the middle of a line: it is not to swallow this one.
                stream.write(b"\n")
            stream.write(line)

    def _rotate(self) -> None:
        for number in range(self.kept, 0, -1):
            newer = self._older(number - 1) if number > 1 else self.path
            if newer.exists():
                newer.replace(self._older(number))

    def _older(self, number: int) -> Path:
        return self.state / f"{self.name}.{number}.jsonl"


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _ends_its_line(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


NAME = "audit.jsonl"
_LONGEST_TEXT = 2000
# Nobody waits long for a log.
_AUDIT_WAIT = 2.0


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
        Journal(state, "audit", largest=largest, wait=_AUDIT_WAIT).append(_content(audit))
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


# Of two files; a line has some hundred bytes.
_LARGEST, _KEPT = 512 * 1024, 1
# Nobody's edit waits for a count.
_CONSULTATION_WAIT = 0.1
_LATELY = timedelta(days=30)


class Consultation(Struct, frozen=True, kw_only=True):
    """Some entries that one answer handed over: when, by which way (`hook codex`, `server`), and which."""

    when: datetime
    way: str
    addresses: Sequence[str]


class Tally(Struct, frozen=True):
    """How often entries reached an agent lately: by address, and by way; `last` is when that was, None for never."""

    times: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[str, int] = field(default_factory=dict)
    last: datetime | None = None


def note(state: Path, consultation: Consultation) -> None:
    """Note one answer; that this fails is no matter."""
    content = {
        "when": written_time(consultation.when),
        "way": consultation.way,
        "told": list(consultation.addresses),
    }
    with suppress(OSError, EnvironmentFaultError):
        _journal(state).append(content)


def told_lately(state: Path, now: datetime) -> Tally:
    """Return what agents were told in the last thirty days."""
    times: Counter[str] = Counter()
    ways: Counter[str] = Counter()
    last: datetime | None = None
    for line in _journal(state).lines():
        match line:
            case {"when": when, "way": str(way), "told": list(told)} if (moment := read_time(when)) is not None:
                if now - moment > _LATELY:
                    continue
                addresses = [one for one in told if isinstance(one, str)]
                times.update(addresses)
                ways[way] += len(addresses)
                last = moment if last is None else max(last, moment)
    return Tally(times, ways, last)


def _journal(state: Path) -> Journal:
    return Journal(state, "consulted", kept=_KEPT, largest=_LARGEST, wait=_CONSULTATION_WAIT)
