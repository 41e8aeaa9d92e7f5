"""A limit of time that holds whatever the work does: it is done by another process, which is ended when time is up."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

# An edit hands the file's new text over.
MOST_BYTES = 16 * 1024 * 1024
_CHUNK = 1 << 16
_PAUSE = 0.002

Work = Callable[[bytes, Callable[[str], None]], None]


def limited(work: Work, *, seconds: float, handle: int = 0) -> str:
    """Return what some work on the input sends, empty where it fails, is given too much, or takes too long.

    The input is read to its end, so that whoever writes it is not refused. Nothing is raised.
    """
    deadline = time.monotonic() + seconds
    content = _input(handle, deadline)
    if content is None or len(content) > MOST_BYTES:
        return ""
    return _sent(work, content, deadline)


def _input(handle: int, deadline: float) -> bytes | None:
    """Return what is written to a handle until its end, None where it does not end in time or a person types."""
    if os.isatty(handle):
        return None
    parts: list[bytes] = []
    size = 0
    for part in _parts(handle, deadline):
        if part is None:
            return None
        size += len(part)
        # What is too much is read and forgotten.
        if size <= MOST_BYTES + _CHUNK:
            parts.append(part)
    return b"".join(parts)


def _parts(handle: int, deadline: float) -> Iterator[bytes | None]:
    """Yield what a handle gives until its end; None where the time is up first."""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([handle], [], [], left)[0]:
            yield None
            return
        part = os.read(handle, _CHUNK)
        if not part:
            return
        yield part


def _sent(work: Work, content: bytes, deadline: float) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, content, writing)
    os.close(writing)
    try:
        parts = list(_parts(reading, deadline))
        _wait(child, deadline)
    finally:
        os.close(reading)
        _end(child)
    return "" if None in parts else b"".join(part for part in parts if part).decode("utf-8", "replace")


def _work(work: Work, content: bytes, writing: int) -> None:
    """Do the work, in a process that has nothing else to do, and leave it."""
    try:
        # What git is asked ends with whoever asked it.
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)

        def send(text: str) -> None:
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(text.encode("utf-8", "replace"))

        work(content, send)
    except BaseException:  # noqa: BLE001  # the boundary: no fault of ours is the client's, nor a person's who edits
        os._exit(1)
    os._exit(0)


def _wait(child: int, deadline: float) -> None:
    """Wait until a process has noted what it sent: the next event asks what that was."""
    while time.monotonic() < deadline:
        with suppress(ChildProcessError):
            if os.waitpid(child, os.WNOHANG)[0] == 0:
                time.sleep(_PAUSE)
                continue
        return


def _end(child: int) -> None:
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(child, 0)
