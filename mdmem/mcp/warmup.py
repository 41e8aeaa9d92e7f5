"""Brings the full-text index up to date beside the calls, once the client has its first reply."""

from __future__ import annotations

import logging
import threading

from mdmem.errors import MdmemError
from mdmem.mcp.workspaces import Provider

log = logging.getLogger("mdmem.mcp")

# Seconds after the first reply: the client's next question, what tools there are, goes first.
_DELAY = 0.1
# Fewer entries are indexed before anybody asks how far it is.
_WORTH_SAYING = 500


class Warmup:
    """One run in a thread that nobody waits for; what goes wrong in it, the first question finds out by itself."""

    def __init__(self, provider: Provider) -> None:
        """Take what opens the workspace."""
        self._provider = provider
        self._started = threading.Lock()
        self.done, self.total, self.is_running = 0, 0, False

    def start(self) -> None:
        """Start the run, at the first call of this alone."""
        if self._started.acquire(blocking=False):
            self.is_running = True
            timer = threading.Timer(_DELAY, self._run)
            timer.daemon = True
            timer.start()

    @property
    def said(self) -> str:
        """Return how far it is, for whoever waits."""
        return f"the index is being built: {self.done} of {self.total} entries"

    def _run(self) -> None:
        from mdmem.status import refresh_index

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
