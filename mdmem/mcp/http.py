"""Serve many clients over streamable HTTP; each client may see the wings of its bearer token."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import math
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.to_thread
import h11
import uvicorn
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware, get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.transport_security import TransportSecuritySettings
from msgspec import Struct, field
from starlette.authentication import AuthCredentials, AuthenticationError
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.mcp.server import MemoryServer
from mdmem.model.access import Access
from mdmem.store.state.tokens import BearerTokens

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# Seconds to finish requests that are being answered when the server stops.
_GRACE = 2
# The requests per second of each token, and how many may come at once.
_PER_SECOND, _BURST = 100, 1000
# The most bytes of a request, seconds to send it, and open connections.
_REQUEST_BYTES, _REQUEST_SECONDS, _CONNECTIONS = 1 << 20, 5, 512


class ListenAddress(Struct, frozen=True):
    """The host and port to listen on; `names` are further host names that clients may use for the server."""

    host: str
    port: int
    names: tuple[str, ...] = ()

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine can reach the address; raises UsageError if the host cannot be resolved."""
        try:
            found = socket.getaddrinfo(self.host or None, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is not the name of a host"
            raise UsageError(f"`{self.host}` cannot be resolved to an address: {why}") from error
        return all(ipaddress.ip_address(str(one[4][0]).partition("%")[0]).is_loopback for one in found)

    def bind(self) -> socket.socket:
        """Return a listening socket; raises EnvironmentFaultError if the address is not available."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise EnvironmentFaultError(f"cannot listen on {self.host}:{self.port}: {why}") from error

    def security(self, port: int) -> TransportSecuritySettings:
        """Return which Host and Origin headers are accepted, as a protection against DNS rebinding by web pages."""
        own = {self.host}
        if self.host in ("", "0.0.0.0", "::"):
            own = {socket.gethostname()}
            with contextlib.suppress(OSError):
                found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
                own |= {str(one[4][0]).partition("%")[0] for one in found}
        names = [*_LOOPBACK, *(f"[{name}]" if ":" in name else name for name in own)]
        names += [name.removesuffix(":*") for name in self.names]
        # A Host header may have any port, since ports may be forwarded. An Origin header must have our port, or none.
        places = [place for name in names for place in (name, f"{name}:{port}")]
        origins = [f"{scheme}://{place}" for scheme in ("http", "https") for place in places]
        hosts = [one for name in names for one in (name, f"{name}:*")]
        return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def parse_address(text: str, *, names: Sequence[str] = ()) -> ListenAddress:
    """Parse `HOST:PORT`, where an IPv6 host may be in brackets; raises UsageError if that fails."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"`{text}` is not an address; write HOST:PORT, such as 127.0.0.1:8077")
    return ListenAddress(host.removeprefix("[").removesuffix("]"), int(port), tuple(names))


class _CallerToken(AccessToken):
    """A token of the SDK with the access of its owner: the wings to read and to write."""

    access: Any


def caller() -> Access:
    """Return the access of the caller of the current request; without a caller, it is access to nothing."""
    token = get_access_token()
    return token.access if isinstance(token, _CallerToken) else Access.to_wings(())


class TokenBackend(BearerAuthBackend, TokenVerifier):
    """Authenticates requests by bearer tokens.

    As soon as one token exists, every request needs a token, even after the last token was removed. Tokens are read
    again at each request, so that a removed token is refused at once.
    """

    def __init__(self, bearers: BearerTokens, *, is_closed: bool, open_access: Access) -> None:
        """Store the tokens; `is_closed` requires a token in any case, `open_access` is for requests without one."""
        super().__init__(self)
        self._bearers, self._is_closed = bearers, is_closed
        self._open = AuthenticatedUser(_CallerToken(token="", client_id="", scopes=[], access=open_access))

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the token with this text, or None if there is no such token."""
        found = await anyio.to_thread.run_sync(self._bearers.find, token)
        if found is None:
            return None
        name = f"{found.name} {found.sha256}"
        return _CallerToken(token=found.sha256, client_id=name, scopes=[], access=found.access)

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, AuthenticatedUser] | None:
        """Return the caller of a request, or None if a token is needed but not valid.

        Raises AuthenticationError if the file of tokens cannot be read.
        """
        try:
            self._is_closed = self._is_closed or bool(await anyio.to_thread.run_sync(self._bearers.all))
            if not self._is_closed:
                return AuthCredentials([]), self._open
            found: tuple[AuthCredentials, AuthenticatedUser] | None = await super().authenticate(conn)
        except EnvironmentFaultError as error:
            why = "the server cannot read its file of tokens; tell the person who runs the server"
            raise AuthenticationError(why) from error
        return found


class RateLimit(Struct):
    """A middleware that limits the requests of each caller per second, but allows bursts."""

    app: ASGIApp
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 429 if the caller has made too many."""
        user, app = scope.get("user"), self.app
        if isinstance(user, AuthenticatedUser):
            moment = time.monotonic()
            left, since = self._left.get(user.display_name, (_BURST, moment))
            left = min(_BURST, left + (moment - since) * _PER_SECOND)
            self._left[user.display_name] = (left - 1 if left >= 1 else left, moment)
            if left < 1:
                seconds = max(1, math.ceil((1 - left) / _PER_SECOND))
                why = f"too many requests; try again in {seconds} s"
                body = {"error": "too_many_requests", "error_description": why}
                app = JSONResponse(body, 429, {"retry-after": str(seconds)})
        await app(scope, receive, send)


class TimedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with a time limit for sending a request; a slow connection is closed."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the time limit of the first request."""
        super().connection_made(transport)
        self._restart()

    def on_response_complete(self) -> None:
        """Start the time limit of the next request."""
        super().on_response_complete()
        self._restart()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit."""
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def _restart(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

        def close_unless_answering() -> None:
            is_answering = self.cycle is not None and not self.cycle.response_complete
            if not is_answering or self.conn.their_state is h11.SEND_BODY:
                # A normal close would wait for the client to read pending data.
                self.transport.abort()

        self._timer = self.loop.call_later(_REQUEST_SECONDS, close_unless_answering)


class _Uvicorn(uvicorn.Server):
    """A server that stops on a signal and does not raise it again, so that the process exits normally."""

    def handle_exit(self, sig: int, frame: Any) -> None:  # noqa: ARG002  # the library passes both
        self.should_exit = True


def serve_http(
    server: MemoryServer, bearers: BearerTokens, listening: ListenAddress, *, say: Callable[[str], None], access: Access
) -> None:
    """Serve until a signal arrives; `access` is for requests without a token.

    Raises UsageError if strangers could connect without a token, or if there are tokens and `access` is narrow.
    """
    has_tokens = bool(bearers.all())
    if has_tokens and access.is_narrow:
        raise UsageError("each token has its own wings; leave out --wing")
    if not has_tokens and not listening.is_loopback:
        host = listening.host or "this machine"
        hint = "make one with `mdmem token add NAME --wing WING`, or listen on 127.0.0.1"
        raise UsageError(f"without a token anybody who reaches {host} could read the memory; {hint}")
    backend = TokenBackend(bearers, is_closed=has_tokens or not listening.is_loopback, open_access=access)
    with listening.bind() as bound:
        host, port = bound.getsockname()[:2]
        app = _build_app(server, backend, listening.security(port))
        config = uvicorn.Config(
            app,
            http=TimedProtocol,
            ws="none",
            log_level="error",
            # uvicorn's own log configuration would print unescaped text from clients.
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_REQUEST_SECONDS,
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE,
            backlog=128,
        )
        say(f"mdmem: serving http://{f'[{host}]' if ':' in host else host}:{port}{PATH}")
        # Refused requests are not logged, so that strangers cannot fill the log.
        logging.getLogger("mcp.server").setLevel(logging.ERROR)
        anyio.run(lambda: _Uvicorn(config).serve(sockets=[bound]))


def _build_app(server: MemoryServer, backend: TokenBackend, security: TransportSecuritySettings) -> ASGIApp:
    app = server._lowlevel_server.streamable_http_app(
        streamable_http_path=PATH,
        # Calls do not depend on each other: the access of the token is looked up for each call.
        stateless_http=True,
        max_request_body_size=_REQUEST_BYTES,
        transport_security=security,
        # With a verifier, the SDK refuses requests without a user. `backend` is also the middleware that sets the user.
        token_verifier=backend,
    )
    app.add_middleware(AuthContextMiddleware)
    app.add_middleware(RateLimit)
    app.add_middleware(
        AuthenticationMiddleware,
        backend=backend,
        on_error=lambda _, error: JSONResponse({"error": "unavailable", "error_description": str(error)}, 503),
    )
    return app
