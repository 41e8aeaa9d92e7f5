"""A synthesis plan: sections with their sources and their gaps, and how far all of it is grounded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from mdmem.finding import Finding
from mdmem.retrieval.question import Contradiction
from mdmem.synthesis.request import SynthesisRequest
from mdmem.workspace.scope import Scope


class GroundingVerdict(StrEnum):
    """How a plan stands: something is missing, something is to be confirmed first, or neither."""

    PENDING = "pending"
    GAPS = "gaps"
    PASS = "pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLink:
    """A neighbour of a source."""

    id: str
    name: str
    relationship: str
    direction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One entry that a section is to be written from; `is_forced` says that somebody named it."""

    id: str
    type: str
    name: str
    preview: str
    score: float
    freshness: str
    status: str
    scope: str
    reason: str
    is_forced: bool = False
    neighborhood: tuple[SourceLink, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the source as JSON values."""
        stated = asdict(self)
        stated["forced"] = stated.pop("is_forced")
        return stated | {"score": round(self.score, 4), "neighborhood": [asdict(one) for one in self.neighborhood]}


@dataclass(frozen=True, slots=True)
class Gap:
    """What a section lacks; `section` is None for what concerns the whole plan."""

    section: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSection:
    """One section of the outline with its source pack."""

    title: str
    prompt: str
    is_required: bool
    sources: tuple[Source, ...]
    gaps: tuple[Gap, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the section as JSON values."""
        return {
            "title": self.title,
            "prompt": self.prompt,
            "required": self.is_required,
            "sources": [source.as_json() for source in self.sources],
            "gaps": [gap.reason for gap in self.gaps],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFacts:
    """The plan before anybody puts it into words.

    `binding` are the ids of all invariants that nothing leaves out, `drafts` those of matching drafts, which are no
    sources. `problems` are files of the scope that cannot be read: each may be an invariant.
    """

    asked: SynthesisRequest
    scope: Scope
    sections: tuple[PlannedSection, ...]
    left_out_sections: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    binding: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    conflicts: tuple[Contradiction, ...] = ()
    problems: tuple[Finding, ...] = ()
    degraded: bool = False
    why_degraded: str | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return the sources of all sections, each once."""
        return tuple({source.id: source for section in self.sections for source in section.sources}.values())

    @property
    def all_gaps(self) -> tuple[Gap, ...]:
        """Return what the plan lacks as a whole, then section by section."""
        return (*self.gaps, *(gap for section in self.sections for gap in section.gaps))

    @property
    def verdict(self) -> GroundingVerdict:
        """Return gaps where anything is missing or cannot be read, pending where a source is to be confirmed first."""
        if self.all_gaps or self.problems:
            return GroundingVerdict.GAPS
        return (
            GroundingVerdict.PENDING if any(map(is_doubtful, self.sources)) or self.conflicts else GroundingVerdict.PASS
        )


def is_doubtful(source: Source) -> bool:
    """Say whether a source should be confirmed before anybody writes from it."""
    return source.status != "active" or source.freshness == "stale"
