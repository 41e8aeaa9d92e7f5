"""The types of entries and wings.

A new field is one attribute of `Entry` or `Wing`, and one row of the table in `mdmem.model.fields`. New keys are
written in the order of the attributes. Parsing, search, completion and the guide's tables are derived from both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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
    WINGS = auto()
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
    PATTERN = auto()
    SESSION = auto()
    ENTITY = auto()
    WING = auto()

    @property
    def type(self) -> str:
        """Return the type of the entries with the field, `entry` for every type, or `wing` for a wing's manifest."""
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
    """One key of a front matter, with its meaning, an example line, and the people and commands that set it.

    `in_manifest` is true for a field of entries that the manifest of a wing has, too.
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
        """Return whether the manifest of a wing may have this field."""
        return self.in_manifest or self.holder is Holder.WING


Text: TypeAlias = Annotated[str | None, Kind.TEXT]
Texts: TypeAlias = Annotated[tuple[str, ...], Kind.TEXTS]
WingNames: TypeAlias = Annotated[tuple[str, ...] | None, Kind.WINGS]
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
# The front matter key with the reason for a review; it is removed when the review ends.
REVIEW_REASON = "x-review-reason"
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
    """Return the time to write into an entry: `now` to the second, or the date `today` if that is another day."""
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
    type: Annotated[EntryType, Kind.TYPE]
    status: Annotated[Status, Kind.STATUS]
    created_at: Moment = None
    title: Annotated[str, Kind.TEXT]
    verified_at: Moment = None
    deprecated_at: Moment = None
    expires_at: Moment = None
    version: Version = None
    label: Text = None
    owner: Text = None
    topic: Text = None
    focus: Text = None
    agent: Text = None
    tags: Texts = ()
    applies_to: Globs = ()
    confidence: Share = None
    relevance_score: Share = None
    supersedes: Links = ()
    superseded_by: Links = ()
    amends: Links = ()
    overrides: Links = ()
    conflicts_with: Links = ()
    see: Links = ()
    produced: Links = ()
    reason: Text = None
    deprecated_reason: Text = None
    approved_by: Text = None
    editorial_at: Moment = None
    ignore: Pairs = ()
    trigger: Text = None
    repeatable_steps: Texts = ()
    exclusions: Texts = ()
    objective: Text = None
    actions_taken: Texts = ()
    decisions_made: Texts = ()
    open_items: Texts = ()
    next_actions: Texts = ()
    entity: Text = None
    relations: Relations = ()
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
        """Return why `by` replaced this entry; `self.reason` is used only if this entry supersedes no others."""
        return self.deprecated_reason or by.reason or (None if self.supersedes else self.reason)

    def links(self, name: str) -> tuple[str, ...]:
        """Return the addresses in the link field `name`, such as `supersedes`."""
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
    kind: Annotated[WingKind, Kind.WING_KIND] = WingKind.PROJECT
    project_id: Text = None
    owners: Texts = ()
    shared_wings: WingNames = None
    applies_to: Globs = ()
    description: Text = None
    last_hygiene_at: Moment = None
    has_manifest: bool = False

    @property
    def is_shared(self) -> bool:
        """Return whether the wing is shared knowledge."""
        return self.kind is WingKind.SHARED

    def may_read(self, other: Wing) -> bool:
        """Return whether an entry of this wing may link to the other wing."""
        is_listed = self.shared_wings is None or other.name in self.shared_wings
        return self.name == other.name or (other.is_shared and is_listed)


def title_of(address: str) -> str:
    """Return the entry-id as words. This is the title of an entry that has none."""
    words = address.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


class Flaw(Struct, frozen=True):
    """One fault in the field `name`, and its correction; `item` is an index in a list, `on_key` marks a wrong key."""

    code: str
    name: str
    message: str
    help: str = ""
    item: int | None = None
    on_key: bool = False


def entries_with(entries: Mapping[str, Entry], name: str) -> Sequence[Entry]:
    """Return the entries that have a value in a field, in their given order."""
    return [entry for entry in entries.values() if getattr(entry, name) not in (None, ())]


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
        return next((one for one in EntryType if one == self.lower()), EntryType.NOTE)


_NOTES = {"context": NodeLabel.CONTEXT, "session": NodeLabel.SESSION, "entity": NodeLabel.ENTITY_FACT}


def label_of(entry: Entry) -> NodeLabel:
    """Return the contract's name for the kind of an entry. A note without a known label is a `Note`."""
    if entry.type is not EntryType.NOTE:
        return NodeLabel(entry.type.capitalize())
    return _NOTES.get(entry.label or "", NodeLabel.NOTE)


class Freshness(StrEnum):
    """How long ago an entry was verified or created: up to 30 days (current), 180 days (recent) or longer (stale)."""

    CURRENT = "current"
    RECENT = "recent"
    STALE = "stale"


def last_review(entry: Entry) -> date | None:
    """Return the later day of verification and creation; None without a date, or if `verified_at` is invalid."""
    if "verified_at" in entry.unread:
        return None
    stated = [day_of(moment) for moment in (entry.verified_at, entry.created_at) if moment is not None]
    return max(stated, default=None)


def age_of(entry: Entry, today: date) -> int | None:
    """Return the days since an entry was created or verified (the later one); None without a valid date."""
    day = last_review(entry)
    return None if day is None else max(0, (today - day).days)


def freshness_on(entry: Entry, today: date) -> Freshness:
    """Return the freshness of an entry on a day; an entry without a valid date is stale."""
    age = age_of(entry, today)
    if age is None or age > 180:
        return Freshness.STALE
    return Freshness.CURRENT if age <= 30 else Freshness.RECENT
