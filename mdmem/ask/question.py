"""What a question is, and what retrieval and search answer: entries, and what every answer rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from math import inf, log
from typing import Any, TypeVar, overload

from msgspec import Struct, field
from msgspec.structs import asdict

from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.finding import Finding
from mdmem.model.globs import any_match
from mdmem.model.lineage import Stance
from mdmem.store.workspace.scope import Filters

_Made = TypeVar("_Made")


class Passage(Struct, frozen=True):
    """One line outside the memory that may answer."""

    path: str
    line: int
    text: str


class Question(Struct, frozen=True, kw_only=True):
    """What is asked: words, the code at hand (paths from the repository's top), and filters.

    `beside` are the paths of the work at hand where the question is another one of the same call: they say which wing
    is asked and which invariants bind, and bring nothing in.
    """

    words: str = ""
    paths: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    syntax: bool = False

    @property
    def is_plain(self) -> bool:
        """Say whether words alone ask, of whatever wing: nobody named a file or a filter."""
        return bool(self.words.strip()) and not self.paths and not self.beside and self.filters == Filters()

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


class AnsweredEntry(Struct, frozen=True, kw_only=True):
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
        """Say whether nobody agreed to it yet: the default branch has not seen it, or nobody approved it there."""
        return self.stance is not None and self.stance.standing.is_unapproved


# Scores that differ by less than a tenth tell little: a longer text of the same kind has a lower one.
_STEPS = 10


def likeness_step(score: float) -> float:
    """Return a number that is the same for scores which differ by little, and greater for worse ones."""
    return -round(_STEPS * log(score)) if score > 0 else inf


def likeness_key(entry: Entry, score: float) -> tuple[float, float, float]:
    """Order by score, the best first; of notes of like score first what their writers found more relevant."""
    stated = entry.relevance_score if entry.type is EntryType.NOTE else None
    return (likeness_step(score), -0.5 if stated is None else -stated, -score)


# Why a decision is left out of which no word and no path is in the question.
NOTHING_SHARED = "shares no word or path"
# Why an entry is left out whose `applies_to` misses every file at hand.
ELSEWHERE = "applies elsewhere"
# What a person wrote down; every other reason for a conflict is only a suspicion.
DECLARED = "declared in `conflicts_with`"
RELATED = "declared by a `CONFLICTS_WITH` relation"


class Contradiction(Struct, frozen=True):
    """Two entries that contradict each other, and what shows it."""

    a: str
    b: str
    why: str

    @property
    def is_declared(self) -> bool:
        """Say whether one of the two names the other as what it contradicts."""
        return self.why in (DECLARED, RELATED)


class EndedMatch(Struct, frozen=True):
    """An entry that matches and does not hold any more: why, and what is in force in its place, if anything is.

    `unread` are the successors that are named and cannot be read.
    """

    address: str
    title: str
    reason: str | None
    heads: tuple[str, ...]
    unread: tuple[str, ...] = ()


class Omission(Struct, frozen=True):
    """An entry that is left out, and why."""

    address: str
    type: str
    why: str


class OmittedCount(Struct, frozen=True):
    """How many entries of one type were left out for one reason."""

    type: str
    why: str
    count: int


class Elsewhere(Struct, frozen=True):
    """How many invariants and decisions of a wing that is not read apply to a given path."""

    wing: str
    count: int


class UnreadMatch(Struct, frozen=True):
    """An entry of a wing that was not read, which matches better than all that was."""

    wing: str
    address: str
    title: str


def count_omitted(omitted: Iterable[Omission]) -> tuple[OmittedCount, ...]:
    """Return how many were left out of each type for each reason, by type and reason."""
    return count_reasons(Counter((one.type, one.why) for one in omitted))


def count_reasons(omitted: Mapping[tuple[str, str], int]) -> tuple[OmittedCount, ...]:
    """Return how many were left out of each type for each reason, by type and reason."""
    counted = Counter[tuple[str, str]]()
    for (kind, why), count in omitted.items():
        counted[str(kind), _without_address(why)] += count
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


class AnswerBasis(Struct, frozen=True, kw_only=True):
    """What every answer says of itself: what it could not read, what contradicts it, what it lacks, where it is from.

    `problems` are files of the scope that cannot be read: each may be an invariant. `omitted` may be a part of what is
    left out; `omitted_counts` says of what. `uncovered_terms` are the words that nothing binding holds, where it covers
    a part. `settled` is the number of files at hand where the words add nothing that binds on them: what does is given
    or counted. `absent` are the given paths at which no file is now. `ended` is the best match by words, where it
    ended. `fallback` are lines outside the memory, where that cannot be read or covers nothing. `covering` are those of
    `omitted` whose `applies_to` meets a given path, `unshared` decisions that share nothing with the question and apply
    to any file.
    """

    problems: tuple[Finding, ...] = ()
    conflicts: tuple[Contradiction, ...] = ()
    omitted: tuple[Omission, ...] = ()
    omitted_counts: tuple[OmittedCount, ...] = ()
    coverage: Coverage = Coverage.NONE
    uncovered_terms: tuple[str, ...] = ()
    unmatched_terms: tuple[str, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    unread: tuple[UnreadMatch, ...] = ()
    degraded: bool = False
    why_degraded: str | None = None
    source: str = "scan"
    fallback: tuple[Passage, ...] = ()
    ended: tuple[EndedMatch, ...] = ()
    covering: frozenset[str] = frozenset()
    unshared: tuple[str, ...] = ()
    settled: int = 0
    absent: tuple[str, ...] = ()

    @property
    def covered(self) -> bool:
        """Say whether something binding covers the question, or a part of it."""
        return self.coverage is not Coverage.NONE

    def contradictions_of(self, given: Container[str], named: Container[str] = ()) -> tuple[Contradiction, ...]:
        """Return the contradictions that touch one of the entries that are given, or two of those that are named."""
        return tuple(
            one for one in self.conflicts if one.a in given or one.b in given or (one.a in named and one.b in named)
        )

    def as_json(self, *names: str) -> dict[str, Any]:
        """Return some of its fields as JSON values, in the order named."""
        return {name: _json(getattr(self, name)) for name in names}


def _json(value: object) -> Any:
    if isinstance(value, tuple):
        return [_json(one) for one in value]
    if isinstance(value, Finding):
        return {"path": value.place.path, "code": value.code, "message": value.message}
    return asdict(value) if isinstance(value, _VALUES) else value


_VALUES = (Contradiction, Elsewhere, EndedMatch, Omission, OmittedCount, Passage, UnreadMatch)


class Described(Sequence[_Made]):
    """What was found in its order, each described when it is asked for."""

    def __init__(self, ranked: Sequence[Any], describe: Callable[[Any], _Made]) -> None:
        """Take what ranks it, and what describes one of those."""
        self.ranked, self.describe = ranked, describe

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.ranked)

    def __eq__(self, other: object) -> bool:
        """Say whether another sequence has equal ones in the same order."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as of a list

    @overload
    def __getitem__(self, at: int) -> _Made: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[_Made, ...]: ...

    def __getitem__(self, at: int | slice) -> _Made | tuple[_Made, ...]:
        """Return one, or some of them."""
        found = self.ranked[at]
        return self.describe(found) if isinstance(at, int) else tuple(map(self.describe, found))


class Hit(AnsweredEntry, frozen=True, kw_only=True):
    """One entry that a search found."""

    terms: frozenset[str]
    heads: tuple[str, ...]


class SearchResult(Struct, frozen=True, kw_only=True):
    """The hits of a search, best first, and how they were found; `drafts` counts those that match and are not shown."""

    query: str
    hits: Sequence[Hit]
    terms: frozenset[str] = frozenset()
    drafts: int = 0
    basis: AnswerBasis


# A chain may be of thousands, and `why` shows it whole.
VIA_NAMED = 5


def replaced_notes(via: Sequence[str]) -> list[str]:
    """Return what is said of the superseded entries that matched in an entry's place: some named, the rest counted."""
    rest = len(via) - VIA_NAMED
    return [
        *(f"replaces {old}, which matched" for old in via[:VIA_NAMED]),
        *([f"replaces {rest} more, which matched"] if rest > 0 else []),
    ]
