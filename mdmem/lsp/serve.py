"""Run the language server for one editor, over standard input and output."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from datetime import date

from mdmem.errors import UsageError
from mdmem.lsp.commands import register_commands
from mdmem.lsp.memory import Memories
from mdmem.lsp.server import Server


def serve(environment: Mapping[str, str], today: Callable[[], date]) -> None:
    """Serve one editor over standard input and output until the editor exits."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR)
    # pygls logs a traceback for each refused request. `report_server_error` logs one line instead.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = Server(Memories(environment=environment, today=today))
    register_commands(server)
    # Give pygls a copy of standard output, because pygls closes its output at the end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        try:
            server.start_io(sys.stdin.buffer, output)
        except (MemoryError, OverflowError, ValueError) as error:
            # pygls allocates as much memory as the header of a message says.
            raise UsageError("the editor sent a message that is too long to be read") from error
