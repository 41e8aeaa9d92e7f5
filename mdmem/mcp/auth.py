"""Who calls over HTTP: the holder of a bearer token, or anybody of this machine where there are no tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any

import anyio.to_thread
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from mdmem.errors import EnvironmentFaultError
from mdmem.mcp.rate_limits import Buckets, network_of
from mdmem.model.access import EVERYTHING, Access
from mdmem.store.state.tokens import BearerToken, BearerTokens

_NOBODY = Access.to_wings(())
# Set for each request; where it did not get through, nothing is seen rather than everything.
_CALLER: ContextVar[Access] = ContextVar("mdmem_caller", default=_NOBODY)
# A host as a header has it, an IPv6 one in brackets: no user, no path, and a port of digits.
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?", re.ASCII)
_ORIGIN = re.compile(r"https?://(.*)", re.ASCII)


def caller() -> Access:
    """Return the access of whoever sent the request that is worked on."""
    return _CALLER.get()


class Authenticator(Struct):
    """Asks for a token where there are any; once there was one, its removal lets nobody in without."""

    bearers: BearerTokens
    is_closed: bool

    def authenticate(self, text: str | None) -> BearerToken | None:
        """Return the token of a text, None where nobody needs one.

        Raises PermissionError for a text that is good for nothing, and EnvironmentFaultError where that cannot be told.
        """
        self.is_closed = self.is_closed or bool(self.bearers.all())
        if not self.is_closed:
            return None
        found = self.bearers.find(text) if text else None
        if found is None:
            raise PermissionError("a bearer token is needed" if text is None else "the bearer token is not known")
        return found


class KnownNames(Struct, frozen=True):
    """The names that are let in, in lower case; one without a port stands for every port."""

    allowed: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> KnownNames:
        """Return what lets these names in."""
        return cls(frozenset(name.lower().removesuffix(":*") for name in names))

    def has_host(self, stated: str) -> bool:
        """Say whether the Host header of a request names this server."""
        found = _AUTHORITY.fullmatch(stated.lower())
        if found is None or int(found[2] or 0) > 65_535:
            return False
        return found[1] in self.allowed or found[0] in self.allowed

    def has_origin(self, stated: str) -> bool:
        """Say whether the page of an Origin header came from this server."""
        found = _ORIGIN.fullmatch(stated.lower())
        return found is not None and self.has_host(found[1])


class AccessMiddleware(Struct):
    """The way to the server: the right names, a token that is good, and not too often.

    `open_access` is that of callers where nobody needs a token.
    """

    app: ASGIApp
    authenticator: Authenticator
    names: KnownNames
    buckets: Buckets
    open_access: Access = EVERYTHING

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer why it may not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if not all(self.names.has_host(host) for host in _stated(scope, b"host") or ("",)):
            await _answer(send, 421, "misdirected_request", "this server is not called so; `--allow-host` adds a name")
            return
        if not all(self.names.has_origin(origin) for origin in _stated(scope, b"origin")):
            await _answer(send, 403, "forbidden", "pages of this origin are not let in")
            return
        # A call of the authenticator reads a file.
        try:
            bearer = await anyio.to_thread.run_sync(self.authenticator.authenticate, _token_in(scope))
        except PermissionError as error:
            await self._refuse(scope, send, str(error))
            return
        except EnvironmentFaultError:
            await _answer(send, 503, "unavailable", "the tokens cannot be read at the moment")
            return
        await self._let_in(scope, receive, send, bearer)

    async def _refuse(self, scope: Scope, send: Send, why: str) -> None:
        seconds = self.buckets.wait(f"address {_address(scope)}")
        if seconds:
            await _too_often(send, seconds)
            return
        challenge = f'Bearer realm="mdmem", error="invalid_token", error_description="{why}"'
        await _answer(send, 401, "invalid_token", why, {"www-authenticate": challenge})

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, bearer: BearerToken | None) -> None:
        seconds = self.buckets.wait(f"token {bearer.digest}" if bearer else f"address {_address(scope)}")
        if seconds:
            await _too_often(send, seconds)
            return
        app: ASGIApp = self.app
        if bearer is not None:
            # The SDK lets a session be used by the token alone that began it.
            token = AccessToken(token=bearer.digest, client_id=f"{bearer.name} {bearer.digest}", scopes=[])
            scope["user"] = AuthenticatedUser(token)
            app = AuthContextMiddleware(self.app)
        held = _CALLER.set(bearer.access if bearer else self.open_access)
        try:
            await app(scope, receive, send)
        finally:
            _CALLER.reset(held)


def _token_in(scope: Scope) -> str | None:
    stated = next(iter(_stated(scope, b"authorization")), "")
    kind, _, text = stated.partition(" ")
    return text.strip() if kind.lower() == "bearer" and text.strip() else None


def _stated(scope: Scope, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == header]


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return network_of(str(client[0])) if client else ""


async def _too_often(send: Send, seconds: int) -> None:
    why = f"too many requests; try again in {seconds} s"
    await _answer(send, 429, "too_many_requests", why, {"retry-after": str(seconds)})


async def _answer(send: Send, status: int, error: str, why: str, headers: Mapping[str, str] | None = None) -> None:
    body = json.dumps({"error": error, "error_description": why}).encode()
    stated: dict[str, Any] = {"content-type": "application/json", "content-length": len(body), **(headers or {})}
    pairs = [(name.encode(), str(value).encode("latin-1")) for name, value in stated.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
