"""Serve one client over standard input and output until its input ends."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from mdmem.mcp.server import MemoryServer

# Seconds for the requests that came before the end of the input, and for the end itself.
_GRACE, _END = 0.5, 0.4
_POLL = 0.02


def serve(server: MemoryServer) -> None:
    """Serve until the input ends; a signal ends the process at once.

    Every write is safe against a kill, so nothing has to be cleaned up.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    # The client has gone, and nobody is left to read an error.
    with contextlib.suppress(BrokenPipeError, BaseExceptionGroup):
        anyio.run(_serve, server)


async def _serve(server: MemoryServer) -> None:
    low = server._lowlevel_server
    send, messages = anyio.create_memory_object_stream[Any](0)
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        with contextlib.redirect_stdout(sys.stderr):
            tasks.start_soon(_forward, read, send, server)
            await low.run(messages, write, low.create_initialization_options())
            tasks.cancel_scope.cancel()


async def _forward(read: Any, send: Any, server: MemoryServer) -> None:
    """Pass the client's messages on, and their end once the requests before it are answered: the SDK cancels them."""
    async with send:
        async for message in read:
            await send.send(message)
        with anyio.move_on_after(_GRACE):
            # The last request may not be counted yet, and the last answer may not be written yet.
            await anyio.sleep(2 * _POLL)
            while server.active:
                await anyio.sleep(_POLL)
            await anyio.sleep(_POLL)
        # A thread that writes to a client which reads nothing would keep the process alive.
        end = threading.Timer(_END, signal.raise_signal, [signal.SIGTERM])
        end.daemon = True
        end.start()
