"""What agents hand over to be saved: the records of the contracts, read from plain JSON values."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from enum import StrEnum
from typing import Any, ClassVar, TypeVar

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.markdown.layout import is_typed, rank_of
from mdmem.markdown.parse import parse_document, rationale_of, with_rationale
from mdmem.markdown.patch import relation_item
from mdmem.markdown.scalars import restyled, scalar
from mdmem.model.entry import Entry, EntryType, NoSuchDayError, NotIsoError, day_of, instant_of, parse_moment
from mdmem.model.text import visible
from mdmem.store.catalog import interpret
from mdmem.store.state.pending_writes import PendingWrite, id_of


class MemoryScope(StrEnum):
    """For whom a record is meant: everybody, one project, or one focus area of it."""

    GLOBAL = "global"
    PROJECT = "project"
    FOCUS = "focus"


class RelationType(StrEnum):
    """The relations that one entity may have to another."""

    BELONGS_TO = "BELONGS_TO"
    CONFLICTS_WITH = "CONFLICTS_WITH"
    PRODUCED = "PRODUCED"
    MERGES_INTO = "MERGES_INTO"
    PRODUCES = "PRODUCES"
    CONSUMES = "CONSUMES"
    READS = "READS"
    WRITES = "WRITES"
    INVOLVES = "INVOLVES"


class DecisionRecord(Struct, frozen=True, kw_only=True):
    """A decision as an agent states it; `supersedes` and `distinct_from` are what it typed for others."""

    kind: ClassVar[str] = "decision"
    type: ClassVar[EntryType] = EntryType.DECISION
    title: str
    rationale: str
    owner: str | None = None
    date: date | None = None
    scope: MemoryScope = MemoryScope.PROJECT
    supersedes: str | None = None
    distinct_from: tuple[str, ...] = ()
    confidence: float | None = None


class PatternRecord(Struct, frozen=True, kw_only=True):
    """A workflow that repeats: when, which steps, and when not."""

    kind: ClassVar[str] = "pattern"
    type: ClassVar[EntryType] = EntryType.PATTERN
    trigger: str
    repeatable_steps: tuple[str, ...]
    exclusions: tuple[str, ...] = ()
    scope: MemoryScope = MemoryScope.PROJECT
    last_validated_at: date | None = None

    @property
    def title(self) -> str:
        """Return what the pattern is called by."""
        return self.trigger


class ContextRecord(Struct, frozen=True, kw_only=True):
    """A piece of background with its topic."""

    kind: ClassVar[str] = "context"
    type: ClassVar[EntryType] = EntryType.NOTE
    content: str
    topic: str
    scope: MemoryScope = MemoryScope.PROJECT
    relevance_score: float | None = None

    @property
    def title(self) -> str:
        """Return what the piece is called by."""
        return self.topic


class SessionRecord(Struct, frozen=True, kw_only=True):
    """What a session of work was for, and what it came to."""

    kind: ClassVar[str] = "session"
    type: ClassVar[EntryType] = EntryType.NOTE
    objective: str
    actions_taken: tuple[str, ...] = ()
    decisions_made: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()
    scope: MemoryScope = MemoryScope.PROJECT

    @property
    def title(self) -> str:
        """Return what the session is called by."""
        return self.objective


class RelatedEntity(Struct, frozen=True, kw_only=True):
    """One relation as an agent states it; `entity_id` is what it typed, `properties` a JSON object."""

    entity_id: str
    type: RelationType
    properties: Mapping[str, Any]


class EntityRecord(Struct, frozen=True, kw_only=True):
    """A named thing, the fact that is known of it, and what it has to do with others."""

    kind: ClassVar[str] = "entity"
    type: ClassVar[EntryType] = EntryType.NOTE
    entity_name: str
    fact: str
    scope: MemoryScope = MemoryScope.PROJECT
    related: tuple[RelatedEntity, ...] = ()

    @property
    def title(self) -> str:
        """Return what the thing is called by."""
        return self.entity_name


Record = DecisionRecord | PatternRecord | ContextRecord | SessionRecord | EntityRecord


def read_decision(given: object) -> DecisionRecord:
    """Return the decision that JSON values state; raises UsageError naming the field."""
    known = ("title", "rationale", "owner", "date", "scope", "supersedes", "distinct_from", "confidence")
    read = JsonObject("decision", given, known)
    return DecisionRecord(
        title=read.line("title"),
        rationale=read.text("rationale"),
        owner=read.optional_line("owner"),
        date=read.moment("date"),
        scope=read.choice("scope", MemoryScope, default=MemoryScope.PROJECT),
        supersedes=read.optional_line("supersedes"),
        distinct_from=read.texts("distinct_from"),
        confidence=read.share("confidence"),
    )


def read_pattern(given: object) -> PatternRecord:
    """Return the pattern that JSON values state; raises UsageError naming the field."""
    known = ("trigger", "repeatable_steps", "exclusions", "scope", "last_validated_at")
    read = JsonObject("pattern", given, known)
    return PatternRecord(
        trigger=read.line("trigger"),
        repeatable_steps=read.texts("repeatable_steps", is_required=True),
        exclusions=read.texts("exclusions"),
        scope=read.choice("scope", MemoryScope, default=MemoryScope.PROJECT),
        last_validated_at=read.moment("last_validated_at"),
    )


def read_context(given: object) -> ContextRecord:
    """Return the piece of context that JSON values state; raises UsageError naming the field."""
    read = JsonObject("context", given, ("content", "topic", "scope", "relevance_score"))
    return ContextRecord(
        content=read.text("content"),
        topic=read.line("topic"),
        scope=read.choice("scope", MemoryScope, default=MemoryScope.PROJECT),
        relevance_score=read.share("relevance_score"),
    )


def read_session(given: object) -> SessionRecord:
    """Return the session that JSON values state; raises UsageError naming the field."""
    lists = ("actions_taken", "decisions_made", "open_items", "next_actions")
    read = JsonObject("session", given, ("objective", *lists, "save_scope"))
    return SessionRecord(
        objective=read.text("objective"),
        scope=read.choice("save_scope", MemoryScope, default=MemoryScope.PROJECT),
        **{name: read.texts(name) for name in lists},
    )


def read_entity(given: object, related: object) -> EntityRecord:
    """Return the entity with its relations that JSON values state; raises UsageError naming the field."""
    read = JsonObject("entity", given, ("entity_name", "fact", "scope"))
    if related is not None and not isinstance(related, (list, tuple)):
        raise UsageError("`related_entities` must be a list of objects with `entity_id` and `relationship_type`")
    return EntityRecord(
        entity_name=read.line("entity_name"),
        fact=read.text("fact"),
        scope=read.choice("scope", MemoryScope, default=MemoryScope.PROJECT),
        related=tuple(_related(item, number) for number, item in enumerate(related or ())),
    )


def _related(given: object, number: int) -> RelatedEntity:
    read = JsonObject(f"related_entities[{number}]", given, ("entity_id", "relationship_type", "properties"))
    found = read.given.get("properties")
    properties: dict[str, Any] = found if found is not None else {}
    try:
        written = json.dumps(properties, allow_nan=False, ensure_ascii=False).encode()
        is_plain = isinstance(properties, dict) and json.loads(written) == properties
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    if not is_plain:
        raise UsageError(f"`related_entities[{number}].properties` must be a JSON object; write `{{}}` for none")
    return RelatedEntity(
        entity_id=read.line("entity_id"),
        type=read.choice("relationship_type", RelationType),
        properties=properties,
    )


_Choice = TypeVar("_Choice", bound=StrEnum)
# A front matter's value, and a body, may hold these; other characters that do not show are refused.
_BLANKS = frozenset("\n\t")


class JsonObject:
    """One object of JSON values, by the fields it may have; every method raises UsageError naming the field."""

    def __init__(self, name: str, given: object, known: Collection[str]) -> None:
        """Take an object; raises UsageError for anything else, and for a field that it may not have."""
        if not isinstance(given, dict):
            raise UsageError(f"`{name}` must be an object with {_listed(known)}, found {shown(given)}")
        self.name = name
        self.given: Mapping[Any, Any] = given
        for key in given:
            if key not in known:
                close = difflib.get_close_matches(key if isinstance(key, str) else "", known, n=1, cutoff=0.5)
                hint = f"did you mean `{close[0]}`?" if close else f"it has {_listed(known)}"
                raise UsageError(f"`{name}` has no field {shown(key)}; {hint}")

    def text(self, field: str) -> str:
        """Return a text that must be there and say something, its line breaks kept."""
        found = self._text(field)
        if found is None:
            raise UsageError(f"`{self.name}.{field}` is missing; write a text")
        return found

    def line(self, field: str) -> str:
        """Return a text that must be there, as one line."""
        return " ".join(self.text(field).split())

    def optional_line(self, field: str) -> str | None:
        """Return a text as one line, or None where there is none."""
        found = self._text(field)
        return " ".join(found.split()) if found is not None else None

    def texts(self, field: str, *, is_required: bool = False) -> tuple[str, ...]:
        """Return a list of texts, empty ones left out; one text is a list of one."""
        found = self.given.get(field)
        items = [found] if isinstance(found, str) else found if found is not None else []
        if not isinstance(items, (list, tuple)):
            raise UsageError(f"`{self.name}.{field}` must be a list of texts, found {shown(found)}")
        read = [plain_text(f"{self.name}.{field}[{number}]", item) for number, item in enumerate(items)]
        kept = tuple(item for item in read if item)
        if is_required and not kept:
            raise UsageError(f"`{self.name}.{field}` is missing; write a list of texts")
        return kept

    def share(self, field: str) -> float | None:
        """Return a number from 0 to 1, or None where there is none."""
        found = self.given.get(field)
        if found is None:
            return None
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        # What is no number is neither less nor more; one of four hundred digits is no float.
        if not is_number or not 0 <= found <= 1:
            raise UsageError(f"`{self.name}.{field}` must be a number from 0 to 1, found {shown(found)}")
        return float(found)

    def moment(self, field: str) -> date | None:
        """Return a date or a date-time, or None where there is none."""
        found = self._text(field)
        try:
            return parse_moment(found) if found is not None else None
        except NotIsoError as error:
            raise UsageError(
                f"`{self.name}.{field}` must be a date such as 2026-04-08, found {shown(found)}"
            ) from error
        except NoSuchDayError as error:
            raise UsageError(f"`{self.name}.{field}` is {shown(found)}, which the calendar has not") from error

    def choice(self, field: str, closed_set: type[_Choice], *, default: _Choice | None = None) -> _Choice:
        """Return a member of a closed set, written in capital letters or not."""
        found = self.given.get(field)
        if found is None and default is not None:
            return default
        allowed = {member.value.casefold(): member for member in closed_set}
        if isinstance(found, str) and found.strip().casefold() in allowed:
            return allowed[found.strip().casefold()]
        listed = ", ".join(f"`{member}`" for member in closed_set)
        close = difflib.get_close_matches(found.casefold() if isinstance(found, str) else "", allowed, n=1, cutoff=0.4)
        hint = f"; did you mean `{allowed[close[0]]}`?" if close else ""
        raise UsageError(f"`{self.name}.{field}` must be one of {listed}, found {shown(found)}{hint}")

    def _text(self, field: str) -> str | None:
        found = self.given.get(field)
        return plain_text(f"{self.name}.{field}", found) or None if found is not None else None


def plain_text(name: str, value: object) -> str:
    """Return a text without blank ends, its line breaks as `\\n`; raises UsageError for what no file may hold."""
    if not isinstance(value, str):
        raise UsageError(f"`{name}` must be a text, found {shown(value)}")
    text = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    bad = next((one for one in text if _is_refused(one)), None)
    if bad is not None:
        raise UsageError(f"`{name}` holds the character U+{ord(bad):04X}, which does not show; leave it out")
    return text


def _is_refused(character: str) -> bool:
    code = ord(character)
    return (code < 0x20 and character not in _BLANKS) or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000


def shown(value: Any) -> str:
    """Return a value as a message shows it: short, and on one line, in the words of JSON."""
    if value is None or isinstance(value, (list, tuple, dict)):
        return "nothing" if value is None else "an object" if isinstance(value, dict) else "a list"
    try:
        text = visible(value if isinstance(value, str) else json.dumps(value))
    except (TypeError, ValueError):
        # No value of JSON, or a number of more digits than Python writes.
        return f"a value of the kind `{type(value).__name__}`"
    return f"`{text[:40]}…`" if len(text) > 41 else f"`{text}`"


def _listed(known: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in known)


# The verb of each kind in the ledger, which outlives versions.
VERBS = {
    "save_decision": "decision",
    "save_pattern": "pattern",
    "save_context": "context",
    "save_session": "session",
    "upsert_entity_with_deps": "entity",
}
_VERB_OF = {kind: verb for verb, kind in VERBS.items()}
_NEVER_COMPARED = frozenset({"context", "session"})
_READERS: Mapping[str, Callable[[object], Record]] = {
    "decision": read_decision,
    "pattern": read_pattern,
    "context": read_context,
    "session": read_session,
}
# Beside what the caller stated: a token was used up; the session a record came from; what came out of a session.
GRANTED, PRODUCED_BY, PRODUCED = "granted", "produced_by", "produced"


class SaveRequest(Struct):
    """A record on its way; `is_granted` says that its token was used up for it, `id` is set where the ledger has it."""

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
        """Say whether a token was used up for this request."""
        return bool(self.arguments.get(GRANTED))

    @property
    def is_never_compared(self) -> bool:
        """Say whether each request of the verb makes an entry of its own, whatever is there."""
        return self.record.kind in _NEVER_COMPARED

    @property
    def ledger_id(self) -> str:
        """Return the id under which the ledger holds this very request, where it does."""
        return id_of(self.verb, self.arguments)

    def text(self, name: str) -> str | None:
        """Return an argument that is a text, None for none and for a blank one."""
        found = self.arguments.get(name)
        return found if isinstance(found, str) and found else None


def read_request(kind: str, arguments: Mapping[str, Any]) -> SaveRequest:
    """Return the request that arguments state; raises UsageError naming the one that does not fit.

    They are plain JSON values: the record under its kind, and beside it `project_id`, `focus`, `agent`, `room` and
    `governance_token`, for an entity `related_entities`, too.
    """
    stated = {name: value for name, value in arguments.items() if value is not None}
    token = stated.pop("governance_token", None)
    for name in ("project_id", "focus", "agent", "room"):
        if name in stated:
            stated[name] = " ".join(plain_text(name, stated[name]).split())
    if token is not None and not isinstance(token, str):
        raise UsageError("`governance_token` must be a text, as `request_global_write_approval` returned it")
    given = stated.get(kind)
    if kind == "entity":
        return SaveRequest(read_entity(given, stated.get("related_entities")), stated, token or None)
    return SaveRequest(_READERS[kind](given), stated, token or None)


def request_again(pending: PendingWrite) -> SaveRequest:
    """Return the request that the ledger holds; raises UsageError for one of another version."""
    if pending.verb not in VERBS:
        raise UsageError(f"`{pending.verb}` is no verb of this version")
    request = read_request(VERBS[pending.verb], pending.arguments)
    request.id = pending.id
    return request


_TITLE_LENGTH = 100
PROPERTIES = "x-relation-properties"


class ComposedEntry(Struct, frozen=True):
    """A new entry's bytes, and what they are read as."""

    entry: Entry
    content: bytes
    body: str


