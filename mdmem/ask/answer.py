"""Define the answer: its items, and the facts that every answer states about itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from mdmem.ask.question import Coverage, Question, Tier
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding
from mdmem.model.lineage import Stance
from mdmem.store.workspace.scope import Scope

# A chain of supersessions may have thousands of entries: an answer names so many and counts the rest.
VIA_NAMED = 5
# Reasons for which an entry is omitted.
ELSEWHERE = "applies elsewhere"
OTHER_FOCUS = "another focus"
OTHER_ROOM = "another room"
TYPE_FILTER = "type filter"
NO_MATCH = "shares no word or path"
NOT_CURRENT = "no longer current"
WEAK = "weak match"
OVER_BUDGET = "over the budget"
# Reasons for a contradiction that a person wrote down; all others are only suspected.
DECLARED = "declared in `conflicts_with`"
RELATED = "declared by a `CONFLICTS_WITH` relation"

# The relations of an entry to others, by the field of an item, in words.
RELATIONS = {
    "claimed_by": "claimed by",
    "claims": "claims to replace",
    "amended_by": "amended by",
    "proposed_amendments": "proposed amendment",
    "amends": "amends",
}


class Form(StrEnum):
    """How much of an entry an answer shows: all, an excerpt, its title; or that it was already shown."""

    FULL = "full"
    SUMMARY = "summary"
    LINE = "line"
    GIVEN = "given"

    @property
    def is_line(self) -> bool:
        """Return whether none of the content is shown."""
        return self in (Form.LINE, Form.GIVEN)


MENTIONED = "mentioned by"


class Mention(Struct, frozen=True):
    """One line under an entry: another entry, how the two are linked, and the sentence that says so.

    `does` is the change that the sentence states, such as `extends it`, where it states one.
    """

    how: str
    address: str
    title: str = ""
    day: str = ""
    said: str = ""
    does: str = ""


class Item(Struct, frozen=True, kw_only=True):
    """One entry of an answer, for every command, tool and page.

    Select and rank fill the first fields: `terms` are the words of the question that the entry holds, `via` the
    superseded entries that matched in its place, `matches` says that it holds half of the words or applies to a path,
    `inherited` that it matches only through what it superseded.
    Relate fills `reasons`, the relations to other entries with their titles, and `mentions`; fit fills `form` and
    `content`. `stance` is how the entry stands to the default branch; None where that is not known.
    """

    entry: Entry
    status: Status
    tier: Tier = Tier.PROJECT
    score: float = 0.0
    terms: frozenset[str] = frozenset()
    via: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    current: bool = True
    matches: bool = False
    inherited: bool = False
    on_path: bool = False
    unconditional: bool = False
    overrides: tuple[str, ...] = ()
    overridden_by: tuple[str, ...] = ()
    stance: Stance | None = None
    reasons: tuple[str, ...] = ()
    claimed_by: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    amended_by: tuple[str, ...] = ()
    proposed_amendments: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    mentions: tuple[Mention, ...] = ()
    form: Form = Form.LINE
    content: str = ""

    @property
    def address(self) -> str:
        """Return the address of the entry."""
        return self.entry.address

    @property
    def reason(self) -> str:
        """Return why the entry is in the answer, in words."""
        return "; ".join(self.reasons) or "in scope"

    @property
    def relations(self) -> dict[str, tuple[str, ...]]:
        """Return the one-sided supersessions and amendments in both directions, by field, those that are not empty."""
        found = {name: getattr(self, name) for name in RELATIONS}
        return {name: addresses for name, addresses in found.items() if addresses}

    @property
    def is_proposal(self) -> bool:
        """Return whether nobody agreed to it yet: it is not on the default branch, or nobody approved it there."""
        return self.stance is not None and self.stance.standing.is_unapproved


class Contradiction(Struct, frozen=True):
    """Two entries that contradict each other, and the evidence."""

    a: str
    b: str
    why: str

    @property
    def is_declared(self) -> bool:
        """Return whether one of the two entries declares it."""
        return self.why in (DECLARED, RELATED)


class EndedMatch(Struct, frozen=True):
    """A matching entry that is not current: the reason, and the entries that replaced it.

    `unread` are the successors that it names and that cannot be read.
    """

    address: str
    title: str
    reason: str | None
    heads: tuple[str, ...]
    unread: tuple[str, ...] = ()


class Omission(Struct, frozen=True):
    """An entry that is left out, and the reason."""

    address: str
    type: str
    why: str


class OmittedCount(Struct, frozen=True):
    """How many entries of one type were left out for one reason."""

    type: str
    why: str
    count: int


class Elsewhere(Struct, frozen=True):
    """How many invariants and decisions of a wing that was not read apply to a given path."""

    wing: str
    count: int


class UnreadMatch(Struct, frozen=True):
    """An entry of a wing that was not read, and that matches better than all entries that were."""

    wing: str
    address: str
    title: str


class Passage(Struct, frozen=True):
    """One line outside the memory that may answer."""

    path: str
    line: int
    text: str


def count_omitted(omitted: Iterable[Omission]) -> tuple[OmittedCount, ...]:
    """Count omissions by type and reason, in that order."""
    return sum_counts(OmittedCount(one.type, one.why, 1) for one in omitted)


def sum_counts(counts: Iterable[OmittedCount]) -> tuple[OmittedCount, ...]:
    """Return one count for each type and reason; the entry that a reason names is left out of it."""
    found: Counter[tuple[str, str]] = Counter()
    for one in counts:
        found[str(one.type), one.why.split(" by ")[0]] += one.count
    return tuple(OmittedCount(kind, why, number) for (kind, why), number in sorted(found.items()))


class AnswerBasis(Struct, frozen=True, kw_only=True):
    """The facts that an answer states about itself.

    `problems` are files of the scope that cannot be read: each may be an invariant. `omitted` lists some of the entries
    that were left out, and `omitted_counts` counts the others. `uncovered_terms` are the words that no invariant or
    decision holds, where the question is covered in part; `unmatched_terms` those that no entry holds. `absent` are the
    given paths at which there is no file. `ended` is the best match by words, where that is not current. `fallback` are
    lines outside the memory, where it cannot be read or covers nothing.
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
    absent: tuple[str, ...] = ()

    @property
    def covered(self) -> bool:
        """Return whether a current invariant or decision covers the whole question."""
        return self.coverage is Coverage.FULL

    def contradictions_of(self, shown: Container[str]) -> tuple[Contradiction, ...]:
        """Return the contradictions that involve one of the entries shown."""
        return tuple(one for one in self.conflicts if one.a in shown or one.b in shown)

    def as_json(self, *names: str) -> dict[str, Any]:
        """Return some of the fields as JSON values, in the order named."""
        return {name: _json(getattr(self, name)) for name in names}


