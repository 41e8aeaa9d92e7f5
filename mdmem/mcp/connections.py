"""The connections of the HTTP server: who has shown no token holds one for seconds, and never all of them."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from typing import Any, ClassVar, Protocol

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from mdmem.dataclass import dataclass, field
from mdmem.mcp.rate_limits import HttpLimits

_WELCOME, _HAS_GONE = "mdmem.welcome", "mdmem.has_gone"
# An IPv6 host has a whole network of addresses to itself.
_HOSTS = 64


def welcome(scope: Scope) -> None:
    """Note that the connection of a request has shown a good token, or that it needs none."""
    scope.get("state", {}).get(_WELCOME, _nothing)()


def has_gone(scope: Scope) -> bool:
    """Say whether the client of a request has gone, or has not taken its whole answer yet."""
    return bool(scope.get("state", {}).get(_HAS_GONE, _nothing)())


def _nothing() -> None:
    return


class Connection(Protocol):
    """A connection, of which only the address counts here, and that it can be ended."""

    address: str

    def end(self) -> None:
        """End it at once."""
        ...


@dataclass(slots=True)
class ConnectionSlots:
    """The places for connections: few for strangers, most for those who have shown a token.

    A stranger who comes when there is no place for one takes that of whoever has kept it longest among those of the
    address that has the most: who floods shuts out itself, and a client that shows its token at once gets in.
    """

    limits: HttpLimits
    _of_address: Counter[str] = field(default_factory=Counter)
    # In the order in which they came.
    _strangers: dict[Connection, None] = field(default_factory=dict)

    def take(self, guest: Connection) -> bool:
        """Give a place to a connection, and say whether there was one."""
        is_full = self._of_address.total() >= self.limits.connections
        if self._strangers and (is_full or len(self._strangers) >= self.limits.strangers):
            self._turn_out(Counter(one.address for one in self._strangers).most_common(1)[0][0])
        if self._of_address[guest.address] >= self.limits.per_address and not self._turn_out(guest.address):
            return False
        if self._of_address.total() >= self.limits.connections:
            # Each of them has shown a token.
            return False
        self._of_address[guest.address] += 1
        self._strangers[guest] = None
        return True

    def welcome(self, guest: Connection) -> None:
        """Let a connection that has shown a token stay."""
        self._strangers.pop(guest, None)

    def leave(self, guest: Connection) -> None:
        """Take back the place of a connection that had one."""
        self._strangers.pop(guest, None)
        self._of_address[guest.address] -= 1
        if not self._of_address[guest.address]:
            del self._of_address[guest.address]

    def _turn_out(self, address: str) -> bool:
        oldest = next((one for one in self._strangers if one.address == address), None)
        if oldest is not None:
            oldest.end()
        return oldest is not None


class LimitedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, within limits: of places, and of the time for half a request."""

    limits: ClassVar[HttpLimits]
    slots: ClassVar[ConnectionSlots]
    address = ""
    _has_place = False
    _stranger: asyncio.TimerHandle | None = None
    _half: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a place and start the stranger's time, or end where there is none."""
        super().connection_made(transport)
        self.address = network_of(self.client[0] if self.client else "")
        self.app_state = {**self.app_state, _WELCOME: self._welcome, _HAS_GONE: self._has_gone}
        self._has_place = self.slots.take(self)
        if self._has_place:
            self._stranger = self.loop.call_later(self.limits.stranger_seconds, self._end_stranger)
            self._keep_time(has_more=True)
        else:
            self.end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back, and let go of what leads round to this connection.

        All that it has sent would stay until garbage is looked for, which a stranger could put to use.
        """
        self._give_up_place()
        super().connection_lost(exc)
        self.app_state, self.scope, self.cycle = {}, None, None  # type: ignore[assignment]  # there is no next request

    def data_received(self, data: bytes) -> None:
        """Count the time of half a request from its first byte."""
        self._keep_time(has_more=True)
        super().data_received(data)

    def handle_events(self) -> None:
        """Stop that time where the request is whole."""
        super().handle_events()
        self._keep_time()

    def on_response_complete(self) -> None:
        """Let the next request have its own time."""
        super().on_response_complete()
        self._keep_time()

    def end(self) -> None:
        """End at once, whatever is under way."""
        # Whoever does not take its answer would hold up an orderly close for ever.
        self._give_up_place()
        self.transport.abort()

    def _give_up_place(self) -> None:
        for timer in (self._stranger, self._half):
            if timer is not None:
                timer.cancel()
        if self._has_place:
            self._has_place = False
            self.slots.leave(self)

    def _welcome(self) -> None:
        if self._has_place:
            self.slots.welcome(self)
        if self._stranger is not None:
            self._stranger.cancel()

    def _has_gone(self) -> bool:
        return self.transport.is_closing() or self.transport.get_write_buffer_size() > 0

    def _end_stranger(self) -> None:
        # A token that is being looked up is no stranger's doing; an answer that nobody takes is.
        if self._is_answering() and not self._has_gone():
            self._stranger = self.loop.call_later(self.limits.stranger_seconds, self._end_stranger)
        else:
            self.end()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _keep_time(self, *, has_more: bool = False) -> None:
        """Let half a request have so many seconds from its first byte; what is being answered has other self.limits."""
        is_half = has_more or bool(self.conn.trailing_data[0]) or self.conn.their_state is h11.SEND_BODY
        if self._is_answering() or not is_half:
            if self._half is not None:
                self._half.cancel()
            self._half = None
        elif self._half is None and self._has_place:
            self._half = self.loop.call_later(self.limits.head_seconds, self.end)


def protocol_of(limits: HttpLimits) -> type[H11Protocol]:
    """Return a protocol of its own limits, whose connections share their places."""
    return type("Protocol", (LimitedProtocol,), {"limits": limits, "slots": ConnectionSlots(limits)})


def network_of(host: str) -> str:
    """Return what counts as one address: an IPv4 address, or the network that an IPv6 host has for itself."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _HOSTS), strict=False))
