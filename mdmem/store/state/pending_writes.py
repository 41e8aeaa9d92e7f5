"""The ledger of saves: requests that wait, saves that a similar entry stopped, and receipts of written entries.

The SHA-256 of a request is its key. A receipt lets the same request find its entry where the first answer was lost.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mdmem.store.state.files import (
    Moment,
    canonical,
    list_names,
    read_record,
    refusal_named,
    try_lock,
    write_lock,
    write_record,
)

_SUFFIX = ".json"
# Only the hash of a token is stored, so no request keeps one.
_SECRET = frozenset({"governance_token"})
# Results that are noted with a request, and make it no other one.
_NOTES = frozenset({"granted", "produced", "produced_by"})


class PendingWrite(Struct, frozen=True, kw_only=True):
    """A write that failed: the verb with its arguments as JSON values, and what became of it.

    `refused` means that the last attempt was rejected, not interrupted.
    """

    verb: str
    arguments: Mapping[str, Any]
    created: Moment
    attempts: int = 1
    error: str = ""
    refused: bool = False

    @property
    def id(self) -> str:
        """Return the SHA-256 of the request, so that the same request is one record."""
        return id_of(self.verb, self.arguments)


def id_of(verb: str, arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a request, without its token and its notes."""
    asked = {name: value for name, value in arguments.items() if name not in _SECRET | _NOTES}
    return hashlib.sha256(canonical([verb, asked])).hexdigest()


class Blocked(Struct, frozen=True, kw_only=True):
    """A write that was stopped because a similar entry exists, until it is saved or given up.

    `key` is its wing and its fingerprint; `title` and `project` are empty in records of an earlier version. `request`
    is the id of the pending write that was stopped, empty for a call.
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
        """Return the name of its record."""
        return name_of(self.key)

    @property
    def wing(self) -> str:
        """Return the wing that it was meant for."""
        return self.key.partition(" ")[0]

    def lets_pass(self, confidence: float | None) -> bool:
        """Return whether a repeated call may write a distinct entry: its stated confidence is the lowest so far."""
        return stated_confidence(confidence) < self.confidence


def stated_confidence(confidence: float | None) -> float:
    """Return a confidence, 1 where none is stated."""
    return 1.0 if confidence is None else confidence


def name_of(key: str) -> str:
    """Return the name of the record of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class Receipt(Struct, frozen=True, kw_only=True):
    """The entry that a request makes: its address, the SHA-256 of its file, the time, and whether it was written."""

    address: str
    digest: str
    at: Moment
    is_written: bool = False


_PENDING, _BLOCKED, _CLAIMED, _RECEIPTS = "pending", "blocked", "claimed", "intents"
# A receipt outlives the process that died before its request was done.
_LASTS, _MOST = timedelta(days=1), 64
_Record = TypeVar("_Record", PendingWrite, Blocked)


def _read(path: Path, kind: type[_Record]) -> _Record | None:
    """Return the record of a file; None if its content does not match its name."""
    record = read_record(path, kind)
    return record if record is not None and path.name == f"{record.id}{_SUFFIX}" else None


