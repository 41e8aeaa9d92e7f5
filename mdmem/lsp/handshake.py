"""What an editor asks first, answered before the libraries are imported: that takes half a second.

They are handed the request, too, so that they know the editor, and their own answer to it is left out.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from mdmem.errors import UsageError
from mdmem.lsp.features import Facts, initialize_result

# The protocol's own numbers.
_NOT_INITIALIZED, _NO_REQUEST = -32002, -32600
_LENGTH = b"content-length:"
_LONGEST, _DIGITS, _LONGEST_LINE = 64 * 2**20, 12, 4096


class Greeting:
    """The editor's messages and what is written to it, until somebody else takes over."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        """Take the two streams; nothing is read yet."""
        self.source, self._target = source, target

    def answer(self) -> bytes | None:
        """Answer until `initialize` is, and return that request for the libraries; None where the editor went away.

        What is asked before it is refused, what is told before it is dropped, as the protocol has it.
        """
        while (message := read_message(self.source)) is not None:
            method, number = message.get("method"), message.get("id")
            if method == "exit":
                return None
            if number is None:
                continue
            if method == "initialize":
                self._send({"id": number, "result": initialize_result(message.get("params"))})
                return framed(_in_utf16(message))
            error = {"code": _NOT_INITIALIZED, "message": "`initialize` comes first"}
            self._send({"id": number, "error": error})
        return None

    def _send(self, answer: Facts) -> None:
        self._target.write(framed({"jsonrpc": "2.0", **answer}))
        self._target.flush()


def read_message(source: BinaryIO) -> Facts | None:
    """Return the next message that can be read as an object; None at the end."""
    while (length := length_of_next(source)) is not None:
        try:
            message = json.loads(source.read(length))
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            return message
    return None


def length_of_next(source: BinaryIO) -> int | None:
    """Return the length that the next header states, 0 where it states none; None at the end.

    Raises UsageError where nobody could mean it: what follows cannot be told from the next message.
    """
    length = 0
    while line := source.readline(_LONGEST_LINE):
        if not line.strip():
            return length
        if line.lower().startswith(_LENGTH):
            stated = line[len(_LENGTH) :].strip()
            length = int(stated[:_DIGITS]) if stated.isdigit() else 0
        if length > _LONGEST or len(line) == _LONGEST_LINE:
            raise UsageError(f"the editor sent a header that no message has; one has at most {_LONGEST} bytes")
    return None


def framed(message: Facts) -> bytes:
    """Return a message as it is sent."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _in_utf16(message: Facts) -> Facts:
    """Return an `initialize` whose client leaves the columns to us, as they were just agreed upon."""
    params: Any = message.get("params")
    offers = params.get("capabilities") if isinstance(params, dict) else None
    general = offers.get("general") if isinstance(offers, dict) else None
    if isinstance(general, dict):
        general.pop("positionEncodings", None)
    return message
