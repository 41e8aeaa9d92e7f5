"""A token as it is handed out, or why none is."""

from __future__ import annotations

from mdmem.render.json_form import dump
from mdmem.state.tokens import Token


def token_text(token: Token, *, seconds: int) -> str:
    """Return the token on a line of its own, and when it expires."""
    return f"{token.text}\nexpires {token.expires_at.isoformat(timespec='seconds')}, in {seconds} s; good for one write"


def token_json(token: Token, *, seconds: int) -> str:
    """Return the token, when it expires, and the seconds until then."""
    expires_at = token.expires_at.isoformat(timespec="seconds")
    return dump({"token": token.text, "expires_at": expires_at, "ttl_seconds": seconds})


def forbidden_json(reason: str) -> str:
    """Return why there is no token."""
    return dump({"blocked": True, "reason": reason})
