"""The types of entries and wings, and small questions about one entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from hashlib import sha1
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.model.fields import KNOWN_FIELDS, Kind, names_of
from mdmem.record import StoredRecord

LINK_FIELDS = names_of(Kind.LINKS)
DATE_FIELDS = tuple(name for name in names_of(Kind.MOMENT) if name in KNOWN_FIELDS)

# A date-time may carry an offset; whether it must is a check, so both are read.
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|z|[+-]\d{2}:?\d{2})?\Z", re.ASCII)


class EntryType(StrEnum):
    """The four types, in order of authority, the highest first."""

    INVARIANT = "invariant"
    DECISION = "decision"
    PATTERN = "pattern"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """Return 0 for the highest authority."""
        return _TYPE_RANK[self]

    @property
    def is_rule(self) -> bool:
        """Say whether an entry of this type binds in force: patterns and notes only help."""
        return self.rank <= EntryType.DECISION.rank


_TYPE_RANK = {kind: rank for rank, kind in enumerate(EntryType)}


class Status(StrEnum):
    """Where an entry stands in its life."""

    DRAFT = "draft"
    ACTIVE = "active"
    UNDER_REVIEW = "under_review"
    DEPRECATED = "deprecated"


IN_FORCE = frozenset({Status.ACTIVE, Status.UNDER_REVIEW})
# The `agent` of a rule whose writer, an agent, gave no name.
UNNAMED_AGENT = "agent"


class NotIsoError(ValueError):
    """The text does not have the form of an ISO 8601 date or date-time."""


class NoSuchDayError(ValueError):
    """The text has the form of a date, but the calendar has no such day or time."""


def parse_moment(text: str) -> date:
    """Return the date or date-time that a text names.

    Raises NotIsoError for another form and NoSuchDayError for a day or time that does not exist.
    """
    day = _ISO_DAY.match(text)
    if not day and not _ISO_TIME.match(text):
        raise NotIsoError(text)
    try:
        # Python reads `Z` but not `z`.
        moment = date.fromisoformat(text) if day else datetime.fromisoformat(text.upper())
        # Whatever holds, orders or shows it may ask for its time in UTC, whose calendar ends where this one does.
        instant_of(moment).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise NoSuchDayError(text) from error
    return moment


def day_of(moment: date) -> date:
    """Return the calendar day of a date or a date-time."""
    return moment.date() if isinstance(moment, datetime) else moment


def instant_of(moment: date) -> datetime:
    """Return a point in time to order by: a day counts as its midnight, a time without offset as UTC."""
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_on(today: date, now: datetime) -> date:
    """Return the time of day at which an entry is written, or the day alone where the day to judge by is another."""
    near = (one for one in (now, now.astimezone()) if one.tzinfo is not None and one.date() == today)
    return next((one.replace(microsecond=0) for one in near), today)


if TYPE_CHECKING:
    Moment = date
else:
    # A date or a date-time: msgspec reads no union of the two, so that whoever reads a record puts them right.
    Moment = Any


class Relation(StoredRecord, frozen=True):
    """A typed link of an entity to another entry."""

    type: str
    to: str

    @property
    def is_contradiction(self) -> bool:
        """Say whether the relation has the type `CONFLICTS_WITH`, in any spelling."""
        return self.type.casefold().replace("-", "_") == "conflicts_with"


class Entry(StoredRecord, frozen=True, kw_only=True):
    """One durable rule or fact at its address, as its front matter states it.

    `unread` names the fields whose value could not be read; they are empty here.
    `created_at` is None where the file states no readable one.
    """

    address: str
    type: EntryType
    status: Status
    title: str
    created_at: Moment | None = None
    verified_at: Moment | None = None
    deprecated_at: Moment | None = None
    expires_at: Moment | None = None
    editorial_at: Moment | None = None
    version: int | None = None
    label: str | None = None
    owner: str | None = None
    topic: str | None = None
    focus: str | None = None
    agent: str | None = None
    approved_by: str | None = None
    reason: str | None = None
    deprecated_reason: str | None = None
    confidence: float | None = None
    relevance_score: float | None = None
    tags: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    produced: tuple[str, ...] = ()
    ignore: tuple[tuple[str, str], ...] = ()
    trigger: str | None = None
    repeatable_steps: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    objective: str | None = None
    actions_taken: tuple[str, ...] = ()
    decisions_made: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()
    entity: str | None = None
    relations: tuple[Relation, ...] = ()
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
        """Say whether the status alone lets the entry bind; supersession is the lineage's to judge."""
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
        """Return the reason a deprecated entry gives for its end."""
        return self.deprecated_reason or self.reason

    def declares_split(self, successors: Iterable[str]) -> bool:
        """Say whether the entry names all of several successors and gives a reason for the split."""
        return bool(self.why_ended) and set(successors) <= set(self.superseded_by)

    def why_replaced(self, by: Entry) -> str | None:
        """Return why another took the place of this entry, whose `reason` tells that unless it replaced one itself."""
        return self.deprecated_reason or by.reason or (None if self.supersedes else self.reason)

    def links(self, name: str) -> tuple[str, ...]:
        """Return the addresses that one link field holds."""
        found: tuple[str, ...] = getattr(self, name)
        return found

    def status_on(self, today: date) -> Status:
        """Return the status as of a day: an active entry past `expires_at` counts as under review."""
        if self.status is Status.ACTIVE and self.expires_at and day_of(self.expires_at) < today:
            return Status.UNDER_REVIEW
        return self.status


