"""A second process that finds out whether things hold, the first one first, while this one does something else."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from pathlib import Path

# As in `signal`, which takes a thousandth of a second to import.
_KILL = 9


class Ahead:
    """What another process says of things, a byte of each as soon as it knows: whether it holds."""

    def __init__(self, asked: Sequence[str], holds: Callable[[str], bool]) -> None:
        """Start it; raises OSError where the system has none to spare."""
        self._asked, self._holds = asked, holds
        self._end, end = os.pipe()
        try:
            self._process = os.fork()
        except OSError:
            os.close(self._end)
            os.close(end)
            raise
        if self._process:
            os.close(end)
            return
        try:
            for one in asked:
                os.write(end, b"1" if holds(one) else b"0")
        finally:
            # Nothing that this process would do as it ends is for another one to do.
            os._exit(0)

    def found(self) -> Set[str]:
        """Return the things that hold; what it has not come to yet is found out here, the last one first."""
        said, own, asked = b"", list[bool](), self._asked
        while len(said) + len(own) < len(asked):
            left = asked[len(said) : len(asked) - len(own)]
            # The only one that is left is the one that it is at.
            os.set_blocking(self._end, len(left) == 1)
            try:
                more = os.read(self._end, len(left))
            except BlockingIOError:
                own.append(self._holds(left[-1]))
                continue
            if not more:
                # It came to harm.
                break
            said += more
        self._end_process()
        held = [*zip(asked, map(b"1"[0].__eq__, said), strict=False), *zip(reversed(asked), own, strict=False)]
        return {one for one, holds in held if holds}

    def _end_process(self) -> None:
        os.close(self._end)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._process, _KILL)
            os.waitpid(self._process, 0)


def can_be_ahead() -> bool:
    """Say whether another process would be sound, and has a processor that nobody else uses at this moment.

    What other threads hold would be held in it for ever.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    try:
        # The fourth word is how many run, this one among them, of how many.
        running = int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return False
    return running < len(os.sched_getaffinity(0))
