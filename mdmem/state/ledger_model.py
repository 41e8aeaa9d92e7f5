"""What the ledger holds: a write that waits to be tried again, and one that a person has to decide on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mdmem.state.records import canonical, read_record, read_time, written_time

SUFFIX = ".json"
# A token is kept as its hash alone, so it goes into no request that is kept.
_SECRET = frozenset({"governance_token"})
# What came of a request meanwhile, which makes it no other one.
_NOTES = frozenset({"granted", "produced", "produced_by"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWrite:
    """A write that failed on the way: the verb with its arguments as JSON values, and how it went so far.

    `refused` says that the last attempt was not stopped on the way: what it asks for cannot be done as things stand.
    `intended` is the SHA-256 of each file, by path, that the last attempt was about to write: whoever finds these
    bytes in place knows that the attempt had succeeded when its process died.
    """

    verb: str
    arguments: Mapping[str, Any]
    created: datetime
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A write that was stopped because a similar entry is there, which a person has to look at."""

    key: str
    confidence: float
    candidate: str
    at: datetime

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


def pending_to_json(record: PendingWrite) -> dict[str, Any]:
    """Return a pending write as JSON values, without the secrets of its arguments."""
    return {
        "verb": record.verb,
        "arguments": _without_secrets(record.arguments),
        "created": written_time(record.created),
        "attempts": record.attempts,
        "error": record.error,
        "intended": dict(record.intended),
        "refused": record.refused,
    }


def blocked_to_json(record: Blocked) -> dict[str, Any]:
    """Return a blocked write as JSON values."""
    at = written_time(record.at)
    return {"key": record.key, "confidence": record.confidence, "candidate": record.candidate, "at": at}


def read_pending(path: Path) -> PendingWrite | None:
    """Return the pending write of a file; None where its content is not what its name says."""
    match read_record(path):
        case {
            "verb": str(verb),
            "arguments": dict(arguments),
            "created": created,
            "attempts": int(attempts),
            "error": str(error),
            "intended": dict(intended),
            **rest,
        } if (moment := read_time(created)) is not None:
            record = PendingWrite(
                verb=verb,
                arguments=arguments,
                created=moment,
                attempts=attempts,
                error=error,
                intended=intended,
                refused=rest.get("refused") is True,
            )
            return record if path.name == f"{record.id}{SUFFIX}" else None
    return None


def read_blocked(path: Path) -> Blocked | None:
    """Return the blocked write of a file; None where its content is not what its name says."""
    match read_record(path):
        case {"key": str(key), "confidence": int() | float() as confidence, "candidate": str(candidate), "at": at} if (
            moment := read_time(at)
        ) is not None:
            record = Blocked(key=key, confidence=float(confidence), candidate=candidate, at=moment)
            return record if path.name == f"{name_of(key)}{SUFFIX}" else None
    return None


def _without_secrets(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in _SECRET}
