"""Parse the values of a front matter into an entry or a wing, and report every flaw that is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from mdmem.model.entry import (
    Entry,
    EntryType,
    Flaw,
    Holder,
    Kind,
    NoSuchDayError,
    NotIsoError,
    Relation,
    Status,
    Wing,
    WingKind,
    parse_moment,
    title_of,
)
from mdmem.model.fields import FIELDS, FIELDS_OF, KNOWN_FIELDS, REQUIRED, WING_FIELDS
from mdmem.model.spelling import known_spelling, meant_field, meant_value, nearest
from mdmem.model.text import kind_of, visible

_PLACEHOLDERS = frozenset({"n/a", "na", "none", "null", "nil", "tbd", "todo", "-", "--", "?", "unknown"})


def _text(value: object) -> object:
    if isinstance(value, dict):
        raise PydanticCustomError("nested-value", "expected text, found a mapping")
    if isinstance(value, list):
        raise PydanticCustomError("wrong-type", "expected one value, found a list")
    return value


def _item(value: object) -> object:
    if isinstance(value, (list, dict)):
        raise PydanticCustomError("nested-value", f"expected text, found a {kind_of(value)} inside the list")
    return value


def _link(value: object) -> object:
    _item(value)
    if isinstance(value, str) and not value.isprintable():
        raise PydanticCustomError("invisible-characters", f"`{visible(value)}` contains an invisible character")
    if isinstance(value, str) and value.strip().lower() in _PLACEHOLDERS:
        raise PydanticCustomError("link-placeholder", f"`{value}` is not an address")
    return value


def _glob(value: object) -> object:
    _item(value)
    if isinstance(value, str) and value.startswith(":"):
        raise PydanticCustomError("wrong-type", f"`{value}` is git pathspec magic, not a glob")
    return value


def _moment(value: object) -> date:
    if not isinstance(value, str):
        raise PydanticCustomError("wrong-type", f"expected a date, found a {kind_of(value)}")
    try:
        moment = parse_moment(value)
    except NotIsoError as error:
        raise PydanticCustomError("not-iso", f"`{value}` is not an ISO 8601 date") from error
    except NoSuchDayError as error:
        raise PydanticCustomError("invalid-date", f"`{value}` is not a day of the calendar") from error
    # The cache stores times in UTC, so the time must exist there.
    return moment.astimezone(UTC) if isinstance(moment, datetime) and moment.tzinfo else moment


def _number(convert: Callable[[str], float], low: float, high: float, wanted: str) -> Any:
    def parse(value: object) -> object:
        try:
            number = convert(value) if isinstance(value, str) and value.isascii() and "_" not in value else None
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise PydanticCustomError("wrong-type", f"expected {wanted}, found `{value}`")
        return number

    return Annotated[Any, BeforeValidator(parse)]


def _pairs(value: object) -> object:
    if not isinstance(value, dict) or not all(reason is None or isinstance(reason, str) for reason in value.values()):
        raise PydanticCustomError("wrong-type", "expected a mapping of check code to reason")
    # A check reports a code without a reason.
    return tuple((code, reason) for code, reason in value.items() if reason)


def _relations(value: object) -> object:
    items: list[Any] = value if isinstance(value, list) else [value]
    for item in items:
        is_pair = isinstance(item, dict) and set(item) == {"type", "to"}
        if not is_pair or not all(isinstance(one, str) for one in item.values()):
            raise PydanticCustomError("wrong-type", "expected a list of mappings with `type` and `to`")
    return tuple(Relation(item["type"], item["to"]) for item in items)


def _list_of(validator: Callable[[object], object]) -> Any:
    def items(value: object) -> tuple[object, ...]:
        return tuple(item for item in (value if isinstance(value, list) else [value]) if item is not None)

    return Annotated[tuple[Annotated[str, BeforeValidator(validator)], ...], BeforeValidator(items)]


# Validators of the values of each kind; the defaults come from `Entry` and `Wing`.
_ADAPTERS: Mapping[Kind, TypeAdapter[Any]] = {
    Kind.TYPE: TypeAdapter(EntryType),
    Kind.STATUS: TypeAdapter(Status),
    Kind.WING_KIND: TypeAdapter(WingKind),
    Kind.TEXT: TypeAdapter(Annotated[str, BeforeValidator(_text)]),
    Kind.TEXTS: TypeAdapter(_list_of(_item)),
    Kind.WINGS: TypeAdapter(_list_of(_item)),
    Kind.LINKS: TypeAdapter(_list_of(_link)),
    Kind.GLOBS: TypeAdapter(_list_of(_glob)),
    Kind.MOMENT: TypeAdapter(Annotated[Any, BeforeValidator(_moment)]),
    Kind.VERSION: TypeAdapter(_number(int, 1, 10**9, "a whole number from 1")),
    Kind.SHARE: TypeAdapter(_number(float, 0, 1, "a number from 0 to 1")),
    Kind.PAIRS: TypeAdapter(Annotated[Any, BeforeValidator(_pairs)]),
    Kind.RELATIONS: TypeAdapter(Annotated[Any, BeforeValidator(_relations)]),
}
_HELP = {
    "not-iso": "write it as YYYY-MM-DD",
    "invalid-date": "write a day that exists, as YYYY-MM-DD",
    "invisible-characters": "write the address again",
    "link-placeholder": "remove it; an absent link field means the same",
    "nested-value": "write plain text; nesting is for `relations`, `ignore` and `x-` keys",
}


def _validate(stated: Mapping[str, Any]) -> tuple[list[Flaw], dict[str, Any]]:
    """Return the flaws in the values of fields, and the values, fields or items of lists, that can be parsed."""
    flaws, values = [], dict[str, Any]()
    for field in (field for field in FIELDS if field.name in stated):
        key, value, adapter = field.name, stated[field.name], _ADAPTERS[field.kind]
        try:
            values[key] = adapter.validate_python(value)
        except ValidationError as error:
            # pydantic's index does not count the empty items.
            places = [at for at, item in enumerate(value) if item is not None] if isinstance(value, list) else []
            faulty: set[int | None] = set()
            for one in error.errors(include_url=False, include_context=False, include_input=False):
                index = next((part for part in one["loc"] if isinstance(part, int)), None)
                item = places[index] if index is not None and places else None
                faulty.add(item)
                code, message = one["type"] if "-" in one["type"] else "wrong-type", one["msg"]
                help_ = _HELP.get(code, f"correct the value of `{key}`")
                flaws.append(Flaw(code, key, f"`{key}`: {message[:1].lower()}{message[1:]}", help_, item))
            if None not in faulty:
                values[key] = adapter.validate_python([item for at, item in enumerate(value) if at not in faulty])
    return flaws, values


def read_entry(
    address: str, front_matter: Mapping[str, Any], heading: str | None
) -> tuple[Entry | None, tuple[Flaw, ...]]:
    """Return the entry of a front matter, and its flaws. The entry is None if its type or status cannot be parsed.

    `front_matter` maps keys to text, lists of text, nested values, or None for an empty value. `heading` is the first
    heading of the body, which becomes the title of an entry without a `title` field.
    """
    # Flaws that prevent parsing come first, because only the first flaw is shown for an unreadable entry.
    flaws = [*_closed_set(front_matter, "type"), *_closed_set(front_matter, "status")]
    flaws += [
        Flaw("empty-value", key, f"`{key}` has no value", f"write a value or remove `{key}`")
        for key, value in front_matter.items()
        if value is None and not key.startswith("x-") and key not in REQUIRED
    ]
    reported = {flaw.name for flaw in flaws}
    stated = {key: value for key, value in _stated(front_matter).items() if key not in reported}
    if not _is_stated(front_matter, "created_at"):
        flaws.append(Flaw("missing-field", "created_at", "`created_at` is missing", "add `created_at: YYYY-MM-DD`"))
    kind = EntryType(stated["type"]) if "type" in stated else None
    # The type decides which fields are allowed. While the type is unknown, only the type is reported.
    known = {key: value for key, value in stated.items() if key in (FIELDS_OF[kind] if kind else KNOWN_FIELDS)}
    faults, values = _validate(known)
    unknown = [_unknown(kind, key) for key in stated if key not in known]
    flaws += [*faults, *unknown]
    if kind is EntryType.NOTE:
        label = stated.get("label")
        owner = f"a note labelled `{label}`" if label else "a note without a label"
        labelled = (one for one in FIELDS if one.holder in (Holder.SESSION, Holder.ENTITY) and one.holder != label)
        flaws += [_not_for(owner, one.name) for one in labelled if one.name in stated]
    if kind is None or "status" not in stated:
        return None, tuple(flaws)
    unread = {one.name for one in faults if one.code != "link-placeholder"}
    # A misspelt key hides the value of the field that it means.
    misspelt = (one.name for one in unknown if one.code in ("key-spelling", "invisible-characters"))
    unread.update(known_spelling(name) or "" for name in misspelt)
    # A quoted or folded title may have line breaks; every listing shows it on one line.
    title = " ".join((values.pop("title", None) or heading or "").split()) or title_of(address)
    return Entry(address=address, title=title, unread=tuple(sorted(unread - {""})), **values), tuple(flaws)


def read_wing(name: str, front_matter: Mapping[str, Any]) -> tuple[Wing, tuple[Flaw, ...]]:
    """Return the wing that a manifest's front matter describes, with defaults for invalid values, and its flaws."""
    stated = _stated(front_matter)
    faults, values = _validate({key: value for key, value in stated.items() if key in WING_FIELDS})
    flaws = []
    for one in faults:
        wanted = "write `kind: project` or `kind: shared`"
        help_ = wanted if one.name == "kind" else f"correct the value of `{one.name}`"
        flaws.append(Flaw("manifest-invalid", one.name, one.message, help_))
    for key in (key for key in stated if key not in WING_FIELDS):
        close = nearest(key, WING_FIELDS)
        help_ = f"write `{close}`" if close else "remove it"
        flaws.append(Flaw("manifest-invalid", key, f"unknown key `{key}`", help_, on_key=True))
    return Wing(name=name, has_manifest=True, **values), tuple(flaws)


