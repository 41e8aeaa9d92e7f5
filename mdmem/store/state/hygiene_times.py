"""When hygiene ran, of the whole memory and of single wings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path

from msgspec import Struct, ValidationError, convert, field, to_builtins
from msgspec.structs import replace

from mdmem.store.state.files import read_json, write_json
from mdmem.store.state.lock import write_lock

_FILE, _VERSION = "times.json", "1"


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
        return convert(read_json(folder / _FILE, _VERSION), Times)
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
    return write_json(folder / _FILE, _VERSION, to_builtins(times, order="sorted"))
