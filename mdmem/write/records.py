"""Read the records of the contracts from JSON values, and compose the entry of each record."""

from __future__ import annotations

import datetime as dt
import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.markdown.layout import is_typed, rank_of
from mdmem.markdown.parse import parse_document, rationale_of, with_rationale
from mdmem.markdown.patch import relation_item
from mdmem.markdown.scalars import restyled, scalar
from mdmem.model.entry import (
    Entry,
    EntryType,
    NoSuchDayError,
    NotIsoError,
    day_of,
    instant_of,
    parse_moment,
)
from mdmem.model.text import visible
from mdmem.store.catalog.snapshot import interpret
from mdmem.store.state.pending_writes import PendingWrite, id_of

# Reads one value by its full name, such as `decision.title`; raises UsageError that mentions the name.
Reader = Callable[[str, object], Any]


def read_object(name: str, given: object, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Return the values of an object's fields; raises UsageError for no object, an unknown field or a wrong value."""
    if not isinstance(given, dict):
        raise UsageError(f"`{name}` must be an object with {_quoted(readers)}, found {shown(given)}")
    for key in given:
        if key not in readers:
            close = difflib.get_close_matches(key if isinstance(key, str) else "", readers, n=1, cutoff=0.5)
            hint = f"did you mean `{close[0]}`?" if close else f"it has {_quoted(readers)}"
            raise UsageError(f"`{name}` has no field {shown(key)}; {hint}")
    return {field: read(f"{name}.{field}", given.get(field)) for field, read in readers.items()}


def plain_text(name: str, value: object) -> str:
    """Return a text without blank ends, with `\\n` as line ends; raises UsageError for characters that do not show."""
    if not isinstance(value, str):
        raise UsageError(f"`{name}` must be a text, found {shown(value)}")
    text = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    for one in text:
        code = ord(one)
        if (code < 0x20 and one not in "\n\t") or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
            raise UsageError(f"`{name}` contains the character U+{code:04X}, which does not show; leave it out")
    return text


def needed_text(name: str, value: object) -> str:
    """Return a text that must be there, with its line breaks."""
    text = plain_text(name, value) if value is not None else ""
    if not text:
        raise UsageError(f"`{name}` is missing; write a text")
    return text


def needed_line(name: str, value: object) -> str:
    """Return a text that must be there, as one line."""
    return " ".join(needed_text(name, value).split())


def optional_line(name: str, value: object) -> str | None:
    """Return a text as one line, None for no text."""
    return " ".join(plain_text(name, value).split()) or None if value is not None else None


def texts(name: str, value: object) -> tuple[str, ...]:
    """Return a list of texts without the empty ones; one text is a list of one."""
    items = [value] if isinstance(value, str) else value if value is not None else []
    if not isinstance(items, (list, tuple)):
        raise UsageError(f"`{name}` must be a list of texts, found {shown(value)}")
    return tuple(filter(None, (plain_text(f"{name}[{number}]", item) for number, item in enumerate(items))))


def _needed_texts(name: str, value: object) -> tuple[str, ...]:
    found = texts(name, value)
    if not found:
        raise UsageError(f"`{name}` is missing; write a list of texts")
    return found


def _share(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"`{name}` must be a number from 0 to 1, found {shown(value)}")
    return float(value)


def _moment(name: str, value: object) -> dt.date | None:
    text = plain_text(name, value) if value is not None else ""
    try:
        return parse_moment(text) if text else None
    except NotIsoError as error:
        raise UsageError(f"`{name}` must be a date such as 2026-04-08, found {shown(text)}") from error
    except NoSuchDayError as error:
        raise UsageError(f"`{name}` is {shown(text)}, which is not a day of the calendar") from error


def choice(members: type[StrEnum], *, default: StrEnum | None = None) -> Reader:
    """Return a reader for a member of a closed set, in small or capital letters."""
    allowed = {member.value.casefold(): member for member in members}

    def read(name: str, value: object) -> StrEnum:
        if value is None and default is not None:
            return default
        text = value.strip().casefold() if isinstance(value, str) else ""
        if text in allowed:
            return allowed[text]
        close = difflib.get_close_matches(text, allowed, n=1, cutoff=0.4)
        hint = f"; did you mean `{allowed[close[0]]}`?" if close else ""
        raise UsageError(f"`{name}` must be one of {_quoted(members)}, found {shown(value)}{hint}")

    return read


def json_object(name: str, value: object) -> Mapping[str, Any]:
    """Return a JSON object that can be written as JSON and read back; empty for none."""
    if value is None:
        return {}
    try:
        written = json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        is_plain = isinstance(value, dict) and json.loads(written) == value
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    if not is_plain or not isinstance(value, dict):
        raise UsageError(f"`{name}` must be a JSON object of plain values, found {shown(value)}")
    return value


def shown(value: Any) -> str:
    """Return a value as a message shows it: short, on one line, in the words of JSON."""
    if value is None or isinstance(value, (list, tuple, dict)):
        return "nothing" if value is None else "an object" if isinstance(value, dict) else "a list"
    try:
        text = visible(value if isinstance(value, str) else json.dumps(value))
    except (TypeError, ValueError):
        # No value of JSON, or a number with more digits than Python writes.
        return f"a value of the kind `{type(value).__name__}`"
    return f"`{text[:40]}…`" if len(text) > 41 else f"`{text}`"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


class MemoryScope(StrEnum):
    """The readers of a record: everybody, one project, or one focus area of it."""

    GLOBAL = "global"
    PROJECT = "project"
    FOCUS = "focus"


class RelationType(StrEnum):
    """The relations between entities."""

    BELONGS_TO = "BELONGS_TO"
    CONFLICTS_WITH = "CONFLICTS_WITH"
    PRODUCED = "PRODUCED"
    MERGES_INTO = "MERGES_INTO"
    PRODUCES = "PRODUCES"
    CONSUMES = "CONSUMES"
    READS = "READS"
    WRITES = "WRITES"
    INVOLVES = "INVOLVES"


_SCOPE = choice(MemoryScope, default=MemoryScope.PROJECT)


class RecordKind(Struct, frozen=True, kw_only=True):
    """A kind of record; each field has a reader and the front matter key that it is written to, None for none.

    `title` and `body` are the fields that hold the title and the body of the entry.
    """

    type: EntryType = EntryType.NOTE
    title: str
    body: str = ""
    fields: Mapping[str, tuple[Reader, str | None]]


KINDS: Mapping[str, RecordKind] = {
    "decision": RecordKind(
        type=EntryType.DECISION,
        title="title",
        body="rationale",
        fields={
            "title": (needed_line, None),
            "rationale": (needed_text, None),
            "owner": (optional_line, "owner"),
            "date": (_moment, "created_at"),
            "scope": (_SCOPE, None),
            "supersedes": (optional_line, None),
            "distinct_from": (texts, None),
            "confidence": (_share, "confidence"),
        },
    ),
    "pattern": RecordKind(
        type=EntryType.PATTERN,
        title="trigger",
        fields={
            "trigger": (needed_line, "trigger"),
            "repeatable_steps": (_needed_texts, "repeatable_steps"),
            "exclusions": (texts, "exclusions"),
            "scope": (_SCOPE, None),
            "last_validated_at": (_moment, "verified_at"),
        },
    ),
    "context": RecordKind(
        title="topic",
        body="content",
        fields={
            "content": (needed_text, None),
            "topic": (needed_line, "topic"),
            "scope": (_SCOPE, None),
            "relevance_score": (_share, "relevance_score"),
        },
    ),
    "session": RecordKind(
        title="objective",
        fields={
            "objective": (needed_text, "objective"),
            "actions_taken": (texts, "actions_taken"),
            "decisions_made": (texts, "decisions_made"),
            "open_items": (texts, "open_items"),
            "next_actions": (texts, "next_actions"),
            "save_scope": (_SCOPE, None),
        },
    ),
    "entity": RecordKind(
        title="entity_name",
        body="fact",
        fields={
            "entity_name": (needed_line, "entity"),
            "fact": (needed_text, None),
            "scope": (_SCOPE, None),
        },
    ),
}


class RelatedEntity(Struct, frozen=True, kw_only=True):
    """A relation; `entity_id` is a name or an address as it was typed."""

    entity_id: str
    relationship_type: RelationType
    properties: Mapping[str, Any]


class Record(Struct, frozen=True):
    """A record as an agent states it: its kind and the values of its fields."""

    kind: str
    values: Mapping[str, Any]
    related: tuple[RelatedEntity, ...] = ()

    @property
    def type(self) -> EntryType:
        """Return the type of the entry."""
        return KINDS[self.kind].type

    @property
    def title(self) -> str:
        """Return the title of the entry."""
        title: str = self.values[KINDS[self.kind].title]
        return title

    @property
    def scope(self) -> MemoryScope:
        """Return the scope in which the record is to be read: its focus, its project, or everywhere."""
        scope: MemoryScope = self.values["save_scope" if self.kind == "session" else "scope"]
        return scope

    @property
    def date(self) -> dt.date | None:
        """Return the date that the record states."""
        return self.values.get("date") or self.values.get("last_validated_at")

    @property
    def fields(self) -> dict[str, Any]:
        """Return the front matter of the record, without its title."""
        keys = ((key, self.values[name]) for name, (_, key) in KINDS[self.kind].fields.items() if key is not None)
        label = {"label": self.kind} if self.type is EntryType.NOTE else {}
        return label | {key: _plain(value) for key, value in keys if value not in (None, ())}

    @property
    def body(self) -> str:
        """Return the body of the entry; a rationale gets its mark unless a heading of its own would end it."""
        text: str = self.values.get(KINDS[self.kind].body, "")
        marked = with_rationale("", text)
        return marked if self.kind == "decision" and rationale_of(marked) == text else text


def _plain(value: Any) -> Any:
    """Return a value as the front matter states it."""
    return repr(value) if isinstance(value, float) else value.isoformat() if isinstance(value, dt.date) else value


_RELATED = {"entity_id": needed_line, "relationship_type": choice(RelationType), "properties": json_object}
# The verb of each kind in the ledger, which outlives versions.
VERBS = {
    "save_decision": "decision",
    "save_pattern": "pattern",
    "save_context": "context",
    "save_session": "session",
    "upsert_entity_with_deps": "entity",
}
_VERB_OF = {kind: verb for verb, kind in VERBS.items()}
# Arguments that mdmem adds: a token was used for the request, and its session, by address or by id in the ledger.
GRANTED, PRODUCED_BY = "granted", "produced_by"


class SaveRequest(Struct):
    """A record to save, with its arguments as JSON values so that it can be kept; `id` is its id in the ledger."""

    record: Record
    arguments: dict[str, Any]
    token: str | None = None
    id: str | None = None

    @property
    def verb(self) -> str:
        """Return the name of the verb in the ledger."""
        return _VERB_OF[self.record.kind]

    @property
    def is_granted(self) -> bool:
        """Return whether a token was used for this request."""
        return bool(self.arguments.get(GRANTED))

    @property
    def ledger_id(self) -> str:
        """Return the id of this request in the ledger."""
        return id_of(self.verb, self.arguments)

    def text(self, name: str) -> str | None:
        """Return a text among the arguments, None for none."""
        found = self.arguments.get(name)
        return found if isinstance(found, str) and found else None


def read_request(kind: str, arguments: Mapping[str, Any]) -> SaveRequest:
    """Return the request that JSON values state; raises UsageError that mentions the argument at fault.

    The record is under its kind; `project_id`, `focus`, `agent`, `room`, `governance_token` and, for an entity,
    `related_entities` are next to it.
    """
    stated = {name: value for name, value in arguments.items() if value is not None}
    token = stated.pop("governance_token", None)
    for name in ("project_id", "focus", "agent", "room"):
        if name in stated:
            stated[name] = " ".join(plain_text(name, stated[name]).split())
    if token is not None and not isinstance(token, str):
        raise UsageError("`governance_token` must be a text, as `request_global_write_approval` returned it")
    values = read_object(kind, stated.get(kind), {name: read for name, (read, _) in KINDS[kind].fields.items()})
    related = _read_related(stated.get("related_entities")) if kind == "entity" else ()
    return SaveRequest(Record(kind, values, related), stated, token or None)


def _read_related(given: object) -> tuple[RelatedEntity, ...]:
    if given is not None and not isinstance(given, (list, tuple)):
        raise UsageError("`related_entities` must be a list of objects with `entity_id` and `relationship_type`")
    return tuple(
        RelatedEntity(**read_object(f"related_entities[{number}]", item, _RELATED))
        for number, item in enumerate(given or ())
    )


def request_again(pending: PendingWrite) -> SaveRequest:
    """Return a request of the ledger; raises UsageError for one of another version."""
    if pending.verb not in VERBS:
        raise UsageError(f"`{pending.verb}` is not a verb of this version")
    request = read_request(VERBS[pending.verb], pending.arguments)
    request.id = pending.id
    return request


_TITLE_LENGTH = 100
PROPERTIES = "x-relation-properties"


class ComposedEntry(Struct, frozen=True):
    """A new entry with its bytes."""

    entry: Entry
    content: bytes
    body: str


def compose_record(record: Record, address: str, given: Mapping[str, Any]) -> ComposedEntry:
    """Return the new entry of a record; `given` are the fields that are not the record's own.

    Raises UsageError for a text that would not be read as an entry.
    """
    # A decision has its title nowhere else; the others have theirs in a field or the body, too.
    title = record.title if record.kind == "decision" else _cut(record.title)
    stated = record.fields
    if record.kind == "pattern" and _is_older(record.date, given["created_at"]):
        # A pattern is no younger than its validation.
        stated["created_at"] = stated["verified_at"]
    fields = {"type": record.type.value, "title": title, **given, **stated}
    return read_back(address, entry_text(fields, record.body).encode(), "entry")


def _is_older(validated: dt.date | None, written: str) -> bool:
    created = parse_moment(written)
    if validated is None or (not isinstance(validated, dt.datetime) and validated == day_of(created)):
        return False
    return instant_of(validated) < instant_of(created)


def read_back(address: str, content: bytes, called: str) -> ComposedEntry:
    """Return the entry that bytes are read as; raises UsageError if they are no entry."""
    document = parse_document(f"{address}.md", content)
    loaded = interpret(document)
    if loaded.entry is None:
        raise UsageError(f"the {called} could not be read back: {loaded.findings[0].message}")
    return ComposedEntry(loaded.entry, content, document.body)


def relation_properties(known: object, related: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the properties of relations as JSON, with those that the file has already; None for none.

    `related` are the properties of each relation, which is written as its type and address.
    """
    try:
        stated = json.loads(known) if isinstance(known, str) else {}
    except (ValueError, RecursionError):
        stated = {}
    found = {
        **(stated if isinstance(stated, dict) else {}),
        **{name: dict(one) for name, one in related.items() if one},
    }
    return json.dumps(found, ensure_ascii=False, sort_keys=True) if found else None


def _cut(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1].rstrip() + "…"


def entry_text(fields: Mapping[str, Any], body: str) -> str:
    """Return the text of an entry with those of its fields that have a value, in the order of new files."""
    stated = sorted(((name, value) for name, value in fields.items() if value), key=lambda pair: rank_of(pair[0]))
    front = ["---", *(f"{name}:{_written(name, value)}" for name, value in stated), "---", ""]
    text = body.strip("\n")
    return "\n".join([*front, text, ""] if text else front)


def _written(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f" {restyled(value, None, is_typed=True) if is_typed(name) else scalar(value)}"
    if name == "relations":
        return "".join(f"\n  - {relation_item(one)}" for one in value)
    return "".join(f"\n  - {scalar(item)}" for item in value)
