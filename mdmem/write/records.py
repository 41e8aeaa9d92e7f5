"""Parse the records of the MCP contracts, compose an entry for each record, and describe the results of saving."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct, ValidationError, convert, field, to_builtins
from msgspec.structs import asdict

from mdmem.errors import UsageError, shown_message
from mdmem.markdown.front_matter import restyled, scalar
from mdmem.markdown.layout import is_typed, rank_of
from mdmem.markdown.parse import Document, parse_document, rationale_of
from mdmem.markdown.patch import relation_item
from mdmem.model.entry import Entry, EntryType, NoSuchDayError, NotIsoError, day_of, instant_of, parse_moment
from mdmem.model.text import cut_line, visible
from mdmem.record import record_json
from mdmem.store.catalog.addresses import load_entry
from mdmem.store.state.local_records import Blocked, id_of
from mdmem.write.similar import DedupOutcome

Scope = Literal["global", "project", "focus"]
_StatedScope = Annotated[
    Scope, Meta(description="for whom it is meant; `global` goes to the shared wing and needs a token")
]
_Share = Annotated[float, Meta(ge=0, le=1)]
# Fields that have another key in the front matter, and fields that become the title, body, place or links.
_KEYS = {"date": "created_at", "last_validated_at": "verified_at", "entity_name": "entity"}
_NO_KEYS = frozenset({"title", "rationale", "content", "fact", "scope", "save_scope", "supersedes", "distinct_from"})
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Fields whose text keeps its line breaks.
_PROSE = frozenset({"rationale", "content", "objective", "fact"})


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A record in the form in which an agent sends it; the fields `titled` and `bodied` become the title and the body.

    `verb` is the name of this kind of record among the stored writes, and stays the same in later versions.
    """

    kind: ClassVar[str]
    verb: ClassVar[str]
    type: ClassVar[EntryType] = EntryType.NOTE
    titled: ClassVar[str]
    bodied: ClassVar[str] = ""

    @property
    def heading(self) -> str:
        """Return the title for the entry."""
        return str(getattr(self, self.titled))

    @property
    def reach(self) -> Scope:
        """Return the scope of the record: its focus, its project, or all projects."""
        found: Scope = getattr(self, "save_scope" if self.kind == "session" else "scope")
        return found

    @property
    def day(self) -> dt.date | None:
        """Return the day or time that the record states, or None. Raises NotIsoError or NoSuchDayError if invalid."""
        stated = getattr(self, "date", None) or getattr(self, "last_validated_at", None)
        return parse_moment(stated) if stated else None

    @property
    def fields(self) -> dict[str, Any]:
        """Return the front matter for the record, without the title."""
        found: dict[str, Any] = {"label": self.kind} if self.type is EntryType.NOTE else {}
        for name, value in asdict(self).items():
            key = _KEYS.get(name, name)
            if name not in _NO_KEYS and value not in (None, ()):
                is_moment, is_number = key.endswith("_at"), isinstance(value, float)
                found[key] = parse_moment(value).isoformat() if is_moment else repr(value) if is_number else value
        return found

    @property
    def body(self) -> str:
        """Return the body for the entry. A rationale begins with `Rationale:`, unless a heading in it would end it."""
        text: str = getattr(self, self.bodied, "")
        marked = f"Rationale: {text.strip()}\n"
        return marked if self.kind == "decision" and text and rationale_of(marked) == text else text


class Decision(Record, frozen=True, kw_only=True):
    """A decision, with its reasons."""

    kind, verb, titled, bodied = "decision", "save_decision", "title", "rationale"
    type = EntryType.DECISION

    title: Annotated[str, Meta(description="short decision title")]
    rationale: Annotated[str, Meta(description="why this decision was made")]
    owner: Annotated[str | None, Meta(description="who made or owns the decision")] = None
    date: Annotated[str | None, Meta(description="when it was made, as YYYY-MM-DD")] = None
    scope: _StatedScope = "project"
    supersedes: Annotated[str | None, Meta(description="the id of an older decision that this one replaces")] = None
    distinct_from: Annotated[tuple[str, ...], Meta(description="ids of similar decisions that stay current")] = ()
    confidence: Annotated[_Share | None, Meta(description="0.0 to 1.0")] = None


