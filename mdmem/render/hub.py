"""What the commands that keep a hub did, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.hub.succession import Succession
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
    name, had, brought = result.repository, (result.before or "")[:10], result.brought
    if result.succession is Succession.OLDER:
        return f"{name}: the hub is at {had} already, which came later than {result.pushed[:10]}; nothing was sent"
    if result.is_unchanged:
        return f"{name}: the hub is at {had} already"
    counted = (("added", brought.added), ("changed", brought.changed), ("removed", brought.removed))
    said = [f"{number} {word}" for word, number in counted if number] or ["no file changed"]
    if brought.pins:
        said.append(f"{brought.pins} {'pin' if brought.pins == 1 else 'pins'} changed")
    since = f" (was {had})" if had and had != result.commit[:10] else ""
    return f"{name}: the hub is at {result.commit[:10]} now{since}: {', '.join(said)}"


def push_json(result: PushResult) -> str:
    """Return what became of a push."""
    brought = result.brought
    return dump(
        {
            "repository": result.repository,
            "commit": result.commit,
            "before": result.before,
            "pushed": result.pushed,
            "succession": result.succession,
            "unchanged": result.is_unchanged,
            "added": brought.added,
            "changed": brought.changed,
            "removed": brought.removed,
            "pins": brought.pins,
            "missing": list(result.missing),
        }
    )
