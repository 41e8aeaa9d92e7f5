"""Keep small local records: times of hygiene, sessions and pins of fetched wings.

A session that cannot be read or written is a new one: the worst that comes of it is an entry that is told twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path

from msgspec import Struct, ValidationError, convert, field, to_builtins
from msgspec.structs import replace

from mdmem.errors import EnvironmentFaultError
from mdmem.store.state.files import (
    list_names,
    read_json,
    read_record,
    read_time,
    refusal_named,
    write_json,
    write_lock,
    write_record,
    written_time,
)

_FILE, _TIMES_VERSION = "times.json", "1"


class Times(Struct, frozen=True):
    """The day of the last full run over everything, of those over some wings, and on which wings were made, by name."""

    everything: date | None = None
    wings: Mapping[str, date] = field(default_factory=dict)
    made: Mapping[str, date] = field(default_factory=dict)

    def last(self, wing: str) -> date | None:
        """Return the day of the last run that looked at a wing, alone or among all."""
        found = [day for day in (self.everything, self.wings.get(wing)) if day is not None]
        return max(found, default=None)


def read_times(folder: Path) -> Times:
    """Return the times that a state folder holds; none where it has no such file, or one that cannot be read."""
    try:
        return convert(read_json(folder / _FILE, _TIMES_VERSION), Times)
    except ValidationError:
        return Times()


def record_hygiene(folder: Path, wings: Collection[str] | None, today: date) -> bool:
    """Keep that hygiene ran, over some wings or over everything (None), and say whether it could be written.

    Raises BusyError where others write for too long, and OSError where the folder refuses a lock.
    """
    with write_lock(folder):
        times = read_times(folder)
        run = {**times.wings, **dict.fromkeys(wings or (), today)}
        return _write(folder, replace(times, everything=today if wings is None else times.everything, wings=run))


def record_made(folder: Path, wings: Collection[str], today: date) -> bool:
    """Keep since when wings are there, if that is not known: what they hold from before makes nothing due.

    Raises what `record_hygiene` raises.
    """
    with write_lock(folder):
        times = read_times(folder)
        return _write(folder, replace(times, made={**dict.fromkeys(wings, today), **times.made}))


def _write(folder: Path, times: Times) -> bool:
    return write_json(folder / _FILE, _TIMES_VERSION, to_builtins(times, order="sorted"))


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


_VERSION = "1"


class Pin(Struct, frozen=True):
    """One commit of another repository: the memories it holds, by their folders, and the day it was last asked for."""

    commit: str
    roots: tuple[str, ...]
    asked: date


def store_of(cache: Path, url: str) -> Path:
    """Return the folder of the bare repository that holds what was fetched from a place."""
    return _folder(cache, url) / "git"


def find_pin(cache: Path, url: str, commit: str) -> Pin | None:
    """Return what is known of a commit that was fetched, or None."""
    said = read_json(_record(cache, url, commit), _VERSION)
    try:
        return Pin(commit, tuple(map(str, said["roots"])), date.fromisoformat(said["asked"]))
    except (KeyError, TypeError, ValueError):
        return None


def keep_pin(cache: Path, url: str, pin: Pin) -> None:
    """Record that a commit is at hand."""
    write_json(_record(cache, url, pin.commit), _VERSION, {"roots": list(pin.roots), "asked": pin.asked.isoformat()})


def _record(cache: Path, url: str, commit: str) -> Path:
    return _folder(cache, url) / f"{commit}.json"


def _folder(cache: Path, url: str) -> Path:
    return cache / "wings" / hashlib.sha256(url.encode()).hexdigest()[:20]
