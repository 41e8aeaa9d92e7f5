"""How the values of the front matter are read: text in, typed values out, a fault with its code where that fails."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from mdmem.entry.model import NoSuchDayError, NotIsoError, Relation, kind_of, parse_moment, visible

PLACEHOLDERS = frozenset({"n/a", "na", "none", "null", "nil", "tbd", "todo", "-", "--", "?", "unknown"})


def _text(value: object) -> object:
    if isinstance(value, dict):
        raise PydanticCustomError("nested-value", "expected text, found a mapping")
    if isinstance(value, list):
        raise PydanticCustomError("wrong-type", "expected one value, found a list")
    return value


def _texts(value: object) -> object:
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if item is not None)


def _item(value: object) -> object:
    if isinstance(value, (list, dict)):
        raise PydanticCustomError(
            "nested-value", "expected text, found a {kind} inside the list", {"kind": kind_of(value)}
        )
    return value


def _moment(value: object) -> date:
    if not isinstance(value, str):
        raise PydanticCustomError("wrong-type", "expected a date, found a {kind}", {"kind": kind_of(value)})
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
    if not isinstance(value, dict) or not all(reason is None or isinstance(reason, str) for reason in value.values()):
        raise PydanticCustomError("wrong-type", "expected a mapping of check code to reason")
    # A code without a reason is for a check to name.
    return tuple((code, reason) for code, reason in value.items() if reason)


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
Pairs = Annotated[Any, BeforeValidator(_pairs)]
Relations = Annotated[Any, BeforeValidator(_relations)]
Names = Annotated[tuple[str, ...] | None, BeforeValidator(_texts)]
