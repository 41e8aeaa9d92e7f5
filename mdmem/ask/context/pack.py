"""What a context pack is: its items in facets, and what it says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from mdmem.ask.answer import AnswerBasis
from mdmem.ask.context.facets import Facet
from mdmem.ask.context.request import ContextRequest
from mdmem.model.entry import IN_FORCE
from mdmem.model.lineage import Stance, standing_json
from mdmem.store.workspace.scope import Scope


class Quality(Struct, frozen=True, kw_only=True):
    """Where an item comes from and how old it is; times are ISO texts."""

    origin: str | None = None
    source: str | None = None
    url: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    valid_at: str | None = None
    project_id: str | None = None


class Related(Struct, frozen=True, kw_only=True):
    """An entry one hop away from an item."""

    id: str
    type: str
    name: str
    relationship: str
    direction: str
    distance: int = 1
    status: str


class ContextItem(Struct, frozen=True, kw_only=True):
    """One entry of a pack; `is_unconditional` says that no limit could have left it out.

    `stance` is how it stands to the default branch, None where that is not known; `bearings` are claims and amendments
    both ways, in words.
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
    bearings: tuple[str, ...] = ()

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
            **({"bearings": list(self.bearings)} if self.bearings else {}),
            **standing_json(self.stance, in_force=self.metadata.get("status") in IN_FORCE),
        }


def named_in(bearings: Iterable[str]) -> frozenset[str]:
    """Return the addresses of the entries that some bearings name: no text need list them again."""
    return frozenset(line.partition(": ")[0].rpartition(" ")[2] for line in bearings)


class PackSection(Struct, frozen=True):
    """The items of one facet, in the order of authority."""

    facet: Facet
    title: str
    items: tuple[ContextItem, ...]


class ContextPack(Struct, frozen=True, kw_only=True):
    """What matters for a goal, in the order of the facets; `proposed` are drafts, which bind nobody.

    `nearest` is the project whose name is like the one asked for, where that is none. The basis names the entries left
    out that match best, and counts all of them. `remarks` are for whoever called, and no part of the memory.
    """

    request: ContextRequest
    sections: tuple[PackSection, ...] = ()
    scope: Scope
    proposed: tuple[ContextItem, ...] = ()
    remarks: tuple[str, ...] = ()
    nearest: str | None = None
    basis: AnswerBasis

    @property
    def items(self) -> tuple[ContextItem, ...]:
        """Return the items of all sections."""
        return tuple(item for section in self.sections for item in section.items)
