"""The schema of the front matter: fields by type, and the reading of text into an entry or a wing."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from mdmem.entry.model import (
    Entry,
    EntryType,
    Flaw,
    NoSuchDayError,
    NotIsoError,
    Relation,
    Status,
    Wing,
    WingKind,
    parse_moment,
    title_of,
    visible,
)

SCHEMA_VERSION = 1
REQUIRED = ("type", "status", "created_at")
PLACEHOLDERS = frozenset({"n/a", "na", "none", "null", "nil", "tbd", "todo", "-", "--", "?", "unknown"})
SESSION_FIELDS = ("objective", "actions_taken", "decisions_made", "open_items", "next_actions")
ENTITY_FIELDS = ("entity", "relations")
PATTERN_FIELDS = ("trigger", "repeatable_steps", "exclusions")


def _text(value: object) -> object:
    if isinstance(value, dict):
        raise PydanticCustomError("nested-value", "expected text, found a mapping")
    if isinstance(value, list):
        raise PydanticCustomError("wrong-type", "expected one value, found a list")
    return value


def _kind(value: object) -> str:
    return "list" if isinstance(value, list) else "mapping" if isinstance(value, dict) else "value"


def _texts(value: object) -> object:
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if item is not None)


def _item(value: object) -> object:
    if isinstance(value, (list, dict)):
        raise PydanticCustomError(
            "nested-value", "expected text, found a {kind} inside the list", {"kind": _kind(value)}
        )
    return value


def _moment(value: object) -> date:
    if not isinstance(value, str):
        raise PydanticCustomError("wrong-type", "expected a date, found a {kind}", {"kind": _kind(value)})
    try:
        return parse_moment(value)
    except NotIsoError as error:
        raise PydanticCustomError("not-iso", "`{text}` is no ISO 8601 date", {"text": value}) from error
    except NoSuchDayError as error:
        raise PydanticCustomError("invalid-date", "`{text}` is no day of the calendar", {"text": value}) from error


def _number(convert: Callable[[str], float], low: float, high: float, wanted: str) -> Callable[[object], object]:
    def read(value: object) -> object:
        try:
            number = convert(value) if isinstance(value, str) and value.isascii() and "_" not in value else None
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise PydanticCustomError(
                "wrong-type", "expected {wanted}, found `{text}`", {"wanted": wanted, "text": value}
            )
        return number

    return read


def _link(value: object) -> object:
    _item(value)
    if isinstance(value, str) and not value.isprintable():
        shown = {"text": visible(value)}
        raise PydanticCustomError("invisible-characters", "`{text}` holds an invisible character", shown)
    if isinstance(value, str) and value.strip().lower() in PLACEHOLDERS:
        raise PydanticCustomError("link-placeholder", "`{text}` stands where an address belongs", {"text": value})
    return value


def _glob(value: object) -> object:
    _item(value)
    if isinstance(value, str) and value.startswith(":"):
        raise PydanticCustomError("wrong-type", "`{text}` is git pathspec magic, not a glob", {"text": value})
    return value


def _pairs(value: object) -> object:
    if not isinstance(value, dict) or not all(isinstance(reason, str) and reason for reason in value.values()):
        raise PydanticCustomError("wrong-type", "expected a mapping of check code to reason")
    return tuple(value.items())


def _relations(value: object) -> object:
    items: list[Any] = value if isinstance(value, list) else [value]
    for item in items:
        if (
            not isinstance(item, dict)
            or set(item) != {"type", "to"}
            or not all(isinstance(v, str) for v in item.values())
        ):
            raise PydanticCustomError("wrong-type", "expected a list of mappings with `type` and `to`")
    return tuple(Relation(item["type"], item["to"]) for item in items)


Text = Annotated[str | None, BeforeValidator(_text)]
Texts = Annotated[tuple[Annotated[str, BeforeValidator(_item)], ...], BeforeValidator(_texts)]
Links = Annotated[tuple[Annotated[str, BeforeValidator(_link)], ...], BeforeValidator(_texts)]
Globs = Annotated[tuple[Annotated[str, BeforeValidator(_glob)], ...], BeforeValidator(_texts)]
Moment = Annotated[Any, BeforeValidator(_moment)]
Version = Annotated[Any, BeforeValidator(_number(int, 1, 10**9, "a whole number from 1"))]
Share = Annotated[Any, BeforeValidator(_number(float, 0, 1, "a number from 0 to 1"))]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EntryFields(_Fields):
    """The fields that every type of entry has."""

    status: Status
    created_at: Moment = None
    title: Text = None
    verified_at: Moment = None
    deprecated_at: Moment = None
    expires_at: Moment = None
    editorial_at: Moment = None
    version: Version = None
    label: Text = None
    owner: Text = None
    topic: Text = None
    focus: Text = None
    agent: Text = None
    approved_by: Text = None
    reason: Text = None
    deprecated_reason: Text = None
    confidence: Share = None
    relevance_score: Share = None
    tags: Texts = ()
    applies_to: Globs = ()
    supersedes: Links = ()
    superseded_by: Links = ()
    overrides: Links = ()
    conflicts_with: Links = ()
    see: Links = ()
    produced: Links = ()
    ignore: Annotated[Any, BeforeValidator(_pairs)] = ()


class InvariantFields(EntryFields):
    """What must not be violated."""

    type: Literal[EntryType.INVARIANT]


class DecisionFields(EntryFields):
    """Which direction is currently authoritative."""

    type: Literal[EntryType.DECISION]


class PatternFields(EntryFields):
    """How similar problems are usually solved."""

    type: Literal[EntryType.PATTERN]
    trigger: Text = None
    repeatable_steps: Texts = ()
    exclusions: Texts = ()


class NoteFields(EntryFields):
    """What extra context may help; sessions and entities are notes with a label."""

    type: Literal[EntryType.NOTE]
    objective: Text = None
    actions_taken: Texts = ()
    decisions_made: Texts = ()
    open_items: Texts = ()
    next_actions: Texts = ()
    entity: Text = None
    relations: Annotated[Any, BeforeValidator(_relations)] = ()


class WingFields(_Fields):
    """The fields of a wing's manifest."""

    kind: WingKind = WingKind.PROJECT
    project_id: Text = None
    owners: Texts = ()
    shared_wings: Annotated[tuple[str, ...] | None, BeforeValidator(_texts)] = None
    description: Text = None
    last_hygiene_at: Moment = None


