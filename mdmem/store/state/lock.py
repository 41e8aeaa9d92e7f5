"""One writer at a time: whoever waits gets its turn, and a process that dies lets go."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmem.disk import acquire, make_folder
from mdmem.errors import EnvironmentFaultError


class BusyError(EnvironmentFaultError):
    """Another process holds the lock for longer than anybody should wait."""


@contextmanager
def write_lock(state: Path, *, wait: float = 10.0) -> Iterator[None]:
    """Hold the lock of everybody who writes entries or state; raises BusyError after `wait` seconds, and OSError.

    The kernel keeps it, so that a file which a dead process left behind locks nobody out.
    """
    make_folder(state)
    # The file stays: whoever removed it would let two processes lock two files of one name.
    handle = os.open(state / "write.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _wait_for(handle, wait)
        yield
    finally:
        os.close(handle)


def _wait_for(handle: int, wait: float) -> None:
    deadline, pause = time.monotonic() + wait, 0.001
    while True:
        try:
            return acquire(handle)
        except OSError as error:
            if time.monotonic() >= deadline:
                message = f"another process has been writing for {wait:.0f} s; try again when it is done"
                raise BusyError(message) from error
        time.sleep(pause)
        # Who lets go and comes back at once must not find all others asleep: a write takes no less than this.
        pause = min(pause * 2, 0.008)


def try_lock(path: Path) -> int | None:
    """Return the handle of a file that is now this process's alone, or None where another has it; raises OSError.

    To let go is to remove the file and then to close the handle; the kernel lets go for a process that dies.
    """
    make_folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        acquire(handle)
        # Whoever held it before may have removed this file, and somebody else made another of the name.
        if os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None
