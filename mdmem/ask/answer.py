"""Define a question, and its answer: items (entries), and a basis (facts such as coverage and unreadable files).

The standing of an entry compares it with the default branch: binding there, only proposed, or merged but not approved.
Its branch state is the standing with the author and commit of the proposal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct, convert, field
from msgspec.structs import asdict, fields

from mdmem.errors import UsageError
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding
from mdmem.model.lineage import BranchState
from mdmem.model.text import first_of, visible
from mdmem.record import record_json
from mdmem.store.workspace.scope import Filters, Scope


class Question(Struct, frozen=True, kw_only=True):
    """A question: words, paths of code from the repository's top, and filters.

    `work_paths` are the files of the current work if the question is one of several in a call. They decide which wing
    is active and which invariants apply, but an entry does not match because of them. With `syntax`, the words are
    parsed as query syntax.
    """

    words: str = ""
    paths: tuple[str, ...] = ()
    work_paths: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    syntax: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether the question has neither words nor paths, so that every current entry answers it."""
        return not self.words.strip() and not self.paths


_Request = TypeVar("_Request", bound=Struct)


def read_request(kind: type[_Request], values: Mapping[str, object]) -> _Request:
    """Convert named values to a request of class `kind`. Raises UsageError if a required one is missing.

    None and blank texts count as absent, and white space in a text becomes single spaces.
    """
    tidied = {name: tidy(value) for name, value in values.items()}
    if missing := [one.name for one in fields(kind) if one.required and not tidied.get(one.name)]:
        raise UsageError(f"`{missing[0]}` is missing; write a text")
    return convert({name: value for name, value in tidied.items() if value is not None and value != ""}, kind)


def tidy(value: object) -> Any:
    """Replace white space in a text by single spaces; return any other value unchanged.

    A list becomes a tuple of such values, without duplicates and empty texts.
    """
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, (list, tuple)):
        return tuple(dict.fromkeys(filter(None, map(tidy, value))))
    return value


class Tier(StrEnum):
    """Where an entry belongs: to the scope's focus (a part of a project), to a project, or to a shared wing.

    The closest tier is the first.
    """

    FOCUS = "focus"
    PROJECT = "project"
    SHARED = "shared"


class Coverage(StrEnum):
    """How far the current invariants and decisions cover a question."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


# A chain of supersessions may have thousands of entries. An answer lists this many, and only counts the rest.
VIA_NAMED = 5
_MAX_WORDS = 12
# The reasons of contradictions that a person declared. All other contradictions are only suspected.
DECLARED = "declared in `conflicts_with`"
RELATED = "declared by a `CONFLICTS_WITH` relation"

# The relations of an item to other entries, each with the words that an answer prints for it.
RELATIONS = {
    "claimed_by": "claimed by",
    "claims": "claims to replace",
    "amended_by": "amended by",
    "proposed_amendments": "proposed amendment",
    "amends": "amends",
}


class Reason(StrEnum):
    """A reason for which an entry is omitted; `OVERRIDDEN` is followed by ` by ADDRESS`."""

    ELSEWHERE = "applies elsewhere"
    OTHER_FOCUS = "another focus"
    OTHER_ROOM = "another room"
    TYPE_FILTER = "type filter"
    NO_MATCH = "shares no word or path"
    NOT_CURRENT = "no longer current"
    WEAK = "weak match"
    OVER_BUDGET = "over the budget"
    OVERRIDDEN = "overridden"


class Form(StrEnum):
    """How much of an entry an answer shows: everything, an excerpt, the title, or only the mark "already shown"."""

    FULL = "full"
    SUMMARY = "summary"
    LINE = "line"
    ALREADY_SHOWN = "given"

    @property
    def is_line(self) -> bool:
        """Return whether the answer shows the entry as only one line, without content."""
        return self in (Form.LINE, Form.ALREADY_SHOWN)


MENTIONED = "mentioned by"


class Mention(Struct, frozen=True):
    """A line under an entry of an answer: the address of a related entry, and how the two entries are related.

    `sentence` is the one of the related entry that mentions the entry above. `does` is the change that this sentence
    states, for example `extends it`, or empty. A line without an address may count the `rest` of the mentions.
    """

    how: str
    address: str
    title: str = ""
    day: str = ""
    sentence: str = ""
    does: str = ""
    rest: int = 0


class Item(Struct, frozen=True, kw_only=True):
    """One entry of an answer, for every command, tool and page.

    - `terms`: the words of the question that the entry contains.
    - `via`: the superseded entries that matched the question and that this entry replaced.
    - `matches`: the entry contains half of the words, or applies to a given path.
    - `on_path`: its `applies_to` matches a given path; `mentions_path`: its text mentions a given path.
    - `unconditional`: the entry is an invariant that every answer includes.
    - `branch_state`: how the entry compares with the default branch; None if that is not known.
    - `relations`: the one-sided supersessions and the amendments from or to the entry, by the names in `RELATIONS`;
      each has the titles of the other entries by address.
    - `is_continued`: a part of the text is left out, since an earlier answer of the same call has it.
    - `note`: which parts of the entry are shown, for a session that omits them from later answers.
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
    on_path: bool = False
    mentions_path: bool = False
    unconditional: bool = False
    overrides: tuple[str, ...] = ()
    overridden_by: tuple[str, ...] = ()
    branch_state: BranchState | None = None
    reasons: tuple[str, ...] = ()
    relations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mentions: tuple[Mention, ...] = ()
    form: Form = Form.LINE
    content: str = ""
    is_continued: bool = False
    note: str = ""

    @property
    def address(self) -> str:
        """Return the address of the entry."""
        return self.entry.address

    @property
    def reason(self) -> str:
        """Return why the entry is in the answer, in words."""
        return "; ".join(self.reasons) or "in scope"

    def omission(self, why: str) -> Omission:
        """Return the record that says why the answer omits the entry."""
        return Omission(self.entry.address, self.entry.type.value, why)

    @property
    def is_proposal(self) -> bool:
        """Return whether the entry is not approved yet: not on the default branch, or merged without approval."""
        return self.branch_state is not None and self.branch_state.standing.is_unapproved


