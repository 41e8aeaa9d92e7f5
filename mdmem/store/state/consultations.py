"""What agents were told and when, on this machine alone: addresses and ways, never what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct, field

from mdmem.errors import EnvironmentFaultError
from mdmem.store.state.files import read_time, written_time
from mdmem.store.state.journal import Journal

# Of two files; a line has some hundred bytes.
_LARGEST, _KEPT = 512 * 1024, 1
# Nobody's edit waits for a count.
_WAIT = 0.1
_LATELY = timedelta(days=30)


class Consultation(Struct, frozen=True, kw_only=True):
    """Some entries that one answer handed over: when, by which way (`hook codex`, `server`), and which."""

    when: datetime
    way: str
    addresses: Sequence[str]


class Tally(Struct, frozen=True):
    """How often entries reached an agent lately: by address, and by way; `last` is when that was, None for never."""

    times: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[str, int] = field(default_factory=dict)
    last: datetime | None = None


def note(state: Path, consultation: Consultation) -> None:
    """Note one answer; that this fails is no matter."""
    content = {
        "when": written_time(consultation.when),
        "way": consultation.way,
        "told": list(consultation.addresses),
    }
    with suppress(OSError, EnvironmentFaultError):
        _journal(state).append(content)


def told_lately(state: Path, now: datetime) -> Tally:
    """Return what agents were told in the last thirty days."""
    times: Counter[str] = Counter()
    ways: Counter[str] = Counter()
    last: datetime | None = None
    for line in _journal(state).lines():
        match line:
            case {"when": when, "way": str(way), "told": list(told)} if (moment := read_time(when)) is not None:
                if now - moment > _LATELY:
                    continue
                addresses = [one for one in told if isinstance(one, str)]
                times.update(addresses)
                ways[way] += len(addresses)
                last = moment if last is None else max(last, moment)
    return Tally(times, ways, last)


def _journal(state: Path) -> Journal:
    return Journal(state, "consulted", kept=_KEPT, largest=_LARGEST, wait=_WAIT)
