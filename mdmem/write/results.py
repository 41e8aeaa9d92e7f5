"""What a verb for agents answers: never an exception, always one of these."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from mdmem.errors import shown_message
from mdmem.markdown.similarity import DedupOutcome
from mdmem.store.state.pending_writes import Blocked

# How the message of a write begins that waits.
NOT_YET = "not written yet: "


class SaveStatus(StrEnum):
    """What became of a write, in the words of the contract."""

    SAVED = "saved"
    FAILED = "failed"
    BLOCKED_SCOPE = "blocked_scope"
    PENDING_RETRY = "pending_retry"
    DUPLICATE_SKIP = "duplicate_skip"
    PARTIAL = "partial"


class SaveResult(Struct, frozen=True, kw_only=True):
    """What became of one write; `artifact_id` is the address that holds what was to be saved, None where none does."""

    status: SaveStatus
    artifact_id: str | None = None
    dedup_outcome: DedupOutcome | None = None
    candidate_id: str | None = None
    message: str | None = None
    next_step: str | None = None

    @property
    def is_there(self) -> bool:
        """Say whether an entry now holds what was to be saved, be it new or known before."""
        return self.status in (SaveStatus.SAVED, SaveStatus.DUPLICATE_SKIP)

    @property
    def waits(self) -> bool:
        """Say whether the write failed on the way and was kept, to be tried again."""
        return self.status is SaveStatus.PENDING_RETRY and not self.is_for_a_person

    @property
    def is_refused(self) -> bool:
        """Say whether the write cannot be done as things stand, so that to repeat it by itself is of no use."""
        return not (self.is_there or self.waits or self.status is SaveStatus.BLOCKED_SCOPE)

    @property
    def is_for_a_person(self) -> bool:
        """Say whether the write was stopped because a similar entry is there."""
        return self.dedup_outcome is DedupOutcome.MANUAL_REVIEW

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return asdict(self)


class BatchSaveResult(Struct, frozen=True, kw_only=True):
    """What became of a session and of what it taught, each part by itself."""

    session: SaveResult
    decisions: tuple[SaveResult, ...] = ()
    patterns: tuple[SaveResult, ...] = ()

    @property
    def overall(self) -> SaveStatus:
        """Return saved where every part is there, failed where none is there or waits, else partial."""
        parts = (self.session, *self.decisions, *self.patterns)
        if all(part.is_there for part in parts):
            return SaveStatus.SAVED
        lost = all(not part.is_there and not part.waits for part in parts)
        return SaveStatus.FAILED if lost else SaveStatus.PARTIAL

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        return {
            "session": self.session.as_json(),
            "decisions": _all_as_json(self.decisions),
            "patterns": _all_as_json(self.patterns),
            "overall": self.overall,
        }


def _all_as_json(results: Iterable[SaveResult]) -> list[dict[str, Any]]:
    return [result.as_json() for result in results]


def blocked_fields(blocked: Blocked) -> dict[str, Any]:
    """Return a save that a similar entry stopped, as JSON values."""
    return {
        "id": blocked.id,
        "wing": blocked.wing,
        "title": blocked.title,
        "candidate_id": blocked.candidate,
        "since": blocked.at.isoformat(),
    }


class SaveStanding(Struct, frozen=True, kw_only=True):
    """How the writes of a project stand: those that wait, the oldest first, by the id of the pending write.

    `blocked` are those that a similar entry stopped.
    """

    status: SaveStatus
    oldest_pending_at: datetime | None = None
    artifact_ids: tuple[str, ...] = ()
    blocked: tuple[Blocked, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the standing as JSON values."""
        oldest = self.oldest_pending_at
        return {
            "status": self.status,
            "count": len(self.artifact_ids) + len(self.blocked),
            "oldest_pending_at": oldest.isoformat() if oldest else None,
            "artifact_ids": [*self.artifact_ids, *(one.id for one in self.blocked)],
            **({"blocked": [blocked_fields(one) for one in self.blocked]} if self.blocked else {}),
        }


def failed(message: str, next_step: str | None = None) -> SaveResult:
    """Return the answer to a write that cannot be done as it was asked for."""
    return SaveResult(status=SaveStatus.FAILED, message=shown_message(message), next_step=next_step)
