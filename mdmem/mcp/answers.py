"""Turn the values of an answer into plain JSON and text that is safe to show."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from mdmem.model.text import visible_text
from mdmem.render.text import escaped

# The strictest clients take no more characters of one answer, resource or prompt.
LARGEST = 40_000

# Values that are left out of an answer because they are the usual ones, by key.
_DEFAULTS: Mapping[str, Any] = {
    "contradictory": False,
    "current": True,
    "degraded": False,
    "form": "full",
    "new": False,
    "over_budget": False,
    "source": "index",
    "standing": "binding",
    "status": "active",
}
# A file's own fields are passed on as they are.
_VERBATIM = "front_matter"


def without_noise(value: Any, *, kept: Collection[str] = (), noise: Collection[str] = ()) -> Any:
    """Return JSON values without empty values, defaults and `noise`, at any depth; the keys in `kept` always stay."""
    if isinstance(value, list):
        return [without_noise(one, kept=kept, noise=noise) for one in value]
    if not isinstance(value, dict):
        return value
    inner = {
        name: one if name == _VERBATIM else without_noise(one, kept=kept, noise=noise)
        for name, one in value.items()
        if name in kept or name not in noise
    }
    return {name: one for name, one in inner.items() if name in kept or not _is_default(name, one)}


def _is_default(name: str, value: Any) -> bool:
    return value in (None, "", [], {}) or (name in _DEFAULTS and value == _DEFAULTS[name])


def json_line(value: Any) -> str:
    """Return a value as JSON on one line, with characters that act on a terminal escaped."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return line if line.isprintable() else escaped(line)


def safe_text(text: str) -> str:
    """Return a text in valid UTF-8, with each character that is invisible or acts on a terminal as its number."""
    return visible_text(str(plain(text)))


def plain(value: Any) -> Any:
    """Return a value as JSON has it: enums and dates as texts, tuples as lists, no lone surrogates."""
    if isinstance(value, str):
        text = str.__str__(value)
        return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {plain(str(name)): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return plain(value.isoformat() if hasattr(value, "isoformat") else str(value))


def bytes_of(text: str) -> int:
    """Return the size of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def cut(text: str, most: int = LARGEST) -> str:
    """Return the lines of a text that fit into a number of characters, with a note where some are left out."""
    note = "\n(cut: this is all that a client takes; `get_entry` and `retrieve` give the rest)\n"
    if len(text) <= most:
        return text
    start = text[: most - len(note)]
    return (start.rpartition("\n")[0] or start) + note
