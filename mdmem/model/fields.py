"""The table of fields: one row for each key of a front matter; reading, writing, schema, search and guide follow it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum, auto
from zlib import crc32

from msgspec import Struct


class Kind(StrEnum):
    """What a value is, by which it is read, written, stored and described."""

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
    """Which files state a field: every entry, those of one type, notes of one label, or a wing's manifest."""

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
        """Return the type of entry that is meant; where no single one is, the word itself."""
        return "note" if self in (Holder.SESSION, Holder.ENTITY) else self.value

    @property
    def words(self) -> str:
        """Return the files in words."""
        if self in (Holder.SESSION, Holder.ENTITY):
            return f"notes labelled `{self}`"
        return {Holder.ENTRY: "every entry", Holder.WING: "a wing's manifest"}.get(self, f"{self}s")


class Searched(StrEnum):
    """How full text takes a field in: as words of a weight class, whole but for case, or as a date."""

    TITLE = auto()
    TAG = auto()
    WHOLE = auto()
    DATE = auto()


class Field(Struct, frozen=True):
    """One key of a front matter: what it holds, in one sentence what it means, and a line that shows it.

    `in_manifest` says that a wing's manifest states it, too.
    """

    name: str
    kind: Kind
    meaning: str
    example: str
    holder: Holder = Holder.ENTRY
    set_by: str = "its writer"
    searched: Searched | None = None
    required: bool = False
    in_manifest: bool = False

    @property
    def is_of_wings(self) -> bool:
        """Say whether a wing's manifest states it."""
        return self.in_manifest or self.holder is Holder.WING

    @property
    def is_list(self) -> bool:
        """Say whether it holds several values, of which a single one may be written plainly."""
        return self.kind in _SEVERAL


_SEVERAL = frozenset({Kind.TEXTS, Kind.NAMES, Kind.LINKS, Kind.GLOBS, Kind.RELATIONS})

