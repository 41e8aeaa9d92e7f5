"""The text of an imported entry's file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from mdmem.markdown.fields import scalar
from mdmem.model.fields import FIELDS, Kind

_ORDER = {field.name: number for number, field in enumerate(FIELDS)}
_MOMENTS = frozenset(field.name for field in FIELDS if field.kind is Kind.MOMENT)


def composed(fields: Mapping[str, str | tuple[str, ...]], body: str, *, newline: str) -> str:
    """Return front matter and body, the fields in the order of their table, then those that are only kept."""
    names = sorted((name for name in fields if fields[name]), key=lambda name: _ORDER.get(name, len(_ORDER)))
    lines = [f"{name}: {_value(name, fields[name])}" for name in names]
    return newline.join(["---", *lines, "---", "", body])


def _value(name: str, value: str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(scalar, value))}]"
    return value if name in _MOMENTS or (name.startswith("x-") and _is_nested(value)) else scalar(value)


def _is_nested(value: str) -> bool:
    """Say whether a value that is only kept was a list or a mapping."""
    try:
        return value[:1] in ("[", "{") and isinstance(json.loads(value), (list, dict))
    except (ValueError, RecursionError):
        return False
