"""The types of entries and wings, with the one definition of each field.

A new field is one attribute of `Entry` or `Wing`. New keys are written in the order of the attributes. Parsing, JSON
Schema, search, completion and the guide's tables are derived from the annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from msgspec import Struct

from mdmem.record import StoredRecord


class Kind(StrEnum):
    """The kind of a field's value. It decides how the value is parsed, written, stored and described."""

    TYPE = auto()
    STATUS = auto()
    WING_KIND = auto()
    TEXT = auto()
    TEXTS = auto()
    NAMES = auto()
    LINKS = auto()
    GLOBS = auto()
    MOMENT = auto()
    VERSION = auto()
    SHARE = auto()
    PAIRS = auto()
    RELATIONS = auto()


class Holder(StrEnum):
    """Which files have a field: every entry, entries of one type, notes with one label, or the manifest of a wing."""

    ENTRY = auto()
    INVARIANT = auto()
    DECISION = auto()
    PATTERN = auto()
    NOTE = auto()
    SESSION = auto()
    ENTITY = auto()
    WING = auto()

    @property
    def type(self) -> str:
        """Return the type of the entries that have the field; for `ENTRY` and `WING` return the holder itself."""
        return "note" if self in (Holder.SESSION, Holder.ENTITY) else self.value

    @property
    def words(self) -> str:
        """Return a description of the files for the guide, such as "every entry"."""
        if self in (Holder.SESSION, Holder.ENTITY):
            return f"notes labelled `{self}`"
        return {Holder.ENTRY: "every entry", Holder.WING: "a wing's manifest"}.get(self, f"{self}s")


class Searched(StrEnum):
    """How full-text search reads a field: as a title, as a tag, as a single value, or as a date."""

    TITLE = auto()
    TAG = auto()
    WHOLE = auto()
    DATE = auto()


class Field(Struct, frozen=True):
    """One key of a front matter, taken from the annotation of an attribute of `Entry` or `Wing`.

    `mdmem.model.fields` fills in the name, the kind and `in_manifest` (whether the manifest of a wing also has the
    key), and puts the name in front of the example.
    """

    meaning: str
    example: str
    set_by: str = "its writer"
    searched: Searched | None = None
    holder: Holder = Holder.ENTRY
    required: bool = False
    name: str = ""
    kind: Kind = Kind.TEXT
    in_manifest: bool = False

    @property
    def is_of_wings(self) -> bool:
        """Return whether a wing's manifest has the key."""
        return self.in_manifest or self.holder is Holder.WING

    @property
    def is_list(self) -> bool:
        """Return whether the value is a list. A list of one item may be written without brackets."""
        return self.kind in _LISTS


_LISTS = frozenset({Kind.TEXTS, Kind.NAMES, Kind.LINKS, Kind.GLOBS, Kind.RELATIONS})

Text: TypeAlias = Annotated[str | None, Kind.TEXT]
Texts: TypeAlias = Annotated[tuple[str, ...], Kind.TEXTS]
Names: TypeAlias = Annotated[tuple[str, ...] | None, Kind.NAMES]
Links: TypeAlias = Annotated[tuple[str, ...], Kind.LINKS]
Globs: TypeAlias = Annotated[tuple[str, ...], Kind.GLOBS]
Version: TypeAlias = Annotated[int | None, Kind.VERSION]
Share: TypeAlias = Annotated[float | None, Kind.SHARE]
Pairs: TypeAlias = Annotated[tuple[tuple[str, str], ...], Kind.PAIRS]

# A date-time parses with and without a UTC offset. A check reports a missing offset.
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|z|[+-]\d{2}:?\d{2})?\Z", re.ASCII)


class EntryType(StrEnum):
    """The four types of entries, the highest authority first."""

    INVARIANT = "invariant"
    DECISION = "decision"
    PATTERN = "pattern"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """Return 0 for the highest authority, then 1, 2 and 3."""
        return _TYPE_RANK[self]

    @property
    def is_rule(self) -> bool:
        """Return whether this type is a rule to follow. Patterns and notes are only advice."""
        return self.rank <= EntryType.DECISION.rank


_TYPE_RANK = {kind: rank for rank, kind in enumerate(EntryType)}


class Status(StrEnum):
    """The state of an entry in its life."""

    DRAFT = "draft"
    ACTIVE = "active"
    UNDER_REVIEW = "under_review"
    DEPRECATED = "deprecated"


IN_FORCE = frozenset({Status.ACTIVE, Status.UNDER_REVIEW})
# The value of `agent` if the agent that wrote the entry has no name.
UNNAMED_AGENT = "agent"


class NotIsoError(ValueError):
    """The text does not look like an ISO 8601 date or date-time."""


