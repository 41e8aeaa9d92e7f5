"""Keep approval and bearer tokens as hashes."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError, NotFoundError, UsageError
from mdmem.model.access import Access
from mdmem.store.state.files import (
    list_names,
    read_record,
    read_time,
    refusal_named,
    write_lock,
    write_record,
    written_time,
)

_FOLDER, _USED = "tokens", ".used"
_BITS = 256
_APPROVAL_NAME = re.compile(r"[0-9a-f]{64}(?:\.used)?\Z")
# So long a late caller still reads why; after that a token that expired is as unknown as any other text.
_REMEMBERED = timedelta(days=1)


class ApprovalTokenError(UsageError):
    """The token lets no write through: it is unknown, expired or used."""


class ApprovalToken(Struct, frozen=True):
    """A token as it is handed out, and when it expires; the text is nowhere else."""

    text: str
    expires_at: datetime


def request_token(state: Path, now: datetime, *, seconds: int) -> ApprovalToken:
    """Return a new token that is good for one write within so many seconds; raises EnvironmentFaultError."""
    token = ApprovalToken(secrets.token_urlsafe(_BITS // 8), now + timedelta(seconds=seconds))
    with refusal_named(state):
        _clean(state / _FOLDER, now)
        write_record(_path(state, token.text), {"expires_at": written_time(token.expires_at)})
    return token


def use_token(state: Path, token: str, now: datetime) -> None:
    """Use a token up; raises ApprovalTokenError for one that is good no more, and EnvironmentFaultError.

    Of several processes that use one token at once, one gets through.
    """
    path = _path(state, token)
    used = path.with_name(path.name + _USED)
    with refusal_named(state):
        try:
            _refuse(path, used, now)
            path.rename(used)
        except FileNotFoundError:
            raise _was_used() from None


def check_token(state: Path, token: str, now: datetime) -> None:
    """Raise ApprovalTokenError for a token that lets no write through, and EnvironmentFaultError; none is used up."""
    path = _path(state, token)
    with refusal_named(state):
        _refuse(path, path.with_name(path.name + _USED), now)


def _refuse(path: Path, used: Path, now: datetime) -> None:
    expires_at = _expiry(path)
    if expires_at is None and _expiry(used) is not None:
        raise _was_used()
    if expires_at is None:
        raise ApprovalTokenError("the token is unknown; `mdmem token` gives one")
    if now >= expires_at:
        raise ApprovalTokenError(f"the token expired at {written_time(expires_at)}; `mdmem token` gives a new one")


def _was_used() -> ApprovalTokenError:
    return ApprovalTokenError("the token was used for another write; `mdmem token` gives a new one")


def _path(state: Path, token: str) -> Path:
    return state / _FOLDER / hashlib.sha256(token.strip().encode("utf-8", "surrogatepass")).hexdigest()


def _expiry(path: Path) -> datetime | None:
    return read_time((read_record(path) or {}).get("expires_at"))


def _clean(folder: Path, now: datetime) -> None:
    """Remove the tokens that expired long ago; other files stay."""
    for name in filter(_APPROVAL_NAME.match, list_names(folder)):
        expires_at = _expiry(folder / name)
        if expires_at is not None and expires_at + _REMEMBERED < now:
            with contextlib.suppress(OSError):
                (folder / name).unlink()


_FILE, _VERSION = "bearers.json", 1
_BYTES = 32
# It is the name of a folder, too, where the caller's own memory lies.
_BEARER_NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*\Z")
_LONGEST = 64


class BearerToken(Struct, frozen=True):
    """One token without its text: the holder's access, the SHA-256 of the text, and when it was made."""

    access: Access
    digest: str
    created: datetime | None = None

    @property
    def name(self) -> str:
        """Return the name that the token was given."""
        return self.access.name or ""


class BearerTokens:
    """The bearer tokens of one root, read anew at each question, so that one that is removed is good no more."""

    def __init__(self, state: Path) -> None:
        """Take the folder of the root's state."""
        self._state = state

    def all(self) -> tuple[BearerToken, ...]:
        """Return the tokens, by name; raises EnvironmentFaultError where they cannot be told."""
        path = self._state / _FILE
        if not os.path.lexists(path):
            return ()
        record = read_record(path)
        try:
            if record is None or record["version"] != _VERSION:
                raise ValueError
            found = [_bearer(one) for one in record["bearers"]]
        except (KeyError, TypeError, ValueError, AttributeError):
            # As none at all they would let everybody in.
            raise EnvironmentFaultError(f"the tokens in {path} cannot be read; mend or remove that file") from None
        return tuple(sorted(found, key=lambda one: one.name))

    def add(self, name: str, access: Access, now: datetime) -> str:
        """Return the text of a new token, which is kept nowhere; raises UsageError for a name that is odd or taken."""
        if len(name) > _LONGEST or not _BEARER_NAME.match(name):
            raise UsageError(
                f"`{name}` cannot name a token; write lower-case letters, digits, `-`, `_` and `.`, at most {_LONGEST}"
            )
        text = secrets.token_urlsafe(_BYTES)
        with refusal_named(self._state), write_lock(self._state / "bearers"):
            known = self.all()
            if any(one.name == name for one in known):
                raise UsageError(f"there is a token `{name}` already; `mdmem token remove {name}` ends it")
            self._write(
                [*known, BearerToken(Access(name, access.readable, access.writable), digest_of_token(text), now)]
            )
        return text

    def remove(self, name: str) -> None:
        """End a token at once; raises NotFoundError with the nearest name."""
        with refusal_named(self._state), write_lock(self._state / "bearers"):
            known = self.all()
            left = [one for one in known if one.name != name]
            if len(left) == len(known):
                raise NotFoundError(f"there is no token `{name}`{_nearest(name, [one.name for one in known])}")
            self._write(left)

    def find(self, text: str) -> BearerToken | None:
        """Return the token of a text, or None; how long that takes tells nothing of any token."""
        digest, found = digest_of_token(text), None
        for one in self.all():
            if hmac.compare_digest(one.digest, digest):
                found = one
        return found

    def _write(self, bearers: Iterable[BearerToken]) -> None:
        content = [_stated(one) for one in sorted(bearers, key=lambda one: one.name)]
        write_record(self._state / _FILE, {"version": _VERSION, "bearers": content})


def digest_of_token(text: str) -> str:
    """Return what is kept of a token's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    return f"; did you mean `{close[0]}`?" if close else "; `mdmem token list` names them"


def _stated(bearer: BearerToken) -> dict[str, Any]:
    wings = {"readable": bearer.access.readable, "writable": bearer.access.writable}
    return {
        "name": bearer.name,
        "sha256": bearer.digest,
        "created": written_time(bearer.created) if bearer.created else None,
        **{kind: None if names is None else sorted(names) for kind, names in wings.items()},
    }


def _bearer(stated: dict[str, Any]) -> BearerToken:
    name, digest = str(stated["name"]), str(stated["sha256"])
    return BearerToken(
        Access(name, _wings(stated["readable"]), _wings(stated["writable"])), digest, read_time(stated["created"])
    )


def _wings(stated: object) -> frozenset[str] | None:
    if stated is None:
        return None
    if not isinstance(stated, list):
        raise TypeError
    return frozenset(map(str, stated))
