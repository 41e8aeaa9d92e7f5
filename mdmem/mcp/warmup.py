"""The index of a server is brought up to date beside its calls, after its first reply."""

from __future__ import annotations

import logging
import threading
from typing import Any

import anyio
from mcp.server.mcpserver import Context

from mdmem.change.status import refresh_index
from mdmem.errors import MdmemError
from mdmem.mcp.workspaces import Provider

log = logging.getLogger("mdmem.mcp")

# Seconds after the first reply: the client's next request, for the list of tools, goes first.
_DELAY = 0.1
# Fewer entries are indexed before anybody asks how far it is.
_WORTH_SAYING = 500
# Seconds between two words on how far the index is.
_BEAT = 0.25
# Seconds that a question waits for the index, and between two looks at it. A first index of many entries takes longer:
# till then titles answer.
_PATIENCE, _LOOK = 3.0, 0.02


class Warmup:
    """One run in a thread; what goes wrong in it, the first question finds out by itself."""

    def __init__(self, provider: Provider) -> None:
        """Take what opens the workspace."""
        self._provider = provider
        self._started, self._is_awaited = threading.Lock(), threading.Event()
        self.done, self.total, self.is_running = 0, 0, False

    def start(self) -> None:
        """Start the run, at the first call of this alone."""
        if self._started.acquire(blocking=False):
            self.is_running = True
            threading.Thread(target=self._run, daemon=True).start()

    async def wait(self, seconds: float) -> None:
        """Let the run begin, if it has not, and wait a moment for its end: a question would meet its lock."""
        self._is_awaited.set()
        with anyio.move_on_after(min(_PATIENCE, seconds)):
            while self.is_running:
                await anyio.sleep(_LOOK)

    async def report(self, context: Context[Any, Any]) -> None:
        """Tell a client that asked for it how far the index is, as long as the run goes on."""
        while self.is_running:
            if self.total:
                said = f"the index is being built: {self.done} of {self.total} entries"
                await context.report_progress(self.done, self.total, said)
            await anyio.sleep(_BEAT)

    def _run(self) -> None:
        self._is_awaited.wait(_DELAY)
        try:
            refresh_index(self._provider.builder(self._progressed))
        except (MdmemError, OSError) as error:
            log.info("the index is not brought up to date: %s", error)
        finally:
            self.is_running = False

    def _progressed(self, done: int, total: int) -> None:
        if done == 1 and total >= _WORTH_SAYING:
            log.warning("indexing %d entries, once", total)
        self.done, self.total = done, total
