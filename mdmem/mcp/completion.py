"""Completion of the arguments of prompts and resource templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mcp_types import Completion, PromptReference, ResourceTemplateReference

from mdmem.errors import NotFoundError
from mdmem.guide import topics
from mdmem.mcp.arguments import hint, shown
from mdmem.mcp.listings import rooms_of
from mdmem.mcp.prompts import find_prompt
from mdmem.mcp.resources import TEMPLATES
from mdmem.store.workspace.scope import find_wing
from mdmem.store.workspace.workspace import Workspace

# The protocol takes no more values.
_MOST = 100


def completed_argument(ref: PromptReference | ResourceTemplateReference, name: str) -> str | None:
    """Return the argument that can be completed, None for free text; raises NotFoundError with the nearest name."""
    if isinstance(ref, PromptReference):
        known = find_prompt(ref.name).arguments.schema["properties"]
        return name if name in ("wing", "address") and name in known else None
    if ref.uri not in TEMPLATES:
        raise NotFoundError(f"there is no template {shown(ref.uri)}; {hint(ref.uri, TEMPLATES)}")
    return name if name in TEMPLATES[ref.uri].parts else None


def complete(workspace: Workspace, name: str, typed: str, known: Mapping[str, str]) -> Completion:
    """Return values for an argument, those that begin as typed first; `known` are the arguments that stand already."""
    folded = typed.casefold()
    fitting = [one for one in _candidates(workspace, name, known) if folded in one.casefold()]
    fitting.sort(key=lambda one: (not one.casefold().startswith(folded), one))
    return Completion(values=fitting[:_MOST], total=len(fitting), has_more=len(fitting) > _MOST)


def _candidates(workspace: Workspace, name: str, known: Mapping[str, str]) -> Iterable[str]:
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