def _json(value: object) -> Any:
    if isinstance(value, tuple):
        return [_json(one) for one in value]
    if isinstance(value, Finding):
        return {"path": value.place.path, "code": value.code, "message": value.message}
    return asdict(value) if isinstance(value, Struct) else value


class Answer(Struct, frozen=True, kw_only=True):
    """Everything in a scope that answers a question, in the order of authority, or the part of it within a budget.

    `proposed` are drafts and proposed versions. `searched` are the rooms that were read, `likely_room` holds most of
    the best matches. `weights` give each word of the question its rarity. `unmatched` are the decisions of a wing
    that has few, which match nothing. `describe` and `describe_proposed` give an item its relations and reasons.
    `tokens` is the size of what fits.
    """

    scope: Scope
    question: Question = field(default_factory=Question)
    items: tuple[Item, ...] = ()
    proposed: tuple[Item, ...] = ()
    searched: tuple[str, ...] = ()
    likely_room: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    unmatched: tuple[Item, ...] = ()
    describe: Callable[[Item], Item] = lambda item: item
    describe_proposed: Callable[[Item], Item] = lambda item: item
    basis: AnswerBasis = field(default_factory=AnswerBasis)
    tokens: int = 0
    budget: int = 0

    @property
    def over_budget(self) -> bool:
        """Return whether the answer is larger than its budget, which only invariants can cause."""
        return self.tokens > self.budget


class Answers(Struct, frozen=True):
    """The answers of one call: the one about the work at hand, if it was asked for, then one for each question.

    `unread` are wings of other projects, where no question named a wing. `shown` is what to remember of the call in its
    session: the version of each entry that was shown, by address. `prefix` is the room, else the wing, of all entries
    shown, if they can be named without it.
    """

    main: Answer | None
    short: tuple[Answer, ...] = ()
    unread: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""

    @property
    def all(self) -> tuple[Answer, ...]:
        """Return the answers in their order."""
        return (*([self.main] if self.main is not None else []), *self.short)


class SearchResult(Struct, frozen=True, kw_only=True):
    """The results of a search, best first; `drafts` counts those that match and are not shown."""

    query: str
    hits: Sequence[Item]
    terms: frozenset[str] = frozenset()
    drafts: int = 0
    basis: AnswerBasis


def replaced_notes(via: Sequence[str]) -> list[str]:
    """Return one note for each superseded entry that matched in the place of another, and one that counts the rest."""
    notes = [f"replaces {old}, which matched" for old in via[:VIA_NAMED]]
    rest = len(via) - VIA_NAMED
    return [*notes, f"replaces {rest} more, which matched"] if rest > 0 else notes
