"""How the values of the front matter are read: text in, typed values out, a fault with its code where that fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from mdmem.model.entry import (
    EntryType,
    NoSuchDayError,
    NotIsoError,
    Relation,
    kind_of,
    parse_moment,
    visible,
)
from mdmem.model.fields import FIELDS, Kind

PLACEHOLDERS = frozenset({"n/a", "na", "none", "null", "nil", "tbd", "todo", "-", "--", "?", "unknown"})


class UnreadableValueError(ValueError):
    """A value that cannot be read; knows the code of its finding."""

    def __init__(self, code: str, message: str) -> None:
        """Keep the parts of the finding."""
        super().__init__(message)
        self.code = code


def read_text(value: object) -> object:
    """Return a text as it is; raises UnreadableValueError."""
    if isinstance(value, dict):
        raise UnreadableValueError("nested-value", "expected text, found a mapping")
    if isinstance(value, list):
        raise UnreadableValueError("wrong-type", "expected one value, found a list")
    return value


def values_of(value: object) -> tuple[object, ...]:
    """Return the values of a field that may hold several, those that are empty left out."""
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if item is not None)


def read_item(value: object) -> object:
    """Return one text of a list; raises UnreadableValueError."""
    if isinstance(value, (list, dict)):
        raise UnreadableValueError("nested-value", f"expected text, found a {kind_of(value)} inside the list")
    return value


def read_moment(value: object) -> date:
    """Return the date or date-time of a text; raises UnreadableValueError."""
    if not isinstance(value, str):
        raise UnreadableValueError("wrong-type", f"expected a date, found a {kind_of(value)}")
    try:
        return parse_moment(value)
    except NotIsoError as error:
        raise UnreadableValueError("not-iso", f"`{value}` is no ISO 8601 date") from error
    except NoSuchDayError as error:
        raise UnreadableValueError("invalid-date", f"`{value}` is no day of the calendar") from error


def _number(convert: Callable[[str], float], low: float, high: float, wanted: str) -> Callable[[object], object]:
    def read(value: object) -> object:
        try:
            number = convert(value) if isinstance(value, str) and value.isascii() and "_" not in value else None
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise UnreadableValueError("wrong-type", f"expected {wanted}, found `{value}`")
        return number

    return read


def read_link(value: object) -> object:
    """Return an address as it is; raises UnreadableValueError."""
    read_item(value)
    if isinstance(value, str) and not value.isprintable():
        raise UnreadableValueError("invisible-characters", f"`{visible(value)}` holds an invisible character")
    if isinstance(value, str) and value.strip().lower() in PLACEHOLDERS:
        raise UnreadableValueError("link-placeholder", f"`{value}` stands where an address belongs")
    return value


def read_glob(value: object) -> object:
    """Return a glob as it is; raises UnreadableValueError."""
    read_item(value)
    if isinstance(value, str) and value.startswith(":"):
        raise UnreadableValueError("wrong-type", f"`{value}` is git pathspec magic, not a glob")
    return value


def read_pairs(value: object) -> object:
    """Return check codes with their reasons; raises UnreadableValueError."""
    if not isinstance(value, dict) or not all(reason is None or isinstance(reason, str) for reason in value.values()):
        raise UnreadableValueError("wrong-type", "expected a mapping of check code to reason")
    # A code without a reason is for a check to name.
    return tuple((code, reason) for code, reason in value.items() if reason)


def read_relations(value: object) -> object:
    """Return the relations of an entity; raises UnreadableValueError."""
    items: list[Any] = value if isinstance(value, list) else [value]
    for item in items:
        if (
            not isinstance(item, dict)
            or set(item) != {"type", "to"}
            or not all(isinstance(v, str) for v in item.values())
        ):
            raise UnreadableValueError("wrong-type", "expected a list of mappings with `type` and `to`")
    return tuple(Relation(item["type"], item["to"]) for item in items)


read_version = _number(int, 1, 10**9, "a whole number from 1")
read_share = _number(float, 0, 1, "a number from 0 to 1")
# By type the fields of its entries, and under None those of a manifest.
FIELDS_OF: Mapping[EntryType | None, Mapping[str, Kind]] = {
    **{kind: {one.name: one.kind for one in FIELDS if one.holder.type in ("entry", kind)} for kind in EntryType},
    None: {one.name: one.kind for one in FIELDS if one.is_of_wings},
}
