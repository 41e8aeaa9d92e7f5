"""What `mdmem.toml` sets: every key optional, an unknown one an error with the nearest known."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

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
_LEVELS = ", ".join(f"`{severity}`" for severity in Severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one root.

    `budget` is in tokens of 4 bytes; `review_after_days` counts from the last verification; `agent_status` is the
    status that an agent's writes get, by type.
    """

    default_wing: str | None = None
    budget: int = 4000
    review_after_days: int = 365
    fail_on: Severity = Severity.ERROR
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    entry_tokens: Mapping[str, int] = field(default_factory=dict)
    agent_status: Mapping[EntryType, Status] = field(default_factory=lambda: dict(AGENT_STATUS))


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
    flat = _flatten(stated)
    values: dict[str, Any] = {}
    faults: list[tuple[str, str]] = []
    for key, value in flat.items():
        try:
            name, read = _reader(key)
            values[name] = read(key, value)
        except SettingsError as error:
            faults.append((key, str(error)))
    settings = Settings(**values)
    if faults:
        key, message = faults[0]
        raise SettingsError(message, readable=settings, line=_line_of(key, content))
    return settings


def _reader(key: str) -> tuple[str, Callable[[str, object], Any]]:
    if key not in _KEYS:
        raise SettingsError(_unknown(key))
    return _KEYS[key]


def _line_of(key: str, content: bytes) -> int:
    """Return the first line that begins with the last part of a key; 1 where none does."""
    name = key.rsplit(".", 1)[-1].encode()
    lines = enumerate(content.splitlines(), 1)
    return next((number for number, line in lines if name in line.split(b"=")[0]), 1)


def _flatten(stated: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in stated.items():
        if key in _TABLES and isinstance(value, dict):
            flat.update({f"{key}.{name}": inner for name, inner in value.items()})
        else:
            flat[key] = value
    return flat


def _unknown(key: str) -> str:
    close = difflib.get_close_matches(key, sorted(_KEYS), n=1, cutoff=0.5)
    hint = f"did you mean `{close[0]}`?" if close else f"known keys are {', '.join(sorted(_KEYS))}"
    return f"mdmem.toml has an unknown key `{key}`; {hint}"


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"mdmem.toml: `{key}` must be a text, found {value!r}")
    return value


def _count(key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingsError(f"mdmem.toml: `{key}` must be a whole number from 0, found {value!r}")
    return value


def _level(key: str, value: object) -> Severity:
    if not isinstance(value, str) or value not in {severity.value for severity in Severity}:
        raise SettingsError(f"mdmem.toml: `{key}` must be one of {_LEVELS}, found {value!r}")
    return Severity(value)


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
_KEYS: Mapping[str, tuple[str, Callable[[str, object], Any]]] = {
    "default_wing": ("default_wing", _text),
    "budget": ("budget", _count),
    "check.fail_on": ("fail_on", _level),
    "check.select": ("select", _texts),
    "check.ignore": ("ignore", _texts),
    "check.severity": ("severity", _table(_level)),
    "check.review_after_days": ("review_after_days", _count),
    "check.entry_tokens": ("entry_tokens", _table(_count)),
    "governance.agent_status": ("agent_status", _statuses),
}
_TABLES = frozenset(key.split(".")[0] for key in _KEYS if "." in key)
