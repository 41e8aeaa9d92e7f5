"""Small local records: times of hygiene, sessions, and pins of fetched wings.

A session that cannot be read or written counts as new: at worst an entry is shown twice.
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

_FILE, _VERSION = "times.json", "1"


class Times(Struct, frozen=True):
    """The days of the last full run of hygiene over everything and over single wings, and when wings were made."""

    everything: date | None = None
    wings: Mapping[str, date] = field(default_factory=dict)
    made: Mapping[str, date] = field(default_factory=dict)

    def last(self, wing: str) -> date | None:
        """Return the day of the last run over a wing, alone or with all others."""
        return max((day for day in (self.everything, self.wings.get(wing)) if day is not None), default=None)


def read_times(folder: Path) -> Times:
    """Return the times of a state folder; none where the file is missing or cannot be read."""
    try:
        return convert(read_json(folder / _FILE, _VERSION), Times)
    except ValidationError:
        return Times()


def record_hygiene(folder: Path, wings: Collection[str] | None, today: date) -> bool:
    """Record a run of hygiene over some wings or over everything (None), and return whether it could be written.

    Raises BusyError where others write for too long, and OSError where the folder refuses a lock.
    """
    with write_lock(folder):
        times = read_times(folder)
        times = replace(times, wings={**times.wings, **dict.fromkeys(wings or (), today)})
        return _write(folder, replace(times, everything=today) if wings is None else times)


def record_made(folder: Path, wings: Collection[str], today: date) -> bool:
    """Record the day on which wings were made, if it is not known: older entries in them make nothing due.

    Raises the errors of `record_hygiene`.
    """
    with write_lock(folder):
        times = read_times(folder)
        return _write(folder, replace(times, made={**dict.fromkeys(wings, today), **times.made}))


def _write(folder: Path, times: Times) -> bool:
    return write_json(folder / _FILE, _VERSION, to_builtins(times, order="sorted"))


_FOLDER, _SUFFIX = "sessions", ".json"
# Older sessions are over; of more sessions, or entries of one, the oldest are forgotten.
_LASTS, _SESSIONS, _ENTRIES = timedelta(days=2), 64, 1000


def briefed(session: str, agent: str = "") -> str:
    """Return the name of the record of what an agent of a session saw as a line at an edit, not in full."""
    return f"brief\0{session}\0{agent}"


class Sessions:
    """The sessions of one root, one file each, named by a hash of the caller's name for it."""

    def __init__(self, state: Path) -> None:
        """Take the state folder, which need not exist."""
        self._folder = state / _FOLDER

    def given(self, name: str, now: datetime) -> dict[str, str]:
        """Return the entries that a session was shown, as digests by address."""
        match read_record(self._path(name)):
            case {"at": at, "given": dict(given)} if (moment := read_time(at)) is not None and now - moment < _LASTS:
                return {address: digest for address, digest in given.items() if isinstance(digest, str)}
        return {}

    def give(self, name: str, gave: Mapping[str, str], now: datetime) -> None:
        """Record more entries that a session was shown; failures do not matter."""
        if not gave:
            return
        with suppress(EnvironmentFaultError), refusal_named(self._folder):
            # Read again: the session may have got another answer meanwhile.
            given = self.given(name, now)
            known = {address: digest for address, digest in given.items() if address not in gave} | dict(gave)
            path = self._path(name)
            if not path.exists():
                self._forget_old()
            write_record(path, {"at": written_time(now), "given": dict(list(known.items())[-_ENTRIES:])})

    def forget(self, name: str) -> None:
        """Forget the entries that a session was shown; failures do not matter."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _forget_old(self) -> None:
        def changed(path: Path) -> float:
            with suppress(OSError):
                return path.lstat().st_mtime
            return 0.0

        paths = [self._folder / name for name in list_names(self._folder) if name.endswith(_SUFFIX)]
        for path in sorted(paths, key=changed, reverse=True)[_SESSIONS - 1 :]:
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / f"{digest}{_SUFFIX}"


class Pin(Struct, frozen=True):
    """A fetched commit of another repository: the folders of its memories, and the day of the last fetch."""

    commit: str
    roots: tuple[str, ...]
    asked: date


def store_of(cache: Path, url: str) -> Path:
    """Return the folder of the bare repository with everything that was fetched from a URL."""
    return _folder(cache, url) / "git"


def find_pin(cache: Path, url: str, commit: str) -> Pin | None:
    """Return the record of a fetched commit, or None."""
    stated = read_json(_folder(cache, url) / f"{commit}.json", _VERSION)
    try:
        return Pin(commit, tuple(map(str, stated["roots"])), date.fromisoformat(stated["asked"]))
    except (KeyError, TypeError, ValueError):
        return None


def keep_pin(cache: Path, url: str, pin: Pin) -> None:
    """Record a fetched commit."""
    content = {"roots": list(pin.roots), "asked": pin.asked.isoformat()}
    write_json(_folder(cache, url) / f"{pin.commit}.json", _VERSION, content)


def _folder(cache: Path, url: str) -> Path:
    return cache / "wings" / hashlib.sha256(url.encode()).hexdigest()[:20]
