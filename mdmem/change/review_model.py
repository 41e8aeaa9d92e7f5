"""The records of a review. Their names and fields are the keys of `mdmem diff --format json`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from mdmem.model.entry import EntryType, Status
from mdmem.model.finding import Finding

Which = Literal["before", "after"]
CLAIMS, AMENDS = "claims to replace", "amends"


class Ref(Struct, frozen=True):
    """An entry that a review mentions. The owners are its own, else those of its wing."""

    address: str
    type: EntryType
    status: Status
    title: str
    owners: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[int, str]:
        """Sort by authority, then by address."""
        return self.type.rank, self.address


class Unread(Struct, frozen=True):
    """A file that cannot be read on one side, and the entry that the other side has there."""

    which: Which
    path: str
    code: str
    message: str
    other: Ref | None = None


class Span(Struct, frozen=True):
    """A run of words: unchanged (` `), removed (`-`) or added (`+`)."""

    mark: str
    text: str


class FieldChange(Struct, frozen=True):
    """One field of the front matter before and after, as text; empty if it is absent."""

    name: str
    before: str
    after: str


class Transition(Struct, frozen=True):
    """A change of status: None before for a new entry, None after for a deleted file."""

    entry: Ref
    before: Status | None
    after: Status | None
    is_illegal: bool = False
    faults: tuple[str, ...] = ()


class RelationChange(Struct, frozen=True):
    """A relation between two current entries, CLAIMS or AMENDS, that the change added or ended."""

    entry: Ref
    says: str
    on: Ref
    is_new: bool


class Belief(Struct, frozen=True):
    """An entry that is no longer current, with its current successors and the reason; or a new entry."""

    before: Ref | None
    after: tuple[Ref, ...]
    reason: str | None


class Rewording(Struct, frozen=True, kw_only=True):
    """An entry with a new title, body or binding field; `is_frozen` for an invariant or decision that stays current.

    `notice` is how the entry accounts for the change, `faults` are the findings about it.
    """

    entry: Ref
    is_frozen: bool
    title: tuple[Span, ...] = ()
    body: tuple[Span, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    notice: str = ""
    faults: tuple[str, ...] = ()


class FieldEdit(Struct, frozen=True):
    """An entry with changes in other fields."""

    entry: Ref
    fields: tuple[FieldChange, ...]


class Move(Struct, frozen=True):
    """An entry with a new address."""

    before: str
    after: str


class Dependent(Struct, frozen=True):
    """A current entry or draft that refers to an entry that is no longer current, in `how`: fields, or `text`."""

    entry: Ref
    on: str
    heads: tuple[str, ...]
    how: tuple[str, ...]


class Covered(Struct, frozen=True):
    """A changed entry and the tracked files that its `applies_to` matches; `files` are the first of them."""

    entry: Ref
    globs: tuple[str, ...]
    count: int
    files: tuple[str, ...]


class ContradictionChange(Struct, frozen=True):
    """Two entries that contradict each other, the one of higher authority first; `is_new`, or the change ended it."""

    first: Ref
    second: Ref
    why: str
    is_new: bool


class Counts(Struct, frozen=True, kw_only=True):
    """The change in figures; `altered` includes the moved entries."""

    added: int = 0
    gone: int = 0
    altered: int = 0
    moved: int = 0
    no_ops: int = 0
    in_force_before: int = 0
    in_force_after: int = 0


class Merging(Struct, frozen=True):
    """The new findings in the result of a merge, or in the tree itself; `older` findings were there before.

    `incomplete` are paths that could not be checked.
    """

    what: str
    is_merge: bool
    findings: tuple[Finding, ...] = ()
    older: int = 0
    incomplete: tuple[str, ...] = ()


class Answered(Struct, frozen=True):
    """The answer of one side to a question: its entries in order, or the error."""

    items: tuple[Ref, ...] = ()
    covered: bool = False
    problems: int = 0
    error: str | None = None


class AnswerPair(Struct, frozen=True):
    """A question and the answers of both sides."""

    question: str
    before: Answered
    after: Answered

    @property
    def is_same(self) -> bool:
        """Return whether both sides give the same answer."""
        same_items = [one.address for one in self.before.items] == [one.address for one in self.after.items]
        return same_items and (self.before.covered, self.before.error) == (self.after.covered, self.after.error)


class ReviewReport(Struct, frozen=True, kw_only=True):
    """What changed in meaning from one tree to another.

    `page_url` is from the settings before the change, so that the change cannot set it.
    """

    before: str
    after: str
    remarks: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    counts: Counts = field(default_factory=Counts)
    transitions: tuple[Transition, ...] = ()
    bearings: tuple[RelationChange, ...] = ()
    beliefs: tuple[Belief, ...] = ()
    rewordings: tuple[Rewording, ...] = ()
    edits: tuple[FieldEdit, ...] = ()
    dependents: tuple[Dependent, ...] = ()
    covered: tuple[Covered, ...] = ()
    moves: tuple[Move, ...] = ()
    no_ops: tuple[str, ...] = ()
    contradictions: tuple[ContradictionChange, ...] = ()
    merging: Merging | None = None
    answers: tuple[AnswerPair, ...] = ()
    page_url: str | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether no entry changed; a file that only one side can read is a change."""
        counts = self.counts
        before, after = (
            {(one.path, one.code) for one in self.unread if one.which == which} for which in ("before", "after")
        )
        touched = counts.added + counts.gone + counts.altered + counts.moved + counts.no_ops
        return not touched and not self.contradictions and before == after