class NoSuchDayError(ValueError):
    """The text looks like a date, but the day or time does not exist."""


def parse_moment(text: str) -> date:
    """Parse an ISO 8601 date or date-time; raises NotIsoError, or NoSuchDayError if the day or time does not exist."""
    day = _ISO_DAY.match(text)
    if not day and not _ISO_TIME.match(text):
        raise NotIsoError(text)
    try:
        # Python reads `Z` but not `z`.
        moment = date.fromisoformat(text) if day else datetime.fromisoformat(text.upper())
        # Callers convert the time to UTC. That fails if the result is outside the years 1 to 9999.
        instant_of(moment).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise NoSuchDayError(text) from error
    return moment


def day_of(moment: date) -> date:
    """Return the calendar day of a date or a date-time."""
    return moment.date() if isinstance(moment, datetime) else moment


def instant_of(moment: date) -> datetime:
    """Return a date-time for sorting. A date counts as its midnight, and a time without offset counts as UTC."""
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_on(today: date, now: datetime) -> date:
    """Return the time to write into an entry: `now`, or `today` if `today` is set to another day."""
    near = (one for one in (now, now.astimezone()) if one.tzinfo is not None and one.date() == today)
    return next((one.replace(microsecond=0) for one in near), today)


if TYPE_CHECKING:
    Moment: TypeAlias = Annotated[date | None, Kind.MOMENT]
else:
    # msgspec cannot decode a union of date and date-time. Both are stored as text, and `read_dates` parses the text.
    Moment = Annotated[Any, Kind.MOMENT]


class Relation(StoredRecord, frozen=True):
    """A typed link from an entity (a note that describes a thing) to another entry."""

    type: str
    to: str

    @property
    def is_contradiction(self) -> bool:
        """Return whether the type of the relation is `CONFLICTS_WITH`, in any spelling."""
        return self.type.casefold().replace("-", "_") == "conflicts_with"


Relations: TypeAlias = Annotated[tuple[Relation, ...], Kind.RELATIONS]


