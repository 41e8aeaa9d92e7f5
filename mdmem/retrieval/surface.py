"""What `memory_surface` answers, in the shape of its contract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mdmem.entry.labels import NodeLabel
from mdmem.entry.model import Status
from mdmem.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceMatch:
    """One entry that a quick look-up found; `content` is the passage that matches best."""

    id: str
    label: NodeLabel
    name: str
    content: str
    scope: str
    freshness: str
    score: float
    project_id: str | None
    status: Status
    via: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the match in the contract's shape."""
        return {
            "id": self.id,
            "label": self.label.value,
            "name": self.name,
            "content": self.content,
            "scope": self.scope,
            "freshness": self.freshness,
            "bm25_score": round(self.score, 4),
            "project_id": self.project_id,
            "status": self.status.value,
            **({"via": list(self.via)} if self.via else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The best matches, drafts apart, and how many there are; `next_step` says what to call to learn more."""

    query: str
    next_step: str
    matches: tuple[SurfaceMatch, ...] = ()
    proposed: tuple[SurfaceMatch, ...] = ()
    total: int = 0
    problems: tuple[Finding, ...] = ()
    unmatched_terms: tuple[str, ...] = ()
    source: str = "index"
    degraded: bool = False
    why_degraded: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the look-up in the contract's shape."""
        return {
            "problems": [
                {"path": one.place.path, "line": one.place.line, "code": one.code, "message": one.message}
                for one in self.problems
            ],
            "matches": _listed(self.matches),
            "query_used": self.query,
            "total_found": self.total,
            "next_step": self.next_step,
            "proposed": _listed(self.proposed),
            "unmatched_terms": list(self.unmatched_terms),
            "source": self.source,
            "degraded": self.degraded,
            "why_degraded": self.why_degraded,
        }


def _listed(matches: Iterable[SurfaceMatch]) -> list[dict[str, Any]]:
    return [match.as_json() for match in matches]
