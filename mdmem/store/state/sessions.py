"""What the answers of one session handed over, so that a later one need not say it again; a hint, never more.

A session that cannot be read or written is a new one: the worst that comes of it is an entry that is told twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from mdmem.errors import EnvironmentFaultError
from mdmem.store.state.files import list_names, read_record, read_time, refusal_named, write_record, written_time

_FOLDER, _SUFFIX = "sessions", ".json"
# What is older is no session that goes on; beyond so many of them the oldest go.
_LASTS, _SESSIONS, _ENTRIES = timedelta(days=2), 64, 1000


def briefed(session: str, agent: str = "") -> str:
    """Return the name under which a session keeps what one of its agents was told in a line at an edit.

    It is no other than the session's own: what came as a line has not been given whole.
    """
    return f"brief\0{session}\0{agent}"


class Sessions:
    """The sessions of one root, one file each, named by a hash: what a caller calls one is not a file's name."""

    def __init__(self, state: Path) -> None:
        """Take the state folder, which need not be there."""
        self._folder = state / _FOLDER

    def given(self, name: str, now: datetime) -> dict[str, str]:
        """Return what a session was given: addresses to digests; nothing for one that is not known, or too old."""
        match read_record(self._path(name)):
            case {"at": at, "given": dict(given)} if (moment := read_time(at)) is not None and now - moment < _LASTS:
                return {address: digest for address, digest in given.items() if isinstance(digest, str)}
        return {}

    def give(self, name: str, gave: Mapping[str, str], now: datetime) -> None:
        """Note what a session was given besides; that this fails is no matter."""
        if not gave:
            return
        with suppress(EnvironmentFaultError), refusal_named(self._folder):
            # Read again: another answer of the session may have been given meanwhile.
            given = self.given(name, now)
            known = {address: digest for address, digest in given.items() if address not in gave} | dict(gave)
            latest = dict(list(known.items())[-_ENTRIES:])
            path = self._path(name)
            if not path.exists():
                self._forget_old()
            write_record(path, {"at": written_time(now), "given": latest})

    def forget(self, name: str) -> None:
        """Forget what a session was given, as whoever was given it has; that this fails is no matter."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _forget_old(self) -> None:
        paths = [self._folder / name for name in list_names(self._folder) if name.endswith(_SUFFIX)]
        newest = sorted(paths, key=_changed, reverse=True)
        for path in newest[_SESSIONS - 1 :]:
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / f"{digest}{_SUFFIX}"


def _changed(path: Path) -> float:
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0
