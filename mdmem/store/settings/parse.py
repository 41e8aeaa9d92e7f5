"""Reading `mdmem.toml`: every key optional, an unknown one an error with the nearest known."""

from __future__ import annotations

import difflib
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from mdmem.errors import SettingsError
from mdmem.model.finding import Severity
from mdmem.profile import Profile
from mdmem.store.settings.model import Approvals, Ended, Old, OneSided, Proposals, Settings, WingSettings
from mdmem.store.settings.remotes import commit, ref, repository
from mdmem.store.settings.values import (
    below_root,
    choice,
    count,
    files,
    flag,
    number_in,
    page,
    rooms,
    statuses,
    table,
    text,
    texts,
    wing,
)


class Key(Struct, frozen=True):
    """One key of the file: the field that it sets, how its value is read, and what it is about.

    `absent` says what holds where it is not set, if the field's default does not say it.
    """

    field: str
    read: Callable[[str, object], Any]
    about: str
    absent: str = ""


_Rows = Mapping[str, Key]


def parse_settings(content: bytes) -> Settings:
    """Return the settings that a `mdmem.toml` states; raises SettingsError naming the key or the line."""
    try:
        stated = tomllib.loads(content.removeprefix(BOM_UTF8).decode())
    except UnicodeDecodeError as error:
        raise SettingsError(f"mdmem.toml is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except RecursionError as error:
        raise SettingsError("mdmem.toml cannot be read: it nests too deep") from error
    except ValueError as error:
        # Not only TOMLDecodeError: a number may have more digits than Python reads.
        raise SettingsError(f"mdmem.toml cannot be read: {error}") from error
    if _is_too_large(stated):
        raise SettingsError("mdmem.toml cannot be read: it has a number of more than 64 bits")
    faults: list[tuple[str, str]] = []
    wings = _wings(stated.pop(_WINGS, {}), faults)
    settings = Settings(**_values(stated, KEYS, "", faults), wings=wings, source=content)
    if faults:
        key, message = faults[0]
        raise SettingsError(message, readable=settings, line=settings.line_of(key))
    return settings


def _is_too_large(value: object) -> bool:
    """Say whether a value has a whole number beyond what TOML promises: neither a float nor a message need hold it."""
    if isinstance(value, int):
        return not -(2**63) <= value < 2**63
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_is_too_large, held))


def _values(stated: Mapping[str, Any], rows: _Rows, prefix: str, faults: list[tuple[str, str]]) -> dict[str, Any]:
    """Return what some tables state, by field; what cannot be read is left out and added to the faults."""
    values = {}
    for key, value in _flatten(stated, rows).items():
        if key not in rows:
            faults.append((f"{prefix}{key}", _unknown(prefix, key, rows)))
            continue
        try:
            values[rows[key].field] = rows[key].read(f"{prefix}{key}", value)
        except SettingsError as error:
            faults.append((f"{prefix}{key}", str(error)))
    return values


def _wings(stated: object, faults: list[tuple[str, str]]) -> dict[str, WingSettings]:
    found = {}
    for name, inner in stated.items() if isinstance(stated, dict) else ((None, stated),):
        key = _WINGS if name is None else f"{_WINGS}.{name}"
        if name is not None and isinstance(inner, dict):
            found[name] = _wing_settings(name, _values(inner, WING_KEYS, f"{key}.", faults), faults)
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


