"""A second process for the later part of long work, where the machine has a core that nothing else uses."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


def is_free() -> bool:
    """Say whether a second process would have a core of its own, and whether one can be split off this process."""
    if sys.platform != "linux" or threading.active_count() > 1:
        # A lock that another thread holds would be held for ever in the second process.
        return False
    return len(os.sched_getaffinity(0)) > 1 and os.getloadavg()[0] < len(os.sched_getaffinity(0))


@contextmanager
def beside(work: Callable[[], bytes]) -> Iterator[Callable[[], bytes]]:
    """Do work in a second process; what is yielded waits for what it returns, which is empty where it failed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _finish(work, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            yield stream.read
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _finish(work: Callable[[], bytes], writing: int) -> None:
    """Hand over what work returns, and end before anything that belongs to the first process is done twice."""
    try:
        with os.fdopen(writing, "wb") as stream:
            stream.write(work())
    finally:
        os._exit(0)
