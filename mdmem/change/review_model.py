"""The records of a review. The names of their fields are the keys of `mdmem diff --format json`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from mdmem.model.entry import EntryType, Status
from mdmem.model.finding import Finding

SideName = Literal["before", "after"]
CLAIMS, AMENDS = "claims to replace", "amends"


class EntryRef(Struct, frozen=True):
    """An entry that a review mentions. `owners` are the owners of the entry, or those of the wing if it has none."""

    address: str
    type: EntryType
    status: Status
    title: str
    owners: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[int, str]:
        """Return the sort key: authority, then address."""
        return self.type.rank, self.address


class Unread(Struct, frozen=True):
    """A file that cannot be read before or after the change, and its entry on the other side, if that can be read."""

    which: SideName
    path: str
    code: str
    message: str
    other: EntryRef | None = None


class Span(Struct, frozen=True):
    """A run of words: unchanged (` `), removed (`-`) or added (`+`)."""

    mark: str
    text: str


class FieldChange(Struct, frozen=True):
    """The value of one front matter field before and after the change, as text. Empty means absent."""

    name: str
    before: str
    after: str


class Transition(Struct, frozen=True):
    """A change of status. `before` is None for a new entry, and `after` is None for a deleted file."""

    entry: EntryRef
    before: Status | None
    after: Status | None
    is_illegal: bool = False
    faults: tuple[str, ...] = ()


class RelationChange(Struct, frozen=True):
    """A relation that the change added (`is_new`) or removed: a one-sided supersession (CLAIMS) or AMENDS."""

    entry: EntryRef
    says: str
    on: EntryRef
    is_new: bool


class Replacement(Struct, frozen=True):
    """An entry that is no longer current, with its successors and the reason; or, if `before` is None, a new entry.

    `was_there` are successors that were current before the change. `opening` are the first sentences of the new entry,
    or of the only successor, if the change wrote it.
    """

    before: EntryRef | None
    after: tuple[EntryRef, ...]
    reason: str | None
    was_there: frozenset[str] = frozenset()
    opening: str = ""


class Proposed(Struct, frozen=True):
    """A field `says` of the draft `entry`, which would affect the entry `on`; `opening` is the draft's beginning."""

    entry: EntryRef
    says: str
    on: EntryRef
    reason: str | None = None
    opening: str = ""


class Rewording(Struct, frozen=True, kw_only=True):
    """An entry with a new title or body, or a new value in a field that changes what the rule requires.

    `is_frozen` is set for an invariant or decision that stays current. `notice` says how the entry explains the change,
    for example with a new version. `faults` are the findings about the change.
    """

    entry: EntryRef
    is_frozen: bool
    title: tuple[Span, ...] = ()
    body: tuple[Span, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    notice: str = ""
    faults: tuple[str, ...] = ()


class FieldEdit(Struct, frozen=True):
    """An entry with changes in fields that do not change what the rule requires."""

    entry: EntryRef
    fields: tuple[FieldChange, ...]


class Move(Struct, frozen=True):
    """An entry with a new address."""

    before: str
    after: str


class Dependent(Struct, frozen=True):
    """A current entry or draft that links to an entry that is no longer current.

    `how` are the fields with the link; `text` means the body.
    """

    entry: EntryRef
    on: str
    heads: tuple[str, ...]
    how: tuple[str, ...]


class Covered(Struct, frozen=True):
    """A changed entry and the tracked files that its `applies_to` matches. `files` has only the first of them."""

    entry: EntryRef
    globs: tuple[str, ...]
    count: int
    files: tuple[str, ...]


class ContradictionChange(Struct, frozen=True):
    """A contradiction that the change added (`is_new`) or removed; the entry of higher authority is the first."""

    first: EntryRef
    second: EntryRef
    why: str
    is_new: bool


class Counts(Struct, frozen=True, kw_only=True):
    """The number of changes of each kind. `altered` includes the moved entries."""

    added: int = 0
    gone: int = 0
    altered: int = 0
    moved: int = 0
    no_ops: int = 0
    in_force_before: int = 0
    in_force_after: int = 0


class MergeCheck(Struct, frozen=True):
    """The findings that a merge, or the files, would add, the number of `older` findings, and the paths not checked."""

    what: str
    is_merge: bool
    findings: tuple[Finding, ...] = ()
    older: int = 0
    incomplete: tuple[str, ...] = ()


class SideAnswer(Struct, frozen=True):
    """The answer before or after a change: the entries in order, or the error; `problems` counts unreadable files."""

    items: tuple[EntryRef, ...] = ()
    covered: bool = False
    problems: int = 0
    error: str | None = None


class AnswerPair(Struct, frozen=True):
    """A question, with its answers before and after the change."""

    question: str
    before: SideAnswer
    after: SideAnswer

    @property
    def is_same(self) -> bool:
        """Return whether the answers before and after the change are the same."""
        same_items = [one.address for one in self.before.items] == [one.address for one in self.after.items]
        return same_items and (self.before.covered, self.before.error) == (self.after.covered, self.after.error)


class ReviewReport(Struct, frozen=True, kw_only=True):
    """The differences in meaning between two trees. `page_url` is a setting of the tree before the change."""

    before: str
    after: str
    remarks: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    counts: Counts = field(default_factory=Counts)
    transitions: tuple[Transition, ...] = ()
    bearings: tuple[RelationChange, ...] = ()
    proposed: tuple[Proposed, ...] = ()
    beliefs: tuple[Replacement, ...] = ()
    rewordings: tuple[Rewording, ...] = ()
    edits: tuple[FieldEdit, ...] = ()
    dependents: tuple[Dependent, ...] = ()
    covered: tuple[Covered, ...] = ()
    moves: tuple[Move, ...] = ()
    no_ops: tuple[str, ...] = ()
    contradictions: tuple[ContradictionChange, ...] = ()
    merging: MergeCheck | None = None
    answers: tuple[AnswerPair, ...] = ()
    page_url: str | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether no entry changed. A file that only one side can read counts as a change."""
        counts = self.counts
        before, after = (
            {(one.path, one.code) for one in self.unread if one.which == which} for which in ("before", "after")
        )
        touched = counts.added + counts.gone + counts.altered + counts.moved + counts.no_ops
        return not touched and not self.contradictions and before == after