class PendingWrites:
    """The pending and blocked writes of one root, one file each; every method raises EnvironmentFaultError.

    Many processes share them. A write is claimed before it is retried; the kernel holds the claim, so that it ends
    with its process.
    """

    def __init__(self, state: Path) -> None:
        """Take the state folder, which need not exist."""
        self.state = state

    def keep(self, record: PendingWrite) -> str:
        """Keep a write that failed and return its id.

        The same request is one record: the first `created`, all attempts, the latest error. A record that is being
        retried at this moment does not change.
        """
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
        """Return the writes that wait, those being retried included, the oldest first, then by id."""
        found = (record for _, record in self._records(_PENDING, PendingWrite) if record is not None)
        return tuple(sorted(found, key=lambda record: (record.created, record.id)))

    def unreadable(self) -> tuple[str, ...]:
        """Return the paths, from the state folder, of torn or foreign files among the records."""
        pending, blocked = self._records(_PENDING, PendingWrite), self._records(_BLOCKED, Blocked)
        return tuple(path for path, record in (*pending, *blocked) if record is None)

    @contextlib.contextmanager
    def claim(self, id_: str) -> Iterator[PendingWrite | None]:
        """Claim a pending write for a block; it gets None where another process has the write, or it is done."""
        path, lock = self._path(_PENDING, id_), self.state / _CLAIMED / id_
        with refusal_named(self.state):
            handle = try_lock(lock) if path.is_file() else None
        try:
            # It may have been done before we got the lock.
            yield _read(path, PendingWrite) if handle is not None else None
        finally:
            if handle is not None:
                with contextlib.suppress(OSError):
                    lock.unlink()
                os.close(handle)

    def note(self, id_: str, notes: Mapping[str, Any]) -> None:
        """Record results of a request with the arguments of its pending write, if it is not done by now."""
        self._change(id_, lambda known: replace(known, arguments={**known.arguments, **notes}))

    def done(self, id_: str) -> None:
        """Remove a claimed write that succeeded."""
        with self._changing():
            self._path(_PENDING, id_).unlink(missing_ok=True)

    def give_back(self, id_: str, error: str, *, refused: bool = False) -> None:
        """Count one more failed attempt at a claimed write."""
        self._change(id_, lambda known: replace(known, attempts=known.attempts + 1, error=error, refused=refused))

    def remember_blocked(self, stopped: Blocked) -> Blocked:
        """Record a write that was stopped, with the lowest confidence that ever was."""
        with self._changing():
            known = self.blocked(stopped.key)
            lowest = min(stopped.confidence, known.confidence if known is not None else 1.0)
            record = replace(stopped, confidence=lowest)
            write_record(self._path(_BLOCKED, record.id), record)
        return record

    def blocked_writes(self) -> tuple[Blocked, ...]:
        """Return the writes that were stopped, the oldest first, then by id."""
        found = (record for _, record in self._records(_BLOCKED, Blocked) if record is not None)
        return tuple(sorted(found, key=lambda record: (record.at, record.id)))

    def blocked(self, key: str) -> Blocked | None:
        """Return the record of a key."""
        return _read(self._path(_BLOCKED, name_of(key)), Blocked)

    def forget_blocked(self, key: str) -> None:
        """Remove the record of a key, if there is one."""
        with refusal_named(self.state), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._path(_BLOCKED, name_of(key)).unlink()

    def receipt(self, id_: str) -> Receipt | None:
        """Return the receipt of a request."""
        return read_record(self._path(_RECEIPTS, id_), Receipt)

    def keep_receipt(self, id_: str, receipt: Receipt) -> None:
        """Keep the receipt of a request, and forget those that are too old or too many."""
        with refusal_named(self.state):
            folder = self.state / _RECEIPTS
            known = {folder / name: read_record(folder / name, Receipt) for name in list_names(folder)}
            fresh = {path: one.at for path, one in known.items() if one is not None and receipt.at - one.at < _LASTS}
            newest = sorted(fresh, key=lambda path: fresh[path], reverse=True)[: _MOST - 1]
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

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        # A lock of its own: a write that failed because the writers' lock was busy must be kept, too.
        with refusal_named(self.state), write_lock(self.state / _PENDING):
            yield

    def _path(self, folder: str, name: str) -> Path:
        return self.state / folder / f"{name}{_SUFFIX}"

    def _records(self, folder: str, kind: type[_Record]) -> list[tuple[str, _Record | None]]:
        with refusal_named(self.state):
            names = [name for name in list_names(self.state / folder) if name != "write.lock"]
        found = [(name, _read(self.state / folder / name, kind)) for name in names]
        # A file that vanished since it was listed was finished, not torn.
        return [
            (f"{folder}/{name}", record)
            for name, record in found
            if record is not None or os.path.lexists(self.state / folder / name)
        ]
