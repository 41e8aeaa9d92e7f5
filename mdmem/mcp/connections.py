"""A time limit for each request of an HTTP connection; uvicorn has one only between requests."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it; a connection that does not send a whole request in time is closed."""

    request_seconds: ClassVar[float]
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the time of the first request."""
        super().connection_made(transport)
        self._restart()

    def on_response_complete(self) -> None:
        """Start the time of the next request."""
        super().on_response_complete()
        self._restart()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def _restart(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self.request_seconds, self._close_unless_answering)

    def _close_unless_answering(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if not is_answering or self.conn.their_state is h11.SEND_BODY:
            # An orderly close would wait for a client that takes nothing.
            self.transport.abort()


def protocol_with(request_seconds: float) -> type[TimedProtocol]:
    """Return the protocol with a time limit for each request."""
    return type("Protocol", (TimedProtocol,), {"request_seconds": request_seconds})
