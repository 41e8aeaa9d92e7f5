"""Small local records: days of hygiene, sessions of agents, pins (fetched commits of other wings), logs of answers.

A session whose record cannot be read or written counts as new. At worst an entry is shown twice.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import replace

from mdmem.disk import make_folder, read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.store.state.files import (
    BusyError,
    Moment,
    Stored,
    read_record,
    refusal_named,
    write_lock,
    write_record,
    written_time,
)

_FILE = "times.json"


class Times(Struct, frozen=True):
    """The days of the last full run of hygiene, over all wings and over single wings."""

    everything: date | None = None
    wings: Mapping[str, date] = field(default_factory=dict)

    def last(self, wing: str) -> date | None:
        """Return the day of the last run that included a wing, or None."""
        return max((day for day in (self.everything, self.wings.get(wing)) if day is not None), default=None)


def read_times(folder: Path) -> Times:
    """Return the days of hygiene in a state folder; empty if the file is missing or cannot be read."""
    stored = read_record(folder / _FILE, Stored[Times])
    return stored.content if stored is not None else Times()


def record_hygiene(folder: Path, wings: Collection[str] | None, today: date) -> None:
    """Record a run of hygiene over some wings, or over all if `wings` is None; raises BusyError, and OSError."""
    with write_lock(folder):
        times = read_times(folder)
        times = replace(times, wings={**times.wings, **dict.fromkeys(wings or (), today)})
        write_record(folder / _FILE, Stored(replace(times, everything=today) if wings is None else times))


_FOLDER, _SUFFIX = "sessions", ".json"
# How long a session lasts, and how many sessions, and entries in a session, are kept. The oldest are deleted.
_LASTS, _SESSIONS, _ENTRIES = timedelta(days=2), 64, 1000


def briefed(session: str, agent: str = "") -> str:
    """Return the name under which a session records the entries that the edit hook showed in one line only."""
    return f"brief\0{session}\0{agent}"


class _Session(Struct, frozen=True):
    at: Moment
    given: Mapping[str, str]


class Sessions(Struct, frozen=True):
    """The sessions of one root: the entries that each was shown, in a file named by a hash of the session's name."""

    state: Path

    def given(self, name: str, now: datetime) -> Mapping[str, str]:
        """Return the hash of the file of each entry that a session was shown, by address; empty after two days."""
        known = read_record(self._path(name), _Session)
        return known.given if known is not None and now - known.at < _LASTS else {}

    def give(self, name: str, gave: Mapping[str, str], now: datetime) -> None:
        """Record entries that a session was shown (hash by address); errors are ignored."""
        if not gave:
            return
        with suppress(EnvironmentFaultError), refusal_named(self.state):
            # Read the record again, since another process may have recorded an answer meanwhile.
            given = self.given(name, now)
            known = {address: digest for address, digest in given.items() if address not in gave} | dict(gave)
            path = self._path(name)
            if not path.exists():
                others = [one for one in (self.state / _FOLDER).glob(f"*{_SUFFIX}") if not one.name.startswith(".")]
                for old in sorted(others, key=_changed, reverse=True)[_SESSIONS - 1 :]:
                    old.unlink(missing_ok=True)
            write_record(path, _Session(now, dict(list(known.items())[-_ENTRIES:])))

    def forget(self, name: str) -> None:
        """Delete the record of a session, so that it is shown all entries again; errors are ignored."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self.state / _FOLDER / f"{digest}{_SUFFIX}"


def _changed(path: Path) -> float:
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0


class Pin(Struct, frozen=True):
    """A fetched commit of another repository: the folders of the memories in it, and the day of the last fetch."""

    roots: tuple[str, ...]
    asked: date


def store_of(cache: Path, url: str) -> Path:
    """Return the folder of the bare repository with all commits that were fetched from a URL."""
    return _folder(cache, url) / "git"


def find_pin(cache: Path, url: str, commit: str) -> Pin | None:
    """Return the record of a fetched commit, or None if it was not fetched."""
    stored = read_record(_folder(cache, url) / f"{commit}.json", Stored[Pin])
    return stored.content if stored is not None else None


def keep_pin(cache: Path, url: str, commit: str, pin: Pin) -> None:
    """Record a fetched commit; errors are ignored."""
    with suppress(OSError):
        write_record(_folder(cache, url) / f"{commit}.json", Stored(pin))


def _folder(cache: Path, url: str) -> Path:
    return cache / "wings" / hashlib.sha256(url.encode()).hexdigest()[:20]


class _Journal(Struct, frozen=True):
    """A log in a state folder: the file `name.jsonl` and up to `kept` older files, each of at most `largest` bytes."""

    state: Path
    name: str
    kept: int
    largest: int
    wait: float

    def append(self, content: Mapping[str, Any]) -> None:
        """Write one line, and first rotate the files if the newest is full; raises BusyError and OSError."""
        line = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        folder, path = self.state / self.name, self._path(0)
        make_folder(folder, mode=0o700)
        # Not the general write lock, since a process that writes entries may hold that for seconds.
        with write_lock(folder, wait=self.wait):
            if path.exists() and path.stat().st_size + len(line) > self.largest:
                for number in range(self.kept, 0, -1):
                    if self._path(number - 1).exists():
                        self._path(number - 1).replace(self._path(number))
            # O_NONBLOCK, so that a pipe in place of the file does not block. Mode 600, since questions are private.
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            with os.fdopen(os.open(path, flags, 0o600), "a+b") as stream:
                size = stream.seek(0, os.SEEK_END)
                stream.seek(max(0, size - 1))
                # Another process may have died in the middle of a line, so begin a new line.
                stream.write(b"\n" + line if stream.read(1) not in (b"", b"\n") else line)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines, the oldest first; lines that a crash cut off are left out."""
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


