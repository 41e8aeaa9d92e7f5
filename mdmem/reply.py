"""The answer to a call on its way to whoever called: what is to be done once it has left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from mdmem.dataclass import dataclass, field
from mdmem.errors import EnvironmentFaultError


@dataclass(slots=True)
class Reply:
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


def current_reply() -> Reply | None:
    """Return the reply to the call that is worked on, None where to return to the caller is to answer."""
    return _REPLY.get()