class Pattern(Record, frozen=True, kw_only=True):
    """A way to solve a kind of problem that has worked."""

    kind, verb, titled = "pattern", "save_pattern", "trigger"
    type = EntryType.PATTERN

    trigger: Annotated[str, Meta(description="when the pattern applies")]
    repeatable_steps: Annotated[tuple[str, ...], Meta(min_length=1)]
    exclusions: Annotated[tuple[str, ...], Meta(description="when it does not apply")] = ()
    scope: _StatedScope = "project"
    last_validated_at: Annotated[str | None, Meta(description="ISO 8601")] = None


class Background(Record, frozen=True, kw_only=True):
    """A piece of context."""

    kind, verb, titled, bodied = "context", "save_context", "topic", "content"

    content: str
    topic: Annotated[str, Meta(description="a short tag")]
    scope: _StatedScope = "project"
    relevance_score: Annotated[_Share | None, Meta(description="0.0 to 1.0; a higher one is found sooner")] = None


class Session(Record, frozen=True, kw_only=True):
    """A session of work."""

    kind, verb, titled = "session", "save_session", "objective"

    objective: str
    actions_taken: tuple[str, ...] = ()
    decisions_made: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()
    save_scope: _StatedScope = "project"


class Entity(Record, frozen=True, kw_only=True):
    """A fact about a thing that has a name."""

    kind, verb, titled, bodied = "entity", "upsert_entity_with_deps", "entity_name", "fact"

    entity_name: str
    fact: str
    scope: _StatedScope = "project"


class RelatedEntity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relation to another entity. `entity_id` is the name or the address that the agent typed."""

    entity_id: Annotated[str, Meta(description="the id or the name of an entity that exists")]
    relationship_type: Literal[
        "BELONGS_TO", "CONFLICTS_WITH", "PRODUCED", "MERGES_INTO", "PRODUCES", "CONSUMES", "READS", "WRITES", "INVOLVES"
    ]
    properties: dict[str, Any] = field(default_factory=dict)


RECORDS: Mapping[str, type[Record]] = {one.kind: one for one in (Decision, Pattern, Background, Session, Entity)}
VERBS = {one.verb: kind for kind, one in RECORDS.items()}
_Kind = TypeVar("_Kind", bound=Struct)


def read_object(name: str, given: object, kind: type[_Kind]) -> _Kind:
    """Return the record in a JSON object. Raises UsageError with the name of the wrong field.

    Null and blank text count as missing (but a choice must not be blank), and a single text counts as a list of one.
    """
    if isinstance(given, dict):
        types = get_type_hints(kind)
        tidied = ((key, _tidied(f"{name}.{key}", types.get(key), value)) for key, value in given.items())
        given = {key: value for key, value in tidied if value is not None and value != ""}
    try:
        return convert(given, kind)
    except ValidationError as error:
        message, _, place = visible(str(error)).partition(" - at `$")
        raise UsageError(f"`{name}{place.removesuffix('`')}`: {message[:1].lower()}{message[1:200]}") from error


def _tidied(name: str, kind: Any, value: object) -> object:
    """Return a value in the form that its field needs: stripped text, a list, or a choice in its exact spelling."""
    if get_origin(kind) is tuple and isinstance(value, (str, list, tuple)):
        items = [value] if isinstance(value, str) else value
        texts = (_tidied(f"{name}[{number}]", None, item) for number, item in enumerate(items))
        return tuple(one for one in texts if one != "")
    if not isinstance(value, str):
        return value
    text = plain_text(name, value)
    if get_origin(kind) is Literal:
        allowed = {one.casefold(): one for one in get_args(kind)}
        if text.casefold() not in allowed:
            listed = ", ".join(f"`{one}`" for one in allowed.values())
            raise UsageError(f"`{name}` must be one of {listed}, found `{visible(text)[:40]}`")
        return allowed[text.casefold()]
    return text if kind is None or name.rpartition(".")[2] in _PROSE else " ".join(text.split())


def plain_text(name: str, value: object) -> str:
    """Return a text, stripped, with LF line ends. Raises UsageError for a non-text or an invisible character."""
    if not isinstance(value, str):
        raise UsageError(f"`{name}` must be a text")
    text = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if found := _HIDDEN.search(text):
        raise UsageError(f"`{name}` contains the character U+{ord(found[0]):04X}, which is invisible; remove it")
    return text


def require_json(name: str, value: Mapping[str, Any]) -> None:
    """Raise UsageError if an object cannot be written as JSON and read again."""
    try:
        written = json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        is_plain = json.loads(written) == value
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    if not is_plain:
        raise UsageError(f"`{name}` must be a JSON object of plain values")


# Arguments that mdmem adds: whether a token was used, and the session, by address or by its id in the ledger.
GRANTED, PRODUCED_BY = "granted", "produced_by"


class SaveRequest(Struct):
    """A record to save, and its arguments as JSON values, so that it can be stored; `id` is its pending write's id."""

    record: Record
    arguments: dict[str, Any]
    related: tuple[RelatedEntity, ...] = ()
    token: str | None = None
    id: str | None = None

    @property
    def ledger_id(self) -> str:
        """Return the id of this request as a pending write, a hash of its arguments."""
        return id_of(self.record.verb, self.arguments)

    def text(self, name: str) -> str | None:
        """Return the argument with this name, or None if it is absent, empty or not a text."""
        found = self.arguments.get(name)
        return found if isinstance(found, str) and found else None