AUDIT_NAME, AUDIT_BYTES, AUDIT_WAIT = "audit.jsonl", 1024 * 1024, 2.0
_LONGEST_TEXT = 2000


def _audit_log(state: Path) -> _Journal:
    return _Journal(state, "audit", kept=4, largest=AUDIT_BYTES, wait=AUDIT_WAIT)


def append_audit(
    state: Path,
    verb: str,
    asked: Mapping[str, Any],
    returned: Iterable[str],
    *,
    when: datetime,
    caller: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> str | None:
    """Append a question and its answer to the audit log; return a message if that fails, else None.

    `caller` is the name of the caller's token, and `more` has further fields of the line.
    """
    texts = {name: one[:_LONGEST_TEXT] if isinstance(one, str) else one for name, one in asked.items()}
    content = {"when": written_time(when), "caller": caller, "verb": verb, "asked": texts, "returned": list(returned)}
    try:
        _audit_log(state).append(content | dict(more or {}))
    except (BusyError, OSError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        return f"this call is not in the audit log {state / AUDIT_NAME}: {why}"
    return None


def read_audit(state: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of the audit log, the oldest first."""
    return _audit_log(state).lines()


_LATELY = timedelta(days=30)


class Tally(Struct, frozen=True):
    """How often agents got entries in thirty days, by address and by tool or hook, and when last."""

    times: Mapping[str, int] = {}
    ways: Mapping[str, int] = {}
    last: datetime | None = None


def _shown_log(state: Path) -> _Journal:
    # A line has a few hundred bytes. The wait is short, so that no edit of a user is held up.
    return _Journal(state, "consulted", kept=1, largest=512 * 1024, wait=0.1)


def record_shown(state: Path, way: str, addresses: Iterable[str], when: datetime) -> None:
    """Record the entries that an agent got, and by which tool or hook, such as `hook codex`; errors are ignored."""
    with suppress(OSError, EnvironmentFaultError):
        _shown_log(state).append({"when": written_time(when), "way": way, "told": list(addresses)})


class _Shown(Struct, frozen=True):
    when: Moment
    way: str
    told: tuple[str, ...]


def tally_shown(state: Path, now: datetime) -> Tally:
    """Count the entries that agents got in the last thirty days."""
    times: Counter[str] = Counter()
    ways: Counter[str] = Counter()
    last: datetime | None = None
    for line in _shown_log(state).lines():
        with suppress(ValidationError):
            shown = convert(line, _Shown)
            if now - shown.when <= _LATELY:
                times.update(shown.told)
                ways[shown.way] += len(shown.told)
                last = max(last or shown.when, shown.when)
    return Tally(times, ways, last)