class WingKind(StrEnum):
    """Whether a wing is one project's or shared knowledge."""

    PROJECT = "project"
    SHARED = "shared"


class Wing(StoredRecord, frozen=True, kw_only=True):
    """The scope boundary: a project or shared knowledge, as its manifest states it.

    `shared_wings` is None where the manifest names none: every shared wing is then read. `applies_to` are globs of the
    code that the wing is about.
    """

    name: str
    kind: WingKind = WingKind.PROJECT
    project_id: str | None = None
    owners: tuple[str, ...] = ()
    shared_wings: tuple[str, ...] | None = None
    applies_to: tuple[str, ...] = ()
    description: str | None = None
    last_hygiene_at: Moment | None = None
    has_manifest: bool = False

    @property
    def is_shared(self) -> bool:
        """Say whether the wing holds shared knowledge."""
        return self.kind is WingKind.SHARED


def title_of(address: str) -> str:
    """Return the entry-id in words, for an entry that states no title."""
    words = address.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def visible(text: str) -> str:
    """Return a text with each character that does not show written as its number, the ends of lines included."""
    return text if text.isprintable() else "".join(map(_shown, text))


def kind_of(value: object) -> str:
    """Return what a value is called in a message: list, mapping or value."""
    return "list" if isinstance(value, list) else "mapping" if isinstance(value, dict) else "value"


def _shown(character: str) -> str:
    return character if character.isprintable() else f"<U+{ord(character):04X}>"


# What a terminal obeys, what turns the direction of text, and what has no width; line ends and tabs are text.
ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_JOINERS = "\u200c\u200d"


def visible_text(text: str) -> str:
    """Return a text of several lines with each character that does not show, but acts, written as its number.

    Lines end at line feeds; the joiners that a script or an emoji needs stay.
    """
    # The class costs a tenth of a second a megabyte; what holds nothing for it is told twenty times as fast.
    is_plain = text.replace("\n", "").replace("\t", "").isprintable()
    return text if is_plain else ACTING.sub(_numbered, text)


def one_line(text: str) -> str:
    """Return a text as `visible_text` does, with each end of a line written as its number, too."""
    return visible_text(text).replace("\n", "<U+000A>")


def _numbered(found: re.Match[str]) -> str:
    if needs_joiner(found):
        return found[0]
    if found[0] == "\r" and found.string.startswith("\n", found.end()):
        return ""
    return f"<U+{ord(found[0]):04X}>"


def needs_joiner(found: re.Match[str]) -> bool:
    """Say whether what `ACTING` found is a joiner behind a sign that is joined."""
    return found[0] in _JOINERS and _is_joined(found.string[found.start() - 1 : found.start()])


def _is_joined(before: str) -> bool:
    # Arabic and Indic scripts are misspelt without joiners, and emoji fall apart; between other letters they only hide.
    # No pattern: to compile this class takes 5 ms.
    return "\u0590" <= before <= "\u1fff" or before >= "\u2190"


class Flaw(Struct, frozen=True):
    """One fault of the front matter against the schema; `item` counts within a list from 0."""

    code: str
    name: str
    message: str
    help: str = ""
    item: int | None = None
    on_key: bool = False


def having(entries: Mapping[str, Entry], name: str) -> Sequence[Entry]:
    """Return the entries with something in a field, in their order."""
    return [entry for entry in entries.values() if getattr(entry, name) not in (None, ())]


def of_kind(entries: Mapping[str, Entry], kind: EntryType | Status) -> Iterator[str]:
    """Yield the addresses of the entries of a type or a status, in their order."""
    name = "type" if isinstance(kind, EntryType) else "status"
    return (address for address, entry in entries.items() if getattr(entry, name) is kind)


