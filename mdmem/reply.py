"""The reply to a call that is being sent: work to do once it has left, and a count of the files written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from msgspec import Struct, field

from mdmem.errors import EnvironmentFaultError


class Reply(Struct):
    """The reply to one call, with the work to do once it has left."""

    _then: list[Callable[[], None]] = field(default_factory=list)

    def then(self, work: Callable[[], None]) -> None:
        """Do some work once the reply has left the process."""
        self._then.append(work)

    def has_left(self) -> None:
        """Do the work; where the state cannot be written, the call counts as unanswered until it expires."""
        while self._then:
            with contextlib.suppress(EnvironmentFaultError):
                self._then.pop()()


_REPLY: ContextVar[Reply | None] = ContextVar("mdmem_reply", default=None)


@contextlib.contextmanager
def replying() -> Iterator[Reply]:
    """Provide the reply to the code called in here; the sender reports when it has left."""
    reply = Reply()
    held = _REPLY.set(reply)
    try:
        yield reply
    finally:
        _REPLY.reset(held)


class Written(Struct):
    """The number of files that a command has written so far, and the first of them."""

    count: int = 0
    first: str = ""


_WRITTEN: ContextVar[Written | None] = ContextVar("mdmem_written", default=None)


def count_written() -> Written:
    """Count the files that are written from now on, for a reply that cannot be printed."""
    written = Written()
    _WRITTEN.set(written)
    return written


def note_written(path: str) -> None:
    """Count one file that was written for the user; files of mdmem's own state do not count."""
    written = _WRITTEN.get()
    if written is not None:
        written.first = written.first or path
        written.count += 1


def current_reply() -> Reply | None:
    """Return the reply to the current call; None where returning to the caller is the reply."""
    return _REPLY.get()
