"""The server's log on stderr: what anybody says in it acts on no terminal, and nobody fills it."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

from mdmem.mcp.rate_limits import Buckets
from mdmem.model.text import visible, visible_text

# Of one kind so many lines at once, and then one in so many seconds.
_LINES, _SECONDS = 10, 10


class _Formatter(logging.Formatter):
    """Writes a message in one line, so that none of it passes for a line of ours, and a traceback below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the base's own name
        """Return the message with all that does not show written out."""
        return visible(super().formatMessage(record).strip())

    def format(self, record: logging.LogRecord) -> str:
        """Return the message and the traceback."""
        return visible_text(super().format(record))


def log_to_stderr() -> None:
    """Send every log of the process to stderr, warnings and worse, unless whoever embeds the server has its own."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


class FewLines(logging.Filter):
    """Lets so many lines of one kind through, and then few, each of which says how many it stands for."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Take the clock, in seconds that never go back."""
        super().__init__()
        self._buckets = Buckets(1 / _SECONDS, _LINES, now)
        self._left_out: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a line is to be written."""
        # Whoever is refused chooses the words of the line, but not where in the code it is said.
        kind = f"{record.pathname}:{record.lineno}"
        if self._buckets.wait(kind):
            self._left_out[kind] += 1
            return False
        left_out = self._left_out.pop(kind, 0)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more like it before)", None
        return True


def bound_log() -> None:
    """Let no client fill the log: whatever logs here, refusals of one kind are few lines."""
    few = FewLines()
    for logger in (logging.getLogger(), *map(logging.getLogger, ("uvicorn", "uvicorn.error", "uvicorn.access"))):
        for handler in logger.handlers:
            handler.addFilter(few)
