"""What a merge left to be decided, as text and JSON: each side's words, then the choices with what to type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mdmem.change.conflicts import ConflictKind, FieldSides, MergeConflict, MergeConflicts, SuccessorSide
from mdmem.model.entry import visible
from mdmem.render.ink import Ink
from mdmem.render.json import dump

# As much of a text as tells two sides apart.
_SHOWN = 60
_OF_TEXT = (ConflictKind.CONTENT, ConflictKind.ADDED)


def conflicts_text(conflicts: MergeConflicts, ink: Ink) -> str:
    """Return one block for each thing to be decided, of several without the choices, and what to type when all are."""
    is_one = len(conflicts.found) == 1
    blocks = ["\n".join([*_sides(one, ink), *(_choices if is_one else _next)(one, ink)]) for one in conflicts.found]
    if conflicts.then:
        blocks.append("\n".join(["when all is decided:", *(f"  {one}" for one in conflicts.then)]))
    return "\n\n".join(blocks)


def _sides(conflict: MergeConflict, ink: Ink) -> Iterator[str]:
    yield f"{ink.bold(visible(conflict.address))}: {conflict.kind}"
    ours, theirs = conflict.labels
    width = max(len(ours), len(theirs))
    # Whose a successor is, stands beside it.
    is_told = conflict.successors and all(one.side for one in conflict.successors)
    for one in conflict.fields:
        if not (is_told and one.name == "superseded_by"):
            yield f"  {one.name}"
            for label, value in zip((ours, theirs), _pair(one), strict=True):
                yield f"    {visible(label):<{width}}  {value}"
    for successor in conflict.successors:
        yield f"  {_successor(successor)}"


def _choices(conflict: MergeConflict, ink: Ink) -> Iterator[str]:
    if conflict.choices:
        yield "  choices"
    for choice in conflict.choices:
        yield f"    {_shortened(choice.does, conflict)}"
        yield f"      {ink.added(choice.command)}"
    if conflict.fields:
        yield f"    or edit {visible(conflict.path)} by hand, and take the marks out"


def _next(conflict: MergeConflict, ink: Ink) -> Iterator[str]:
    """Yield the one choice there is, or what shows all of them; of a file without a mark, what takes it as it is."""
    if conflict.kind in _OF_TEXT and conflict.choices and conflict.choices[0].command.startswith("git "):
        yield f"  no mark is left in it; {ink.added(conflict.choices[0].command)} takes it as it is"
    elif len(conflict.choices) == 1:
        yield f"  {ink.added(conflict.choices[0].command)}"
    elif conflict.choices:
        shown = ink.added(f"mdmem resolve {conflict.address}")
        yield f"  {shown} shows the {len(conflict.choices)} choices"


def _shortened(does: str, conflict: MergeConflict) -> str:
    """Return what a choice does, with the ids of successors that have different ones."""
    ids = {one.address: one.address.rpartition("/")[2] for one in conflict.successors}
    if len(set(ids.values())) < len(ids):
        return does
    for address in sorted(ids, key=len, reverse=True):
        does = does.replace(address, ids[address])
    return does


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


def conflicts_json(conflicts: MergeConflicts) -> str:
    """Return everything to be decided as one JSON document."""
    return dump(
        {
            "operation": conflicts.operation,
            "conflicts": [_json(one) for one in conflicts.found],
            "then": list(conflicts.then),
        }
    )


def _json(conflict: MergeConflict) -> dict[str, Any]:
    return {
        "address": conflict.address,
        "path": conflict.path,
        "kind": conflict.kind.name.lower(),
        "labels": list(conflict.labels),
        "fields": [{"name": one.name, "ours": one.ours, "theirs": one.theirs} for one in conflict.fields],
        "successors": [
            {
                "address": one.address,
                "title": one.title,
                "status": one.status,
                "reason": one.reason,
                "side": one.side.value if one.side else None,
            }
            for one in conflict.successors
        ],
        "choices": [{"does": one.does, "command": one.command} for one in conflict.choices],
    }