class NodeLabel(StrEnum):
    """What the contracts call the kinds of entries: our four types, and three notes that they tell apart."""

    DECISION = "Decision"
    PATTERN = "Pattern"
    CONTEXT = "Context"
    SESSION = "Session"
    ENTITY_FACT = "EntityFact"
    INVARIANT = "Invariant"
    NOTE = "Note"

    @property
    def type(self) -> EntryType:
        """Return the type of every entry that bears this label."""
        return _TYPES.get(self, EntryType.NOTE)


_TYPES = {
    NodeLabel.DECISION: EntryType.DECISION,
    NodeLabel.PATTERN: EntryType.PATTERN,
    NodeLabel.INVARIANT: EntryType.INVARIANT,
}
_BY_TYPE = {kind: label for label, kind in _TYPES.items()}
_NOTES = {"context": NodeLabel.CONTEXT, "session": NodeLabel.SESSION, "entity": NodeLabel.ENTITY_FACT}


def label_of(entry: Entry) -> NodeLabel:
    """Return the contracts' label of an entry; a note that they do not tell apart is a `Note`."""
    return _BY_TYPE.get(entry.type) or _NOTES.get(entry.label or "", NodeLabel.NOTE)


KEY = "x-imported-from"
_WRITTEN = re.compile(r"(?P<path>[^#]+?)(?:#(?P<part>[^@]*))?@(?P<digest>[0-9a-f]{12})\Z")
LINE = re.compile(rf"^{KEY}:[ \t]+(?P<value>.+?)[ \t]*\r?$", re.MULTILINE)


class Origin(Struct, frozen=True):
    """A file, from the project's top, or a part of one; `digest` begins the name that git gives its content."""

    path: str
    part: str
    digest: str

    def __str__(self) -> str:
        """Return it as a front matter holds it; `read_origin` reads it back."""
        path = self.path.replace("%", "%25").replace("#", "%23")
        return f"{path}{f'#{self.part}' if self.part else ''}@{self.digest}"

    def is_of(self, content: bytes) -> bool:
        """Say whether that is what was imported, however its lines end."""
        return self.digest == content_digest(content)


def content_digest(content: bytes) -> str:
    """Return the start of the name that git gives a content, its lines ending as git stores them."""
    plain = content.replace(b"\r\n", b"\n")
    # No secret: the name by which git finds the same content.
    return sha1(b"blob %d\0" % len(plain) + plain, usedforsecurity=False).hexdigest()[:12]


def read_origin(written: object) -> Origin | None:
    """Return what a front matter says of its origin, None for what is none."""
    found = _WRITTEN.match(written) if isinstance(written, str) else None
    if found is None:
        return None
    path = found["path"].replace("%23", "#").replace("%25", "%")
    return Origin(path, found["part"] or "", found["digest"])


def origin_in(text: str) -> Origin | None:
    """Return the origin that the text of an entry's file states, without reading all of its front matter."""
    found = LINE.search(text.partition("\n---")[0])
    return read_origin(found["value"].strip("\"'")) if found else None


BODIES: Mapping[EntryType, str] = {
    EntryType.INVARIANT: """\
<State the rule in one sentence with must or must not.>

Rationale: <say what breaks when it is violated.>
""",
    EntryType.DECISION: """\
<State what was decided in one sentence.>

Rationale: <say why, and what was turned down.>
""",
    EntryType.PATTERN: """\
<Say which problem this solves, then how.>

1. <First step.>
2. <Second step.>
""",
    EntryType.NOTE: """\
<State the fact, and where it was learned.>
""",
}
# Shown in the editor, and taken out again where nobody touched them.
HINTS = """\
# applies_to: ["src/**"]
# owner: a team or a person
# tags: [a, b]
# supersedes: [wing/room/entry-id]
# reason: why it supersedes; `mdmem guide fields` explains every key
"""


def with_hints(text: str) -> str:
    """Return the text of a new entry with the keys that it may have besides, as comments."""
    front, fence, body = text.partition("\n---\n")
    return f"{front}\n{HINTS.rstrip()}{fence}{body}"


def without_hints(text: str) -> str:
    """Return a text without those of the comments that are as they were shown."""
    hints = HINTS.splitlines()
    return "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") not in hints)


# What stands for a reason that somebody has yet to give.
REASON = "<say why>"
PLACEHOLDERS: frozenset[str] = frozenset(
    part.split(">")[0] for text in (*BODIES.values(), REASON) for part in text.split("<")[1:]
)
