"""When hygiene ran, of the whole memory and of single wings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from mdmem.entry.model import day_of, parse_moment
from mdmem.state.files import read_json, write_json
from mdmem.state.lock import write_lock

_FILE, _VERSION = "times.json", "1"


@dataclass(frozen=True, slots=True)
class Times:
    """The day of the last full run over everything, and of those over some wings, by name."""

    everything: date | None = None
    wings: Mapping[str, date] = field(default_factory=dict)

    def last(self, wing: str) -> date | None:
        """Return the day of the last run that looked at a wing, alone or among all."""
        found = [day for day in (self.everything, self.wings.get(wing)) if day is not None]
        return max(found, default=None)


def read_times(folder: Path) -> Times:
    """Return the times that a state folder holds; none where it has no such file, or one that cannot be read."""
    stored = read_json(folder / _FILE, _VERSION)
    wings = stored.get("wings")
    days = {name: _day(text) for name, text in wings.items()} if isinstance(wings, dict) else {}
    return Times(_day(stored.get("everything")), {name: day for name, day in sorted(days.items()) if day is not None})


def record_hygiene(folder: Path, wings: Collection[str] | None, today: date) -> bool:
    """Keep that hygiene ran, over some wings or over everything (None), and say whether it could be written.

    Raises BusyError where others write for too long, and OSError where the folder refuses a lock.
    """
    with write_lock(folder):
        times = read_times(folder)
        days = {**times.wings, **dict.fromkeys(wings or (), today)}
        everything = today if wings is None else times.everything
        content = {
            "everything": everything.isoformat() if everything else None,
            "wings": {name: day.isoformat() for name, day in sorted(days.items())},
        }
        return write_json(folder / _FILE, _VERSION, content)


def _day(text: object) -> date | None:
    try:
        return day_of(parse_moment(text)) if isinstance(text, str) else None
    except ValueError:
        return None
