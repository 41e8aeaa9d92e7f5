"""The parts of a review of a change; `report` puts them together."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from mdmem.model.entry import EntryType, Status
from mdmem.model.finding import Finding


class Ref(Struct, frozen=True):
    """An entry as a review names it; `owners` are its own, else those of its wing."""

    address: str
    type: EntryType
    status: Status
    title: str
    owners: tuple[str, ...] = ()

    @property
    def wing(self) -> str:
        """Return the first part of the address."""
        return self.address.split("/", 1)[0]

    @property
    def rank(self) -> tuple[int, str]:
        """Order by authority, then by address."""
        return self.type.rank, self.address


class Which(StrEnum):
    """One of the two sides of a comparison."""

    BEFORE = "before"
    AFTER = "after"


class Unread(Struct, frozen=True):
    """A file that cannot be read on a side; `other` is the entry that the other side has there."""

    which: Which
    path: str
    code: str
    message: str
    other: Ref | None = None


class Span(Struct, frozen=True):
    """A stretch of words: kept (` `), taken out (`-`) or put in (`+`)."""

    mark: str
    text: str


class FieldChange(Struct, frozen=True):
    """One field of the front matter before and after, as text; empty where it is not stated."""

    name: str
    before: str
    after: str


class Transition(Struct, frozen=True):
    """An entry whose status changed; None before where it is new, None after where its file is gone.

    `is_illegal` says that an entry may not take this step, `faults` what the checks find wrong with it.
    """

    entry: Ref
    before: Status | None
    after: Status | None
    is_illegal: bool = False
    faults: tuple[str, ...] = ()


class Bearing(StrEnum):
    """What an entry in force says of another that stays in force beside it."""

    CLAIMS = "claims to replace"
    AMENDS = "amends"


class BearingChange(Struct, frozen=True):
    """What an entry says of another one in force; `is_new`, else it said so before and does no more."""

    entry: Ref
    says: Bearing
    on: Ref
    is_new: bool


class Belief(Struct, frozen=True):
    """What was believed, what will be instead, and why; nothing before where it is new, nothing after where it ended.

    `was_there` are those of `after` that were in force before.
    """

    before: Ref | None
    after: tuple[Ref, ...]
    reason: str | None
    was_there: frozenset[str] = frozenset()


class RuleText(Struct, frozen=True):
    """An entry with the words of its body, on the side where it stands."""

    entry: Ref
    body: str

    @property
    def path(self) -> str:
        """Return its file, counted from the root."""
        return f"{self.entry.address}.md"


class Wording(Struct, frozen=True):
    """What was said, and what is said in its place; nothing before where it is new, nothing after where it ended."""

    before: RuleText | None
    after: tuple[RuleText, ...]


class EdgeChange(StrEnum):
    """What became of a supersession edge; a skipped one stands for a chain that is not shown."""

    ADDED = "added"
    REMOVED = "removed"
    ALTERED = "altered"
    KEPT = "kept"
    SKIPPED = "skipped"


class GraphEdge(Struct, frozen=True):
    """«`new` supersedes `old`», what became of it, and its class in words where it is not sound."""

    old: str
    new: str
    change: EdgeChange
    kind: str = ""


class GraphNode(Struct, frozen=True):
    """An entry of a chain: whether it binds after the change, and whether its file is gone."""

    entry: Ref
    is_current: bool
    is_gone: bool = False


class Graph(Struct, frozen=True):
    """The chains that a change touched, each to its head; `left_out` entries of them are not shown."""

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    left_out: int = 0


class Rewording(Struct, frozen=True, kw_only=True):
    """An entry that says something else; `is_frozen` for a rule or a decision in force before and after.

    `fields` are the binding ones; `faults` what the checks say to it; `notice` how the change accounts for itself.
    """

    entry: Ref
    is_frozen: bool
    title: tuple[Span, ...] = ()
    body: tuple[Span, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    notice: str = ""
    faults: tuple[str, ...] = ()


class FieldEdit(Struct, frozen=True):
    """An entry of which only such fields changed as do not say what binds."""

    entry: Ref
    fields: tuple[FieldChange, ...]


class Move(Struct, frozen=True):
    """An entry that stands at another address."""

    before: str
    after: str


class Dependent(Struct, frozen=True):
    """An entry in force, or a draft, that names what does not bind any more; `how` are the fields, or `text`."""

    entry: Ref
    on: str
    heads: tuple[str, ...]
    how: tuple[str, ...]

    @property
    def is_elsewhere(self) -> bool:
        """Say whether it lies in another wing."""
        return self.entry.wing != self.on.split("/", 1)[0]


class Covered(Struct, frozen=True):
    """A changed entry and the tracked files that its `applies_to` matches, some of them by name."""

    entry: Ref
    globs: tuple[str, ...]
    count: int
    files: tuple[str, ...]


class NearEntry(Struct, frozen=True):
    """A new or reworded entry and one that says nearly the same; `share` is that of their common words."""

    entry: Ref
    other: Ref
    share: float


class ContradictionChange(Struct, frozen=True):
    """Two entries that contradict each other, the one of higher authority first; `is_new` else the change ended it."""

    first: Ref
    second: Ref
    why: str
    is_new: bool

    @property
    def ranking(self) -> str:
        """Say which of the two weighs more."""
        if self.first.type is self.second.type:
            return f"both are {self.first.type}s: neither outranks the other"
        return f"the {self.first.type} outranks the {self.second.type}"


class WingChangeCount(Struct, frozen=True):
    """How many entries of a wing were in force before and are after, and how many there were in all."""

    wing: str
    in_force_before: int
    in_force_after: int
    entries_before: int
    entries_after: int


class Counts(Struct, frozen=True, kw_only=True):
    """What the change did, in figures; `altered` counts entries that are neither new nor gone, moved ones with them."""

    added: int = 0
    gone: int = 0
    altered: int = 0
    moved: int = 0
    no_ops: int = 0
    in_force_before: int = 0
    in_force_after: int = 0


class Merging(Struct, frozen=True):
    """What the checks find new: in the result of merging (`what` names it), or in the tree itself.

    `older` findings were there before; `incomplete` are paths that could not be looked at.
    """

    what: str
    is_merge: bool
    findings: tuple[Finding, ...] = ()
    older: int = 0
    incomplete: tuple[str, ...] = ()


class Answered(Struct, frozen=True):
    """What one side answers to a question: the entries in order, whether they cover it, or why there is no answer."""

    items: tuple[Ref, ...] = ()
    covered: bool = False
    problems: int = 0
    error: str | None = None


class AnswerPair(Struct, frozen=True):
    """A question and what both sides answer."""

    question: str
    before: Answered
    after: Answered

    @property
    def is_same(self) -> bool:
        """Say whether the change makes no difference to the answer."""
        same_items = [one.address for one in self.before.items] == [one.address for one in self.after.items]
        return same_items and (self.before.covered, self.before.error) == (self.after.covered, self.after.error)