_ALLOWED: Mapping[str, tuple[str, ...]] = {"type": tuple(map(str, EntryType)), "status": tuple(map(str, Status))}


def _closed_set(front_matter: Mapping[str, Any], key: str) -> Iterator[Flaw]:
    value, allowed = front_matter.get(key), _ALLOWED[key]
    if value in allowed:
        return
    listed = ", ".join(allowed)
    if not _is_stated(front_matter, key):
        yield Flaw("missing-field", key, f"`{key}` is missing", f"add `{key}:` with one of {listed}")
    elif value is not None and not isinstance(value, str):
        message = f"`{key}` is a {kind_of(value)}, expected one of {listed}"
        yield Flaw("wrong-type", key, message, f"write one of {listed}")
    elif value is not None and ("|" in value or set(value.split("/")) <= set(allowed)):
        yield Flaw("template-leftover", key, f"`{key}` still lists the choices `{value}`", "keep one of them")
    elif value is not None:
        close = meant_value(value, allowed)
        help_ = f"write `{close}`; allowed are {listed}" if close in allowed else f"write one of {listed}"
        yield Flaw(f"unknown-{key}", key, f"unknown {key} `{value}`", help_)


def _stated(front_matter: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in front_matter.items() if value is not None and not key.startswith("x-")}