def compose_record(record: Record, address: str, given: Mapping[str, Any]) -> ComposedEntry:
    """Return the file of a new entry; `given` are the fields that it has besides those of its record.

    Raises UsageError for a text that would not be read as an entry.
    """
    # A decision says its title nowhere else; the others hold theirs in a field or the body, too.
    title = record.title if isinstance(record, DecisionRecord) else _cut(record.title)
    stated, body = stated_by(record)
    if isinstance(record, PatternRecord) and _is_older(record.last_validated_at, given["created_at"]):
        # What was tried before it was written down is no younger than its trial.
        stated["created_at"] = stated["verified_at"]
    said = {name: value for name, value in stated.items() if value}
    fields = {"type": record.type.value, "title": title, **given, **said}
    return read_back(address, entry_text(fields, body).encode(), "entry")


def _is_older(validated: date | None, written: str) -> bool:
    created = parse_moment(written)
    if validated is None or (not isinstance(validated, datetime) and validated == day_of(created)):
        return False
    return instant_of(validated) < instant_of(created)


def read_back(address: str, content: bytes, called: str) -> ComposedEntry:
    """Return the bytes of a new entry with what they are read as; raises UsageError where that is no entry."""
    document = parse_document(f"{address}.md", content)
    loaded = interpret(document)
    if loaded.entry is None:
        raise UsageError(f"the {called} could not be read back: {loaded.findings[0].message}")
    return ComposedEntry(loaded.entry, content, document.body)


