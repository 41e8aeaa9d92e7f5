"""The tools that are listed with a hub: the reading tools take a repository, and three tools more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Unpack

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from mdmem.ask.question import Question
from mdmem.ask.show import in_full, list_entries, stance_of
from mdmem.mcp.arguments import Listed, Text, Type
from mdmem.mcp.tools.context import CONTEXT
from mdmem.mcp.tools.core import CORE, Widened, question_of
from mdmem.mcp.tools.lifecycle import LIFECYCLE
from mdmem.mcp.tools.shape import Tool, ToolResult
from mdmem.model.entry import EntryType
from mdmem.model.lineage import marked
from mdmem.render.entries import entry_list
from mdmem.render.ink import Ink
from mdmem.render.json import entries_json
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace


class OpenedHub(Struct, frozen=True):
    """What the tools over all repositories take in place of a workspace: a cursor, and the names that narrow it."""

    cursor: Any
    repositories: tuple[str, ...] = ()


def _list(
    workspace: Workspace,
    *,
    limit: Annotated[int, Field(ge=1, le=1_000, description="Entries at most.")] = 100,
    **filters: Unpack[Widened],
) -> ToolResult:
    found = list_entries(workspace, question_of(None, filters).filters)
    more = max(0, len(found) - limit)

    def text() -> str:
        marks = {entry.address: " ".join(marked(stance_of(workspace, entry))) for entry in found[:limit]}
        listed = entry_list(found[:limit], Ink(), marks) if found else "No entry passes these filters."
        return f"{listed}\n\n{more} more; raise `limit` to see them" if more else listed

    return ToolResult(text=text, facts=lambda: {**entries_json(in_full(workspace, found[:limit])), "more": more})


_LIST = Tool(
    name="list",
    title="List entries by filters",
    about="Which entries are there, a line each by address: the current ones, all or those that pass the filters.",
    call=_list,
    noise=frozenset(("body",)),
)


def _hub_search(
    hub: OpenedHub,
    *,
    query: Annotated[Text, Field(description="Plain words.")],
    limit: Annotated[int, Field(ge=1, le=100, description="Hits at most.")] = 10,
    types: Annotated[tuple[Type, ...] | None, Listed, Field(default=None, description="Only these.")],
) -> ToolResult:
    # PostgreSQL's library is loaded only with a hub.
    from mdmem.hub.search import search_hub
    from mdmem.render.hub import hub_search_json, hub_search_text, search_remarks

    filters = Filters(types=tuple(map(EntryType, types or ())))
    question = Question(words=query, filters=filters)
    found = search_hub(hub.cursor, question, repositories=hub.repositories, limit=limit)
    status = "succeeded" if found.hits else "empty"
    return ToolResult(
        text=lambda: "\n\n".join(filter(None, [hub_search_text(found, ink=Ink()), *search_remarks(found)])),
        facts=lambda: {"retrieval_status": status, **hub_search_json(found)},
    )


_HUB_SEARCH = Tool(
    name="hub_search",
    title="Search the memories of all repositories",
    about=(
        "Find other repositories of the organisation that have a rule or a decision on a subject. "
        "What is binding there, `retrieve` with that `repository` answers."
    ),
    call=_hub_search,
    noise=frozenset(("score", "wing", "room")),
    asks_hub=True,
)


def _who(
    hub: OpenedHub,
    *,
    query: Annotated[Text, Field(description="`wing/room/entry-id`, or words.")],
) -> ToolResult:
    from mdmem.hub.who import who
    from mdmem.render.hub import who_json, who_remarks, who_text

    report = who(hub.cursor, query, repositories=hub.repositories)
    return ToolResult(
        text=lambda: "\n\n".join([who_text(report, ink=Ink()), *who_remarks(report)]),
        facts=lambda: who_json(report),
    )


_WHO = Tool(
    name="who",
    title="Owners and dependents of a rule",
    about=(
        "Before changing a rule that others may rely on: who is responsible for it, which entries link it and which "
        "repositories pin it, in all repositories."
    ),
    call=_who,
    asks_hub=True,
)


def _with_hub(tool: Tool) -> Tool:
    if tool.writes:
        return replace(tool, about=f"{tool.about} It writes this clone's files, never the hub.")
    return replace(tool, asks_hub=True)


# Checks are of what was just written, and a synthesis starts from the caller's own sources: no hub has these.
_OF_ROOT = ("check", "synthesis_plan")
OVER_ALL = (_HUB_SEARCH.name, _WHO.name)
"""The tools that ask all repositories at once: they take an `OpenedHub`."""

OF_HUB: Mapping[str, Tool] = {
    **{tool.name: _with_hub(tool) for tool in (*CORE, *LIFECYCLE, *CONTEXT, _LIST) if tool.name not in _OF_ROOT},
    **{tool.name: tool for tool in (_HUB_SEARCH, _WHO)},
}
"""The tools that are listed with a hub, by name."""

BESIDE = (_LIST.name, *OVER_ALL)
