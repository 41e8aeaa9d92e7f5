"""What the editor sends, read while a request is worked on: so one that waits behind it can still be taken back."""

from __future__ import annotations

import json
from io import BytesIO
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from mdmem.errors import UsageError
from mdmem.lsp.handshake import length_of_next

_CANCEL, _EXIT = "$/cancelRequest", "exit"


class EditorStream:
    """The editor's messages with headers as the library knows them, its first request once more.

    `cancelled` are the requests taken back by messages that were read and not yet taken in.
    """

    def __init__(self, first: bytes, inner: BinaryIO, cancelled: set[int | str]) -> None:
        """Begin to read."""
        self._inner, self._cancelled = inner, cancelled
        self._message = BytesIO(first)
        self._waiting: SimpleQueue[bytes | Exception] = SimpleQueue()
        Thread(target=self._read_on, daemon=True).start()

    def readline(self) -> bytes:
        """Return the next line of a header; nothing at the end."""
        line = self._message.readline()
        if line:
            return line
        taken = self._waiting.get()
        if isinstance(taken, Exception):
            raise taken
        self._message = BytesIO(taken)
        return self._message.readline()

    def read(self, number: int) -> bytes:
        """Return the body that a header was read of."""
        return self._message.read(number)

    def _read_on(self) -> None:
        try:
            while (length := length_of_next(self._inner)) is not None:
                body = self._inner.read(length)
                is_last = self._look_ahead(body)
                self._waiting.put(b"Content-Length: %d\r\n\r\n%b" % (length, body))
                # The process could not end while its input is read.
                if is_last:
                    break
        except (UsageError, OSError, ValueError) as error:
            # It is raised where the message would be taken.
            self._waiting.put(error)
        self._waiting.put(b"")

    def _look_ahead(self, body: bytes) -> bool:
        """Note the request that a message takes back, and say whether it is the last."""
        if not any(b'"%b"' % method.encode() in body for method in (_CANCEL, _EXIT)):
            return False
        try:
            message: Any = json.loads(body)
        except (ValueError, RecursionError):
            return False
        facts = message if isinstance(message, dict) else {}
        given = facts.get("params")
        number = given.get("id") if facts.get("method") == _CANCEL and isinstance(given, dict) else None
        if isinstance(number, int | str):
            self._cancelled.add(number)
        return facts.get("method") == _EXIT