KEYS: _Rows = {
    "default_wing": Key("default_wing", text, "the active wing", absent="the only project wing"),
    "default_shared_wing": Key(
        "default_shared_wing", wing, "the wing that a write of global scope goes to; it is made where it is missing"
    ),
    "rooms": Key(
        "rooms", rooms, 'the room of an agent\'s entry that names none, by kind: `rooms.session = "sessions"`'
    ),
    "commit": Key("commit", flag, "whether each write is a git commit of its own, as with `--commit`"),
    "budget": Key("budget", count, "tokens of a retrieval"),
    "consultations": Key(
        "consultations",
        flag,
        "whether the server and clients' hooks count, on this machine alone, which entries agents were told; "
        "`mdmem status` shows it",
    ),
    "proposals": Key(
        "proposals",
        choice(Proposals),
        "what is only on this branch or not committed: `show` it, marked, beside what binds; `hide` it; or `count` it "
        "for binding; read from the default branch",
    ),
    "lineage.one_sided": Key(
        "one_sided",
        choice(OneSided),
        "what a supersession of one in force is that only the newer entry names: a `claim`, or a `fact`; "
        "neither a branch alone nor an entry of less authority makes it a fact",
    ),
    "check.fail_on": Key("fail_on", choice(Severity), "the lowest severity that fails: `error`, `warning` or `info`"),
    "check.select": Key("select", texts, "the checks that run", absent="all but `entry-too-long`"),
    "check.ignore": Key("ignore", texts, "the checks that do not run"),
    "check.severity": Key("severity", table(choice(Severity)), 'a severity by check: `severity.expired = "error"`'),
    "check.ended": Key(
        "ended", choice(Ended), "how a finding weighs on an entry that has ended: one level `lower`, or the `same`"
    ),
    "check.old": Key(
        "old",
        choice(Old),
        "what was there before the change, with `--staged`, `--base` and `--merge`: it may `pass`, counted in one "
        "line, or `fail`",
    ),
    "check.baseline": Key(
        "baseline", below_root, "a file below the root with the findings that are known and no longer reported"
    ),
    "check.review_after_days": Key("review_after_days", count, "when a review is due, in days"),
    "check.entry_tokens": Key(
        "entry_tokens",
        table(count),
        "the largest size of an entry, by type: `entry_tokens.note = 4000`; lets `entry-too-long` run",
    ),
    "governance.agent_status": Key(
        "agent_status", statuses, 'the status that an agent\'s entry gets, by type: `agent_status.decision = "active"`'
    ),
    "governance.approvals": Key(
        "approvals",
        choice(Approvals),
        "what an approval by somebody who is no owner of the wing meets: a remark (`say`), or a refusal (`refuse`)",
    ),
    "governance.global_writes": Key("global_writes", flag, "whether tokens are given for writes to shared wings"),
    "governance.token_seconds": Key(
        "token_seconds", number_in(1, 86_400, "seconds"), "how long such a token is good, in seconds; 1 to 86400"
    ),
    "server.profile": Key(
        "profile",
        choice(Profile),
        "which tools the MCP server lists: `core`, `sessions`, `research`, or for a trial `test`",
    ),
    "server.timeout_seconds": Key(
        "timeout_seconds",
        number_in(1, 600, "seconds"),
        "how long a retrieval over MCP may take before it is tried once more, then given up; 1 to 600",
    ),
    "server.answer_tokens": Key(
        "answer_tokens",
        number_in(250, 10_000, "tokens"),
        "where an answer over MCP is cut, with a cursor for the rest, in tokens of 4 bytes; 250 to 10000",
    ),
    "server.answer_bytes": Key(
        "answer_bytes", number_in(1_000, 40_000, "bytes"), "the same in bytes, which goes before; 1000 to 40000"
    ),
    "site.diff_url": Key(
        "diff_url",
        page,
        "where the page of a change is, which `mdmem diff --format markdown` links to; a CI job fills in `{change}`, "
        "the number of the pull request, and `{run}`, its own; the settings before the change count",
    ),
    "site.files_url": Key(
        "files_url",
        files,
        "where a host shows the repository's files, for the links of each page: `{view}` is `blob`, `edit` or `blame`",
    ),
}
_WINGS = "wings"
WING_KEYS: _Rows = {
    "check.select": Key("select", texts, "the checks that run on this wing, before those of all", absent="all"),
    "check.ignore": Key("ignore", texts, "the checks that do not run on this wing"),
    "check.severity": Key("severity", table(choice(Severity)), "a severity by check, on this wing"),
    "git": Key(
        "git",
        repository,
        "the repository that the wing lives in: a URL (file, git, http, https, ssh), `user@host:path`, or a path from "
        "the root",
    ),
    "ref": Key("ref", ref, "the branch or tag that is followed there", absent="its HEAD"),
    "path": Key("path", below_root, "the folder of the memory there that holds the wing", absent="its only memory"),
    "commit": Key("commit", commit, "the commit that is read; `mdmem sync --wings` writes it"),
}
_REMOTE_KEYS = ("git", "ref", "path", "commit")