class Entry(StoredRecord, frozen=True, kw_only=True):
    """One rule or fact at its address; `unread` are the fields that could not be parsed, which have their defaults."""

    address: str
    type: Annotated[
        EntryType,
        Kind.TYPE,
        Field("the kind of entry, in the order of authority", "decision", searched=Searched.WHOLE, required=True),
    ]
    status: Annotated[
        Status,
        Kind.STATUS,
        Field(
            "whether it applies; a draft has no effect yet",
            "active",
            set_by="its writer, `mdmem approve`, `doubt`, `verify`, `deprecate` and `supersede`",
            searched=Searched.WHOLE,
            required=True,
        ),
    ]
    created_at: Annotated[Moment, Field("when it was written", "2026-03-05", searched=Searched.DATE, required=True)] = (
        None
    )
    title: Annotated[
        str,
        Kind.TEXT,
        Field(
            "one line; without it, the first heading of the text, else the entry-id",
            "Use a MultiThreadedExecutor in the navigation node",
            searched=Searched.TITLE,
        ),
    ]
    verified_at: Annotated[
        Moment,
        Field(
            "when somebody last confirmed it",
            "2026-04-10",
            set_by="`mdmem verify`, `doubt --done`, and `save_pattern`",
            searched=Searched.DATE,
        ),
    ] = None
    deprecated_at: Annotated[
        Moment, Field("when it was deprecated", "2026-06-30", set_by="`mdmem deprecate`, `supersede` and `approve`")
    ] = None
    expires_at: Annotated[Moment, Field("after this day it counts as under review", "2026-12-31")] = None
    version: Annotated[Version, Field("raise it when you change the text of a current rule", "2")] = None
    label: Annotated[
        Text, Field("the kind of a pattern or note, such as incident or session", "incident", searched=Searched.WHOLE)
    ] = None
    owner: Annotated[Text, Field("who is responsible for it", "navigation-team", searched=Searched.WHOLE)] = None
    topic: Annotated[Text, Field("the subject, finer than the room", "executors", searched=Searched.WHOLE)] = None
    focus: Annotated[
        Text, Field("the area of work that it is for; `--focus` filters by it", "docking", searched=Searched.WHOLE)
    ] = None
    agent: Annotated[
        Text, Field("the agent that wrote it", "review-bot", set_by="`mdmem save` and the tools of the server")
    ] = None
    tags: Annotated[Texts, Field("words to find it by", "[executor, navigation]", searched=Searched.TAG)] = ()
    applies_to: Annotated[
        Globs, Field("globs of the code that it is about, from the repository's top", '["src/navigation/**"]')
    ] = ()
    confidence: Annotated[Share, Field("how sure the writer is, from 0 to 1", "0.8")] = None
    relevance_score: Annotated[Share, Field("how much it matters, from 0 to 1", "0.6")] = None
    supersedes: Annotated[
        Links,
        Field(
            "the entries that it replaces",
            "[lifecore_ros2/architecture/single-executor]",
            set_by="its writer, and `mdmem supersede`",
        ),
    ] = ()
    superseded_by: Annotated[
        Links,
        Field(
            "the entries that replace it",
            "[lifecore_ros2/architecture/multi-threaded-executor-for-navigation]",
            set_by="`mdmem supersede` and `approve`",
        ),
    ] = ()
    amends: Annotated[
        Links,
        Field(
            "the entries that it changes in part; they stay current and are shown with it",
            "[lifecore_ros2/components/retry-docking-by-error-code]",
        ),
    ] = ()
    overrides: Annotated[
        Links, Field("the shared rules that it replaces here", "[ros2/architecture/single-threaded-executor-default]")
    ] = ()
    conflicts_with: Annotated[
        Links, Field("the entries that it contradicts", "[ros2/communication/sensor-streams-reliable]")
    ] = ()
    see: Annotated[Links, Field("related entries", "[ros2/anti-patterns/blocking-callbacks]")] = ()
    produced: Annotated[
        Links, Field("the entries that came out of it", "[lifecore_ros2/components/retry-docking-by-error-code]")
    ] = ()
    reason: Annotated[
        Text,
        Field(
            "why it supersedes, overrides or contradicts another entry",
            "two action clients contend on one thread",
            set_by="its writer, and `mdmem supersede`",
        ),
    ] = None
    deprecated_reason: Annotated[
        Text, Field("why it was deprecated", "the robot has no dock any more", set_by="`mdmem deprecate`")
    ] = None
    approved_by: Annotated[
        Text, Field("who made it active", "Navigation Team <navigation@example.com>", set_by="`mdmem approve`")
    ] = None
    editorial_at: Annotated[
        Moment,
        Field(
            "when the text was corrected without a change of the rule", "2026-05-02", set_by="`mdmem edit --editorial`"
        ),
    ] = None
    ignore: Annotated[
        Pairs, Field("checks that do not report this entry", "{local-path: the path is the subject}")
    ] = ()
    trigger: Annotated[
        Text, Field("when the pattern applies", "A callback has to wait for another node", holder=Holder.PATTERN)
    ] = None
    repeatable_steps: Annotated[
        Texts,
        Field("the steps, in their order", "[Give the client its own group, Await the future]", holder=Holder.PATTERN),
    ] = ()
    exclusions: Annotated[
        Texts, Field("when the pattern does not apply", "[Nodes with one callback]", holder=Holder.PATTERN)
    ] = ()
    objective: Annotated[
        Text, Field("the purpose of the session", "Find out why docking stalls", holder=Holder.SESSION)
    ] = None
    actions_taken: Annotated[
        Texts, Field("the actions that were taken", "[Replayed the bag of the night run]", holder=Holder.SESSION)
    ] = ()
    decisions_made: Annotated[
        Texts, Field("the decisions that were made", "[Retry by error code]", holder=Holder.SESSION)
    ] = ()
    open_items: Annotated[
        Texts, Field("the open questions", "[The beacon's range is unknown]", holder=Holder.SESSION)
    ] = ()
    next_actions: Annotated[
        Texts, Field("the next steps", "[Measure the range in the hall]", holder=Holder.SESSION)
    ] = ()
    entity: Annotated[
        Text, Field("the name of the thing that the note describes", "docking station", holder=Holder.ENTITY)
    ] = None
    relations: Annotated[
        Relations,
        Field(
            "how the thing relates to others",
            "[{type: part-of, to: lifecore_ros2/entities/fleet}]",
            holder=Holder.ENTITY,
        ),
    ] = ()
    unread: tuple[str, ...] = ()

    @property
    def wing(self) -> str:
        """Return the first part of the address."""
        return self.address.split("/", 1)[0]

    @property
    def room(self) -> str:
        """Return the second part of the address."""
        return self.address.split("/", 2)[1]

    @property
    def path(self) -> str:
        """Return the file's path from the root."""
        return self.address + ".md"

    @property
    def is_in_force(self) -> bool:
        """Return whether the status is active or under review. `Lineage` tells whether the entry is also current."""
        return self.status in IN_FORCE

    @property
    def contradicts(self) -> tuple[str, ...]:
        """Return the addresses that the entry contradicts, by `conflicts_with` or by a relation of that type."""
        if not self.relations:
            return self.conflicts_with
        related = (one.to for one in self.relations if one.is_contradiction)
        return tuple(dict.fromkeys((*self.conflicts_with, *related)))

    @property
    def why_ended(self) -> str | None:
        """Return the stated reason why a deprecated entry was deprecated, or None."""
        return self.deprecated_reason or self.reason

    def declares_split(self, successors: Iterable[str]) -> bool:
        """Return whether the entry lists all given successors in `superseded_by`, and gives a reason for the split."""
        return bool(self.why_ended) and set(successors) <= set(self.superseded_by)

    def why_replaced(self, by: Entry) -> str | None:
        """Return why the entry `by` replaced this entry.

        The `reason` of this entry counts only if this entry supersedes nothing. Otherwise it explains that
        supersession.
        """
        return self.deprecated_reason or by.reason or (None if self.supersedes else self.reason)

    def links(self, name: str) -> tuple[str, ...]:
        """Return the addresses in one of the link fields."""
        found: tuple[str, ...] = getattr(self, name)
        return found

    def status_on(self, today: date) -> Status:
        """Return the status on a day. An active entry after its `expires_at` counts as under review."""
        if self.status is Status.ACTIVE and self.expires_at and day_of(self.expires_at) < today:
            return Status.UNDER_REVIEW
        return self.status