class Contradiction(Struct, frozen=True):
    """Two entries that contradict each other, and the evidence."""

    a: str
    b: str
    why: str

    @property
    def is_declared(self) -> bool:
        """Return whether one of the two entries declares the contradiction."""
        return self.why in (DECLARED, RELATED)


class EndedMatch(Struct, frozen=True):
    """A matching entry that is not current, with the stated reason, if there is one.

    `heads` are the current entries that replaced it. `unread` are its successors whose files cannot be read. `text` is
    an excerpt if nothing replaced the best match.
    """

    address: str
    title: str
    reason: str | None
    heads: tuple[str, ...]
    unread: tuple[str, ...] = ()
    text: str = ""


class Omission(Struct, frozen=True):
    """An entry that the answer omits, and the reason."""

    address: str
    type: str
    why: str


class OmittedCount(Struct, frozen=True):
    """The number of entries of one type that were omitted for one reason."""

    type: str
    why: str
    count: int


class Elsewhere(Struct, frozen=True):
    """The number of invariants and decisions that apply to a given path, in one wing that was not searched."""

    wing: str
    count: int


class UnreadMatch(Struct, frozen=True):
    """An entry that matches better than all results, but belongs to a wing that was not searched."""

    wing: str
    address: str
    title: str


class Passage(Struct, frozen=True):
    """One line of a file outside the memory that may answer the question."""

    path: str
    line: int
    text: str


def count_omitted(counts: Iterable[Omission | OmittedCount]) -> tuple[OmittedCount, ...]:
    """Return how many entries were omitted, by type and reason, sorted.

    The counts in each `OmittedCount` are added. Reasons such as `overridden by ADDRESS` are counted together, as
    `overridden`.
    """
    found: Counter[tuple[str, str]] = Counter()
    for one in counts:
        why = Reason.OVERRIDDEN if one.why.startswith(f"{Reason.OVERRIDDEN} by ") else one.why
        found[str(one.type), why] += one.count if isinstance(one, OmittedCount) else 1
    return tuple(OmittedCount(kind, why, number) for (kind, why), number in sorted(found.items()))


