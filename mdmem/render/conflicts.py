"""What a merge left to be decided, as text and JSON: each side's words, then the choices with what to type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mdmem.entry.model import visible
from mdmem.merge.conflicts import FieldSides, MergeConflict, MergeConflicts, SuccessorSide
from mdmem.render.ink import Ink
from mdmem.render.json import dump

# As much of a text as tells two sides apart.
_SHOWN = 60


def quarrels_text(quarrels: MergeConflicts, ink: Ink) -> str:
    """Return one block for each thing to be decided, and what to type when all are."""
    blocks = ["\n".join(_lines(one, ink)) for one in quarrels.found]
    if quarrels.then:
        blocks.append("\n".join(["when all is decided:", *(f"  {one}" for one in quarrels.then)]))
    return "\n\n".join(blocks)


def _lines(quarrel: MergeConflict, ink: Ink) -> Iterator[str]:
    yield f"{ink.bold(visible(quarrel.address))}: {quarrel.kind}"
    if quarrel.fields:
        ours, theirs = quarrel.labels
        width = max(len(ours), len(theirs))
        for one in quarrel.fields:
            yield f"  {one.name}"
            for label, value in zip((ours, theirs), _pair(one), strict=True):
                yield f"    {visible(label):<{width}}  {value}"
    for successor in quarrel.successors:
        yield f"  {_successor(successor)}"
    if quarrel.choices:
        yield "  choices"
    for choice in quarrel.choices:
        yield f"    {choice.does}"
        yield f"      {ink.added(choice.command)}"
    if quarrel.fields:
        yield f"    or edit {visible(quarrel.path)} by hand, and take the marks out"


def _pair(one: FieldSides) -> tuple[str, str]:
    if one.name != "body":
        return _shown(one.ours), _shown(one.theirs)
    ours, theirs = str(one.ours).splitlines(), str(one.theirs).splitlines()
    # The first line in which they differ stands for all.
    pairs = zip(ours, theirs, strict=False)
    at = next((place for place, (mine, other) in enumerate(pairs) if mine != other), min(len(ours), len(theirs)))
    return _shown("".join(ours[at : at + 1])), _shown("".join(theirs[at : at + 1]))


def _shown(value: Any) -> str:
    text = visible(", ".join(map(str, value)) if isinstance(value, list) else str(value) if value else "–")
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _successor(one: SuccessorSide) -> str:
    side = f", says {one.side}" if one.side else ""
    reason = f": {visible(one.reason)}" if one.reason else ""
    return f"replaced by {visible(one.address)} ({one.status}{side}), {visible(one.title)}{reason}"


def quarrels_json(quarrels: MergeConflicts) -> str:
    """Return everything to be decided as one JSON document."""
    return dump(
        {
            "operation": quarrels.operation,
            "conflicts": [_json(one) for one in quarrels.found],
            "then": list(quarrels.then),
        }
    )


def _json(quarrel: MergeConflict) -> dict[str, Any]:
    return {
        "address": quarrel.address,
        "path": quarrel.path,
        "kind": quarrel.kind.name.lower(),
        "labels": list(quarrel.labels),
        "fields": [{"name": one.name, "ours": one.ours, "theirs": one.theirs} for one in quarrel.fields],
        "successors": [
            {
                "address": one.address,
                "title": one.title,
                "status": one.status,
                "reason": one.reason,
                "side": one.side.value if one.side else None,
            }
            for one in quarrel.successors
        ],
        "choices": [{"does": one.does, "command": one.command} for one in quarrel.choices],
    }
