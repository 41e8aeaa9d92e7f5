"""Read regular files, lock files and make folders. Reading never waits for a pipe."""

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

# Without O_NONBLOCK, opening a pipe that has no writer waits for ever. The flag has no effect on a regular file.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = _FLAGS | getattr(os, "O_NOFOLLOW", 0)
RACY_NS = 2_000_000_000
"""Two seconds in nanoseconds. A file that changed less than this ago may change again without a new mtime."""


def read_regular(path: Path | str, *, follow: bool = True) -> bytes:
    """Return the bytes of a regular file; raises OSError for a pipe, a folder, and without `follow` for a link."""
    return read_with_stat(path, follow=follow)[0]


def read_with_stat(path: Path | str, *, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a regular file and its stat from before the read; raises OSError as `read_regular` does.

    If the file changes during the read, a later stat therefore differs from this one.
    """
    descriptor = os.open(path, _FLAGS if follow else _NO_LINK)
    try:
        stat = os.fstat(descriptor)
        if S_ISDIR(stat.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not S_ISREG(stat.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = os.read(descriptor, stat.st_size + 1)
        # One more byte than the size was requested, so that a second read is needed only if the file just changed.
        while len(content) != stat.st_size and (more := os.read(descriptor, 1 << 20)):
            content += more
    finally:
        os.close(descriptor)
    return content, stat


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
    """Lock a file for the length of a `with` block; raises BlockingIOError after `wait` seconds, and other OSErrors.

    The kernel releases the lock when a process dies, so a leftover lock file blocks nobody. The lock file is never
    removed, because then two processes could each lock a different file of the same name.
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
            # A short pause, so that a process that often takes the lock does not shut out the waiting ones.
            pause = min(pause * 2, 0.008)
        yield
    finally:
        os.close(handle)


NAME = "mdmem"
# The folders below `.git/mdmem`. In the user's cache and data folders, the folders below `mdmem` have other names.
_IN_GIT = frozenset({"cache", "state", "sync"})


def make_folder(folder: Path, *, mode: int = 0o777, child: str = "") -> None:
    """Make a folder and its missing parents, but not the git directory that mdmem's folders are in; raises OSError.

    If a repository was moved while mdmem ran, a new `.git` at its old place would stop a later clone there. `child` is
    the name of a folder that is to be made in this one.
    """
    try:
        folder.mkdir(mode, exist_ok=True)
    except FileNotFoundError:
        # The parent of `mdmem` is the git directory, which must exist already.
        if folder.name == NAME and child in _IN_GIT:
            raise
        make_folder(folder.parent, child=folder.name)
        folder.mkdir(mode, exist_ok=True)


class Written(Struct):
    """The number of files that a command has written so far, and the path of the first file."""

    count: int = 0
    first: str = ""


_WRITTEN: ContextVar[Written | None] = ContextVar("mdmem_written", default=None)


def count_written() -> Written:
    """Return a new counter that `note_written` updates, for the error message if the answer cannot be printed."""
    written = Written()
    _WRITTEN.set(written)
    return written


def note_written(path: str) -> None:
    """Count one file that was written for the user; do not call this for a file of mdmem's own state.

    Does nothing if `count_written` was not called.
    """
    written = _WRITTEN.get()
    if written is not None:
        written.first = written.first or path
        written.count += 1
