"""Reading `mdmem.toml`: every key optional, an unknown one an error with the nearest known."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from mdmem.errors import SettingsError
from mdmem.finding import Severity
from mdmem.settings.model import Approvals, Ended, Profile, Proposals, Settings, WingSettings
from mdmem.settings.remotes import commit, ref, repository
from mdmem.settings.values import below_root, choice, count, flag, number_in, rooms, statuses, table, text, texts, wing

_Rows = Mapping[str, tuple[str, Callable[[str, object], Any]]]


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
    settings = Settings(**_values(stated, KEYS, "", faults), wings=wings, source=content)
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
    for name, inner in stated.items() if isinstance(stated, dict) else ((None, stated),):
        key = _WINGS if name is None else f"{_WINGS}.{name}"
        if name is not None and isinstance(inner, dict):
            found[name] = _wing_settings(name, _values(inner, _WING_KEYS, f"{key}.", faults), faults)
        else:
            faults.append((key, f"mdmem.toml: `{key}` must be a table, found {inner!r}"))
    return found


def _wing_settings(name: str, values: dict[str, Any], faults: list[tuple[str, str]]) -> WingSettings:
    """Return the settings of one wing; what is said about another repository holds only where one is named."""
    about = [key for key in _REMOTE_KEYS if values.get(key) is not None]
    if about and values.get("git") is None:
        key = f"{_WINGS}.{name}.{about[0]}"
        faults.append((key, f"mdmem.toml: `{key}` is about another repository; name it with `{_WINGS}.{name}.git`"))
    elif about:
        try:
            wing(f"{_WINGS}.{name}", name)
        except SettingsError as error:
            faults.append((f"{_WINGS}.{name}", str(error)))
            values = {key: value for key, value in values.items() if key not in _REMOTE_KEYS}
    return WingSettings(**values)


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
    known = sorted(rows) if prefix else [*sorted(rows), f"{_WINGS}.NAME.check", f"{_WINGS}.NAME.git"]
    candidates = [*known, *sorted(_tables(rows)), *([] if prefix else [_WINGS])]
    close = difflib.get_close_matches(key, candidates, n=1, cutoff=0.5)
    listed = ", ".join(f"{prefix}{one}" for one in known)
    hint = f"did you mean `{prefix}{close[0]}`?" if close else f"known keys are {listed}"
    return f"mdmem.toml has an unknown key `{prefix}{key}`; {hint}"


# One row a setting: its key in the file, the field, and how its value is read.
KEYS: _Rows = {
    "default_wing": ("default_wing", text),
    "default_shared_wing": ("default_shared_wing", wing),
    "rooms": ("rooms", rooms),
    "commit": ("commit", flag),
    "budget": ("budget", count),
    "proposals": ("proposals", choice(Proposals)),
    "check.fail_on": ("fail_on", choice(Severity)),
    "check.select": ("select", texts),
    "check.ignore": ("ignore", texts),
    "check.severity": ("severity", table(choice(Severity))),
    "check.ended": ("ended", choice(Ended)),
    "check.baseline": ("baseline", below_root),
    "check.review_after_days": ("review_after_days", count),
    "check.entry_tokens": ("entry_tokens", table(count)),
    "governance.agent_status": ("agent_status", statuses),
    "governance.approvals": ("approvals", choice(Approvals)),
    "governance.global_writes": ("global_writes", flag),
    "server.profile": ("profile", choice(Profile)),
    "server.timeout_seconds": ("timeout_seconds", number_in(1, 600, "seconds")),
    "server.answer_bytes": ("answer_bytes", number_in(1_000, 40_000, "bytes")),
    "governance.token_seconds": ("token_seconds", number_in(1, 86_400, "seconds")),
}
_WINGS = "wings"
_WING_KEYS: _Rows = {
    "check.select": ("select", texts),
    "check.ignore": ("ignore", texts),
    "check.severity": ("severity", table(choice(Severity))),
    "git": ("git", repository),
    "ref": ("ref", ref),
    "path": ("path", below_root),
    "commit": ("commit", commit),
}
_REMOTE_KEYS = ("git", "ref", "path", "commit")
