"""One call of a tool, from what the client sent to a page of its answer; no exception of any kind gets past it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from mdmem.access import Access
from mdmem.errors import EnvironmentFaultError, MdmemError, RootNotFoundError, SettingsError, shown_message
from mdmem.mcp.arguments import read_arguments
from mdmem.mcp.paging import Page, page_of
from mdmem.mcp.tools.shape import AT, Facts, Tool
from mdmem.mcp.workspaces import Provider

log = logging.getLogger("mdmem.mcp")

_Result = TypeVar("_Result")
_TRIES = 2
# So many calls are worked on at once: Python runs one thread at a time, and more of them would only pass each other's
# time limits. Who writes may wait for a lock, and holds up nobody who reads.
_AT_ONCE = 4
# With those that a time limit gave up on, which go on to their next file.
_THREADS = 64
# A write's answer has no second page.
_WHOLE = 40_000
# What the verbs say to whoever types a command.
_WORDS = (("name one with --wing", "name one as `wing` or `project`"),)
FAILED, TIMED_OUT = "failed", "timed_out"


class RefusedError(Exception):
    """A call that cannot be done: one sentence for the caller, and the answer's facts where the tool never raises."""

    def __init__(self, sentence: str, page: Page | None = None) -> None:
        """Keep the sentence and the answer."""
        super().__init__(sentence)
        self.page = page


@dataclass(frozen=True, slots=True)
class Limits:
    """What the settings say of a call: seconds for one try, and bytes of the answer."""

    seconds: float = 5
    bytes: int = 8_000


class Calls:
    """Carries calls out in threads, each on a workspace of its own."""

    def __init__(self, provider: Provider) -> None:
        """Take what opens the workspaces."""
        self._provider = provider
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._readers, self._writers = anyio.CapacityLimiter(_AT_ONCE), anyio.CapacityLimiter(_AT_ONCE)

    async def call(self, tool: Tool, given: Mapping[str, Any], access: Access) -> Page:
        """Return the page that a call asks for; raises RefusedError for whatever goes wrong."""
        try:
            arguments = read_arguments(tool, given)
            cursor = arguments.pop("cursor", None)
            limits = await self.in_thread(self._limits)
            async with self._writers if tool.writes else self._readers:
                facts = await self._answer(tool, arguments, access, limits)
            return await self.in_thread(partial(_page, tool, arguments, facts, cursor, limits))
        except MdmemError as error:
            raise _refused(tool, str(error)) from error
        except OSError as error:
            raise _refused(tool, f"the system refuses: {_why(error)}") from error
        except Exception as error:  # the boundary: what a fault of ours says is not for the caller
            log.exception("%s failed", tool.name)
            fault = type(error).__name__
            raise _refused(tool, f"a fault of mdmem itself ({fault}); the server's log on stderr has it") from error

    async def _answer(self, tool: Tool, arguments: dict[str, Any], access: Access, limits: Limits) -> Facts:
        """Return a tool's facts; one that reads falls back where its files cannot be read, or not in time."""
        work = partial(self._call, tool, arguments, access, limits)
        if tool.fall_back is None:
            return await self.in_thread(work)
        tries, seconds = (1, _TRIES * limits.seconds + 1) if tool.keeps_time else (_TRIES, limits.seconds)
        for _ in range(tries):
            with anyio.move_on_after(seconds):
                facts = await self.in_thread(partial(_or_fallen_back, tool, arguments, work), may_be_left=True)
                if facts is not None:
                    return facts
        said = f"no answer within {limits.seconds:g} s, tried {_TRIES} times; go on without the memory, or call again"
        return tool.fall_back(TIMED_OUT, said, arguments)

    def _call(self, tool: Tool, arguments: dict[str, Any], access: Access, limits: Limits) -> Facts:
        from mdmem.workspace.deadline import within

        at = arguments.get(AT.name)
        arguments = {name: value for name, value in arguments.items() if name != AT.name}
        try:
            workspace = self._provider.workspace(access).as_of(at)
        except RootNotFoundError as error:
            if tool.rootless is None or self._provider.is_named:
                raise
            return tool.rootless(self._provider.cwd, str(error), **arguments)
        if tool.fall_back is not None and not tool.keeps_time:
            # Whoever goes on past the limit, for nobody, is stopped at the next file.
            workspace = within(workspace, limits.seconds, clock=monotonic)
        facts = tool.call(workspace, **arguments)
        return {**facts, AT.name: list(workspace.snapshot.remarks)} if workspace.snapshot.remarks else facts

    def _limits(self) -> Limits:
        try:
            settings = self._provider.settings()
        except (MdmemError, OSError):
            return Limits()
        return Limits(settings.timeout_seconds, settings.answer_bytes)

    async def in_thread(self, work: Callable[[], _Result], *, may_be_left: bool = False) -> _Result:
        """Return what some work returns that may block; `may_be_left` lets a time limit go on without it."""
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=may_be_left, limiter=self._threads)


def _or_fallen_back(tool: Tool, arguments: Mapping[str, Any], work: Callable[[], Facts]) -> Facts | None:
    """Return what a tool answers, or that its files cannot be read: an agent goes on without its memory then.

    None where the time was over.
    """
    from mdmem.workspace.deadline import OverdueError

    if tool.fall_back is None:
        return work()
    try:
        return work()
    except OverdueError:
        return None
    except (EnvironmentFaultError, SettingsError, RootNotFoundError) as error:
        return tool.fall_back(FAILED, str(error), arguments)
    except OSError as error:
        return tool.fall_back(FAILED, _why(error), arguments)


def _why(error: OSError) -> str:
    """Return what the system said, without the path: it may lie in what the caller does not see."""
    return (error.strerror or type(error).__name__).lower()


def _page(tool: Tool, arguments: Mapping[str, Any], facts: Facts, cursor: str | None, limits: Limits) -> Page:
    asked = json.dumps([tool.name, arguments], default=str) if tool.is_paged else ""
    limit = limits.bytes if tool.is_paged else max(limits.bytes, _WHOLE)
    return page_of(facts, limit=limit, asked=asked, cursor=cursor, binds=tool.binds, has_more=tool.is_paged)


def _refused(tool: Tool, said: str) -> RefusedError:
    for typed, called in _WORDS:
        said = said.replace(typed, called)
    sentence = shown_message(said if said.startswith(tool.name) else f"{tool.name}: {said}")
    return RefusedError(sentence, None if tool.refuse is None else page_of(tool.refuse(sentence), limit=_WHOLE))
