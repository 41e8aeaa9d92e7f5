"""Serves many clients over streamable HTTP: each sees what its bearer token opens, and no name but ours lets one in.

A time limit for each request of an HTTP connection; uvicorn has one only between requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import anyio
import h11
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from msgspec import Struct
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.mcp.auth import AccessMiddleware, Authenticator, KnownNames
from mdmem.mcp.logs import bound_log
from mdmem.mcp.rate_limits import Buckets, HttpLimits
from mdmem.mcp.server import MemoryServer
from mdmem.model.access import EVERYTHING, Access
from mdmem.store.state.tokens import BearerTokens


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


PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# So long those who are being answered have when the server is told to end.
_GRACE = 2


class ListenAddress(Struct, frozen=True):
    """Where to listen, as it was asked for; `names` are more names that clients may call the server by."""

    host: str
    port: int
    names: tuple[str, ...] = ()

    @property
    def is_loopback(self) -> bool:
        """Say whether only this machine gets through."""
        try:
            found = socket.getaddrinfo(self.host or None, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is no name of a host"
            raise UsageError(f"`{self.host}` is no address of this machine: {why}") from error
        return all(ipaddress.ip_address(str(one[4][0]).partition("%")[0]).is_loopback for one in found)

    @property
    def is_everywhere(self) -> bool:
        """Say whether every address of the machine is meant."""
        return self.host in ("", "0.0.0.0", "::")


def read_address(text: str, *, names: Sequence[str] = ()) -> ListenAddress:
    """Return what `HOST:PORT` means, an IPv6 host in brackets; raises UsageError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"`{text}` is no address; write HOST:PORT, such as 127.0.0.1:8077")
    return ListenAddress(host.removeprefix("[").removesuffix("]"), int(port), tuple(names))


def names_of(listening: ListenAddress) -> KnownNames:
    """Return which Host and Origin headers are let in, so that no page of a browser gets in by a name of its own."""
    own = {listening.host} if not listening.is_everywhere else {socket.gethostname(), *_own_addresses()}
    return KnownNames.of((*_LOOPBACK, *(f"[{name}]" if ":" in name else name for name in own), *listening.names))


def _own_addresses() -> Iterator[str]:
    with contextlib.suppress(OSError):
        for one in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM):
            yield str(one[4][0]).partition("%")[0]


def build_app(
    server: MemoryServer,
    authenticator: Authenticator,
    *,
    listening: ListenAddress,
    limits: HttpLimits,
    open_access: Access = EVERYTHING,
) -> ASGIApp:
    """Return the application that answers the requests; `open_access` is for callers who need no token."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        # A call needs no other: what a token opens is asked anew at each.
        stateless_http=True,
        max_request_body_size=limits.request_bytes,
        # The door looks at the names; the SDK takes whatever follows a colon for a port.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    buckets = Buckets(limits.per_second, limits.burst)
    return AccessMiddleware(app, authenticator, names_of(listening), buckets, open_access)


def serve_http(
    server: MemoryServer,
    bearers: BearerTokens,
    listening: ListenAddress,
    *,
    say: Callable[[str], None],
    limits: HttpLimits | None = None,
    open_access: Access = EVERYTHING,
) -> None:
    """Serve until a signal ends it.

    `say` is told, once, where it listens.
    Raises UsageError for an address that would let anybody in, and EnvironmentFaultError where it cannot be had.
    """
    limits = limits or HttpLimits()
    authenticator = authenticator_for(bearers, listening, open_access=open_access)
    with _bound(listening) as bound:
        app = build_app(server, authenticator, listening=listening, limits=limits, open_access=open_access)
        say(f"mdmem: serving {_url(bound)}")
        anyio.run(_serve, app, bound, limits)


def authenticator_for(bearers: BearerTokens, listening: ListenAddress, *, open_access: Access) -> Authenticator:
    """Return what asks for tokens at an address; raises UsageError where anybody would be let in."""
    has_tokens = bool(bearers.all())
    if has_tokens and open_access.is_narrow:
        raise UsageError("each token says which wings it opens; leave out --wing")
    if not has_tokens and not listening.is_loopback:
        hint = "`mdmem token add NAME --wing WING` makes one; or listen on 127.0.0.1"
        raise UsageError(f"without a token anybody who reaches {listening.host or 'this machine'} would read; {hint}")
    return Authenticator(bearers, is_closed=has_tokens or not listening.is_loopback)


def _bound(listening: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    try:
        return socket.create_server((listening.host, listening.port), family=family)
    except (OSError, UnicodeError) as error:
        where, why = f"{listening.host}:{listening.port}", getattr(error, "strerror", None) or error
        raise EnvironmentFaultError(f"cannot listen on {where}: {why}") from error


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


async def _serve(app: ASGIApp, bound: socket.socket, limits: HttpLimits) -> None:
    bound_log()
    await _Quiet(config_of(app, limits)).serve(sockets=[bound])


def config_of(app: ASGIApp, limits: HttpLimits) -> uvicorn.Config:
    """Return how an application is served within limits."""
    return uvicorn.Config(
        app,
        http=protocol_with(limits.request_seconds),
        ws="none",
        log_level="warning",
        # Its own would print what a client sent as it came.
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(limits.request_seconds),
        limit_concurrency=limits.connections,
        timeout_graceful_shutdown=_GRACE,
        backlog=128,
    )


class _Quiet(uvicorn.Server):
    """Ends on a signal as on a wish: the process goes on to its end, and that is no fault."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let SIGINT and SIGTERM end the serving, and put back what they did before."""
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
