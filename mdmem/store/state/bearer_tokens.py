"""Bearer tokens of the HTTP server: shown once, kept as hashes, each with the wings that it opens."""

from __future__ import annotations

import difflib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError, NotFoundError, UsageError
from mdmem.model.access import Access
from mdmem.store.state.files import read_record, read_time, refusal_named, write_record, written_time
from mdmem.store.state.lock import write_lock

_FILE, _VERSION = "bearers.json", 1
_BYTES = 32
# It is the name of a folder, too, where the caller's own memory lies.
_NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*\Z")
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
        if len(name) > _LONGEST or not _NAME.match(name):
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
