"""Answer tool calls from a hub: search all its repositories, or run a reading tool on the copy of one repository.

A hub is a shared database of the memories of many repositories.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any, Unpack

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from mdmem.ask.answer import Question
from mdmem.ask.search import branch_state_notes, in_full, list_entries
from mdmem.errors import UsageError
from mdmem.hub.connection import Limits, open_hub, transaction
from mdmem.hub.copy import CopyKey, CopyWorkspace, copy_key, load_copy
from mdmem.hub.search import search_hub, who
from mdmem.mcp.calls import AnswerOfRoot, ToolCall, with_remarks
from mdmem.mcp.tools import tools_of
from mdmem.mcp.tools.core import WideFilterArguments, question_of
from mdmem.mcp.tools.tool import AT, REPOSITORY, Listed, Text, Tool, ToolResult, Type, optional, tool
from mdmem.model.entry import EntryType
from mdmem.render.entries import entries_json, entry_list
from mdmem.render.hub import hub_search_json, hub_search_text, search_remarks, who_json, who_remarks, who_text
from mdmem.render.text import Style
from mdmem.store.settings import Profile
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace

_LIMITS = Limits(connect=3, statement=3, total=10)
# The most copies of repositories that stay loaded. A copy takes a few KB for each file.
_MAX_COPIES = 8


class OpenedHub(Struct, frozen=True):
    """The hub as an argument of the search tools: a cursor and the repositories to search (empty for all)."""

    cursor: Any
    repositories: tuple[str, ...] = ()


@tool("List entries by filters", noise=("body",), asks_hub=True)
def _list(
    workspace: Workspace,
    *,
    limit: Annotated[int, optional("Maximum entries.", default=100, ge=1, le=1_000)],
    **filters: Unpack[WideFilterArguments],
) -> ToolResult:
    """List entries by address, one a line: the current ones, all, or those that pass filters."""
    found = list_entries(workspace, question_of(None, filters).filters)
    more = max(0, len(found) - limit)

    def text() -> str:
        if not found:
            return "No entry passes these filters."
        # Entries that are only proposed or not approved are marked.
        listed = entry_list(found[:limit], Style(), branch_state_notes(workspace, found[:limit]))
        return f"{listed}\n\n{more} more; raise `limit` to see them" if more else listed

    return ToolResult(text=text, facts=lambda: {**entries_json(in_full(workspace, found[:limit])), "more": more})


@tool("Search the memories of all repositories", noise=("score", "wing", "room"), asks_hub=True)
def _hub_search(
    hub: OpenedHub,
    *,
    query: Annotated[Text, Field(description="Plain words.")],
    limit: Annotated[int, optional("Maximum results.", default=10, ge=1, le=100)],
    types: Annotated[tuple[Type, ...] | None, Listed, optional("Only these.")],
) -> ToolResult:
    """Find other repositories of the organisation that have a rule or a decision on a subject. For what is binding
    there, call `retrieve` with that `repository`.
    """
    question = Question(words=query, filters=Filters(types=tuple(map(EntryType, types or ()))))
    found = search_hub(hub.cursor, question, repositories=hub.repositories, limit=limit)
    status = "succeeded" if found.entries else "empty"
    return ToolResult(
        text=lambda: "\n\n".join(filter(None, [hub_search_text(found, Style()), *search_remarks(found)])),
        facts=lambda: {"retrieval_status": status, **hub_search_json(found)},
    )


@tool("Owners and dependents of a rule", asks_hub=True)
def _who(hub: OpenedHub, *, query: Annotated[Text, Field(description="`wing/room/entry-id`, or words.")]) -> ToolResult:
    """Before changing a rule that others may rely on: who is responsible for it, which entries link it and which
    repositories pin it, in all repositories.
    """
    report = who(hub.cursor, query, repositories=hub.repositories)
    return ToolResult(
        text=lambda: "\n\n".join([who_text(report, Style()), *who_remarks(report)]), facts=lambda: who_json(report)
    )


# The other tools are not offered for a hub: checks are for files that were just written, and a synthesis plan starts
# from the caller's own sources.
_OF_CLONE = ("retrieve", "search", "get_entry", "why", "propose", "context", "remember")
_ONLY_OF_HUB = (_list, _hub_search, _who)
_OVER_ALL = (_hub_search.name, _who.name)


class HubAnswers:
    """Answers tool calls from a hub, with a new connection for each call. Recently used copies stay in memory.

    A call without a repository is answered from the local clone. A caller who may see only some wings of the clone
    cannot ask the hub.
    """

    def __init__(
        self, dsn: str, token: str | None, *, environment: Mapping[str, str], today: Callable[[], date]
    ) -> None:
        """Store the database of the hub and the token; no connection is opened yet."""
        self._dsn, self._token, self._environment, self._today = dsn, token, environment, today
        self._copies: dict[tuple[CopyKey, date], CopyWorkspace] = {}
        self._turn = threading.Lock()

    @staticmethod
    def tools_of(profile: str) -> tuple[Tool, ...]:
        """Return a profile's tools, most with an argument `repository`.

        The profiles `core` and `test` also get three tools that only the hub answers.
        """
        tools = [
            replace(one, about=f"{one.about} It writes this clone's files, never the hub.")
            if one.writes and one.name in _OF_CLONE
            else replace(one, asks_hub=one.name in _OF_CLONE)
            for one in tools_of(profile)
        ]
        return (*tools, *(_ONLY_OF_HUB if Profile(profile) in (Profile.CORE, Profile.TEST) else ()))

    def answer(self, call: ToolCall, of_clone: AnswerOfRoot) -> ToolResult:
        """Return a tool's answer, for calls without a repository that of the local clone (`of_clone`).

        Raises NotFoundError if the caller may not see the repository or the hub does not have it, and UsageError for a
        call that only the clone can answer.
        """
        call, repository = _with_repository(call)
        is_over_all = call.tool.name in _OVER_ALL
        if repository is None and not is_over_all:
            return of_clone(call)
        if call.access.is_narrow:
            raise UsageError("the hub answers only callers whose token opens every wing of this memory")
        if call.arguments.get(AT) is not None:
            raise UsageError("the hub has only one commit of each repository; leave out `at`")
        # All statements of the transaction read the same moment.
        with (
            open_hub(self._dsn, self._token, limits=_LIMITS) as connection,
            transaction(connection, is_snapshot=True) as cursor,
        ):
            if repository is None or is_over_all:
                return call.run(OpenedHub(cursor, (repository,) if repository else ()))
            key = (copy_key(cursor, repository), self._today())
            # The copy of an earlier call is used again if the rows are the same.
            copy = self._copies.get(key)
            if copy is None:
                loaded = load_copy(cursor, key[0], environment=self._environment, today=key[1])
                # The first index of many entries takes longer than a call may. Until then, titles are searched.
                copy = replace(loaded, is_timed=True)
        with self._turn:
            # The copies are in the order of their last use.
            self._copies.pop(key, None)
            self._copies[key] = copy
            while len(self._copies) > _MAX_COPIES:
                self._copies.pop(next(iter(self._copies)))
        # The session remembers shown entries of the local memory. The repository may have the same addresses.
        answer = replace(call, shown={}).run(copy)
        return replace(with_remarks(answer, copy.snapshot.remarks), shown={})


def _with_repository(call: ToolCall) -> tuple[ToolCall, str | None]:
    """Return a call with plain addresses, and its one repository: an argument, or a part of its addresses."""
    repository = call.arguments.get(REPOSITORY)
    typed = call.arguments.get("address")
    addresses = [typed] if isinstance(typed, str) else list(typed or ())
    split = [one.strip().rpartition(":") for one in addresses]
    names = {name for name, colon, _ in split if colon}
    if not names:
        return call, repository
    if len(names | ({repository} - {None})) > 1 or not all(colon for _, colon, _ in split):
        raise UsageError("the addresses belong to several repositories; ask about one repository at a time")
    plain: Any = [address for *_, address in split]
    arguments = {**call.arguments, "address": plain[0] if isinstance(typed, str) else plain}
    return replace(call, arguments=arguments), names.pop()
