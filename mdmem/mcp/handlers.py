"""Resources, prompts and completion as the protocol has them: each request on the memory as it is at that moment."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import monotonic
from typing import TypeVar

import anyio
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    PromptMessage,
    PromptReference,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    TextContent,
)
from mcp_types import Prompt as ListedPrompt

from mdmem.access import Access
from mdmem.errors import EnvironmentFaultError, MdmemError, RootNotFoundError, SettingsError, UsageError
from mdmem.errors import NotFoundError as NothingFoundError
from mdmem.guide import topics
from mdmem.mcp.arguments import nearest, shown
from mdmem.mcp.dispatch import Calls
from mdmem.mcp.listings import rooms_of
from mdmem.mcp.prompts import PROMPTS, find_prompt, present_of, text_of
from mdmem.mcp.resources import TEMPLATES, find_kind, fixed, of_memory, read_kind
from mdmem.mcp.tool_call import Limits
from mdmem.mcp.workspaces import Provider
from mdmem.workspace.deadline import OverdueError, within
from mdmem.workspace.wings import find_wing
from mdmem.workspace.workspace import Workspace

_Result = TypeVar("_Result")
# The protocol takes no more values of a completion.
_MOST = 100


class Handlers:
    """What the server offers beside its tools, for whoever calls."""

    def __init__(
        self,
        provider: Provider,
        calls: Calls,
        *,
        access: Callable[[], Access],
        profile: Callable[[], Awaitable[str]],
    ) -> None:
        """Take what opens the workspaces, the threads, and what says who calls and which tools are listed."""
        self._provider, self._calls, self._access, self._profile = provider, calls, access, profile

    async def resources(self) -> list[Resource]:
        """Return the resources that every memory has, and the wings and rooms, where they can be read in time."""
        listed = list(fixed())
        # A client that lists what there is must not fail for a memory that is not there yet.
        with contextlib.suppress(MdmemError, OSError):
            listed += await self._on_memory(lambda workspace: list(of_memory(workspace)))
        return [Resource.model_validate(one.listed()) for one in listed]

    def templates(self) -> list[ResourceTemplate]:
        """Return the kinds of resources that have an address of many forms."""
        return [
            ResourceTemplate(
                uri_template=template, name=kind.name, title=kind.title, description=kind.about, mime_type=kind.mime
            )
            for template, kind in TEMPLATES.items()
        ]

    async def read(self, uri: str) -> list[ReadResourceContents]:
        """Return the text of a resource.

        Raises ResourceNotFoundError, which names the nearest, and ResourceError where the memory cannot be read.
        """
        try:
            kind, parts = find_kind(uri)
            if kind.still is not None:
                return [ReadResourceContents(read_kind(None, kind, parts), kind.mime)]
            text = await self._on_memory(lambda workspace: read_kind(workspace, kind, parts))
        except (RootNotFoundError, SettingsError, EnvironmentFaultError) as error:
            raise ResourceError(str(error)) from error
        except (NothingFoundError, UsageError) as error:
            raise ResourceNotFoundError(str(error)) from error
        except (MdmemError, OSError) as error:
            raise ResourceError(_said(error)) from error
        return [ReadResourceContents(text, kind.mime)]

    def prompts(self) -> list[ListedPrompt]:
        """Return the prompts with their arguments."""
        return [ListedPrompt.model_validate(one.listed()) for one in PROMPTS.values()]

    async def prompt(self, name: str, given: Mapping[str, object]) -> GetPromptResult:
        """Return the messages of a prompt; raises MCPError for arguments that do not fit.

        Where the memory cannot be read, the messages say so, and what to do is the same.
        """
        try:
            prompt = find_prompt(name)
        except NothingFoundError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        try:
            arguments = prompt.arguments.read(given)
            profile = await self._profile()
            present = await self._on_memory(lambda workspace: present_of(prompt, workspace, arguments))
        except (NothingFoundError, UsageError, SettingsError) as error:
            raise MCPError(INVALID_PARAMS, f"{name}: {error}") from error
        except (MdmemError, OSError) as error:
            present = f"The memory cannot be read now: {_said(error)}"
        messages = (text_of(prompt, arguments, profile), present)
        content = [PromptMessage(role="user", content=TextContent(type="text", text=text)) for text in messages]
        return GetPromptResult(description=prompt.about, messages=content)

    async def complete(
        self,
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        """Return what may stand for an argument of a template or a prompt; raises MCPError for one that is none."""
        asked = _asked(ref, argument.name)
        known = (context.arguments if context is not None else None) or {}
        if asked is None:
            return Completion(values=[], total=0, has_more=False)
        try:
            return await self._on_memory(lambda workspace: _completion(workspace, asked, argument.value, known))
        except (MdmemError, OSError):
            return Completion(values=[], total=0, has_more=False)

    async def _on_memory(self, work: Callable[[Workspace], _Result]) -> _Result:
        """Return what some work on a workspace of its own comes to; raises EnvironmentFaultError past its time."""
        access = self._access()
        seconds = await self._calls.in_thread(self._seconds)
        with anyio.move_on_after(seconds):
            found = await self._calls.in_thread(lambda: self._timed(work, access, seconds))
            if found:
                return found[0]
        raise EnvironmentFaultError(f"no answer within {seconds:g} s; ask again")

    def _timed(self, work: Callable[[Workspace], _Result], access: Access, seconds: float) -> tuple[_Result] | None:
        try:
            # Whoever goes on past the limit, for nobody, is stopped at the next file.
            workspace = within(self._provider.workspace(access), seconds, clock=monotonic)
            return (work(workspace),)
        except OverdueError:
            return None

    def _seconds(self) -> float:
        try:
            return self._provider.settings().timeout_seconds
        except (MdmemError, OSError):
            return Limits().seconds


def _said(error: MdmemError | OSError) -> str:
    """Return what went wrong; of the system's own words not the path, which may lie in what the caller does not see."""
    return (
        f"the system refuses: {(error.strerror or type(error).__name__).lower()}"
        if isinstance(error, OSError)
        else str(error)
    )


def _asked(ref: PromptReference | ResourceTemplateReference, name: str) -> str | None:
    """Return what an argument stands for, None for one that is free text; raises MCPError."""
    if isinstance(ref, PromptReference):
        if ref.name not in PROMPTS:
            raise MCPError(INVALID_PARAMS, _no_such("prompt", ref.name, PROMPTS))
        return (
            name if name in ("wing", "address") and name in PROMPTS[ref.name].arguments.schema["properties"] else None
        )
    if ref.uri not in TEMPLATES:
        raise MCPError(INVALID_PARAMS, _no_such("template", ref.uri, TEMPLATES))
    return name if name in TEMPLATES[ref.uri].parts else None


def _no_such(kind: str, named: str, known: Mapping[str, object]) -> str:
    close = nearest(named, known)
    hint = f"did you mean `{close}`?" if close else f"there is {', '.join(f'`{one}`' for one in known)}"
    return f"there is no {kind} {shown(named)}; {hint}"


def _completion(workspace: Workspace, name: str, typed: str, known: Mapping[str, str]) -> Completion:
    """Return what may stand for an argument, what begins so first; `known` are the arguments that stand already."""
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
