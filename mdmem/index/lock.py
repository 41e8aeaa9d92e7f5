"""One writer at a time, without waiting; a process that dies lets go."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmem.index.protocol import IndexBusyError

if sys.platform == "win32":  # pragma: no cover
    from msvcrt import LK_NBLCK, locking

    def _acquire(handle: int) -> None:
        locking(handle, LK_NBLCK, 1)
else:
    from fcntl import LOCK_EX, LOCK_NB, flock

    def _acquire(handle: int) -> None:
        flock(handle, LOCK_EX | LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that a file stands for, or raise `IndexBusyError`."""
    # The file stays: whoever removed it would let two processes lock two files of one name.
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            _acquire(handle)
        except OSError as error:
            raise IndexBusyError("another process is writing the index") from error
        yield
    finally:
        os.close(handle)
