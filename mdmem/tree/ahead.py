"""A second process that answers yes or no of things, while this one does what takes as long."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress


class Ahead:
    """What another process says of things, a byte of each; less where it came to harm."""

    def __init__(self, asked: Sequence[str], holds: Callable[[str], bool]) -> None:
        """Start it; raises OSError where the system has none to spare."""
        self._asked = asked
        self._end, end = os.pipe()
        self._process = os.fork()
        if self._process:
            os.close(end)
            return
        try:
            for one in asked:
                os.write(end, b"1" if holds(one) else b"0")
        finally:
            # Nothing that this process would do as it ends is for another one to do.
            os._exit(0)

    def said(self) -> dict[str, bool]:
        """Return what is so and what is not, waiting for it; of some things there may be nothing."""
        with os.fdopen(self._end, "rb") as stream:
            said = stream.read()
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)
        return {one: byte == ord("1") for one, byte in zip(self._asked, said, strict=False)}


def can_be_ahead() -> bool:
    """Say whether another process would be sound, and run beside this one.

    What other threads hold would be held in it for ever.
    """
    return sys.platform == "linux" and threading.active_count() == 1 and len(os.sched_getaffinity(0)) > 1
