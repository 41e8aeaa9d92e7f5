"""The ledger of agents' writes: pending writes, writes that a similar entry blocked, and receipts.

The SHA-256 of a request is its key. A receipt records which entry a request wrote. If the answer was lost and the same
request is repeated, the receipt leads to that entry.
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
# The arguments that are never stored: of a token, only the hash is stored elsewhere.
_SECRET = frozenset({"governance_token"})
# Results that are stored among the arguments. They are not part of the request's key.
_NOTES = frozenset({"granted", "produced", "produced_by"})


class PendingWrite(Struct, frozen=True, kw_only=True):
    """A write that failed; if the last attempt was `refused`, it is not tried again by itself.

    The arguments are JSON values.
    """

    verb: str
    arguments: Mapping[str, Any]
    created: Moment
    attempts: int = 1
    error: str = ""
    refused: bool = False

    @property
    def id(self) -> str:
        """Return the SHA-256 of the request, so that a repeated request has the same record."""
        return id_of(self.verb, self.arguments)


def id_of(verb: str, arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a request, without its token and the stored results."""
    asked = {name: value for name, value in arguments.items() if name not in _SECRET | _NOTES}
    return hashlib.sha256(canonical([verb, asked])).hexdigest()


class Blocked(Struct, frozen=True, kw_only=True):
    """A write that was stopped because a similar entry exists; kept until the write succeeds or is dropped.

    `key` is the wing and the fingerprint of the write. `confidence` is the lowest that was stated for it. `candidate`
    is the address of the similar entry. `title` and `project` are
    empty in records of an earlier version. `request` is the id of the pending write that was stopped, or empty for a
    call.
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
        """Return the file name of the record, without the suffix."""
        return name_of(self.key)

    @property
    def wing(self) -> str:
        """Return the wing in which the write would have created an entry."""
        return self.key.partition(" ")[0]

    def lets_pass(self, confidence: float | None) -> bool:
        """Return whether a repeated call may write a separate entry: its confidence must be lower than any before."""
        return stated_confidence(confidence) < self.confidence


def stated_confidence(confidence: float | None) -> float:
    """Return the confidence of a call, which is 1 by default."""
    return 1.0 if confidence is None else confidence


def name_of(key: str) -> str:
    """Return the file name for a key, without the suffix."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class Receipt(Struct, frozen=True, kw_only=True):
    """The entry that a request writes: its address, its file's SHA-256, the time, and whether it is written yet."""

    address: str
    digest: str
    at: Moment
    is_written: bool = False


_PENDING, _BLOCKED, _CLAIMED, _RECEIPTS = "pending", "blocked", "claimed", "intents"
# How long and how many receipts are kept. The process of a request may die, so a receipt must last longer.
_LASTS, _MOST = timedelta(days=1), 64
_Record = TypeVar("_Record", PendingWrite, Blocked)


def _read(path: Path, kind: type[_Record]) -> _Record | None:
    """Return the record in a file; None if the file is damaged, or if its name does not match the record."""
    record = read_record(path, kind)
    return record if record is not None and path.name == f"{record.id}{_SUFFIX}" else None


class PendingWrites(Struct, frozen=True):
    """The pending and blocked writes of one root, one file each; every method may raise EnvironmentFaultError.

    Many processes share them, so a process claims (locks) a write before it retries the write. The kernel holds the
    lock and releases it if the process dies.
    """

    state: Path

    def keep(self, record: PendingWrite) -> str:
        """Store a write that failed and return its id.

        If the same request is stored already, its record keeps `created`, counts all attempts and gets the latest
        error. A record that another process is retrying at this moment does not change.
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
        """Return all pending writes, the oldest first, including those that are being retried."""
        found = (record for _, record in self._records(_PENDING, PendingWrite) if record is not None)
        return tuple(sorted(found, key=lambda record: (record.created, record.id)))

    def unreadable(self) -> tuple[str, ...]:
        """Return the damaged or unknown files among the records, by path from the state folder."""
        pending, blocked = self._records(_PENDING, PendingWrite), self._records(_BLOCKED, Blocked)
        return tuple(path for path, record in (*pending, *blocked) if record is None)

    @contextlib.contextmanager
    def claim(self, id_: str) -> Iterator[PendingWrite | None]:
        """Claim a pending write for a `with` block; None if another process has claimed it, or if it is done."""
        path, lock = self._path(_PENDING, id_), self.state / _CLAIMED / id_
        with refusal_named(self.state):
            handle = try_lock(lock) if path.is_file() else None
        try:
            # Read the record under the lock, since another process may just have finished it.
            yield _read(path, PendingWrite) if handle is not None else None
        finally:
            if handle is not None:
                with contextlib.suppress(OSError):
                    lock.unlink()
                os.close(handle)

    def note(self, id_: str, notes: Mapping[str, Any]) -> None:
        """Store results of a request with its pending write, unless the write is done already."""
        self._change(id_, lambda known: replace(known, arguments={**known.arguments, **notes}))

    def done(self, id_: str) -> None:
        """Remove a claimed write that succeeded."""
        with self._changing():
            self._path(_PENDING, id_).unlink(missing_ok=True)

    def give_back(self, id_: str, error: str, *, refused: bool = False) -> None:
        """Record that an attempt at a claimed write failed, so that it can be retried later."""
        self._change(id_, lambda known: replace(known, attempts=known.attempts + 1, error=error, refused=refused))

    def remember_blocked(self, stopped: Blocked) -> Blocked:
        """Store a write that was stopped, with the lowest confidence of all its attempts, and return the record."""
        with self._changing():
            known = self.blocked(stopped.key)
            lowest = min(stopped.confidence, known.confidence if known is not None else 1.0)
            record = replace(stopped, confidence=lowest)
            write_record(self._path(_BLOCKED, record.id), record)
        return record

    def blocked_writes(self) -> tuple[Blocked, ...]:
        """Return the blocked writes, the oldest first."""
        found = (record for _, record in self._records(_BLOCKED, Blocked) if record is not None)
        return tuple(sorted(found, key=lambda record: (record.at, record.id)))

    def blocked(self, key: str) -> Blocked | None:
        """Return the blocked write of a key, or None."""
        return _read(self._path(_BLOCKED, name_of(key)), Blocked)

    def forget_blocked(self, key: str) -> None:
        """Remove the blocked write of a key, if there is one."""
        with refusal_named(self.state), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._path(_BLOCKED, name_of(key)).unlink()

    def receipt(self, id_: str) -> Receipt | None:
        """Return the receipt of a request, or None."""
        return read_record(self._path(_RECEIPTS, id_), Receipt)

    def keep_receipt(self, id_: str, receipt: Receipt) -> None:
        """Store the receipt of a request, and delete old ones: at most 64 are kept, and none longer than a day."""
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
        # Not the general write lock, because a write that failed while that lock was busy must be stored, too.
        with refusal_named(self.state), write_lock(self.state / _PENDING):
            yield

    def _path(self, folder: str, name: str) -> Path:
        return self.state / folder / f"{name}{_SUFFIX}"

    def _records(self, folder: str, kind: type[_Record]) -> list[tuple[str, _Record | None]]:
        with refusal_named(self.state):
            names = [name for name in list_names(self.state / folder) if name != "write.lock"]
        found = [(name, _read(self.state / folder / name, kind)) for name in names]
        # A file that was deleted since it was listed belongs to a finished write, and is not damaged.
        return [
            (f"{folder}/{name}", record)
            for name, record in found
            if record is not None or os.path.lexists(self.state / folder / name)
        ]
