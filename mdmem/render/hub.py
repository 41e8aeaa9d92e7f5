"""What the commands that keep a hub did, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.render.json import dump

if TYPE_CHECKING:
    from mdmem.hub.push import PushResult
    from mdmem.hub.schema import SchemaResult


def schema_text(result: SchemaResult) -> str:
    """Return which version the hub's tables have now."""
    word = "already" if result.before == result.after else "now"
    return f"the hub's tables are {word} of version {result.after}"


def push_text(result: PushResult) -> str:
    """Return what became of a push."""
    return f"{result.repository}: {result.outcome}, {result.commit[:10]}: {result.put} put, {result.taken} taken"


def push_json(result: PushResult) -> str:
    """Return what became of a push."""
    return dump(
        {
            "repository": result.repository,
            "commit": result.commit,
            "outcome": result.outcome,
            "put": result.put,
            "taken": result.taken,
        }
    )
