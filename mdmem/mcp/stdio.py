"""Serves one client over standard input and output, and ends with its input."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.server.stdio import stdio_server

from mdmem.mcp.handshake import INTERRUPTED, Opening
from mdmem.mcp.server import MemoryServer
from mdmem.reply import Reply

# Seconds that requests which came before the end of input get to be answered.
_GRACE = 1.0
# Seconds after the end of input, or after a signal, when the process ends whatever its threads do.
_LAST = 1.3
# Seconds that an orderly end takes, once nothing is being answered.
_SOON = 0.3
_BEAT, _MOMENT = 0.02, 0.001


def serve(server: MemoryServer, opening: Opening) -> None:
    """Serve what the opening leaves until the input ends or a signal comes, then end the process.

    Only the protocol reaches standard output.
    Threads of the system's reads, and of questions that nobody waits for, would hold up an orderly exit.
    """
    ending = _Ending()
    try:
        anyio.run(_serve, server, opening, ending)
    except* OSError:
        # The client has gone: there is nobody to tell.
        ending.code = 0
    sys.stderr.flush()
    os._exit(ending.code)


class _Ending:
    """How the process ends."""

    code = 0

    def is_near(self, seconds: float = _LAST) -> None:
        """End the process soon, even where a thread would go on: one may wait for input that never comes."""
        timer = threading.Timer(seconds, lambda: os._exit(self.code))
        timer.daemon = True
        timer.start()


async def _serve(server: MemoryServer, opening: Opening, ending: _Ending) -> None:
    low = server._lowlevel_server
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_heed_signals, tasks.cancel_scope, ending)
        opening.close()
        # Only ever asked for its next line.
        lines: Any = opening
        sent = io.TextIOWrapper(opening.output, encoding="utf-8", newline="\n")
        async with stdio_server(stdin=anyio.wrap_file(lines), stdout=anyio.wrap_file(sent)) as (read, write):
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    output = _Output(write, server, answered=opening.answered)
                    given = _Input(read, server, ending, output)
                    await low.run(given, output, low.create_initialization_options())
                    tasks.cancel_scope.cancel()
            finally:
                ending.is_near(_SOON)


async def _heed_signals(scope: anyio.CancelScope, ending: _Ending) -> None:
    if sys.platform == "win32":  # pragma: no cover  # its loop hears of no signal, and ends the process by itself
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            ending.code = INTERRUPTED if number == signal.SIGINT else 0
            ending.is_near()
            scope.cancel()
            return


class _Output:
    """The server's messages, but for answers that were given before; it says when what somebody awaits is written."""

    def __init__(self, inner: Any, server: MemoryServer, *, answered: set[int | str]) -> None:
        self._inner, self._replies, self.sending = inner, dict[str | int, Reply](), anyio.Lock()
        self._answered = answered
        server.replies = self._replies

    async def send(self, message: Any) -> None:
        """Send a message."""
        number = getattr(message.message, "id", None)
        if number in self._answered and not hasattr(message.message, "method"):
            self._answered.discard(number)
            return
        reply = self._replies.pop(number or "", None)
        if reply is None:
            await self._inner.send(message)
            return
        async with self.sending:
            await self._inner.send(message)
            # The writer asks for another message only when this one is flushed.
            while not self._inner._inner.statistics().tasks_waiting_receive:
                await anyio.sleep(_MOMENT)
            reply.has_left()

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Input:
    """The client's messages; their end is told only when what came before is answered, or soon."""

    def __init__(self, inner: Any, server: MemoryServer, ending: _Ending, output: _Output) -> None:
        self._inner, self._server, self._ending, self._output = inner, server, ending, output

    @property
    def last_context(self) -> Any:
        """Return the context of the message that was read last, as the SDK's streams have it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        """Return the next message."""
        try:
            message = await self._inner.receive()
            # It may be the same call as one whose answer the client has just read.
            async with self._output.sending:
                return message
        except anyio.EndOfStream:
            await self._drain()
            raise

    async def _drain(self) -> None:
        self._ending.is_near()
        with anyio.move_on_after(_GRACE):
            # A request that was just read is not counted yet; one that is answered is not written yet.
            await anyio.sleep(2 * _BEAT)
            while self._server.active:
                await anyio.sleep(_BEAT)
            await anyio.sleep(_BEAT)

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
