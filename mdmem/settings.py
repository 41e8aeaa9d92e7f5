"""What `mdmem.toml` sets: every key optional, an unknown one an error with the nearest known."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from mdmem.entry.model import EntryType, Status
from mdmem.errors import SettingsError
from mdmem.finding import Severity

# Agents draft what binds, and people approve it.
AGENT_STATUS: Mapping[EntryType, Status] = {
    EntryType.INVARIANT: Status.DRAFT,
    EntryType.DECISION: Status.DRAFT,
    EntryType.PATTERN: Status.ACTIVE,
    EntryType.NOTE: Status.ACTIVE,
}
# The room that an agent's entry goes to, by its kind, where the call names none.
ROOMS: Mapping[str, str] = {
    "decision": "architecture",
    "pattern": "conventions",
    "context": "context",
    "session": "sessions",
    "entity": "entities",
}
_LONGEST_TOKEN = 86_400
_ROOM = re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")
_WING = re.compile(r"[^\W_]+(?:_[^\W_]+)*\Z")
_Choice = TypeVar("_Choice", bound=StrEnum)
_Rows = Mapping[str, tuple[str, Callable[[str, object], Any]]]


class Ended(StrEnum):
    """What a finding weighs on an entry that is no longer in force: one level less, or the same."""

    LOWER = "lower"
    SAME = "same"


class Approvals(StrEnum):
    """What an approval by somebody who is no owner of the wing meets: a remark, or a refusal."""

    SAY = "say"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class WingSettings:
    """What `[wings.NAME]` sets for one wing: it goes before what `[check]` sets for all."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one root.

    `budget` is in tokens of 4 bytes; `review_after_days` counts from the last verification; `agent_status` is the
    status that an agent's writes get, by type, and `rooms` their room, by kind. `baseline` is a path below the root,
    in `/` form; `wings` is by name.
    `source` is the file itself, which equality leaves out.
    """

    default_wing: str | None = None
    budget: int = 4000
    review_after_days: int = 365
    fail_on: Severity = Severity.ERROR
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    ended: Ended = Ended.LOWER
    baseline: str | None = None
    wings: Mapping[str, WingSettings] = field(default_factory=dict)
    entry_tokens: Mapping[str, int] = field(default_factory=dict)
    agent_status: Mapping[EntryType, Status] = field(default_factory=lambda: dict(AGENT_STATUS))
    approvals: Approvals = Approvals.SAY
    global_writes: bool = True
    token_seconds: int = 60
    default_shared_wing: str = "shared"
    rooms: Mapping[str, str] = field(default_factory=lambda: dict(ROOMS))
    commit: bool = False
    source: bytes = field(default=b"", repr=False, compare=False)

    def line_of(self, key: str, value: str = "") -> int:
        """Return the line of the file that sets a dotted key, or of a quoted text in its value; 1 where none does."""
        return _line_of(key, self.source, value)


def parse_settings(content: bytes) -> Settings:
    """Return the settings that a `mdmem.toml` states; raises SettingsError naming the key or the line."""
    try:
        stated = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SettingsError(f"mdmem.toml is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except RecursionError as error:
        raise SettingsError("mdmem.toml cannot be read: it nests too deep") from error
    except ValueError as error:
        # Not only TOMLDecodeError: a number may have more digits than Python reads.
        raise SettingsError(f"mdmem.toml cannot be read: {error}") from error
    faults: list[tuple[str, str]] = []
    wings = _wings(stated.pop(_WINGS, {}), faults)
    settings = Settings(**_values(stated, _KEYS, "", faults), wings=wings, source=content)
    if faults:
        key, message = faults[0]
        raise SettingsError(message, readable=settings, line=settings.line_of(key))
    return settings


def _values(stated: Mapping[str, Any], rows: _Rows, prefix: str, faults: list[tuple[str, str]]) -> dict[str, Any]:
    """Return what some tables state, by field; what cannot be read is left out and added to the faults."""
    values = {}
    for key, value in _flatten(stated, rows).items():
        if key not in rows:
            faults.append((f"{prefix}{key}", _unknown(prefix, key, rows)))
            continue
        name, read = rows[key]
        try:
            values[name] = read(f"{prefix}{key}", value)
        except SettingsError as error:
            faults.append((f"{prefix}{key}", str(error)))
    return values


def _wings(stated: object, faults: list[tuple[str, str]]) -> dict[str, WingSettings]:
    found = {}
    for name, table in stated.items() if isinstance(stated, dict) else ((None, stated),):
        key = _WINGS if name is None else f"{_WINGS}.{name}"
        if name is not None and isinstance(table, dict):
            found[name] = WingSettings(**_values(table, _WING_KEYS, f"{key}.", faults))
        else:
            faults.append((key, f"mdmem.toml: `{key}` must be a table, found {table!r}"))
    return found


_TABLE = re.compile(r"\s*\[+([^\]#]+)\]")
_KEY = re.compile(r"""\s*([\w."' -]+?)\s*=""")
_QUOTES = str.maketrans("", "", "\"' ")


def _line_of(key: str, content: bytes, value: str) -> int:
    """Return the line that sets a key or part of it, or the innermost table above it, or of a value from there on."""
    lines = content.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    keys = [f"{name}." for name in _dotted_keys(lines)]
    wanted = f"{key}."
    setting = (number for number, name in enumerate(keys) if name.startswith(wanted))
    above = max(range(len(keys)), key=lambda number: len(keys[number]) * wanted.startswith(keys[number]), default=0)
    found = next(setting, above)
    quoted = (f'"{value}"', f"'{value}'")
    below = (number for number, line in enumerate(lines[found:], found) if any(text in line for text in quoted))
    return (next(below, found) if value else found) + 1


def _dotted_keys(lines: list[str]) -> Iterator[str]:
    """Yield, for each line, the key or table that it sets, in full, or an empty text."""
    table = ""
    for line in lines:
        head, stated = _TABLE.match(line), _KEY.match(line)
        if head:
            table = f"{head[1].translate(_QUOTES)}."
        yield table[:-1] if head else table + stated[1].translate(_QUOTES) if stated else ""


def _flatten(stated: Mapping[str, Any], rows: _Rows) -> dict[str, Any]:
    tables = _tables(rows)
    flat: dict[str, Any] = {}
    for key, value in stated.items():
        if key in tables and isinstance(value, dict):
            flat.update({f"{key}.{name}": inner for name, inner in value.items()})
        else:
            flat[key] = value
    return flat


def _tables(rows: _Rows) -> set[str]:
    return {key.split(".")[0] for key in rows if "." in key}


def _unknown(prefix: str, key: str, rows: _Rows) -> str:
    known = sorted(rows) if prefix else [*sorted(rows), f"{_WINGS}.NAME.check"]
    candidates = [*known, *sorted(_tables(rows)), *([] if prefix else [_WINGS])]
    close = difflib.get_close_matches(key, candidates, n=1, cutoff=0.5)
    listed = ", ".join(f"{prefix}{one}" for one in known)
    hint = f"did you mean `{prefix}{close[0]}`?" if close else f"known keys are {listed}"
    return f"mdmem.toml has an unknown key `{prefix}{key}`; {hint}"


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"mdmem.toml: `{key}` must be a text, found {value!r}")
    return value


