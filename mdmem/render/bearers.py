"""Bearer tokens: a new one as it is handed out, and the list of those that are good, without their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdmem.render.json_form import dump
from mdmem.state.bearers import Bearer


def new_bearer_text(text: str, bearer: Bearer) -> str:
    """Return a new token on a line of its own, and what it is good for."""
    return f"{text}\n{_line(bearer)}; it is shown this once, send it as `Authorization: Bearer TOKEN`"


def new_bearer_json(text: str, bearer: Bearer) -> str:
    """Return a new token and what it is good for."""
    return dump({"token": text, **_facts(bearer)})


def bearers_text(bearers: Sequence[Bearer]) -> str:
    """Return one line a token."""
    return "\n".join(map(_line, bearers))


def bearers_json(bearers: Sequence[Bearer]) -> str:
    """Return the tokens by name."""
    return dump({"tokens": [_facts(one) for one in bearers]})


def _line(bearer: Bearer) -> str:
    since = f", since {bearer.created.date().isoformat()}" if bearer.created else ""
    writes = f"writes {_wings(bearer.access.writable)}" if bearer.access.writable != frozenset() else "writes nothing"
    return f"{bearer.name}: reads {_wings(bearer.access.readable)}, {writes}{since}"


def _wings(names: frozenset[str] | None) -> str:
    return "every wing" if names is None else " ".join(sorted(names))


def _facts(bearer: Bearer) -> dict[str, Any]:
    readable, writable = bearer.access.readable, bearer.access.writable
    return {
        "name": bearer.name,
        "readable": None if readable is None else sorted(readable),
        "writable": None if writable is None else sorted(writable),
        "created": bearer.created.isoformat(timespec="seconds") if bearer.created else None,
    }
