"""The tools that are listed with a hub: what a list and a question for owners are of, an agent says by `repository`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Unpack

from msgspec.structs import replace
from pydantic import Field

from mdmem.ask.entries import in_full, list_entries, stance_of
from mdmem.mcp.arguments import Text
from mdmem.mcp.tools.context import CONTEXT
from mdmem.mcp.tools.core import CORE, Widened, question_of
from mdmem.mcp.tools.lifecycle import LIFECYCLE
from mdmem.mcp.tools.shape import Told, Tool
from mdmem.model.lineage import marked
from mdmem.render.entries import entry_list
from mdmem.render.ink import Ink
from mdmem.render.json import entries_json
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.hub.owners import WhoReport


def _list(
    workspace: Workspace,
    *,
    limit: Annotated[int, Field(ge=1, le=1_000, description="Entries at most.")] = 100,
    **filters: Unpack[Widened],
) -> Told:
    found = list_entries(workspace, question_of(None, filters).filters)
    more = max(0, len(found) - limit)

    def text() -> str:
        marks = {entry.address: " ".join(marked(stance_of(workspace, entry))) for entry in found[:limit]}
        listed = entry_list(found[:limit], Ink(), marks) if found else "No entry passes these filters."
        return f"{listed}\n\n{more} more; raise `limit` to see them" if more else listed

    return Told(text=text, facts=lambda: {**entries_json(in_full(workspace, found[:limit])), "more": more})


_LIST = Tool(
    name="list",
    title="List entries by filters",
    about="Which entries are there, a line each by address: those in force, all or those that pass the filters.",
    call=_list,
    noise=frozenset(("body",)),
)


def _who(workspace: Workspace, *, query: Annotated[Text, Field(description="`wing/room/entry-id`, or words.")]) -> Told:
    from mdmem.hub.owners import who_in

    return told_of(who_in(workspace, query))


def told_of(report: WhoReport) -> Told:
    """Return owners and dependents in both forms."""
    from mdmem.render.hub_answers import who_json, who_remarks, who_text

    return Told(
        text=lambda: "\n\n".join([who_text(report, ink=Ink(), now=None), *who_remarks(report)]),
        facts=lambda: dict(json.loads(who_json(report, now=None))),
    )


_WHO = Tool(
    name="who",
    title="Owners and dependents of a rule",
    about=(
        "Before changing a rule that others may rely on: who answers for it, which entries link it and which "
        "repositories pin it, in all repositories."
    ),
    call=_who,
)


def _with_hub(tool: Tool) -> Tool:
    if tool.writes:
        return replace(tool, about=f"{tool.about} It writes this clone's files, never the hub.")
    return replace(tool, asks_hub=True)


# What is checked was just written, and a text is outlined from the caller's own sources, too: no hub has these.
_OF_ROOT = ("check", "synthesis_plan")
OF_HUB: Mapping[str, Tool] = {
    tool.name: _with_hub(tool) for tool in (*CORE, *LIFECYCLE, *CONTEXT, _LIST, _WHO) if tool.name not in _OF_ROOT
}
"""The tools that are listed with a hub, by name: in the place of those of the same name, and two beside them."""

BESIDE = (_LIST.name, _WHO.name)