# The order of the rows is the order in which new keys are written: an entry's own, then a manifest's.
FIELDS = (
    Field(
        "type",
        Kind.TYPE,
        "what it is, in the order of authority",
        "type: decision",
        searched=Searched.WHOLE,
        required=True,
    ),
    Field(
        "status",
        Kind.STATUS,
        "where it stands; a draft binds nobody",
        "status: active",
        set_by="its writer, `mdmem approve`, `doubt`, `verify`, `deprecate` and `supersede`; "
        "an agent only drafts what binds, as `[governance]` says",
        searched=Searched.WHOLE,
        required=True,
    ),
    Field(
        "created_at",
        Kind.MOMENT,
        "when it was written, a date or a date-time with its offset",
        "created_at: 2026-03-05",
        searched=Searched.DATE,
        required=True,
    ),
    Field(
        "title",
        Kind.TEXT,
        "one line; without it the first heading, else the entry-id in words",
        "title: Use a MultiThreadedExecutor in the navigation node",
        searched=Searched.TITLE,
    ),
    Field(
        "verified_at",
        Kind.MOMENT,
        "when somebody last found it right",
        "verified_at: 2026-04-10",
        set_by="`mdmem verify`, and a save of what was validated",
        searched=Searched.DATE,
    ),
    Field(
        "deprecated_at",
        Kind.MOMENT,
        "when it ended",
        "deprecated_at: 2026-06-30",
        set_by="`mdmem deprecate`, `supersede` and `approve`",
    ),
    Field("expires_at", Kind.MOMENT, "from the day after on it counts as under review", "expires_at: 2026-12-31"),
    Field("version", Kind.VERSION, "a number from 1", "version: 2"),
    Field(
        "label", Kind.TEXT, "what kind of note, such as session or entity", "label: incident", searched=Searched.WHOLE
    ),
    Field("owner", Kind.TEXT, "who answers for it", "owner: navigation-team", searched=Searched.WHOLE),
    Field("topic", Kind.TEXT, "what it is about", "topic: executors", searched=Searched.WHOLE),
    Field("focus", Kind.TEXT, "the focus area that it is for", "focus: docking", searched=Searched.WHOLE),
    Field(
        "agent",
        Kind.TEXT,
        "the agent that wrote it",
        "agent: review-bot",
        set_by="`mdmem save` and the tools of the server",
    ),
    Field("tags", Kind.TEXTS, "words to find it by", "tags: [executor, navigation]", searched=Searched.TAG),
    Field(
        "applies_to",
        Kind.GLOBS,
        "globs of the code that it is about, from the repository's top; of a manifest: that the wing is about",
        'applies_to: ["src/navigation/**"]',
        in_manifest=True,
    ),
    Field("confidence", Kind.SHARE, "how sure the writer is", "confidence: 0.8"),
    Field("relevance_score", Kind.SHARE, "how much it matters", "relevance_score: 0.6"),
    Field(
        "supersedes",
        Kind.LINKS,
        "the addresses of the entries that it replaces",
        "supersedes: [lifecore_ros2/architecture/single-executor]",
        set_by="its writer, and `mdmem supersede`",
    ),
    Field(
        "superseded_by",
        Kind.LINKS,
        "the addresses of the entries that replace it",
        "superseded_by: [lifecore_ros2/architecture/multi-threaded-executor-for-navigation]",
        set_by="`mdmem supersede` and `approve`",
    ),
    Field(
        "amends",
        Kind.LINKS,
        "the addresses of the entries that it changes in part; they stay in force and are shown with it",
        "amends: [lifecore_ros2/components/retry-docking-by-error-code]",
    ),
    Field(
        "overrides",
        Kind.LINKS,
        "the addresses of the shared rules that it replaces here",
        "overrides: [ros2/architecture/single-threaded-executor-default]",
    ),
    Field(
        "conflicts_with",
        Kind.LINKS,
        "the addresses of the entries that it contradicts",
        "conflicts_with: [ros2/communication/sensor-streams-reliable]",
    ),
    Field("see", Kind.LINKS, "the addresses of related entries", "see: [ros2/anti-patterns/blocking-callbacks]"),
    Field(
        "produced",
        Kind.LINKS,
        "the addresses of the entries that came out of it",
        "produced: [lifecore_ros2/components/retry-docking-by-error-code]",
    ),
    Field(
        "reason",
        Kind.TEXT,
        "why it supersedes, overrides or contradicts another entry",
        "reason: two action clients contend on one thread",
        set_by="its writer, and `mdmem supersede`",
    ),
    Field(
        "deprecated_reason",
        Kind.TEXT,
        "why it ended",
        "deprecated_reason: the robot has no dock any more",
        set_by="`mdmem deprecate`",
    ),
    Field(
        "approved_by",
        Kind.TEXT,
        "who made it active, as name and email",
        "approved_by: Navigation Team <navigation@example.com>",
        set_by="`mdmem approve`",
    ),
    Field(
        "editorial_at",
        Kind.MOMENT,
        "when the body was corrected without a change of the rule",
        "editorial_at: 2026-05-02",
        set_by="`mdmem edit --editorial`",
    ),
    Field(
        "ignore",
        Kind.PAIRS,
        "check codes that do not count here, each with its reason",
        "ignore: {local-path: the path is the subject}",
    ),
    Field(
        "trigger",
        Kind.TEXT,
        "when the pattern applies",
        "trigger: A callback has to wait for another node",
        holder=Holder.PATTERN,
    ),
    Field(
        "repeatable_steps",
        Kind.TEXTS,
        "what to do, step by step",
        "repeatable_steps: [Give the client its own group, Await the future]",
        holder=Holder.PATTERN,
    ),
    Field(
        "exclusions",
        Kind.TEXTS,
        "when the pattern does not apply",
        "exclusions: [Nodes with one callback]",
        holder=Holder.PATTERN,
    ),
    Field(
        "objective",
        Kind.TEXT,
        "what the session was for",
        "objective: Find out why docking stalls",
        holder=Holder.SESSION,
    ),
    Field(
        "actions_taken",
        Kind.TEXTS,
        "what was done",
        "actions_taken: [Replayed the bag of the night run]",
        holder=Holder.SESSION,
    ),
    Field(
        "decisions_made", Kind.TEXTS, "what was decided", "decisions_made: [Retry by error code]", holder=Holder.SESSION
    ),
    Field(
        "open_items",
        Kind.TEXTS,
        "what is left open",
        "open_items: [The beacon's range is unknown]",
        holder=Holder.SESSION,
    ),
    Field(
        "next_actions",
        Kind.TEXTS,
        "what comes next",
        "next_actions: [Measure the range in the hall]",
        holder=Holder.SESSION,
    ),
    Field("entity", Kind.TEXT, "the name of what the note is about", "entity: docking station", holder=Holder.ENTITY),
    Field(
        "relations",
        Kind.RELATIONS,
        "how the thing relates to others",
        "relations: [{type: part-of, to: lifecore_ros2/entities/fleet}]",
        holder=Holder.ENTITY,
    ),
    Field(
        "kind", Kind.WING_KIND, "a project's own wing, or one that projects share", "kind: project", holder=Holder.WING
    ),
    Field(
        "project_id",
        Kind.TEXT,
        "the id by which clients know the project",
        "project_id: lifecore-ros2",
        holder=Holder.WING,
        set_by="its writer, and `save_session`",
    ),
    Field("owners", Kind.TEXTS, "who answers for the wing", "owners: [navigation-team]", holder=Holder.WING),
    Field(
        "shared_wings",
        Kind.NAMES,
        "the shared wings that the project reads, in their order; without it every one",
        "shared_wings: [ros2]",
        holder=Holder.WING,
    ),
    Field(
        "description",
        Kind.TEXT,
        "what the wing is for",
        "description: The navigation stack of the delivery robot",
        holder=Holder.WING,
    ),
    Field(
        "last_hygiene_at",
        Kind.MOMENT,
        "when the wing was last tended",
        "last_hygiene_at: 2026-11-09",
        holder=Holder.WING,
        set_by="`mdmem hygiene`",
    ),
)


def names_of(*kinds: Kind) -> tuple[str, ...]:
    """Return the names of the fields of some kinds, in order."""
    return tuple(field.name for field in FIELDS if field.kind in kinds)


def searched_as(*ways: Searched) -> tuple[str, ...]:
    """Return the names of the fields that full text takes in, in order."""
    return tuple(field.name for field in FIELDS if field.searched in ways)


WING_FIELDS = frozenset(field.name for field in FIELDS if field.is_of_wings)
KNOWN_FIELDS = frozenset(field.name for field in FIELDS if field.holder is not Holder.WING)
REQUIRED = tuple(field.name for field in FIELDS if field.required)
# What replaces an entry has these, too, where it states none itself: whom it is for, and what it is about.
INHERITED = ("label", "owner", "topic", "focus", "tags", "applies_to")
LISTS = frozenset(field.name for field in FIELDS if field.is_list)


def version_of(fields: Iterable[Field]) -> str:
    """Return what changes with how fields are read and searched, but not with the prose about them."""
    rows = [(one.name, one.kind, one.holder, one.searched, one.required, one.in_manifest) for one in fields]
    # A hash that nobody may forge is not needed here, and its import takes 4 ms.
    return f"{crc32(repr(rows).encode()):08x}"


# What was stored under another table is read anew.
VERSION = version_of(FIELDS)
