"""Tokens of both kinds: a new one as it is handed out, why none is, and the list of those that are good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdmem.render.json import dump
from mdmem.store.state.approval_tokens import ApprovalToken
from mdmem.store.state.bearer_tokens import BearerToken


def new_bearer_text(text: str, bearer: BearerToken) -> str:
    """Return a new token on a line of its own, and what it is good for."""
    return f"{text}\n{_line(bearer)}; it is shown this once, send it as `Authorization: Bearer TOKEN`"


def new_bearer_json(text: str, bearer: BearerToken) -> str:
    """Return a new token and what it is good for."""
    return dump({"token": text, **_facts(bearer)})


def bearers_text(bearers: Sequence[BearerToken]) -> str:
    """Return one line a token."""
    return "\n".join(map(_line, bearers))


def bearers_json(bearers: Sequence[BearerToken]) -> str:
    """Return the tokens by name."""
    return dump({"tokens": [_facts(one) for one in bearers]})


def _line(bearer: BearerToken) -> str:
    since = f", since {bearer.created.date().isoformat()}" if bearer.created else ""
    writes = f"writes {_wings(bearer.access.writable)}" if bearer.access.writable != frozenset() else "writes nothing"
    return f"{bearer.name}: reads {_wings(bearer.access.readable)}, {writes}{since}"


def _wings(names: frozenset[str] | None) -> str:
    return "every wing" if names is None else " ".join(sorted(names))


def _facts(bearer: BearerToken) -> dict[str, Any]:
    readable, writable = bearer.access.readable, bearer.access.writable
    return {
        "name": bearer.name,
        "readable": None if readable is None else sorted(readable),
        "writable": None if writable is None else sorted(writable),
        "created": bearer.created.isoformat(timespec="seconds") if bearer.created else None,
    }


def token_text(token: ApprovalToken, *, seconds: int) -> str:
    """Return the token on a line of its own, and when it expires."""
    return f"{token.text}\nexpires {token.expires_at.isoformat(timespec='seconds')}, in {seconds} s; good for one write"


def token_json(token: ApprovalToken, *, seconds: int) -> str:
    """Return the token, when it expires, and the seconds until then."""
    expires_at = token.expires_at.isoformat(timespec="seconds")
    return dump({"token": token.text, "expires_at": expires_at, "ttl_seconds": seconds})


def forbidden_json(reason: str) -> str:
    """Return why there is no token."""
    return dump({"blocked": True, "reason": reason})