# One row a type: the model that reads its front matter.
MODELS: Mapping[EntryType, type[EntryFields]] = {
    EntryType.INVARIANT: InvariantFields,
    EntryType.DECISION: DecisionFields,
    EntryType.PATTERN: PatternFields,
    EntryType.NOTE: NoteFields,
}
_ADAPTERS = {kind: TypeAdapter(model) for kind, model in MODELS.items()}
_WING_ADAPTER = TypeAdapter(WingFields)
KNOWN_FIELDS = frozenset(name for model in MODELS.values() for name in model.model_fields)
WING_FIELDS = frozenset(WingFields.model_fields)

_SPELLINGS = {name.replace("_", ""): name for name in KNOWN_FIELDS} | {
    "supercedes": "supersedes",
    "supercededby": "superseded_by",
    "replaces": "supersedes",
    "replacedby": "superseded_by",
    "created": "created_at",
    "date": "created_at",
    "verified": "verified_at",
    "seealso": "see",
    "tag": "tags",
}

# The spelling of `inactive` is closest to its opposite, so what other formats say is looked up first.
_MEANINGS = {
    **dict.fromkeys(("accepted", "approved", "final", "implemented", "in_force"), "active"),
    **dict.fromkeys(("proposed", "proposal", "pending", "wip", "provisional"), "draft"),
    **dict.fromkeys(
        ("superseded", "replaced", "rejected", "obsolete", "inactive", "retired", "withdrawn"), "deprecated"
    ),
    **dict.fromkeys(("rule", "constraint"), "invariant"),
    **dict.fromkeys(("adr", "choice"), "decision"),
    **dict.fromkeys(("convention", "guideline", "howto", "recipe"), "pattern"),
    **dict.fromkeys(("session", "entity", "context", "fact", "incident"), "note"),
}


def known_spelling(key: str) -> str | None:
    """Return the field that a misspelt key surely means, else None."""
    return _SPELLINGS.get("".join(character for character in key.lower() if character.isalnum()))


def nearest(word: str, known: frozenset[str] | tuple[str, ...]) -> str | None:
    """Return the known word closest to one that is not known, or None when nothing is close."""
    close = difflib.get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return close[0] if close else None


