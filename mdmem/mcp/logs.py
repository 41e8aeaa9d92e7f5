"""The server's log on stderr: what a client, a file or an exception says in it acts on no terminal."""

from __future__ import annotations

import logging

from mdmem.entry.model import visible, visible_text


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
