"""One page of an answer, and the cursor that leads to the next: nothing is kept between the calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from mdmem.dataclass import dataclass, field
from mdmem.errors import UsageError
from mdmem.mcp.session import Given

# The one key that says in another form what the others say.
VIEW = "markdown"
_STALE = "`cursor` is of another call, or the memory changed since: call again without it"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an answer: its text, its structure where a contract fixes one, and what whoever has it was given."""

    text: str
    facts: dict[str, Any] | None = None
    is_last: bool = True
    gave: Given = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return the bytes of the larger form: a client hands one of them to its model.

        What a structure repeats of its own text counts once.
        """
        facts = {name: value for name, value in (self.facts or {}).items() if name != VIEW}
        return max(bytes_of(self.text), bytes_of(json_line(facts)))


def json_line(value: Any) -> str:
    """Return a value as JSON without a blank, in which what a terminal would obey stands as its escape."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if line.isprintable():
        return line
    from mdmem.render.characters import escaped

    return escaped(line)


def bytes_of(text: str) -> int:
    """Return the size of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def seal_of(asked: str, answer: str) -> str:
    """Return what ties a cursor to a call and to its answer."""
    return f"{_hash(asked)}{_hash(answer)}"


def marks_of(next_part: int, seal: str | None, *, remaining: int, invariants: int | None) -> dict[str, Any]:
    """Return what a cut answer says of its rest: the cursor, and how much of what there is."""
    cursor = {"cursor": f"{next_part}-{seal}"} if seal is not None else {}
    bound = {"invariants_remaining": invariants} if invariants is not None else {}
    return {"truncated": True, **cursor, **bound, "remaining": remaining}


def mark_line(facts: Mapping[str, Any]) -> str:
    """Return the marks of a cut answer as one line; empty for a whole one."""
    names = ("truncated", "cursor", "invariants_remaining", "remaining")
    return "; ".join(f"{name}: {str(facts[name]).lower()}" for name in names if name in facts)


def start_of(cursor: str | None, seal: str, count: int) -> int:
    """Return where a page starts; raises UsageError for a cursor of another call, or of an answer that changed."""
    if cursor is None:
        return 0
    number, _, sealed = cursor.strip().partition("-")
    if sealed != seal or not (number.isascii() and number.isdigit() and len(number) < 10) or int(number) >= count:
        raise UsageError(_STALE)
    return int(number)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
