"""Local records: days of hygiene, sessions of agents, pins of other wings, logs of answers, and agents' writes.

The last are pending writes, writes that a similar entry blocked, and receipts. The SHA-256 of a request is its key. A
receipt records which entry a request wrote. If the answer is lost and the request repeated, it is not written again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import replace

from mdmem.disk import acquire, make_folder, read_regular
from mdmem.errors import EnvironmentFaultError, reason_of
from mdmem.model.text import text_hash
from mdmem.store.state.files import Instant, canonical, folder_errors, list_names, read_record, write_lock, write_record

_Kind = TypeVar("_Kind")


class Stored(Struct, Generic[_Kind], frozen=True):
    """A record with the version of its format, so that a later version of mdmem can recognise the old format."""

    content: _Kind
    version: Literal["1"] = "1"


def written_time(moment: datetime) -> str:
    """Return a time as ISO 8601 in UTC; a time without an offset counts as UTC."""
    return (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


_FILE = "times.json"


class Times(Struct, frozen=True):
    """The days of the last full runs of `mdmem hygiene`, over all wings and over single wings."""

    everything: date | None = None
    wings: Mapping[str, date] = field(default_factory=dict)

    def last(self, wing: str) -> date | None:
        """Return the day of the last run that included a wing, or None."""
        return max((day for day in (self.everything, self.wings.get(wing)) if day is not None), default=None)


def read_times(folder: Path) -> Times:
    """Return the days of the last runs of `mdmem hygiene`; empty if the file is missing or cannot be read."""
    stored = read_record(folder / _FILE, Stored[Times])
    return stored.content if stored is not None else Times()


def record_hygiene(folder: Path, wings: Collection[str] | None, today: date) -> None:
    """Record a run of `mdmem hygiene` over some wings (None for all); raises BusyError if others hold the lock."""
    with write_lock(folder):
        times = read_times(folder)
        times = replace(times, wings={**times.wings, **dict.fromkeys(wings or (), today)})
        write_record(folder / _FILE, Stored(replace(times, everything=today) if wings is None else times))


_FOLDER, _SUFFIX = "sessions", ".json"
# How long a session lasts, and how many sessions, and entries in a session, are kept. The oldest are deleted.
_LASTS, _SESSIONS, _ENTRIES = timedelta(days=2), 64, 1000


def brief_session(session: str, agent: str = "") -> str:
    """Return the name of the record of entries that a session saw through `mdmem brief` or the edit hook."""
    return f"brief\0{session}\0{agent}"


class _Session(Struct, frozen=True):
    at: Instant
    given: Mapping[str, str]


class Sessions(Struct, frozen=True):
    """The sessions of one root: the entries that each was shown, in a file named by a hash of the session's name."""

    state: Path

    def shown(self, name: str, now: datetime) -> Mapping[str, str]:
        """Return the hash of the file of each entry that a session was shown, by address; empty after two days."""
        known = read_record(self._path(name), _Session)
        return known.given if known is not None and now - known.at < _LASTS else {}

    def record(self, name: str, shown: Mapping[str, str], now: datetime) -> None:
        """Record entries that a session was shown (hash by address); errors are ignored."""
        if not shown:
            return
        with suppress(OSError):
            # Read the record again, since another process may have recorded an answer meanwhile.
            before = self.shown(name, now)
            known = {address: digest for address, digest in before.items() if address not in shown} | dict(shown)
            path = self._path(name)
            if not path.exists():
                others = [one for one in (self.state / _FOLDER).glob(f"*{_SUFFIX}") if not one.name.startswith(".")]
                for old in sorted(others, key=lambda one: one.lstat().st_mtime, reverse=True)[_SESSIONS - 1 :]:
                    old.unlink(missing_ok=True)
            write_record(path, _Session(now, dict(list(known.items())[-_ENTRIES:])))

    def forget(self, name: str) -> None:
        """Delete the record of a session, so that it is shown all entries again; errors are ignored."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.state / _FOLDER / f"{text_hash(name)[:32]}{_SUFFIX}"


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


def add_pin(cache: Path, url: str, commit: str, pin: Pin) -> None:
    """Record a fetched commit; errors are ignored."""
    with suppress(OSError):
        write_record(_folder(cache, url) / f"{commit}.json", Stored(pin))


def _folder(cache: Path, url: str) -> Path:
    return cache / "wings" / text_hash(url)[:20]


class _Journal(Struct, frozen=True):
    """A log in a state folder: the file `name.jsonl` and up to `kept` older files, each of at most `largest` bytes."""

    state: Path
    name: str
    kept: int
    largest: int
    wait: float

    def append(self, content: Mapping[str, Any]) -> None:
        """Write one line, and first rotate the files if the newest is full; raises BusyError if others are writing."""
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
    """Append a question, its answer and `more` fields to the audit log; return a message if that fails, else None."""
    texts = {name: one[:_LONGEST_TEXT] if isinstance(one, str) else one for name, one in asked.items()}
    content = {"when": written_time(when), "caller": caller, "verb": verb, "asked": texts, "returned": list(returned)}
    try:
        _audit_log(state).append(content | dict(more or {}))
    except (EnvironmentFaultError, OSError) as error:
        return f"this call is not in the audit log {state / AUDIT_NAME}: {reason_of(error)}"
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
    """Record the entries that a tool or hook (`way`, such as `hook codex`) showed to an agent; errors are ignored."""
    with suppress(OSError, EnvironmentFaultError):
        _shown_log(state).append({"when": written_time(when), "way": way, "told": list(addresses)})


class _Shown(Struct, frozen=True):
    when: Instant
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


# The arguments that are never stored: of a token, only the hash is stored elsewhere.
_SECRET = frozenset({"governance_token"})
# Results that are stored among the arguments. They are not part of the request's key.
_NOTES = frozenset({"granted", "produced", "produced_by"})


class PendingWrite(Struct, frozen=True, kw_only=True):
    """A write that failed. If the last attempt was `refused`, the write is not tried again automatically."""

    verb: str
    arguments: Mapping[str, Any]
    created: Instant
    attempts: int = 1
    error: str = ""
    refused: bool = False

    @property
    def id(self) -> str:
        """Return the SHA-256 of the request, so that a repeated request has the same record."""
        return id_of(self.verb, self.arguments)


def id_of(verb: str, arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a request, without its approval token and the results stored with it."""
    asked = {name: value for name, value in arguments.items() if name not in _SECRET | _NOTES}
    return hashlib.sha256(canonical([verb, asked])).hexdigest()