def read_request(kind: str, arguments: Mapping[str, Any]) -> SaveRequest:
    """Return the request in some JSON values. Raises UsageError with the name of the wrong argument.

    The record is at the key of its kind, such as `decision`. The other keys are `project_id`, `focus`, `agent`, `room`,
    `governance_token` and, for an entity, `related_entities`.
    """
    stated = {name: value for name, value in arguments.items() if value is not None}
    token = stated.pop("governance_token", None)
    for name in ("project_id", "focus", "agent", "room"):
        if name in stated:
            stated[name] = " ".join(plain_text(name, stated[name]).split())
    if token is not None and not isinstance(token, str):
        raise UsageError("`governance_token` must be a text, as `request_global_write_approval` returned it")
    record = read_object(kind, stated.get(kind), RECORDS[kind])
    try:
        _ = record.day
    except (NotIsoError, NoSuchDayError) as error:
        raise UsageError(f"`{kind}` has a date that is not a day such as 2026-04-08") from error
    listed, related = stated.get("related_entities", ()) if kind == "entity" else (), list[RelatedEntity]()
    if not isinstance(listed, (list, tuple)):
        raise UsageError("`related_entities` must be a list of objects with `entity_id` and `relationship_type`")
    for number, item in enumerate(listed):
        related.append(read_object(f"related_entities[{number}]", item, RelatedEntity))
        require_json(f"related_entities[{number}].properties", related[-1].properties)
    return SaveRequest(record, stated, tuple(related), token or None)


_TITLE_LENGTH = 100
PROPERTIES = "x-relation-properties"


def compose_record(record: Record, address: str, given: Mapping[str, Any]) -> tuple[Entry, Document]:
    """Return the entry for a record, whose fields override `given`. Raises UsageError if the entry is invalid."""
    # Only a decision needs a title field. Other records also have their title in another field or in the body.
    title, stated = record.heading, record.fields
    if record.kind != "decision":
        title = cut_line(title, _TITLE_LENGTH)
    validated, created = record.day, parse_moment(given["created_at"])
    # A day without a time may be the day on which the entry is created.
    is_same_day = not isinstance(validated, dt.datetime) and validated == day_of(created)
    if record.kind == "pattern" and validated and not is_same_day and instant_of(validated) < instant_of(created):
        # A pattern cannot be created after it was validated.
        stated["created_at"] = stated["verified_at"]
    fields = {"type": record.type.value, "title": title, **given, **stated}
    return read_back(address, entry_text(fields, record.body).encode(), "entry")


