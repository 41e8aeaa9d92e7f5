"""Writes that failed on the way: tried again before the next write or when somebody asks, and never written twice."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mdmem.authoring.model import SaveResult, SaveStanding, SaveStatus, failed
from mdmem.entry.model import Wing
from mdmem.errors import EnvironmentFaultError, MdmemError, NotFoundError, UsageError
from mdmem.scope import find_wing
from mdmem.state.ledger import Ledger
from mdmem.state.ledger_model import PendingWrite
from mdmem.workspace.calls import Call, call_again

# Before a write so many are tried again, and none that failed so often: `mdmem pending retry` tries them all.
_AT_ONCE = 3
_GIVES_UP = 5


@dataclass(frozen=True, slots=True)
class Retried:
    """A write that was tried again, and what became of it."""

    write: PendingWrite
    result: SaveResult


class Pending:
    """The writes of one root that wait."""

    def __init__(self, ledger: Ledger, root: Path, attempt: Callable[[Call], SaveResult]) -> None:
        """Take the ledger, the root, and what carries out a call."""
        self.ledger = ledger
        self._root, self._attempt = root, attempt

    def first_then(self, call: Call) -> SaveResult:
        """Try again what waits, a few at a time, then carry out a call, which may be one that waits."""
        try:
            waiting = self.ledger.pending()
            others = [one for one in waiting if one.id != call.request and one.attempts < _GIVES_UP]
            for record in others[:_AT_ONCE]:
                result = self._again(record)
                if result is not None and result.waits:
                    # What stopped this one stops the others, too, and waiting for it takes time.
                    break
            for record in waiting:
                if record.id == call.request:
                    return self._repeated(record, call)
        except EnvironmentFaultError:
            # Where the ledger cannot be read, the write itself may pass all the same.
            pass
        return self._attempt(call)

    def retry(self, prefix: str | None = None) -> tuple[Retried, ...]:
        """Try again what waits, all or the one whose id begins so; raises NotFoundError and EnvironmentFaultError."""
        found = self.ledger.pending() if prefix is None else (self.get(prefix),)
        tried = ((record, self._again(record)) for record in found)
        return tuple(Retried(record, result) for record, result in tried if result is not None)

    def drop(self, prefix: str) -> PendingWrite:
        """Give up a write for good; raises NotFoundError, and UsageError for one that is being tried at this moment."""
        record = self.get(prefix)
        if self.ledger.claim(record.id) is None:
            raise UsageError(f"{record.id[:12]} is being tried again at this moment")
        self.ledger.done(record.id)
        return record

    def get(self, prefix: str) -> PendingWrite:
        """Return the write whose id begins so; raises NotFoundError for none and UsageError for several."""
        found = [one for one in self.ledger.pending() if one.id.startswith(prefix.lower())] if prefix else []
        if len(found) > 1:
            raise UsageError(f"`{prefix}` means {len(found)} writes; write more of the id")
        if not found:
            raise NotFoundError(f"no write `{prefix}` waits; `mdmem pending` lists them")
        return found[0]

    def standing(self, project_id: str | None, wings: Mapping[str, Wing]) -> SaveStanding:
        """Return how the writes of a project stand: those that failed too often wait for a person."""
        try:
            records = [one for one in self.ledger.pending() if _concerns(one, project_id, wings)]
        except EnvironmentFaultError:
            return SaveStanding(status=SaveStatus.FAILED)
        given_up = [one for one in records if one.attempts >= _GIVES_UP]
        status = SaveStatus.PARTIAL if given_up else SaveStatus.PENDING_RETRY
        return SaveStanding(
            status=SaveStatus.SAVED if not records else SaveStatus.FAILED if len(given_up) == len(records) else status,
            oldest_pending_at=records[0].created if records else None,
            artifact_ids=tuple(one.id for one in records),
        )

    def _repeated(self, record: PendingWrite, call: Call) -> SaveResult:
        """Carry out a call that waits already: with its new token, if it came with one."""
        result = self._again(record, call.token)
        if result is not None:
            return result
        message = "the same write waits already, and another process is trying it at this moment"
        return SaveResult(status=SaveStatus.PENDING_RETRY, message=message)

    def _again(self, listed: PendingWrite, token: str | None = None) -> SaveResult | None:
        """Try one write again, alone among all processes; None where another has it."""
        record = self.ledger.claim(listed.id)
        if record is None:
            return None
        address = self._written_before(record)
        if address is not None:
            self._done(record)
            return SaveResult(status=SaveStatus.SAVED, artifact_id=address, message=f"{address} was written before")
        try:
            call = call_again(record)
            call.token = token
            result = self._attempt(call)
        except MdmemError as error:
            result = failed(str(error))
        if result.is_there:
            self._done(record)
        else:
            # Where the attempt cannot be counted, what became of it is the answer all the same.
            with contextlib.suppress(EnvironmentFaultError):
                self.ledger.give_back(record.id, result.message or "")
        return result

    def _done(self, record: PendingWrite) -> None:
        # Where it cannot be removed, the next attempt finds what this one has written.
        with contextlib.suppress(EnvironmentFaultError):
            self.ledger.done(record.id)

    def _written_before(self, record: PendingWrite) -> str | None:
        """Return the address that an attempt wrote whose process died before it could say so."""
        for path, digest in record.intended.items():
            try:
                content = (self._root / path).read_bytes()
            except OSError:
                continue
            if hashlib.sha256(content).hexdigest() == digest:
                return path.removesuffix(".md")
        return None


def _concerns(record: PendingWrite, project_id: str | None, wings: Mapping[str, Wing]) -> bool:
    named = record.arguments.get("project_id")
    if project_id is None or not isinstance(named, str):
        return project_id is None
    meant = find_wing(project_id, wings)
    return named == project_id or (meant is not None and find_wing(named, wings) == meant)
