"""The results of saving. Agents get one of these results, and never an exception."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import asdict

from mdmem.errors import shown_message
from mdmem.store.state.pending_writes import Blocked
from mdmem.write.similar import DedupOutcome

# The start of the message for a save that has to be tried again.
NOT_YET = "not written yet: "


class SaveStatus(StrEnum):
    """The outcome of a save, in the words of the MCP contract."""

    SAVED = "saved"
    FAILED = "failed"
    BLOCKED_SCOPE = "blocked_scope"
    PENDING_RETRY = "pending_retry"
    DUPLICATE_SKIP = "duplicate_skip"
    PARTIAL = "partial"


class SaveResult(Struct, frozen=True, kw_only=True):
    """The outcome of one save. `artifact_id` is the address of the entry with the record, or None."""

    status: SaveStatus
    artifact_id: str | None = None
    dedup_outcome: DedupOutcome | None = None
    candidate_id: str | None = None
    message: str | None = None
    next_step: str | None = None

    @property
    def is_there(self) -> bool:
        """Return whether the record is in a new or existing entry."""
        return self.status in (SaveStatus.SAVED, SaveStatus.DUPLICATE_SKIP)

    @property
    def is_for_a_person(self) -> bool:
        """Return whether a similar entry stopped the save, so that a person has to decide."""
        return self.dedup_outcome is DedupOutcome.MANUAL_REVIEW

    @property
    def waits(self) -> bool:
        """Return whether the save failed for a temporary reason and was stored, to be tried again."""
        return self.status is SaveStatus.PENDING_RETRY and not self.is_for_a_person

    @property
    def is_refused(self) -> bool:
        """Return whether the same save would fail again."""
        return not (self.is_there or self.waits or self.status is SaveStatus.BLOCKED_SCOPE)

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return asdict(self)


def failed(message: str, next_step: str | None = None) -> SaveResult:
    """Return the result of a save that is refused and will not be tried again."""
    return SaveResult(status=SaveStatus.FAILED, message=shown_message(message), next_step=next_step)


class BatchSaveResult(Struct, frozen=True, kw_only=True):
    """The outcomes for a session, and for its decisions and patterns."""

    session: SaveResult
    decisions: tuple[SaveResult, ...] = ()
    patterns: tuple[SaveResult, ...] = ()

    @property
    def overall(self) -> SaveStatus:
        """Return SAVED if every part is saved, FAILED if no part is saved or waits, and PARTIAL otherwise."""
        parts = (self.session, *self.decisions, *self.patterns)
        if all(part.is_there for part in parts):
            return SaveStatus.SAVED
        is_lost = all(not part.is_there and not part.waits for part in parts)
        return SaveStatus.FAILED if is_lost else SaveStatus.PARTIAL

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        parts: dict[str, Any] = to_builtins(self)
        return parts | {"overall": self.overall.value}


def blocked_fields(blocked: Blocked) -> dict[str, Any]:
    """Return the JSON values for a save that a similar entry stopped."""
    return {
        "id": blocked.id,
        "wing": blocked.wing,
        "title": blocked.title,
        "candidate_id": blocked.candidate,
        "since": blocked.at.isoformat(),
    }