def read_back(address: str, content: bytes, called: str) -> tuple[Entry, Document]:
    """Return the entry parsed from some bytes. Raises UsageError if it is invalid; the message calls it `called`."""
    document = parse_document(f"{address}.md", content)
    loaded = load_entry(document)
    if loaded.entry is None:
        raise UsageError(f"nothing was written, because the {called} is invalid: {loaded.findings[0].message}")
    return loaded.entry, document


def relation_properties(known: object, related: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the properties by relation (`TYPE ADDRESS`) as JSON, or None without any; `known` is the JSON so far."""
    try:
        stated = json.loads(known) if isinstance(known, str) else {}
    except (ValueError, RecursionError):
        stated = {}
    found = stated if isinstance(stated, dict) else {}
    found |= {name: dict(one) for name, one in related.items() if one}
    return json.dumps(found, ensure_ascii=False, sort_keys=True) if found else None


def entry_text(fields: Mapping[str, Any], body: str) -> str:
    """Return the text of an entry with all fields that have a value, in the order in which mdmem writes them."""
    front = []
    for name, value in sorted(fields.items(), key=lambda pair: rank_of(pair[0])):
        if isinstance(value, str) and value:
            front.append(f"{name}: {restyled(value, None, is_typed=True) if is_typed(name) else scalar(value)}")
        elif value:
            item = relation_item if name == "relations" else scalar
            front += [f"{name}:", *(f"  - {item(one)}" for one in value)]
    text = body.strip("\n")
    return "\n".join(["---", *front, "---", "", *([text, ""] if text else [])])


# The start of the message for a save that has to be tried again.
NOT_YET = "not written yet: "


class SaveStatus(StrEnum):
    """The outcome of a save, in the words of the MCP contract."""

    SAVED = "saved"
    FAILED = "failed"
    BLOCKED_SCOPE = "blocked_scope"
    PENDING_RETRY = "pending_retry"
    DUPLICATE_SKIP = "duplicate_skip"
    PARTIAL = "partial"


class SaveResult(Struct, frozen=True, kw_only=True):
    """The outcome of one save. `artifact_id` is the address of the entry with the record, or None."""

    status: SaveStatus
    artifact_id: str | None = None
    dedup_outcome: DedupOutcome | None = None
    candidate_id: str | None = None
    message: str | None = None
    next_step: str | None = None

    @property
    def is_stored(self) -> bool:
        """Return whether the memory now has the record: it was saved, or an existing entry already says it."""
        return self.status in (SaveStatus.SAVED, SaveStatus.DUPLICATE_SKIP)

    @property
    def is_for_a_person(self) -> bool:
        """Return whether a similar entry stopped the save, so that a person has to decide."""
        return self.dedup_outcome is DedupOutcome.MANUAL_REVIEW

    @property
    def waits(self) -> bool:
        """Return whether the save failed for a temporary reason and was stored, to be tried again."""
        return self.status is SaveStatus.PENDING_RETRY and not self.is_for_a_person

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return asdict(self)


def failed(message: str, next_step: str | None = None) -> SaveResult:
    """Return the result of a save that is refused and will not be tried again."""
    return SaveResult(status=SaveStatus.FAILED, message=shown_message(message), next_step=next_step)


class BatchSaveResult(Struct, frozen=True, kw_only=True):
    """The outcome for a session, and one for each of its decisions and patterns."""

    session: SaveResult
    decisions: tuple[SaveResult, ...] = ()
    patterns: tuple[SaveResult, ...] = ()

    @property
    def overall(self) -> SaveStatus:
        """Return SAVED if every part is saved, FAILED if no part is saved or waits, and PARTIAL otherwise."""
        parts = (self.session, *self.decisions, *self.patterns)
        if all(part.is_stored for part in parts):
            return SaveStatus.SAVED
        is_lost = all(not part.is_stored and not part.waits for part in parts)
        return SaveStatus.FAILED if is_lost else SaveStatus.PARTIAL

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        parts: dict[str, Any] = to_builtins(self)
        return parts | {"overall": self.overall.value}


def blocked_fields(blocked: Blocked) -> dict[str, Any]:
    """Return the JSON values for a save that a similar entry stopped."""
    since = blocked.at.isoformat()
    return {**record_json(blocked, "id", "wing", "title", candidate_id="candidate"), "since": since}
