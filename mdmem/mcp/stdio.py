"""Serve one client over standard input and output until its input ends."""

from __future__ import annotations

import contextlib
import signal
import sys
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.server.stdio import stdio_server

from mdmem.mcp.server import MemoryServer

# Seconds in which requests that came before the end of the input are answered.
_GRACE = 0.5
_BEAT = 0.02


def serve(server: MemoryServer) -> None:
    """Serve until the input ends; a signal ends the process at once, in the system's own way.

    Every write is safe against a kill, so nothing has to be tidied up, and a thread that waits for input or for a slow
    disk cannot delay the end.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    # The client has gone: nobody is left to read an error.
    with contextlib.suppress(BrokenPipeError, BaseExceptionGroup):
        anyio.run(_serve, server)


async def _serve(server: MemoryServer) -> None:
    low = server._lowlevel_server
    async with stdio_server() as (read, write):
        with contextlib.redirect_stdout(sys.stderr):
            await low.run(_Input(read, server), write, low.create_initialization_options())


class _Input:
    """The client's messages; their end is passed on when earlier requests are answered, or after a grace period.

    The SDK cancels what is under way at the end of the input.
    """

    def __init__(self, inner: Any, server: MemoryServer) -> None:
        self._inner, self._server = inner, server

    @property
    def last_context(self) -> Any:
        """Return the context of the last message, as the SDK's streams do."""
        return self._inner.last_context

    async def receive(self) -> Any:
        """Return the next message; raises anyio.EndOfStream."""
        try:
            return await self._inner.receive()
        except anyio.EndOfStream:
            with anyio.move_on_after(_GRACE):
                # A request that was just read is not counted yet; one that is answered is not written yet.
                await anyio.sleep(2 * _BEAT)
                while self._server.active:
                    await anyio.sleep(_BEAT)
                await anyio.sleep(_BEAT)
            raise

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
