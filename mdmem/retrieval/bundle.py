"""What `retrieve_context` answers, in the shape of its contract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mdmem.entry.labels import NodeLabel
from mdmem.entry.model import EntryType, Status
from mdmem.finding import Finding
from mdmem.retrieval.fallback import Passage
from mdmem.retrieval.model import Conflict, Omission, Tier
from mdmem.scope import ScopeState
from mdmem.standing import Stance, standing_json

# The contract calls the shared wings the global scope.
SCOPE_WORDS = {Tier.FOCUS: "focus", Tier.PROJECT: "project", Tier.SHARED: "global"}


class RetrievalStatus(StrEnum):
    """How a retrieval went; none of them is an error to its caller."""

    SUCCEEDED = "succeeded"
    EMPTY = "empty"
    TIMED_OUT = "timed_out"
    FAILED = "failed"
    CONFLICTED = "conflicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleItem:
    """One entry: `rationale` and `content` together are all it says.

    `uncertainty` tells why it is to be confirmed first; `overridden_by` are the project's entries that replace it here;
    `stance` is how it stands to the default branch, where that is known, `current` whether it is in force.
    """

    id: str
    label: NodeLabel
    title: str
    rationale: str
    tier: Tier
    created_at: str | None
    type: EntryType
    status: Status
    content: str = ""
    reason: str = ""
    uncertainty: str | None = None
    overrides: tuple[str, ...] = ()
    overridden_by: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    stance: Stance | None = None
    current: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the item in the contract's shape; what an entry does not have is left out of the further keys."""
        further = {
            "content": self.content,
            "uncertainty": self.uncertainty,
            "overrides": list(self.overrides),
            "overridden_by": list(self.overridden_by),
            "via": list(self.via),
        }
        return {
            "id": self.id,
            "label": self.label.value,
            "title": self.title,
            "rationale": self.rationale,
            "scope": SCOPE_WORDS[self.tier],
            "created_at": self.created_at,
            "type": self.type.value,
            "status": self.status.value,
            "reason": self.reason,
            **{name: value for name, value in further.items() if value},
            **standing_json(self.stance, in_force=self.current),
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many entries of one type were left out for one reason."""

    type: str
    why: str
    count: int

    def as_json(self) -> dict[str, Any]:
        """Return the count as JSON values."""
        return {"type": self.type, "why": self.why, "count": self.count}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBundle:
    """The items in the order of authority, drafts apart, and what is doubtful or left out.

    `conflicts` are the declared ones; `suspected` are the pairs that nobody declared. `omitted` names 50 entries at
    most, and `omitted_counts` counts the rest. `invariants_left_out` counts those that bind always and are not here.
    """

    status: RetrievalStatus
    scope_state: ScopeState
    message: str | None = None
    problems: tuple[Finding, ...] = ()
    items: tuple[BundleItem, ...] = ()
    proposed: tuple[BundleItem, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    suspected: tuple[Conflict, ...] = ()
    invariants_left_out: tuple[LeftOut, ...] = ()
    omitted: tuple[Omission, ...] = ()
    omitted_counts: tuple[LeftOut, ...] = ()
    hygiene_due: bool = False
    wing: str | None = None
    shared_wings: tuple[str, ...] = ()
    focus: str | None = None
    covered: bool = False
    unmatched_terms: tuple[str, ...] = ()
    fallback: tuple[Passage, ...] = ()
    source: str = "scan"
    degraded: bool = False
    why_degraded: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the bundle in the contract's shape, with what may bind and cannot be read before the items."""
        return {
            "retrieval_status": self.status.value,
            "scope_state": self.scope_state.value,
            "message": self.message,
            "problems": [_problem(finding) for finding in self.problems],
            "conflicts_found": bool(self.conflicts),
            "hygiene_due": self.hygiene_due,
            "items": [item.as_json() for item in self.items],
            "proposed": [item.as_json() for item in self.proposed],
            "conflicts": _conflicts(self.conflicts),
            "suspected": _conflicts(self.suspected),
            "invariants_left_out": [one.as_json() for one in self.invariants_left_out],
            "omitted": [{"id": one.address, "type": one.type, "why": one.why} for one in self.omitted],
            "omitted_counts": [one.as_json() for one in self.omitted_counts],
            "wing": self.wing,
            "shared_wings": list(self.shared_wings),
            "focus": self.focus,
            "covered": self.covered,
            "unmatched_terms": list(self.unmatched_terms),
            "fallback": [{"path": one.path, "line": one.line, "text": one.text} for one in self.fallback],
            "source": self.source,
            "degraded": self.degraded,
            "why_degraded": self.why_degraded,
        }


def _problem(finding: Finding) -> dict[str, Any]:
    place = finding.place
    return {"path": place.path, "line": place.line, "code": finding.code, "message": finding.message}


def _conflicts(conflicts: Iterable[Conflict]) -> list[dict[str, str]]:
    return [{"a": one.a, "b": one.b, "why": one.why} for one in conflicts]
