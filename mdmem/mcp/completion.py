"""What completes an argument: the wings, rooms and entries that the caller sees, those that begin so first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdmem.guide import topics
from mdmem.mcp.listings import rooms_of

if TYPE_CHECKING:
    from mdmem.workspace.workspace import Workspace

# The protocol takes no more.
MOST = 100


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """The values that fit, a hundred at most, and how many there are."""

    values: tuple[str, ...]
    total: int


def complete(workspace: Workspace, name: str, typed: str, known: Mapping[str, str]) -> CompletionResult:
    """Return what may stand for an argument; `known` are the arguments that stand already."""
    folded = typed.casefold()
    fitting = [one for one in _candidates(workspace, name, known) if folded in one.casefold()]
    fitting.sort(key=lambda one: (not one.casefold().startswith(folded), one))
    return CompletionResult(tuple(fitting[:MOST]), len(fitting))


def _candidates(workspace: Workspace, name: str, known: Mapping[str, str]) -> Iterable[str]:
    from mdmem.workspace.scope import find_wing

    catalog = workspace.catalog
    named = known.get("wing")
    wings = [wing] if named and (wing := find_wing(named, catalog.wings)) is not None else list(catalog.wings)
    if name == "wing":
        return catalog.wings
    if name == "room":
        return {room for wing in wings for room in rooms_of(catalog, wing)}
    if name == "address":
        return (one for one in catalog.entries if catalog.lineage.is_current(one))
    if name == "topic":
        return topics()
    if name == "entry_id":
        room = known.get("room")
        entries = (one for one in catalog.entries.values() if one.wing in wings and room in (None, "", one.room))
        return {one.address.rsplit("/", 1)[1] for one in entries}
    return ()