def _is_stated(front_matter: Mapping[str, Any], key: str) -> bool:
    """Return whether a field has a value, also under a misspelt key. Then only the misspelling is reported."""
    return front_matter.get(key) is not None or any(known_spelling(name) == key for name in front_matter.keys() - {key})


def _unknown(kind: EntryType | None, key: str) -> Flaw:
    if kind is not None and key in KNOWN_FIELDS:
        return _not_for(f"{'an' if kind.startswith('i') else 'a'} {kind}", key)
    meant = known_spelling(key)
    if not key.isprintable():
        help_ = f"write `{meant}`" if meant else "write the key again"
        message = f"the key `{visible(key)}` contains an invisible character"
        return Flaw("invisible-characters", key, message, help_, on_key=True)
    if meant:
        return Flaw(
            "key-spelling", key, f"`{key}` is not a field; the field is `{meant}`", f"write `{meant}`", on_key=True
        )
    close = meant_field(key)
    hint = f"write `{close}`, or `x-{key}` to keep it" if close else f"write `x-{key}` to keep it, or remove it"
    return Flaw("unknown-key", key, f"unknown key `{key}`", hint, on_key=True)


def _not_for(owner: str, key: str) -> Flaw:
    return Flaw("field-not-for-type", key, f"`{key}` is not a field of {owner}", f"remove `{key}`", on_key=True)
