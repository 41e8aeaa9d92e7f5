"""Store approval tokens (for one write each) and bearer tokens (for callers of a server), only as hashes."""

from __future__ import annotations

import contextlib
import hmac
import os
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from shlex import quote

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError, NotFoundError, UsageError
from mdmem.model.access import Access
from mdmem.model.text import text_hash
from mdmem.store.state.files import Instant, folder_errors, list_names, read_record, write_lock, write_record

_FOLDER, _USED = "tokens", ".used"
# The length of a token's random part, in bytes.
_BYTES = 32
_APPROVAL_NAME = re.compile(r"[0-9a-f]{64}(?:\.used)?\Z")
# How long an expired token is remembered. A late caller then reads that it expired, and not that it is unknown.
_REMEMBERED = timedelta(days=1)


class ApprovalTokenError(UsageError):
    """The token is unknown, expired or used."""


class ApprovalToken(Struct, frozen=True):
    """A new token and the time when it expires; the text of the token is not stored."""

    text: str
    expires_at: datetime


class _Expiry(Struct, frozen=True):
    """The stored record of a token, in a file whose name is the token's hash."""

    expires_at: Instant


def request_token(state: Path, now: datetime, *, seconds: int) -> ApprovalToken:
    """Return a new token for one write in the next `seconds`; raises EnvironmentFaultError if it cannot be stored."""
    token = ApprovalToken(secrets.token_urlsafe(_BYTES), now + timedelta(seconds=seconds))
    folder = state / _FOLDER
    with folder_errors(state):
        for name in filter(_APPROVAL_NAME.match, list_names(folder)):
            known = read_record(folder / name, _Expiry)
            if known is not None and known.expires_at + _REMEMBERED < now:
                with contextlib.suppress(OSError):
                    (folder / name).unlink()
        write_record(_path(state, token.text), _Expiry(token.expires_at))
    return token


_WAS_USED = "the token was already used for another write; `mdmem token` prints a new one"


def use_token(state: Path, token: str, now: datetime) -> None:
    """Use up an approval token, which only one process can do; raises the errors of `check_token`."""
    path = _path(state, token)
    check_token(state, token, now)
    with folder_errors(state):
        try:
            path.rename(path.with_name(path.name + _USED))
        except FileNotFoundError:
            raise ApprovalTokenError(_WAS_USED) from None


def check_token(state: Path, token: str, now: datetime) -> None:
    """Raise ApprovalTokenError if an approval token is not valid, or EnvironmentFaultError if it cannot be read."""
    path = _path(state, token)
    with folder_errors(state):
        known = read_record(path, _Expiry)
        if known is None and read_record(path.with_name(path.name + _USED), _Expiry) is not None:
            raise ApprovalTokenError(_WAS_USED)
        if known is None:
            raise ApprovalTokenError("the approval token is unknown; `mdmem token` prints a new one")
        if now >= known.expires_at:
            at = known.expires_at.isoformat()
            raise ApprovalTokenError(f"the token expired at {at}; `mdmem token` prints a new one")


def _path(state: Path, token: str) -> Path:
    return state / _FOLDER / text_hash(token.strip())


_FILE, _VERSION = "bearers.json", 1
_BEARER_NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*\Z")
_MAX_LENGTH = 64


class BearerToken(Struct, frozen=True, kw_only=True):
    """A stored bearer token: the hash of its text, and the wings that its holder may read and write (None for all)."""

    name: str
    sha256: str
    created: Instant | None
    readable: frozenset[str] | None
    writable: frozenset[str] | None

    @property
    def access(self) -> Access:
        """Return the access that the holder of the token has."""
        return Access(self.name, self.readable, self.writable)


class _BearerFile(Struct, frozen=True):
    bearers: Sequence[BearerToken]
    version: int


def new_bearer(name: str, text: str, access: Access, now: datetime) -> BearerToken:
    """Return the record of a new bearer token."""
    digest, readable, writable = text_hash(text), access.readable, access.writable
    return BearerToken(name=name, sha256=digest, created=now, readable=readable, writable=writable)


class BearerTokens(Struct, frozen=True):
    """The bearer tokens of one root. Their file is read for each request, so a removed token is invalid at once."""

    state: Path

    def all(self) -> tuple[BearerToken, ...]:
        """Return the tokens sorted by name; raises EnvironmentFaultError if their file cannot be read."""
        path = self.state / _FILE
        if not os.path.lexists(path):
            return ()
        record = read_record(path, _BearerFile)
        if record is None or record.version != _VERSION:
            # Never return an empty tuple here, since a server without tokens lets everybody in.
            raise EnvironmentFaultError(f"the tokens in {path} cannot be read; fix or remove that file")
        return tuple(sorted(record.bearers, key=lambda one: one.name))

    def add(self, name: str, access: Access, now: datetime) -> str:
        """Create a token and return its text, which is not stored; raises UsageError for an invalid or used name."""
        if len(name) > _MAX_LENGTH or not _BEARER_NAME.match(name):
            raise UsageError(
                f"`{name}` is not a token name; use lower-case letters, digits, `-`, `_` and `.`, at most {_MAX_LENGTH}"
            )
        text = secrets.token_urlsafe(_BYTES)
        with folder_errors(self.state), write_lock(self.state / "bearers"):
            known = self.all()
            if any(one.name == name for one in known):
                raise UsageError(f"there is a token `{name}` already; `mdmem token remove {quote(name)}` removes it")
            self._write([*known, new_bearer(name, text, access, now)])
        return text

    def remove(self, name: str) -> None:
        """Remove a token, so that it is invalid at once; raises NotFoundError if there is no token of this name."""
        with folder_errors(self.state), write_lock(self.state / "bearers"):
            known = self.all()
            left = [one for one in known if one.name != name]
            if len(left) == len(known):
                raise NotFoundError(f"there is no token `{name}`; `mdmem token list` lists them")
            self._write(left)

    def find(self, text: str) -> BearerToken | None:
        """Return the token with this text, or None; against timing attacks, every look-up takes equally long."""
        digest, found = text_hash(text), None
        for one in self.all():
            if hmac.compare_digest(one.sha256, digest):
                found = one
        return found

    def _write(self, tokens: Sequence[BearerToken]) -> None:
        ordered = sorted(tokens, key=lambda one: one.name)
        write_record(self.state / _FILE, _BearerFile(ordered, _VERSION))