def read_entry(
    address: str, front_matter: Mapping[str, Any], heading: str | None
) -> tuple[Entry | None, tuple[Flaw, ...]]:
    """Return what the front matter states and its flaws; no entry where type or status cannot be read.

    `front_matter` maps keys to text, lists of text, nested values, or None for an empty value.
    `heading` is the first heading of the body, the title of an entry that states none.
    """
    flaws = [
        *_empty(front_matter),
        *_closed_set(front_matter, "type", EntryType),
        *_closed_set(front_matter, "status", Status),
    ]
    stated = {key: value for key, value in front_matter.items() if value is not None and not key.startswith("x-")}
    if not _is_stated(front_matter, "created_at"):
        flaws.append(Flaw("missing-field", "created_at", "`created_at` is missing", "add `created_at: YYYY-MM-DD`"))
    kind = EntryType(stated["type"]) if _is_member(EntryType, stated.get("type")) else None
    unreadable = kind is None or not _is_member(Status, stated.get("status"))
    model_flaws, values = _validated(kind or EntryType.NOTE, stated)
    flaws += [flaw for flaw in model_flaws if not (unreadable and flaw.name in ("type", "status"))]
    if kind is not None:
        flaws += _misplaced(kind, stated)
    if unreadable:
        return None, tuple(flaws)
    unread = tuple(sorted({_hidden_field(flaw) for flaw in model_flaws} - {""}))
    title = values.pop("title", None) or heading or title_of(address)
    return Entry(address=address, title=title, unread=unread, **values), tuple(flaws)


def _hidden_field(flaw: Flaw) -> str:
    """Return the field whose value a flaw keeps from being read, or an empty text."""
    if flaw.code == "key-spelling" or (flaw.code == "invisible-characters" and flaw.on_key):
        return known_spelling(flaw.name) or ""
    return "" if flaw.on_key or flaw.code == "link-placeholder" else flaw.name


def read_wing(name: str, front_matter: Mapping[str, Any]) -> tuple[Wing, tuple[Flaw, ...]]:
    """Return the wing that a manifest states, with defaults for what could not be read, and the flaws."""
    stated = {key: value for key, value in front_matter.items() if value is not None and not key.startswith("x-")}
    details: list[ErrorDetails] = []
    try:
        fields = _WING_ADAPTER.validate_python(stated)
    except ValidationError as error:
        details = error.errors(include_url=False)
        bad = {str(detail["loc"][0]) for detail in details}
        fields = _WING_ADAPTER.validate_python({key: value for key, value in stated.items() if key not in bad})
    flaws = tuple(_wing_flaw(detail) for detail in details)
    return Wing(name=name, has_manifest=True, **dict(fields)), flaws


def _wing_flaw(detail: ErrorDetails) -> Flaw:
    key = str(detail["loc"][0])
    if detail["type"] == "extra_forbidden":
        close = nearest(key, WING_FIELDS)
        return Flaw(
            "manifest-invalid", key, f"unknown key `{key}`", f"write `{close}`" if close else "remove it", on_key=True
        )
    return Flaw("manifest-invalid", key, f"`{key}`: {_sentence(detail)}", _wanted(key))


def _wanted(key: str) -> str:
    return "write `kind: project` or `kind: shared`" if key == "kind" else f"correct the value of `{key}`"


def _is_member(closed_set: type[EntryType | Status], value: object) -> bool:
    return isinstance(value, str) and any(value == member.value for member in closed_set)


def _empty(front_matter: Mapping[str, Any]) -> list[Flaw]:
    return [
        Flaw("empty-value", key, f"`{key}` has no value", f"write a value or remove `{key}`")
        for key, value in front_matter.items()
        if value is None and not key.startswith("x-") and key not in REQUIRED
    ]


def _closed_set(front_matter: Mapping[str, Any], key: str, closed_set: type[EntryType | Status]) -> list[Flaw]:
    value = front_matter.get(key)
    allowed = tuple(member.value for member in closed_set)
    listed = ", ".join(allowed)
    if not _is_stated(front_matter, key):
        return [Flaw("missing-field", key, f"`{key}` is missing", f"add `{key}:` with one of {listed}")]
    if value is None:
        return []
    if isinstance(value, str) and value in allowed:
        return []
    if not isinstance(value, str):
        return [
            Flaw(
                "wrong-type", key, f"`{key}` holds a {_kind(value)}, expected one of {listed}", f"write one of {listed}"
            )
        ]
    if "|" in value or set(value.split("/")) <= set(allowed):
        return [Flaw("template-leftover", key, f"`{key}` still lists the choices `{value}`", "keep one of them")]
    close = _MEANINGS.get(value.lower()) or nearest(value, allowed)
    help_ = f"write `{close}`; allowed are {listed}" if close in allowed else f"write one of {listed}"
    return [Flaw(f"unknown-{key}", key, f"unknown {key} `{value}`", help_)]