class Blocked(Struct, frozen=True, kw_only=True):
    """A write that was stopped because a similar entry exists; kept until the write succeeds or is dropped.

    `key` is the wing and the fingerprint of the write, and `confidence` the lowest that was stated for it. `title` and
    `project` are empty in records of an earlier version. `request` is the id of the pending write that was tried again,
    or empty if the write was not pending.
    """

    key: str
    confidence: float
    candidate: str
    at: Instant
    title: str = ""
    project: str = ""
    request: str = ""

    @property
    def id(self) -> str:
        """Return the file name of the record, without the suffix."""
        return text_hash(self.key)

    @property
    def wing(self) -> str:
        """Return the wing in which the write would have created an entry."""
        return self.key.partition(" ")[0]

    def lets_pass(self, confidence: float | None) -> bool:
        """Return whether a repeated call may write a separate entry: it must state less confidence than all before."""
        return (1.0 if confidence is None else confidence) < self.confidence


class Receipt(Struct, frozen=True, kw_only=True):
    """The entry that a request writes: its address, its file's SHA-256, the time, and whether it is written yet."""

    address: str
    digest: str
    at: Instant
    is_written: bool = False


_PENDING, _BLOCKED, _CLAIMED, _RECEIPTS = "pending", "blocked", "claimed", "intents"
# How long and how many receipts are kept. The process of a request may die, so a receipt must last longer.
_RECEIPT_LASTS, _MAX_RECEIPTS = timedelta(days=1), 64
_Record = TypeVar("_Record", PendingWrite, Blocked)


def _read(path: Path, kind: type[_Record]) -> _Record | None:
    """Return the record in a file; None if the file is damaged, or if its name does not match the record."""
    record = read_record(path, kind)
    return record if record is not None and path.name == f"{record.id}{_SUFFIX}" else None


def try_lock(path: Path) -> int | None:
    """Lock a file and return its descriptor, or None if it is locked. To unlock, remove the file, then close it."""
    make_folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(OSError):
        acquire(handle)
        # Another process may have removed the file that is locked here, and a third one may have created it again.
        if os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    os.close(handle)
    return None


