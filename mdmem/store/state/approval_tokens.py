"""One-time tokens: handed out once, kept as a hash, good for one write and a short time."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.store.state.files import list_names, read_record, read_time, refusal_named, write_record, written_time

_FOLDER, _USED = "tokens", ".used"
_BITS = 256
_NAME = re.compile(r"[0-9a-f]{64}(?:\.used)?\Z")
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
    for name in filter(_NAME.match, list_names(folder)):
        expires_at = _expiry(folder / name)
        if expires_at is not None and expires_at + _REMEMBERED < now:
            with contextlib.suppress(OSError):
                (folder / name).unlink()
