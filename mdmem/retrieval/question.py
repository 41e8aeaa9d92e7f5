"""What a question is, and what retrieval and search answer: entries, and what every answer rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from functools import lru_cache
from math import inf, log
from typing import Any

from mdmem.dataclass import asdict, dataclass, field
from mdmem.entry.globs import any_match
from mdmem.entry.model import Entry, EntryType, Status, instant_of
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
    """What is asked: words, the code at hand (paths from the repository's top), and filters.

    `beside` are the paths of the work at hand where the question is another one of the same call: they say which wing
    is asked and which invariants bind, and bring nothing in.
    """

    words: str = ""
    paths: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    syntax: bool = False

    def lies_aside(self, entry: Entry) -> bool:
        """Say whether an entry applies to other files than those of the work at hand."""
        return bool(self.beside and entry.applies_to) and any_match(entry.applies_to, self.beside) is None


class Tier(StrEnum):
    """Where an entry stands to the active scope, the closest first."""

    FOCUS = "focus"
    PROJECT = "project"
    SHARED = "shared"

    @property
    def rank(self) -> int:
        """Return 0 for the closest."""
        return ("focus", "project", "shared").index(self.value)


class Coverage(StrEnum):
    """Whether something binding answers for a whole question, for a part of it, or for none."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


# How an entry and another that bears on it stand to each other, by the field that names the other, and in words.
BEARINGS = {
    "claimed_by": "claimed by",
    "claims": "claims to replace",
    "amended_by": "amended by",
    "proposed_amendments": "proposed amendment",
    "amends": "amends",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredEntry:
    """One entry in an answer; `via` are the superseded entries that matched in its stead.

    `stance` is how it stands to the default branch, None where that is not known. `claimed_by` claim to have replaced
    it and `claims` are what it claims to have replaced, all of them in force; `proposed_amendments` bind nobody yet;
    `titles` are those of the entries that these and the amendments name, by address.
    """

    entry: Entry
    status: Status
    score: float
    via: tuple[str, ...] = ()
    stance: Stance | None = None
    claimed_by: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    amended_by: tuple[str, ...] = ()
    proposed_amendments: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def bearings(self) -> dict[str, tuple[str, ...]]:
        """Return claims and amendments both ways, by what they are, as far as there are any."""
        found = {name: getattr(self, name) for name in BEARINGS}
        return {name: addresses for name, addresses in found.items() if addresses}

    @property
    def is_proposal(self) -> bool:
        """Say whether the default branch has not seen it."""
        return self.stance is not None and self.stance.standing.is_proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved(AnsweredEntry):
    """One entry of a retrieval, with the reasons that brought it in.

    `matches` says that it holds at least half of the question's words or covers a path; `current` that it is in force;
    `overrides` are the shared rules it replaces here or in a narrower place, `overridden_by` what replaces it here.
    `terms` are those of the question that it, or what it replaced, holds; `on_path` says that its `applies_to` meets a
    given path, `starts_shared` that the question starts at shared knowledge, `is_unconditional` that it is an invariant
    which is part of every answer, `lies_aside` that it applies to other files than the work at hand. `why` gives the
    reasons in words: of thousands that match a few are told.
    """

    tier: Tier
    matches: bool
    current: bool
    why: Callable[[], str] = field(compare=False)
    overrides: tuple[str, ...] = ()
    terms: frozenset[str] = frozenset()
    on_path: bool = False
    overridden_by: tuple[str, ...] = ()
    starts_shared: bool = False
    is_unconditional: bool = False
    lies_aside: bool = False

    @property
    def reason(self) -> str:
        """Return the reasons that brought it in, in words."""
        return self.why()

    @property
    def sort_key(self) -> tuple[int, bool, bool, int, int, tuple[float, float, float], float, str]:
        """Order by authority, scope, certainty, score, age, address: likeness never moves an entry across types.

        What ended stands behind all of its type that is in force, and what is proposed behind what binds.
        """
        made = self.entry.created_at
        newest = _negative(made) if isinstance(made, date) else 0.0
        certainty = 0 if self.status is Status.ACTIVE else 1
        distance = self.tier is not Tier.SHARED if self.starts_shared else self.tier.rank
        rank = (self.entry.type.rank, not self.current, self.is_proposal, int(distance), certainty)
        return (*rank, likeness_key(self.entry, self.score), newest, self.entry.address)


@lru_cache(maxsize=4096)
def _negative(made: date) -> float:
    return -instant_of(made).timestamp()


# Scores that differ by less than a tenth tell little: a longer text of the same kind has a lower one.
_STEPS = 10


def likeness_key(entry: Entry, score: float) -> tuple[float, float, float]:
    """Order by score, the best first; of notes of like score first what their writers found more relevant."""
    stated = entry.relevance_score if entry.type is EntryType.NOTE else None
    step = -round(_STEPS * log(score)) if score > 0 else inf
    return (step, -0.5 if stated is None else -stated, -score)


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
class EndedMatch:
    """An entry that matches and does not hold any more: why, and what is in force in its place, if anything is.

    `unread` are the successors that are named and cannot be read.
    """

    address: str
    title: str
    reason: str | None
    heads: tuple[str, ...]
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Omission:
    """An entry that is left out, and why."""

    address: str
    type: str
    why: str


@dataclass(frozen=True, slots=True)
class OmittedCount:
    """How many entries of one type were left out for one reason."""

    type: str
    why: str
    count: int


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """How many invariants and decisions of a wing that is not read apply to a given path."""

    wing: str
    count: int


def count_omitted(omitted: Iterable[Omission]) -> tuple[OmittedCount, ...]:
    """Return how many were left out of each type for each reason, by type and reason."""
    counted = Counter((one.type, _without_address(one.why)) for one in omitted)
    return tuple(OmittedCount(kind, why, count) for (kind, why), count in sorted(counted.items()))


def summed(counts: Iterable[OmittedCount]) -> tuple[OmittedCount, ...]:
    """Return the counts with one for each type and reason."""
    found: Counter[tuple[str, str]] = Counter()
    for one in counts:
        found[one.type, one.why] += one.count
    return tuple(OmittedCount(kind, why, number) for (kind, why), number in sorted(found.items()))


def _without_address(why: str) -> str:
    """Return a reason without the one entry that it names, so that those of one kind are counted together."""
    return "overridden" if why.startswith("overridden by ") else why


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBasis:
    """What every answer says of itself: what it could not read, what contradicts it, what it lacks, where it is from.

    `problems` are files of the scope that cannot be read: each may be an invariant. `omitted` may be a part of what is
    left out; `omitted_counts` says of what. `uncovered_terms` are the words that nothing binding holds, where it covers
    a part. `ended` is the best match by words, where it ended. `fallback` are lines outside the memory, where it cannot
    be read or covers nothing. `covering` are those of `omitted` whose `applies_to` meets a given path.
    """

    problems: tuple[Finding, ...] = ()
    conflicts: tuple[Contradiction, ...] = ()
    omitted: tuple[Omission, ...] = ()
    omitted_counts: tuple[OmittedCount, ...] = ()
    coverage: Coverage = Coverage.NONE
    uncovered_terms: tuple[str, ...] = ()
    unmatched_terms: tuple[str, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    degraded: bool = False
    why_degraded: str | None = None
    source: str = "scan"
    fallback: tuple[Passage, ...] = ()
    ended: tuple[EndedMatch, ...] = ()
    covering: frozenset[str] = frozenset()

    @property
    def covered(self) -> bool:
        """Say whether something binding covers the question, or a part of it."""
        return self.coverage is not Coverage.NONE

    def contradictions_of(self, given: Container[str]) -> tuple[Contradiction, ...]:
        """Return the contradictions that touch one of the entries that are given."""
        return tuple(one for one in self.conflicts if one.a in given or one.b in given)

    def as_json(self, *names: str) -> dict[str, Any]:
        """Return some of its fields as JSON values, in the order named."""
        return {name: _json(getattr(self, name)) for name in names}


def _json(value: object) -> Any:
    if isinstance(value, tuple):
        return [_json(one) for one in value]
    if isinstance(value, Finding):
        return {"path": value.place.path, "code": value.code, "message": value.message}
    return asdict(value) if isinstance(value, _VALUES) else value


_VALUES = (Contradiction, Elsewhere, EndedMatch, Omission, OmittedCount, Passage)


def uncovered(items: Sequence[Retrieved]) -> str:
    """Return the sentence over an answer that nothing covers: what stands below always binds, applies or is only near.

    What applies to a given path and is here is no rule, or only proposed.
    """
    always = [item for item in items if item.is_unconditional and item.score <= 0]
    applying = [item for item in items if item.on_path and item not in always]
    near = len(items) - len(always) - len(applying)
    kinds = Counter(f"{'proposed ' * item.is_proposal}{item.entry.type}" for item in applying)
    said = [f"{len(always)} invariants always bind" if len(always) > 1 else "1 invariant always binds"] * bool(always)
    said += [f"{of} {kind}s apply to this" if of > 1 else f"1 {kind} applies to this" for kind, of in kinds.items()]
    touched = "it" if kinds else "this"
    said += [f"{near} entries only touch {touched}" if near > 1 else f"1 entry only touches {touched}"] * bool(near)
    if not said:
        return "Nothing binding covers this."
    most, last = ", ".join(said[:-1]), said[-1]
    these = f"{most} and {last}" if most else last
    if not always:
        return f"{these}; nothing binding covers it."
    if kinds:
        return f"{these}; nothing else binding covers it."
    return f"{these}; nothing covers it." if near else f"{these}; nothing else covers this."


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The answer before any budget: items in order, and drafts apart.

    `likely_room` holds most of the best matches; `terms` are those of the question, `common` those of them that say
    little, and `files` counts its paths.
    `is_brief`: it is one of several questions, and its answer is short.
    """

    scope: Scope
    items: tuple[Retrieved, ...]
    proposed: tuple[Retrieved, ...] = ()
    searched: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    common: frozenset[str] = frozenset()
    likely_room: str | None = None
    files: int = 0
    is_brief: bool = False
    basis: AnswerBasis = field(default_factory=AnswerBasis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(AnsweredEntry):
    """One entry that a search found."""

    terms: frozenset[str]
    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The hits of a search, best first, and how they were found; `drafts` counts those that match and are not shown."""

    query: str
    hits: Sequence[Hit]
    terms: frozenset[str] = frozenset()
    drafts: int = 0
    basis: AnswerBasis
