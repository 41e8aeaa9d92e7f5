"""The answer to a call on its way to whoever called: what is to be done once it has left, and what was written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from msgspec import Struct, field

from mdmem.errors import EnvironmentFaultError


class Reply(Struct):
    """The answer to one call, on its way."""

    _then: list[Callable[[], None]] = field(default_factory=list)

    def then(self, work: Callable[[], None]) -> None:
        """Let some work be done once the answer has left the process."""
        self._then.append(work)

    def has_left(self) -> None:
        """Do the work; where the state refuses, the call counts as unanswered until that is too old."""
        while self._then:
            with contextlib.suppress(EnvironmentFaultError):
                self._then.pop()()


_REPLY: ContextVar[Reply | None] = ContextVar("mdmem_reply", default=None)


@contextlib.contextmanager
def replying() -> Iterator[Reply]:
    """Give the reply to what is called in here; whoever sends it says when it has left."""
    reply = Reply()
    held = _REPLY.set(reply)
    try:
        yield reply
    finally:
        _REPLY.reset(held)


class Written(Struct):
    """The files that a command has written so far: how many, and the first of them."""

    count: int = 0
    first: str = ""


_WRITTEN: ContextVar[Written | None] = ContextVar("mdmem_written", default=None)


def count_written() -> Written:
    """Count the files that are written from now on, for an answer that cannot be printed."""
    written = Written()
    _WRITTEN.set(written)
    return written


def note_written(path: str) -> None:
    """Count one file that was written for the user; what mdmem keeps for itself is none."""
    written = _WRITTEN.get()
    if written is not None:
        written.first = written.first or path
        written.count += 1


def current_reply() -> Reply | None:
    """Return the reply to the call that is worked on, None where to return to the caller is to answer."""
    return _REPLY.get()
