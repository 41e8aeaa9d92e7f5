"""One commit of ours at a time, and patience with the locks of git."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import uniform
from typing import TypeVar

from mdmem.disk import acquire
from mdmem.store.git.errors import GitLockedError
from mdmem.store.git.process import Repository


class LockHeldError(Exception):
    """Another process is in the way; `lock` is the file that git names."""

    def __init__(self, lock: str | None) -> None:
        """Keep the name of the lock."""
        super().__init__(lock)
        self.lock = lock


_Result = TypeVar("_Result")


def in_turn(repository: Repository, attempt: Callable[[], _Result], *, wait: float) -> _Result:
    """Return what the attempt gives once no other process is in its way; raises GitLockedError after `wait` seconds.

    Who waits sees others come and go: the wait counts from when a lock last changed hands, and is twelve times as
    long at most.
    """
    end = time.monotonic() + 12 * wait
    until, seen, pause = end, object(), 0.01
    while True:
        try:
            with _turn(repository):
                return attempt()
        except LockHeldError as error:
            lock, now, holder = error.lock, time.monotonic(), _holder(repository)
        if holder != seen:
            seen, until = holder, now + wait
        if now > min(until, end):
            doing = f"holds `{lock}`; if none runs any more, remove that file" if lock else "keeps committing"
            raise GitLockedError(f"another git process {doing}")
        time.sleep(uniform(pause / 2, pause))
        pause = min(pause * 1.5, 0.2)


@contextmanager
def _turn(repository: Repository) -> Iterator[None]:
    """Hold the lock of our commits in a work tree; raises LockHeldError.

    `git commit --only` reads the index before it locks it, and so writes an old one back where two run at once: the
    commit of the one would then stand in the index as undone.
    """
    try:
        _file(repository).parent.mkdir(exist_ok=True)
        handle = os.open(_file(repository), os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        # Where we cannot write, git cannot either, and says why.
        yield
        return
    try:
        _take(handle)
        yield
        _say(handle)
    finally:
        os.close(handle)


def _take(handle: int) -> None:
    try:
        acquire(handle)
    except OSError as error:
        raise LockHeldError(None) from error


def _say(handle: int) -> None:
    """Leave a trace of a turn for those that wait; one that came to nothing leaves none, or we would wait for it."""
    # On a full disk it was a turn all the same.
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())


def _file(repository: Repository) -> Path:
    return repository.git_dir / "mdmem" / "commit.lock"


def _holder(repository: Repository) -> object:
    """Return what changes with every process that takes git's lock, and with every turn of ours."""
    found = []
    for path in (repository.git_dir / "index.lock", _file(repository)):
        try:
            stated = path.stat()
        except OSError:
            continue
        found.append((stated.st_ino, stated.st_mtime_ns))
    return found