def _is_stated(front_matter: Mapping[str, Any], key: str) -> bool:
    """Say whether a field has a value, be it under a misspelt key: that is then the one finding."""
    return front_matter.get(key) is not None or any(known_spelling(name) == key for name in front_matter.keys() - {key})


def _validated(kind: EntryType, stated: Mapping[str, Any]) -> tuple[list[Flaw], dict[str, Any]]:
    try:
        return [], _values(_ADAPTERS[kind].validate_python(stated))
    except ValidationError as error:
        details = error.errors(include_url=False)
    flaws = [flaw for detail in details if (flaw := _flaw(kind, detail)) is not None]
    readable = _without(stated, details)
    try:
        return flaws, _values(_ADAPTERS[kind].validate_python(readable))
    except ValidationError:
        # Only an unreadable type or status is left, and then the caller makes no entry.
        return flaws, {}


def _values(model: EntryFields) -> dict[str, Any]:
    return {name: value for name, value in model.__dict__.items() if name in model.model_fields_set}


def _without(stated: Mapping[str, Any], details: list[ErrorDetails]) -> dict[str, Any]:
    """Leave out what could not be read: one item of a list where it is one item, else the field."""
    readable = dict(stated)
    for detail in details:
        key, *rest = detail["loc"]
        if rest and isinstance(readable.get(str(key)), list) and isinstance(rest[0], int):
            bad = [item for item in stated[str(key)] if item is not None][rest[0]]
            readable[str(key)] = [item for item in readable[str(key)] if item is not bad]
        else:
            readable.pop(str(key), None)
    return readable


def _flaw(kind: EntryType, detail: ErrorDetails) -> Flaw | None:
    key = str(detail["loc"][0])
    item = next((part for part in detail["loc"][1:] if isinstance(part, int)), None)
    code = detail["type"]
    if code == "extra_forbidden":
        return _stranger(kind, key)
    if code == "missing" or key in ("type", "status"):
        return None
    code = code if "-" in code else "wrong-type"
    return Flaw(code, key, f"`{key}`: {_sentence(detail)}", _HELP.get(code, f"correct the value of `{key}`"), item)


_HELP = {
    "not-iso": "write it as YYYY-MM-DD",
    "invalid-date": "write a day that exists, as YYYY-MM-DD",
    "invisible-characters": "write the address anew",
    "link-placeholder": "remove it; a link field that is absent says the same",
    "nested-value": "write plain text; nesting is for `relations`, `ignore` and `x-` keys",
}


def _sentence(detail: ErrorDetails) -> str:
    message = detail["msg"]
    return message[:1].lower() + message[1:]


def _stranger(kind: EntryType, key: str) -> Flaw:
    if key in KNOWN_FIELDS:
        return _not_for(kind.value, key)
    meant = known_spelling(key)
    if not key.isprintable():
        help_ = f"write `{meant}`" if meant else "write the key anew"
        message = f"the key `{visible(key)}` holds an invisible character"
        return Flaw("invisible-characters", key, message, help_, on_key=True)
    if meant:
        return Flaw("key-spelling", key, f"`{key}` is not read; the key is `{meant}`", f"write `{meant}`", on_key=True)
    close = nearest(key, KNOWN_FIELDS)
    hint = f"write `{close}`, or `x-{key}` to keep it" if close else f"write `x-{key}` to keep it, or remove it"
    return Flaw("unknown-key", key, f"unknown key `{key}`", hint, on_key=True)


def _not_for(owner: str, key: str) -> Flaw:
    article = "an" if owner.startswith("i") else "a"
    return Flaw("field-not-for-type", key, f"`{key}` is not a field of {article} {owner}", f"remove `{key}`", on_key=True)


def _misplaced(kind: EntryType, stated: Mapping[str, Any]) -> list[Flaw]:
    """Name the fields of a session or an entity on a note that is neither."""
    if kind is not EntryType.NOTE:
        return []
    label = stated.get("label")
    wrong = [key for key in SESSION_FIELDS if key in stated and label != "session"]
    wrong += [key for key in ENTITY_FIELDS if key in stated and label != "entity"]
    return [_not_for(f"note labelled `{label}`" if label else "note without a label", key) for key in wrong]