class WingKind(StrEnum):
    """Whether a wing belongs to one project or contains shared knowledge."""

    PROJECT = "project"
    SHARED = "shared"


class Wing(StoredRecord, frozen=True, kw_only=True):
    """A wing with the fields of its manifest; if `shared_wings` is None, the project reads every shared wing."""

    name: str
    kind: Annotated[
        WingKind, Kind.WING_KIND, Field("a project's wing, or one that projects share", "project", holder=Holder.WING)
    ] = WingKind.PROJECT
    project_id: Annotated[
        Text,
        Field(
            "the id by which clients know the project",
            "lifecore-ros2",
            set_by="its writer, and the MCP tool `save_session`",
            holder=Holder.WING,
        ),
    ] = None
    owners: Annotated[Texts, Field("who is responsible for the wing", "[navigation-team]", holder=Holder.WING)] = ()
    shared_wings: Annotated[
        Names,
        Field(
            "the shared wings that the project reads, in their order; without it every one",
            "[ros2]",
            holder=Holder.WING,
        ),
    ] = None
    applies_to: Globs = ()
    description: Annotated[
        Text, Field("the purpose of the wing", "The navigation stack of the delivery robot", holder=Holder.WING)
    ] = None
    last_hygiene_at: Annotated[
        Moment,
        Field("when hygiene last ran on the wing", "2026-11-09", set_by="`mdmem hygiene --record`", holder=Holder.WING),
    ] = None
    has_manifest: bool = False

    @property
    def is_shared(self) -> bool:
        """Return whether the wing is shared knowledge."""
        return self.kind is WingKind.SHARED


def title_of(address: str) -> str:
    """Return the entry-id as words. This is the title of an entry that has none."""
    words = address.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


class Flaw(Struct, frozen=True):
    """One fault in a key or value of a front matter. `item` is the index in a list, counted from 0."""

    code: str
    name: str
    message: str
    help: str = ""
    item: int | None = None
    on_key: bool = False


def having(entries: Mapping[str, Entry], name: str) -> Sequence[Entry]:
    """Return the entries that have a value in a field, in their given order."""
    return [entry for entry in entries.values() if getattr(entry, name) not in (None, ())]


def of_kind(entries: Mapping[str, Entry], kind: EntryType | Status) -> Iterator[str]:
    """Yield the addresses of the entries with a type or a status, in their given order."""
    name = "type" if isinstance(kind, EntryType) else "status"
    return (address for address, entry in entries.items() if getattr(entry, name) is kind)


class NodeLabel(StrEnum):
    """The names that the MCP contract uses for kinds of entries: the four types, and three kinds of notes."""

    DECISION = "Decision"
    PATTERN = "Pattern"
    CONTEXT = "Context"
    SESSION = "Session"
    ENTITY_FACT = "EntityFact"
    INVARIANT = "Invariant"
    NOTE = "Note"

    @property
    def type(self) -> EntryType:
        """Return the type of every entry with this label."""
        return _TYPES.get(self, EntryType.NOTE)


_TYPES = {
    NodeLabel.DECISION: EntryType.DECISION,
    NodeLabel.PATTERN: EntryType.PATTERN,
    NodeLabel.INVARIANT: EntryType.INVARIANT,
}
_BY_TYPE = {kind: label for label, kind in _TYPES.items()}
_NOTES = {"context": NodeLabel.CONTEXT, "session": NodeLabel.SESSION, "entity": NodeLabel.ENTITY_FACT}


def label_of(entry: Entry) -> NodeLabel:
    """Return the contract's name for the kind of an entry. A note without a known label is a `Note`."""
    return _BY_TYPE.get(entry.type) or _NOTES.get(entry.label or "", NodeLabel.NOTE)
