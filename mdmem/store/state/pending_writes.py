"""Keep writes that wait for a decision or whose answer may be lost.

A record is kept from before the write until the answer has left the process. Whoever finds it asks for the same thing
a second time because the first answer was lost; whoever repeats an answered call means a second entry.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from mdmem.store.state.files import (
    Moment,
    canonical,
    list_names,
    read_struct,
    refusal_named,
    try_lock,
    write_lock,
    write_record,
    written_time,
)

SUFFIX = ".json"
# A token is kept as its hash alone, so it goes into no request that is kept.
_SECRET = frozenset({"governance_token"})
# What came of a request meanwhile, which makes it no other one.
_NOTES = frozenset({"granted", "produced", "produced_by"})


class PendingWrite(Struct, frozen=True, kw_only=True):
    """A write that failed on the way: the verb with its arguments as JSON values, and how it went so far.

    `refused` says that the last attempt was not stopped on the way: what it asks for cannot be done as things stand.
    `intended` is the SHA-256 of each file, by path, that the last attempt was about to write: whoever finds these
    bytes in place knows that the attempt had succeeded when its process died.
    """

    verb: str
    arguments: Mapping[str, Any]
    created: Moment
    attempts: int = 1
    error: str = ""
    intended: Mapping[str, str] = field(default_factory=dict)
    refused: bool = False

    @property
    def id(self) -> str:
        """Return the SHA-256 of the request, so that the same request is one record."""
        return id_of(self.verb, self.arguments)


def id_of(verb: str, arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a request; neither its token nor what came of it meanwhile is a part of that."""
    asked = {name: value for name, value in _without_secrets(arguments).items() if name not in _NOTES}
    return hashlib.sha256(canonical([verb, asked])).hexdigest()


class Blocked(Struct, frozen=True, kw_only=True):
    """A write that was stopped because a similar entry is there, until it is saved or given up.

    `key` is its wing and its fingerprint; `title` and `project` are empty where an earlier version kept it. `request`
    is the id of the pending write that was stopped so, empty where a call was.
    """

    key: str
    confidence: float
    candidate: str
    at: Moment
    title: str = ""
    project: str = ""
    request: str = ""

    @property
    def id(self) -> str:
        """Return the name under which it is kept."""
        return name_of(self.key)

    @property
    def wing(self) -> str:
        """Return the wing that it was to be written to."""
        return self.key.partition(" ")[0]

    def lets_pass(self, confidence: float | None) -> bool:
        """Say whether a repeated call means the entry as a distinct one: its confidence is lower than ever before.

        No confidence counts as 1.
        """
        return stated_confidence(confidence) < self.confidence


def stated_confidence(confidence: float | None) -> float:
    """Return a confidence as it counts: 1 where none is stated."""
    return 1.0 if confidence is None else confidence


