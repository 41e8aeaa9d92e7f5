"""The context pack in the shape of its contract, with what mdmem adds beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mdmem.context.facets import Facet
from mdmem.context.request import Intent, Layer
from mdmem.entry.model import IN_FORCE
from mdmem.finding import Finding
from mdmem.retrieval.question import Contradiction, Omission, Passage
from mdmem.standing import Stance, standing_json
from mdmem.workspace.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Where an item comes from and how old it is; times are ISO texts."""

    origin: str | None = None
    source: str | None = None
    url: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    valid_at: str | None = None
    project_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """An entry one hop away from an item."""

    id: str
    type: str
    name: str
    relationship: str
    direction: str
    distance: int = 1
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a pack; `is_unconditional` says that no limit could have left it out.

    `stance` is how it stands to the default branch, None where that is not known.
    """

    id: str
    type: str
    name: str
    content: str
    score: float
    facet: Facet
    reason: str
    source: str | None
    quality: Quality
    metadata: Mapping[str, Any] = field(default_factory=dict)
    related: tuple[Related, ...] = ()
    is_unconditional: bool = False
    stance: Stance | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the item as JSON values."""
        return {
            "id": self.id,
            "type": self.type,
            "name": self.name,
            "content": self.content,
            "score": round(self.score, 4),
            "facet": self.facet,
            "reason": self.reason,
            "source": self.source,
            "quality": asdict(self.quality),
            "metadata": dict(self.metadata),
            "related": [asdict(one) for one in self.related],
            **standing_json(self.stance, in_force=self.metadata.get("status") in IN_FORCE),
        }


@dataclass(frozen=True, slots=True)
class PackSection:
    """The items of one facet, in the order of authority."""

    facet: Facet
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """How many entries of one type were left out for one reason."""

    type: str
    why: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackFacts:
    """What matters for a goal, before anybody puts it into words.

    `problems` are files of the scope that cannot be read: each may be an invariant. `proposed` are drafts, which bind
    nobody. `omitted` are those left out that match best, `left_out` counts all of them. `remarks` are for whoever
    called, and no part of the memory.
    """

    goal: str
    intent: Intent
    query: str
    domain: str | None
    project: str | None
    layer: Layer
    sections: tuple[PackSection, ...]
    scope: Scope
    problems: tuple[Finding, ...] = ()
    proposed: tuple[Item, ...] = ()
    conflicts: tuple[Contradiction, ...] = ()
    omitted: tuple[Omission, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    covered: bool = False
    unmatched_terms: tuple[str, ...] = ()
    degraded: bool = False
    why_degraded: str | None = None
    source: str = "scan"
    fallback: tuple[Passage, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the items of all sections."""
        return tuple(item for section in self.sections for item in section.items)

    @property
    def total_items(self) -> int:
        """Return how many items the sections hold."""
        return sum(len(section.items) for section in self.sections)
