"""Define the MCP resources: texts that a client may read without a tool call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve
from mdmem.ask.show import list_entries, list_problems, show, show_one
from mdmem.errors import MdmemError, NotFoundError, RootNotFoundError, UsageError
from mdmem.guide import page, summary, topics
from mdmem.mcp.answers import cut, safe_text
from mdmem.mcp.calls import system_refusal
from mdmem.mcp.tools.core import list_text
from mdmem.model.entry import EntryType
from mdmem.render.answers import problems_text
from mdmem.render.entries import shown_text
from mdmem.render.text import Style, one_line
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace

OnMemory = Callable[[Callable[[Workspace], str]], Awaitable[str]]

# Lists of titles are plain text, so that markup in a title has no effect.
_MARKDOWN, _PLAIN = "text/markdown", "text/plain"
_PROBLEMS = 20
# Every line of an entry is quoted.
_QUOTED = Style(is_markdown=True)
# A budget in tokens that nothing exceeds, since this module cuts texts that are too long.
_WITHOUT_LIMIT = 10**9


def add_resources(server: MCPServer[Any], on_memory: OnMemory) -> None:
    """Add the resources to a server; `on_memory` calls a function with the caller's workspace."""

    async def read(text_of: Callable[[Workspace], str]) -> str:
        try:
            return cut(safe_text(await on_memory(text_of)))
        except OSError as error:
            raise ResourceError(system_refusal(error)) from error
        except MdmemError as error:
            is_absent = isinstance(error, (NotFoundError, UsageError)) and not isinstance(error, RootNotFoundError)
            raise (ResourceNotFoundError if is_absent else ResourceError)(str(error)) from error

    def resource(uri: str, name: str, title: str, description: str, mime: str = _MARKDOWN) -> Callable[..., Any]:
        return server.resource(uri, name=name, title=title, description=description, mime_type=mime)

    @resource("mdmem://invariants", "invariants", "Invariants", "The invariants of the active wing, in full.")
    async def invariants() -> str:
        return await read(_invariants)

    @resource("mdmem://entry/{wing}/{room}/{entry_id}", "entry", "Entry", "One entry in full, with its state.")
    async def entry(wing: str, room: str, entry_id: str) -> str:
        return await read(lambda workspace: shown_text([show_one(workspace, f"{wing}/{room}/{entry_id}")], _QUOTED))

    @resource("mdmem://wing/{wing}", "wing", "Wing", "The current entries of a wing.", _PLAIN)
    async def wing(wing: str) -> str:
        return await read(lambda workspace: _wing(workspace, wing))

    for topic in topics():
        resource(f"mdmem://guide/{topic}", f"guide/{topic}", f"Guide: {topic}", summary(topic))(partial(page, topic))


def _invariants(workspace: Workspace) -> str:
    question = Question(filters=Filters(types=(EntryType.INVARIANT,)))
    (answer,) = retrieve(workspace, question, budget=_WITHOUT_LIMIT).all
    wing = f" of the wing `{answer.scope.wing}`" if answer.scope.wing else ""
    found = [item.address for item in answer.items]
    shown = shown_text(show(workspace, found), _QUOTED) if found else "There is none."
    return "\n\n".join([f"# Invariants{wing}", *problems_text(answer.basis), shown])


def _wing(workspace: Workspace, name: str) -> str:
    filters = Filters(wings=(name,))
    listed = list_text(workspace, list_entries(workspace, filters)) or "No entry is current."
    problems = [f"{one.place.path}: {one.message}" for one in list_problems(workspace, filters)]
    problems[_PROBLEMS:] = [f"and {len(problems) - _PROBLEMS} more"] if problems[_PROBLEMS:] else []
    head = ["These files cannot be read in full, and may have rules:", *problems, ""] if problems else []
    return "\n".join([f"# Wing `{one_line(name)}`", "", *head, listed, ""])