class PendingWrites(Struct, frozen=True):
    """The pending and blocked writes of one root, one file each; every method may raise EnvironmentFaultError.

    A process claims (locks) a write before it retries the write; the kernel releases the lock if the process dies.
    """

    state: Path

    def add(self, record: PendingWrite) -> str:
        """Store a write that failed and return its id; attempts of the same request are counted together."""
        with self._changing():
            known = _read(self._path(_PENDING, record.id), PendingWrite)
            if known is None:
                self._write(record)
            else:
                with self.claim(record.id) as claimed:
                    if claimed is not None:
                        self._write(replace(record, created=known.created, attempts=known.attempts + record.attempts))
        return record.id

    def pending(self) -> tuple[PendingWrite, ...]:
        """Return all pending writes, the oldest first, including those that are being retried."""
        found = (record for _, record in self._records(_PENDING, PendingWrite) if record is not None)
        return tuple(sorted(found, key=lambda record: (record.created, record.id)))

    def unreadable(self) -> tuple[str, ...]:
        """Return the damaged or unknown files among the records, by path from the state folder."""
        pending, blocked = self._records(_PENDING, PendingWrite), self._records(_BLOCKED, Blocked)
        return tuple(path for path, record in (*pending, *blocked) if record is None)

    @contextmanager
    def claim(self, id_: str) -> Iterator[PendingWrite | None]:
        """Claim a pending write for a `with` block; None if another process has claimed it, or if it is done."""
        path, lock = self._path(_PENDING, id_), self.state / _CLAIMED / id_
        with folder_errors(self.state):
            handle = try_lock(lock) if path.is_file() else None
        try:
            # Read the record under the lock, since another process may just have finished it.
            yield _read(path, PendingWrite) if handle is not None else None
        finally:
            if handle is not None:
                with suppress(OSError):
                    lock.unlink()
                os.close(handle)

    def add_results(self, id_: str, notes: Mapping[str, Any]) -> None:
        """Store results of a request with its pending write, unless the write is done already."""
        self._change(id_, lambda known: replace(known, arguments={**known.arguments, **notes}))

    def complete(self, id_: str) -> None:
        """Remove a pending write that succeeded."""
        with self._changing():
            self._path(_PENDING, id_).unlink(missing_ok=True)

    def record_failure(self, id_: str, error: str, *, refused: bool = False) -> None:
        """Record that an attempt at a claimed write failed, so that it can be retried later."""
        self._change(id_, lambda known: replace(known, attempts=known.attempts + 1, error=error, refused=refused))

    def add_blocked(self, stopped: Blocked) -> None:
        """Store a write that was stopped, with the lowest confidence of all its attempts."""
        with self._changing():
            known = self.blocked(stopped.key)
            lowest = min(stopped.confidence, known.confidence if known is not None else 1.0)
            write_record(self._path(_BLOCKED, stopped.id), replace(stopped, confidence=lowest))

    def blocked_writes(self) -> tuple[Blocked, ...]:
        """Return the blocked writes, the oldest first."""
        found = (record for _, record in self._records(_BLOCKED, Blocked) if record is not None)
        return tuple(sorted(found, key=lambda record: (record.at, record.id)))

    def blocked(self, key: str) -> Blocked | None:
        """Return the blocked write of a key, or None."""
        return _read(self._path(_BLOCKED, text_hash(key)), Blocked)

    def remove_blocked(self, key: str) -> None:
        """Remove the blocked write of a key, if there is one."""
        with folder_errors(self.state), suppress(FileNotFoundError, NotADirectoryError):
            self._path(_BLOCKED, text_hash(key)).unlink()

    def receipt(self, id_: str) -> Receipt | None:
        """Return the receipt of a request, or None."""
        return read_record(self._path(_RECEIPTS, id_), Receipt)

    def add_receipt(self, id_: str, receipt: Receipt) -> None:
        """Store the receipt of a request, and delete old ones: at most 64 are kept, and none longer than a day."""
        with folder_errors(self.state):
            folder = self.state / _RECEIPTS
            known = {folder / name: read_record(folder / name, Receipt) for name in list_names(folder)}
            fresh = {
                path: one.at for path, one in known.items() if one is not None and receipt.at - one.at < _RECEIPT_LASTS
            }
            newest = sorted(fresh, key=lambda path: fresh[path], reverse=True)[: _MAX_RECEIPTS - 1]
            for path in known.keys() - newest:
                path.unlink(missing_ok=True)
            write_record(self._path(_RECEIPTS, id_), receipt)

    def _change(self, id_: str, changed: Callable[[PendingWrite], PendingWrite]) -> None:
        with self._changing():
            known = _read(self._path(_PENDING, id_), PendingWrite)
            if known is not None:
                self._write(changed(known))

    def _write(self, record: PendingWrite) -> None:
        arguments = {name: value for name, value in record.arguments.items() if name not in _SECRET}
        write_record(self._path(_PENDING, record.id), replace(record, arguments=arguments))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        # Not the general write lock, because a write that failed while that lock was busy must be stored, too.
        with folder_errors(self.state), write_lock(self.state / _PENDING):
            yield

    def _path(self, folder: str, name: str) -> Path:
        return self.state / folder / f"{name}{_SUFFIX}"

    def _records(self, folder: str, kind: type[_Record]) -> list[tuple[str, _Record | None]]:
        with folder_errors(self.state):
            names = [name for name in list_names(self.state / folder) if name != "write.lock"]
        found = [(name, _read(self.state / folder / name, kind)) for name in names]
        # A file that was deleted since it was listed belongs to a finished write, and is not damaged.
        return [
            (f"{folder}/{name}", record)
            for name, record in found
            if record is not None or os.path.lexists(self.state / folder / name)
        ]