def _count(key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingsError(f"mdmem.toml: `{key}` must be a whole number from 0, found {value!r}")
    return value


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"mdmem.toml: `{key}` must be true or false, found {value!r}")
    return value


def _seconds(key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _LONGEST_TOKEN:
        wanted = f"a whole number of seconds from 1 to {_LONGEST_TOKEN}"
        raise SettingsError(f"mdmem.toml: `{key}` must be {wanted}, found {value!r}")
    return value


def _wing(key: str, value: object) -> str:
    name = _text(key, value)
    if name != name.lower() or not _WING.match(name):
        raise SettingsError(f"mdmem.toml: `{key}` must be the name of a wing, such as `shared`, found {value!r}")
    return name


def _rooms(key: str, value: object) -> dict[str, str]:
    stated = _table(_text)(key, value)
    for kind, room in stated.items():
        if kind not in ROOMS:
            close = difflib.get_close_matches(kind, ROOMS, n=1, cutoff=0.5)
            hint = f"did you mean `{key}.{close[0]}`?" if close else f"known kinds are {', '.join(ROOMS)}"
            raise SettingsError(f"mdmem.toml has an unknown key `{key}.{kind}`; {hint}")
        if room != room.lower() or not _ROOM.match(room):
            wanted = "the name of a room, such as `anti-patterns`"
            raise SettingsError(f"mdmem.toml: `{key}.{kind}` must be {wanted}, found {room!r}")
    return {**ROOMS, **stated}


def _choice(closed_set: type[_Choice]) -> Callable[[str, object], _Choice]:
    def read_choice(key: str, value: object) -> _Choice:
        if not isinstance(value, str) or value not in {member.value for member in closed_set}:
            allowed = ", ".join(f"`{member}`" for member in closed_set)
            raise SettingsError(f"mdmem.toml: `{key}` must be one of {allowed}, found {value!r}")
        return closed_set(value)

    return read_choice


def _below_root(key: str, value: object) -> str:
    """Read a path that every clone has: below the root, in `/` form."""
    path = _text(key, value)
    if path.startswith("/") or "\\" in path or path[1:2] == ":" or not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise SettingsError(
            f"mdmem.toml: `{key}` must be a path below the root, such as `.baseline.json`, found {path!r}"
        )
    return path


def _texts(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SettingsError(f"mdmem.toml: `{key}` must be a list of texts, found {value!r}")
    return tuple(value)


def _table(read: Callable[[str, object], Any]) -> Callable[[str, object], dict[str, Any]]:
    def read_table(key: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise SettingsError(f"mdmem.toml: `{key}` must be a table, found {value!r}")
        return {name: read(f"{key}.{name}", inner) for name, inner in value.items()}

    return read_table


def _statuses(key: str, value: object) -> dict[EntryType, Status]:
    stated = _table(_text)(key, value)
    found = {
        EntryType(_one_of(EntryType, key, kind)): Status(_one_of(Status, f"{key}.{kind}", status))
        for kind, status in stated.items()
    }
    return {**AGENT_STATUS, **found}


def _one_of(closed_set: type[StrEnum], key: str, value: str) -> str:
    allowed = [member.value for member in closed_set]
    if value not in allowed:
        raise SettingsError(f"mdmem.toml: `{key}` must name one of {', '.join(allowed)}, found {value!r}")
    return value


# One row a setting: its key in the file, the field, and how its value is read.
_KEYS: _Rows = {
    "default_wing": ("default_wing", _text),
    "default_shared_wing": ("default_shared_wing", _wing),
    "rooms": ("rooms", _rooms),
    "commit": ("commit", _flag),
    "budget": ("budget", _count),
    "check.fail_on": ("fail_on", _choice(Severity)),
    "check.select": ("select", _texts),
    "check.ignore": ("ignore", _texts),
    "check.severity": ("severity", _table(_choice(Severity))),
    "check.ended": ("ended", _choice(Ended)),
    "check.baseline": ("baseline", _below_root),
    "check.review_after_days": ("review_after_days", _count),
    "check.entry_tokens": ("entry_tokens", _table(_count)),
    "governance.agent_status": ("agent_status", _statuses),
    "governance.approvals": ("approvals", _choice(Approvals)),
    "governance.global_writes": ("global_writes", _flag),
    "governance.token_seconds": ("token_seconds", _seconds),
}
_WINGS = "wings"
_WING_KEYS: _Rows = {
    "check.select": ("select", _texts),
    "check.ignore": ("ignore", _texts),
    "check.severity": ("severity", _table(_choice(Severity))),
}
