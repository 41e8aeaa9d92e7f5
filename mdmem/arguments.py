"""Arguments as people type them: a member of a closed set, a number within its bounds, one line."""

from __future__ import annotations

import difflib
from enum import StrEnum
from typing import TypeVar

from mdmem.errors import UsageError
from mdmem.model.text import visible

_Choice = TypeVar("_Choice", bound=StrEnum)


def choose(name: str, value: object, closed_set: type[_Choice]) -> _Choice:
    """Return the member for a value in any case, with `-` for `_`.

    Raises UsageError with the nearest member.
    """
    allowed = {member.value: member for member in closed_set}
    folded = "_".join(value.casefold().replace("-", " ").split()) if isinstance(value, str) else ""
    if folded in allowed:
        return allowed[folded]
    close = difflib.get_close_matches(folded, allowed, n=1, cutoff=0.4)
    hint = f"did you mean `{close[0]}`?" if close else f"write one of {', '.join(f'`{one}`' for one in allowed)}"
    raise UsageError(f"`{name}` has no value `{visible(str(value))[:40]}`; {hint}")


def whole_number(name: str, value: object) -> int:
    """Return a whole number from a number or its digits; raises UsageError for anything else."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal() and len(value) < 20:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise UsageError(f"`{name}` must be a whole number, found `{visible(str(value))[:40]}`")


def optional_line(name: str, value: object) -> str | None:
    """Return a text on one line, None for a missing or blank one; raises UsageError for any other value."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise UsageError(f"`{name}` must be a text, found `{visible(str(value))[:40]}`")
    return " ".join(value.split()) or None


def line(name: str, value: object) -> str:
    """Return a text on one line; raises UsageError where it is missing or blank."""
    found = optional_line(name, value)
    if found is None:
        raise UsageError(f"`{name}` is missing; write a text")
    return found


def yes_or_no(name: str, value: object) -> bool:
    """Return a truth value; raises UsageError for anything else."""
    if isinstance(value, bool):
        return value
    raise UsageError(f"`{name}` must be true or false, found `{visible(str(value))[:40]}`")
