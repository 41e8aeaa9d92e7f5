"""What a question is, and what retrieval and search answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from mdmem.entry.model import Entry, Status, instant_of
from mdmem.finding import Finding
from mdmem.standing import Stance
from mdmem.workspace.scope import Filters, Scope


@dataclass(frozen=True, slots=True)
class Passage:
    """One line outside the memory that may answer."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: words, the code at hand (paths from the repository's top), and filters."""

    words: str = ""
    paths: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    syntax: bool = False


class Tier(StrEnum):
    """Where an entry stands to the active scope, the closest first."""

    FOCUS = "focus"
    PROJECT = "project"
    SHARED = "shared"

    @property
    def rank(self) -> int:
        """Return 0 for the closest."""
        return ("focus", "project", "shared").index(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """One entry in the answer, with the reasons that brought it in.

    `matches` says that it holds at least half of the question's words or covers a path; `current` that it is in force;
    `via` are the superseded entries that matched in its stead; `overrides` the shared rules it replaces here. `stance`
    is how it stands to the default branch, None where that is not known.
    """

    entry: Entry
    status: Status
    tier: Tier
    score: float
    matches: bool
    current: bool
    reason: str
    via: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    stance: Stance | None = None

    @property
    def is_proposal(self) -> bool:
        """Say whether the default branch has not seen it."""
        return self.stance is not None and self.stance.standing.is_proposal

    @property
    def sort_key(self) -> tuple[int, bool, bool, int, int, float, float, str]:
        """Order by authority, scope, certainty, score, age, address: likeness never moves an entry across types.

        What ended stands behind all of its type that is in force, and what is proposed behind what binds.
        """
        made = self.entry.created_at
        newest = -instant_of(made).timestamp() if isinstance(made, date) else 0.0
        certainty = 0 if self.status is Status.ACTIVE else 1
        rank = (self.entry.type.rank, not self.current, self.is_proposal, self.tier.rank, certainty)
        return (*rank, -self.score, newest, self.entry.address)


# What a person wrote down; every other reason for a conflict is only a suspicion.
DECLARED = "declared in `conflicts_with`"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two entries that contradict each other, and what shows it."""

    a: str
    b: str
    why: str

    @property
    def is_declared(self) -> bool:
        """Say whether one of the two names the other in `conflicts_with`."""
        return self.why == DECLARED


@dataclass(frozen=True, slots=True)
class Omission:
    """An entry that is left out, and why."""

    address: str
    type: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The answer before any budget: items in order, drafts apart, and what is doubtful or left out.

    `problems` are files of the scope that cannot be read: each may be an invariant.
    """

    scope: Scope
    items: tuple[Retrieved, ...]
    proposed: tuple[Retrieved, ...] = ()
    conflicts: tuple[Contradiction, ...] = ()
    omitted: tuple[Omission, ...] = ()
    problems: tuple[Finding, ...] = ()
    covered: bool = False
    unmatched_terms: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    degraded: bool = False
    why_degraded: str | None = None
    source: str = "scan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One entry that a search found; `via` are the superseded entries that matched in its stead."""

    entry: Entry
    status: Status
    score: float
    terms: frozenset[str]
    heads: tuple[str, ...]
    via: tuple[str, ...] = ()
    stance: Stance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The hits of a search, best first, and how they were found."""

    query: str
    hits: tuple[Hit, ...]
    terms: frozenset[str] = frozenset()
    unmatched_terms: tuple[str, ...] = ()
    problems: tuple[Finding, ...] = ()
    degraded: bool = False
    why_degraded: str | None = None
    source: str = "index"