def stated_by(record: Record) -> tuple[dict[str, Any], str]:
    """Return the fields that hold a record, and the body."""
    match record:
        case DecisionRecord():
            owner = {"owner": record.owner, "confidence": _number(record.confidence)}
            created = {"created_at": record.date.isoformat()} if record.date is not None else {}
            return owner | created, _reasons(record.rationale)
        case PatternRecord():
            verified = {"verified_at": record.last_validated_at.isoformat() if record.last_validated_at else None}
            lists = {"repeatable_steps": record.repeatable_steps, "exclusions": record.exclusions}
            return verified | lists | {"trigger": record.trigger}, ""
        case ContextRecord():
            score = _number(record.relevance_score)
            return {"label": "context", "topic": record.topic, "relevance_score": score}, record.content
        case SessionRecord():
            lists = {name: getattr(record, name) for name in _SESSION_LISTS}
            return {"label": "session", "objective": record.objective, **lists}, ""
        case EntityRecord():
            return {"label": "entity", "entity": record.entity_name}, record.fact


_SESSION_LISTS = ("actions_taken", "decisions_made", "open_items", "next_actions")


def relation_properties(known: object, related: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the properties of relations as the JSON text that a file holds them in, with those it held before.

    `related` are the properties by relation, written as its type and address; those without any are left out.
    """
    try:
        stated = json.loads(known) if isinstance(known, str) else {}
    except (ValueError, RecursionError):
        stated = {}
    held = {**(stated if isinstance(stated, dict) else {}), **{name: dict(one) for name, one in related.items() if one}}
    return json.dumps(held, ensure_ascii=False, sort_keys=True) if held else None


def _reasons(rationale: str) -> str:
    """Return the body that reads back as these reasons: below a mark, they would end at a heading of their own."""
    marked = with_rationale("", rationale)
    return marked if rationale_of(marked) == rationale else rationale


def _number(value: float | None) -> str | None:
    return repr(value) if value is not None else None


def _cut(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1].rstrip() + "…"


def entry_text(fields: Mapping[str, Any], body: str) -> str:
    """Return the text of an entry with those of its fields that say something, in the order of every new file."""
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
