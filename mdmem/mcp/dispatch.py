"""Calls of tools beside each other, in threads: none holds up another, and one that reads is given up in time."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import anyio

from mdmem.access import Access
from mdmem.mcp.pages import Page
from mdmem.mcp.session import Session
from mdmem.mcp.tool_call import TIMED_OUT, OtherMemories, ToolCall, ToolCalls, refusing
from mdmem.mcp.tools.shape import Facts, Tool
from mdmem.mcp.workspaces import Provider
from mdmem.reply import replying

_Result = TypeVar("_Result")
_TRIES = 2
# So many calls are worked on at once: Python runs one thread at a time, and more of them would only pass each other's
# time limits. Who writes may wait for a lock, and holds up nobody who reads.
_AT_ONCE = 4


class Calls(ToolCalls):
    """Carries calls out in threads, each on a workspace of its own."""

    def __init__(self, provider: Provider, session: Session | None = None, hub: OtherMemories | None = None) -> None:
        """Take what opens the workspaces, the session of the one client where there is one that stays, and a hub."""
        super().__init__(provider, session, hub)
        self._readers, self._writers = anyio.CapacityLimiter(_AT_ONCE), anyio.CapacityLimiter(_AT_ONCE)

    async def call(self, tool: Tool, given: Mapping[str, Any], access: Access) -> Page:
        """Return the page that a call asks for; raises RefusedError for whatever goes wrong."""
        with refusing(tool):
            asked = self._asked(tool, given, access, await self.in_thread(self.limits))
            async with self._writers if tool.writes else self._readers:
                with replying() as reply:
                    page = await self._answer(asked)
                # A client that goes before its answer cancels this call, and may send it again.
                reply.has_left()
            if self._session is not None:
                self._session.give(page.gave)
            return page

    async def _answer(self, asked: ToolCall) -> Page:
        """Return a tool's page; one that reads falls back where its files cannot be read, or not in time."""
        tool, limits = asked.tool, asked.limits
        if tool.fall_back is None:
            return await self.in_thread(partial(self._call, asked))
        tries, seconds = (1, _TRIES * limits.seconds + 1) if tool.keeps_time else (_TRIES, limits.seconds)
        for _ in range(tries):
            with anyio.move_on_after(seconds):
                page = await self.in_thread(partial(self._or_fallen_back, asked))
                if page is not None:
                    return page
        said = f"no answer within {limits.seconds:g} s, tried {_TRIES} times; go on without the memory, or call again"
        beside: Facts = {}
        with anyio.move_on_after(limits.seconds):
            beside = await self.in_thread(partial(self._outside, asked))
        said += "; what stands under `fallback` is from outside the memory and binds nobody" if beside else ""
        return asked.page({**tool.fall_back(TIMED_OUT, said, asked.arguments), **beside})

    async def in_thread(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of work that may block; whoever is cancelled leaves it to itself.

        The thread is a daemon: one that hangs cannot keep the process alive. Those of anyio and of asyncio can.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()

        def deliver(setter: Callable[[Any], None], value: Any) -> None:
            # Where nobody waits any more, or the loop has ended, the result is dropped.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: None if future.done() else setter(value))

        def run() -> None:
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
                deliver(future.set_exception, error)
            else:
                deliver(future.set_result, result)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(run,), daemon=True).start()
        return await future