class AnswerBasis(Struct, frozen=True, kw_only=True):
    """Facts about an answer: how well it covers the question, and what it could not read or omitted.

    - `problems`: files that cannot be read. Each of them may contain an invariant. With `repeats_problems`, an earlier
      answer of the session has listed the same files.
    - `omitted` lists some of the omitted entries; `omitted_counts` counts the others.
    - `pending`: the standing (or `draft`) of a rule that covers the question but is not approved, or empty.
    - `uncovered_terms`: words that no invariant or decision contains, if the question is covered in part.
    - `unmatched_terms`: words that no entry contains.
    - `other_wings`: a sentence about the wings to ask instead if the active wing has no entry, or empty.
    - `absent`: given paths at which there is no file.
    - `ended`: a match that is not current, if the answer should mention one, or empty.
    - `fallback`: lines outside the memory, if the memory cannot be read or covers nothing.
    - `degraded`: the memory or its index could not be used in full, for the reason `why_degraded`.
    - `source`: where the answer comes from, such as `index` or, outside the memory, `readme`.
    """

    problems: tuple[Finding, ...] = ()
    repeats_problems: bool = False
    conflicts: tuple[Contradiction, ...] = ()
    omitted: tuple[Omission, ...] = ()
    omitted_counts: tuple[OmittedCount, ...] = ()
    coverage: Coverage = Coverage.NONE
    pending: str = ""
    uncovered_terms: tuple[str, ...] = ()
    unmatched_terms: tuple[str, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    unread: tuple[UnreadMatch, ...] = ()
    other_wings: str = ""
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

    def coverage_text(self, subject: str, *, has_match: bool, is_unread: bool = False) -> str:
        """Return the sentence that says how far the answer covers its subject; empty if it covers all of it."""
        if self.coverage is Coverage.FULL:
            return ""
        if self.coverage is Coverage.PARTIAL:
            words = first_of([visible(one) for one in self.uncovered_terms], _MAX_WORDS)
            lacks = f"no invariant or decision contains {words}" if words else "no single passage has all the words"
            return f"Covered in part: {lacks}."
        if self.pending and not self.problems:
            return f"No binding rule is about {subject}; one that is not approved ({self.pending}) is."
        # An unreadable file may contain the rule that covers the subject.
        kind = "readable" if self.problems or is_unread else "binding"
        if has_match:
            return f"These are the closest entries; no {kind} rule matches the words well."
        return f"No {kind} rule is about {subject}."

    def contradictions_of(self, shown: Container[str]) -> tuple[Contradiction, ...]:
        """Return the contradictions in which at least one of the two entries is shown."""
        return tuple(one for one in self.conflicts if one.a in shown or one.b in shown)

    def as_json(self, *names: str) -> dict[str, Any]:
        """Return the named fields with their values as a JSON object, in the order of the names."""
        return {name: _json(getattr(self, name)) for name in names}


def _json(value: object) -> Any:
    if isinstance(value, tuple):
        return [_json(one) for one in value]
    if isinstance(value, Finding):
        return record_json(value, "place.path", "place.line", "code", "message")
    return asdict(value) if isinstance(value, Struct) else value


class Answer(Struct, frozen=True, kw_only=True):
    """All entries of a scope that answer a question, in the order of authority, or those that fit into a budget.

    - `proposed`: drafts and proposed versions.
    - `searched`: the rooms that were searched.
    - `weights`: the rarity of each word of the question.
    - `unmatched`: decisions that match nothing. They are listed only if the wing has few decisions.
    - `describe` and `describe_proposed`: functions that add relations and reasons to an item.
    - `tokens`: the size of the items that fit.
    """

    scope: Scope
    question: Question = field(default_factory=Question)
    items: tuple[Item, ...] = ()
    proposed: tuple[Item, ...] = ()
    searched: tuple[str, ...] = ()
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
    """The answers of one call: the main answer, about the current work (or None), then one for each question.

    `unread` are the projects' wings that were not searched, if no question and no path says which project is meant.
    `shown` is what a session should store about each shown entry, by address.
    """

    main: Answer | None
    short: tuple[Answer, ...] = ()
    unread: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Answer, ...]:
        """Return all answers, the main one first."""
        return (*([self.main] if self.main is not None else []), *self.short)


class SearchResult(Struct, frozen=True, kw_only=True):
    """The results of a search, best first. `terms` are the search terms (stems) of the query.

    `drafts` counts the matching drafts that are not shown.
    """

    query: str
    hits: Sequence[Item]
    terms: frozenset[str] = frozenset()
    drafts: int = 0
    basis: AnswerBasis


def replaced_notes(via: Sequence[str]) -> list[str]:
    """Return a remark on each of the first superseded entries that matched, and a last one that counts the rest."""
    notes = [f"replaces {old}, which matched" for old in via[:VIA_NAMED]]
    rest = len(via) - VIA_NAMED
    return [*notes, f"replaces {rest} more, which matched"] if rest > 0 else notes
