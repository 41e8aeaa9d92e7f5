"""Read and lock files, and make folders; a pipe in the place of a file never blocks."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from msgspec import Struct

# A plain `open` of a pipe without a writer waits for ever; for a regular file the flag changes nothing.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = _FLAGS | getattr(os, "O_NOFOLLOW", 0)
RACY_NS = 2_000_000_000
"""A file that changed within this time may change again in the same tick of the clock, with the same stat."""


def read_regular(path: Path | str, *, follow: bool = True) -> bytes:
    """Return a file's bytes; raises OSError, also for anything but a regular file, or a link without `follow`."""
    return read_with_stat(path, follow=follow)[0]


def read_with_stat(path: Path | str, *, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes and the stat before the read: a write in between is then a cache miss."""
    descriptor = os.open(path, _FLAGS if follow else _NO_LINK)
    try:
        stat = os.fstat(descriptor)
        if not S_ISREG(stat.st_mode):
            raise _refusal(path, stat)
        content = os.read(descriptor, stat.st_size + 1)
        # One byte more was requested than there should be: only a file that changed meanwhile needs another read.
        while len(content) != stat.st_size and (more := os.read(descriptor, 1 << 20)):
            content += more
    finally:
        os.close(descriptor)
    return content, stat


def _refusal(path: Path | str, stat: os.stat_result) -> OSError:
    if S_ISDIR(stat.st_mode):
        return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return OSError(errno.EINVAL, "it is not a regular file", str(path))


if sys.platform == "win32":  # pragma: no cover
    from msvcrt import LK_NBLCK, locking

    def acquire(handle: int) -> None:
        """Lock an open file without waiting; raises OSError if another process has the lock."""
        locking(handle, LK_NBLCK, 1)
else:
    from fcntl import LOCK_EX, LOCK_NB, flock

    def acquire(handle: int) -> None:
        """Lock an open file without waiting; raises OSError if another process has the lock."""
        flock(handle, LOCK_EX | LOCK_NB)


@contextmanager
def locked(path: Path, *, wait: float) -> Iterator[None]:
    """Lock a file for this process; raises BlockingIOError after `wait` seconds, and other OSErrors.

    The kernel releases the lock when a process dies, so a leftover file blocks nobody. The file is never removed:
    otherwise two processes could lock two files of one name.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        deadline, pause = time.monotonic() + wait, 0.001
        while True:
            try:
                acquire(handle)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise BlockingIOError(errno.EAGAIN, "another process has the lock", str(path)) from error
            time.sleep(pause)
            # Short, so that a process that releases the lock and takes it again does not find all others asleep.
            pause = min(pause * 2, 0.008)
        yield
    finally:
        os.close(handle)


NAME = "mdmem"
# The folders in `mdmem` of a git directory; the user's folders have other names.
_IN_GIT = frozenset({"cache", "state", "sync"})


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Make a folder and those above it, but never the git directory that they lie in; raises OSError.

    Where a repository was moved or removed while we ran, a `.git` at its old place would keep others from cloning.
    """
    _make(folder, "", mode)


def _make(folder: Path, below: str, mode: int) -> None:
    try:
        folder.mkdir(mode, exist_ok=True)
    except FileNotFoundError:
        if folder.name == NAME and below in _IN_GIT:
            raise
        _make(folder.parent, folder.name, 0o777)
        folder.mkdir(mode, exist_ok=True)


class Written(Struct):
    """The files that a command has written so far: their number, and the first of them."""

    count: int = 0
    first: str = ""


_WRITTEN: ContextVar[Written | None] = ContextVar("mdmem_written", default=None)


def count_written() -> Written:
    """Count the files that are written from now on, for an answer that cannot be printed."""
    written = Written()
    _WRITTEN.set(written)
    return written


def note_written(path: str) -> None:
    """Count one file that was written for the user; files of mdmem's own state do not count."""
    written = _WRITTEN.get()
    if written is not None:
        written.first = written.first or path
        written.count += 1