def name_of(key: str) -> str:
    """Return the name of the record that is kept under a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def read_pending(path: Path) -> PendingWrite | None:
    """Return the pending write of a file; None where its content is not what its name says."""
    record = read_struct(path, PendingWrite)
    return record if record is not None and path.name == f"{record.id}{SUFFIX}" else None


def read_blocked(path: Path) -> Blocked | None:
    """Return the blocked write of a file; None where its content is not what its name says."""
    record = read_struct(path, Blocked)
    return record if record is not None and path.name == f"{record.id}{SUFFIX}" else None


def write_pending(path: Path, record: PendingWrite) -> None:
    """Replace the file of a pending write, without the secrets of its arguments; raises OSError."""
    content = asdict(record) | {"arguments": _without_secrets(record.arguments), "intended": dict(record.intended)}
    write_record(path, content | {"created": written_time(record.created)})


def _without_secrets(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in _SECRET}


_PENDING, _BLOCKED, _CLAIMED = "pending", "blocked", "claimed"
_Record = TypeVar("_Record")


class PendingWrites:
    """The pending and blocked writes of one root, one file each; every method raises EnvironmentFaultError.

    Many processes share it. A write is claimed before it is tried again; the kernel holds the claim, so that a process
    that dies gives it back.
    """

    def __init__(self, state: Path) -> None:
        """Take the state folder, which need not be there."""
        self.state = state
        self._held: dict[str, int] = {}

    def keep(self, record: PendingWrite) -> str:
        """Keep a write that failed and return its id.

        The same request is one record: the first `created`, all attempts, the latest error. One that is being tried
        again at this moment stays as it is.
        """
        with self._changing():
            path = self._path(_PENDING, record.id)
            known = read_pending(path)
            claim = try_lock(self._claim_path(record.id)) if known is not None else None
            if known is None:
                write_pending(path, record)
            elif claim is not None:
                attempts, intended = known.attempts + record.attempts, record.intended or known.intended
                kept = replace(record, created=known.created, attempts=attempts, intended=intended)
                write_pending(path, kept)
                self._release(record.id, claim)
        return record.id

    def pending(self) -> tuple[PendingWrite, ...]:
        """Return the writes that wait, those that are being tried again among them, the oldest first, then by id."""
        found = (record for _, record in self._records(_PENDING, read_pending) if record is not None)
        return tuple(sorted(found, key=lambda record: (record.created, record.id)))

    def unreadable(self) -> tuple[str, ...]:
        """Return the paths, from the state folder, of what stands among the records and is none: torn or foreign."""
        pending, blocked = self._records(_PENDING, read_pending), self._records(_BLOCKED, read_blocked)
        return tuple(path for path, record in (*pending, *blocked) if record is None)

    @property
    def oldest(self) -> datetime | None:
        """Return when the oldest of the pending writes failed first."""
        return next((record.created for record in self.pending()), None)

    def claim(self, id_: str) -> PendingWrite | None:
        """Return a pending write for this process alone to try again, until `done` or `give_back`.

        None where another one has it, or it is done.
        """
        with refusal_named(self.state):
            path = self._path(_PENDING, id_)
            if id_ in self._held or not path.is_file():
                return None
            handle = try_lock(self._claim_path(id_))
            # It may have been done between the look and the lock.
            record = read_pending(path) if handle is not None else None
            if record is not None and handle is not None:
                self._held[id_] = handle
            elif handle is not None:
                self._release(id_, handle)
        return record

    def intend(self, id_: str, intended: Mapping[str, str]) -> None:
        """Note what the attempt at a claimed write is about to put where, before it does."""
        self._change(id_, lambda known: replace(known, intended=intended))

    def note(self, id_: str, notes: Mapping[str, Any]) -> None:
        """Note with the arguments of a pending write what came of its request meanwhile, if it is not done by now."""
        self._change(id_, lambda known: replace(known, arguments={**known.arguments, **notes}))

    def done(self, id_: str) -> None:
        """Remove a claimed write that succeeded."""
        try:
            with self._changing():
                self._path(_PENDING, id_).unlink(missing_ok=True)
        finally:
            self._let_go(id_)

    def give_back(self, id_: str, error: str, *, refused: bool = False) -> None:
        """Count one more attempt at a claimed write, which failed with an error or was refused, and let others try."""
        try:
            self._change(id_, lambda known: replace(known, attempts=known.attempts + 1, error=error, refused=refused))
        finally:
            self._let_go(id_)

    def remember_blocked(self, stopped: Blocked) -> Blocked:
        """Remember that a write was stopped; the lowest confidence that ever was stopped is kept."""
        with self._changing():
            known = self.blocked(stopped.key)
            lowest = min(stopped.confidence, known.confidence if known is not None else 1.0)
            record = replace(stopped, confidence=lowest)
            write_record(self._path(_BLOCKED, record.id), asdict(record) | {"at": written_time(record.at)})
        return record

    def blocked_writes(self) -> tuple[Blocked, ...]:
        """Return the writes that were stopped, the oldest first, then by id."""
        found = (record for _, record in self._records(_BLOCKED, read_blocked) if record is not None)
        return tuple(sorted(found, key=lambda record: (record.at, record.id)))

    def blocked(self, key: str) -> Blocked | None:
        """Return what is remembered under a key: a fingerprint with its wing."""
        return read_blocked(self._path(_BLOCKED, name_of(key)))

    def forget_blocked(self, key: str) -> None:
        """Forget what is remembered under a key, if anything is."""
        with refusal_named(self.state), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._path(_BLOCKED, name_of(key)).unlink()

    def _change(self, id_: str, changed: Callable[[PendingWrite], PendingWrite]) -> None:
        with self._changing():
            path = self._path(_PENDING, id_)
            known = read_pending(path)
            if known is not None:
                write_pending(path, changed(known))

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        # A lock of its own: a write that failed because everybody waits for the writers' lock must be kept, too.
        with refusal_named(self.state), write_lock(self.state / _PENDING):
            yield

    def _path(self, folder: str, name: str) -> Path:
        return self.state / folder / f"{name}{SUFFIX}"

    def _claim_path(self, id_: str) -> Path:
        return self.state / _CLAIMED / id_

    def _let_go(self, id_: str) -> None:
        handle = self._held.pop(id_, None)
        if handle is not None:
            self._release(id_, handle)

    def _release(self, id_: str, handle: int) -> None:
        with contextlib.suppress(OSError):
            self._claim_path(id_).unlink()
        os.close(handle)

    def _records(self, folder: str, read: Callable[[Path], _Record | None]) -> list[tuple[str, _Record | None]]:
        with refusal_named(self.state):
            names = [name for name in list_names(self.state / folder) if name != "write.lock"]
        found = [(name, read(self.state / folder / name)) for name in names]
        # One that was there a moment ago and is gone was finished, not torn.
        return [
            (f"{folder}/{name}", record)
            for name, record in found
            if record is not None or os.path.lexists(self.state / folder / name)
        ]


# A client that sends a call again does so within minutes; what is older is meant anew. Beyond so many the oldest go.
_LASTS, _MOST = timedelta(hours=1), 64
_FOLDER = "intents"


class UnansweredSave(Struct, frozen=True, kw_only=True):
    """An entry that a call makes: where, the SHA-256 of its file, since when, and whether it is known to be there."""

    address: str
    digest: str
    at: Moment
    is_written: bool = False


class UnansweredSaves:
    """The unanswered writes of one root, one file each; every method raises EnvironmentFaultError."""

    def __init__(self, state: Path) -> None:
        """Take the state folder, which need not be there."""
        self._state = state

    def unanswered(self, id_: str, now: datetime) -> UnansweredSave | None:
        """Return what an earlier call was about to write, where it has no answer and is not too old."""
        found = read_struct(self._path(id_), UnansweredSave)
        return found if found is not None and now - found.at < _LASTS else None

    def keep(self, id_: str, intent: UnansweredSave) -> None:
        """Note what a call is about to write, before it does, and forget what is too old."""
        with refusal_named(self._state):
            self._forget_old(intent.at)
            self._write(id_, intent)

    def wrote(self, id_: str, intent: UnansweredSave) -> None:
        """Note that it is written: what others change in the file from now on makes it no other entry."""
        with refusal_named(self._state):
            self._write(id_, replace(intent, is_written=True))

    def answered(self, id_: str) -> None:
        """Forget a write whose answer has left the process."""
        with refusal_named(self._state), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._path(id_).unlink()

    def _write(self, id_: str, intent: UnansweredSave) -> None:
        write_record(self._path(id_), asdict(intent) | {"at": written_time(intent.at)})

    def _forget_old(self, now: datetime) -> None:
        paths = [self._state / _FOLDER / name for name in list_names(self._state / _FOLDER)]
        known = [(intent.at, path) for path in paths if (intent := read_struct(path, UnansweredSave)) is not None]
        newest = sorted((pair for pair in known if now - pair[0] < _LASTS), reverse=True)[: _MOST - 1]
        for path in {path for _, path in known} - {path for _, path in newest}:
            path.unlink(missing_ok=True)

    def _path(self, id_: str) -> Path:
        return self._state / _FOLDER / f"{id_}{SUFFIX}"
