"""Reading JSON values of which nothing is certain: what does not fit is named in one sentence."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, TypeVar

from mdmem.errors import UsageError
from mdmem.model.entry import NoSuchDayError, NotIsoError, parse_moment, visible

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
