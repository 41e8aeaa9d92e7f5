"""Parse `mdmem.toml` into settings, with a finding for each mistake."""

from __future__ import annotations

import difflib
import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct

from mdmem.errors import SettingsError
from mdmem.model.entry import EntryType, Status
from mdmem.model.finding import Severity
from mdmem.store.settings.model import (
    AGENT_STATUS,
    ROOMS,
    Approvals,
    Ended,
    Old,
    OneSided,
    Profile,
    Proposals,
    Settings,
    WingSettings,
)

_ROOM = re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")
_WING = re.compile(r"[^\W_]+(?:_[^\W_]+)*\Z")
# What would end a link of Markdown, or be read as something else there, is no part of it.
_PAGE = re.compile(r"https?://[\w.~:/?#@!$&*+,;=%-]+(?:\{(?:change|run|view)\}[\w.~:/?#@!$&*+,;=%-]*)*", re.ASCII)
_Choice = TypeVar("_Choice", bound=StrEnum)


def _refused(key: str, wanted: str, value: object) -> SettingsError:
    return SettingsError(f"mdmem.toml: `{key}` must be {wanted}, found {value!r}")


def text(key: str, value: object) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise _refused(key, "a text", value)
    return value


def files(key: str, value: object) -> str:
    """Read the address below which a host shows the files of a repository; `{view}` is replaced."""
    if not _PAGE.fullmatch(text(key, value)) or str(value).count("{view}") != 1:
        raise _refused(key, "an address such as `https://host.example/team/memory/{view}/main`", value)
    return str(value).rstrip("/")


def page(key: str, value: object) -> str:
    """Read the address of a page; `{change}` and `{run}` are replaced."""
    if not _PAGE.fullmatch(stated := text(key, value)) or "{view}" in stated:
        example = "`https://pages.example/{change}/diff.html`, with {change} and {run} to be filled in"
        raise _refused(key, f"an address such as {example}", value)
    return stated


def count(key: str, value: object) -> int:
    """Read a whole number from 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _refused(key, "a whole number from 0", value)
    return value


def flag(key: str, value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise _refused(key, "true or false", value)
    return value


def number_in(least: int, most: int, unit: str) -> Callable[[str, object], int]:
    """Return a reader of whole numbers between two bounds."""

    def read_number(key: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise _refused(key, f"a whole number of {unit} from {least} to {most}", value)
        return value

    return read_number


def wing(key: str, value: object) -> str:
    """Read the name of a wing."""
    name = text(key, value)
    if name != name.lower() or not _WING.match(name):
        raise SettingsError(f"mdmem.toml: `{key}` must be the name of a wing, such as `shared`, found {value!r}")
    return name


def rooms(key: str, value: object) -> dict[str, str]:
    """Read the rooms by kind, with the defaults of the others."""
    stated = table(text)(key, value)
    for kind, room in stated.items():
        if kind not in ROOMS:
            close = difflib.get_close_matches(kind, ROOMS, n=1, cutoff=0.5)
            hint = f"did you mean `{key}.{close[0]}`?" if close else f"known kinds are {', '.join(ROOMS)}"
            raise SettingsError(f"mdmem.toml has an unknown key `{key}.{kind}`; {hint}")
        if room != room.lower() or not _ROOM.match(room):
            wanted = "the name of a room, such as `anti-patterns`"
            raise SettingsError(f"mdmem.toml: `{key}.{kind}` must be {wanted}, found {room!r}")
    return {**ROOMS, **stated}


def choice(closed_set: type[_Choice]) -> Callable[[str, object], _Choice]:
    """Return a reader of one of a closed set."""

    def read_choice(key: str, value: object) -> _Choice:
        try:
            return closed_set(str(value))
        except ValueError as error:
            raise _refused(key, f"one of {', '.join(f'`{member}`' for member in closed_set)}", value) from error

    return read_choice


def below_root(key: str, value: object) -> str:
    """Read a path that every clone has: below the root, in `/` form, and not in git's own folder."""
    path = text(key, value)
    refused = {"", ".", "..", ".git"}.intersection(path.casefold().split("/"))
    if path.startswith("/") or "\\" in path or path[1:2] == ":" or refused:
        raise _refused(key, "a path below the root, such as `.baseline.json`", path)
    return path


def texts(key: str, value: object) -> tuple[str, ...]:
    """Read a list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _refused(key, "a list of texts", value)
    return tuple(value)


def table(read: Callable[[str, object], Any]) -> Callable[[str, object], dict[str, Any]]:
    """Return a reader of a table whose values are all read alike."""

    def read_table(key: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _refused(key, "a table", value)
        return {name: read(f"{key}.{name}", inner) for name, inner in value.items()}

    return read_table


def statuses(key: str, value: object) -> dict[EntryType, Status]:
    """Read the statuses by type, with the defaults of the others."""

    def one_of(closed_set: type[_Choice], name: str, stated: str) -> _Choice:
        allowed = [member.value for member in closed_set]
        if stated not in allowed:
            raise SettingsError(f"mdmem.toml: `{name}` must name one of {', '.join(allowed)}, found {stated!r}")
        return closed_set(stated)

    found = table(text)(key, value).items()
    stated = {one_of(EntryType, key, kind): one_of(Status, f"{key}.{kind}", one) for kind, one in found}
    return {**AGENT_STATUS, **stated}


# `ext::` runs a program, and git's other remote helpers may do anything.
PROTOCOLS = ("file", "git", "http", "https", "ssh")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
# `git@host:folder/name.git`; a single letter before the colon is a drive of Windows.
_SCP = re.compile(r"(?:[\w.-]+@)?(?:[\w.-]{2,}|\[[0-9A-Fa-f:]+\]):(?!//)")
_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REF = re.compile(r"(?!-)[\w.+/@#=,%-]+\Z")


def repository(key: str, value: object) -> str:
    """Read the place of a repository: a URL of a known protocol, `user@host:path`, or a path from the root."""
    url = text(key, value)
    if not url.isprintable() or url != url.strip() or url.startswith("-"):
        raise _refused(key, "the URL or the path of a repository", url)
    scheme = _SCHEME.match(url)
    if _HELPER.match(url) or (scheme and scheme[1].lower() not in PROTOCOLS):
        allowed = ", ".join(f"`{protocol}`" for protocol in PROTOCOLS)
        raise SettingsError(f"mdmem.toml: `{key}` must use one of {allowed}, or be a path, found {url!r}")
    if _PASSWORD.search(url):
        raise SettingsError(f"mdmem.toml: `{key}` contains a password; store it in git's credential helper")
    return url


def ref(key: str, value: object) -> str:
    """Read the name of a branch or a tag, or a commit."""
    name = text(key, value)
    if not _REF.match(name) or ".." in name or "@{" in name or "//" in name or name.endswith(("/", ".", ".lock")):
        raise _refused(key, "the name of a branch or a tag", name)
    return name


def commit(key: str, value: object) -> str:
    """Read the full name of a commit."""
    name = text(key, value)
    if not _COMMIT.match(name):
        raise _refused(key, "the full hash of a commit, 40 digits", name)
    return name


def is_path(url: str) -> bool:
    """Return whether a repository is named by its path."""
    return not _SCHEME.match(url) and not _SCP.match(url)


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
        raise SettingsError("mdmem.toml cannot be read: it is nested too deeply") from error
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
        faults.append((key, f"mdmem.toml: `{key}` needs a repository; set `{_WINGS}.{name}.git`"))
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
        "default_shared_wing", wing, "the wing for writes of global scope; it is created if missing"
    ),
    "rooms": Key("rooms", rooms, 'the default room of an agent\'s entries, by kind: `rooms.session = "sessions"`'),
    "commit": Key("commit", flag, "whether each write makes a git commit, as with `--commit`"),
    "budget": Key("budget", count, "the budget of a retrieval, in tokens"),
    "consultations": Key(
        "consultations",
        flag,
        "whether the server and clients' hooks count, on this machine only, which entries agents were shown; "
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
        "ended",
        choice(Ended),
        "the severity of a finding on an entry that is not current: one level `lower`, or the `same`",
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
        "the response to an approval by somebody who does not own the wing: a remark (`say`), or a refusal (`refuse`)",
    ),
    "governance.global_writes": Key(
        "global_writes", flag, "whether `mdmem token` gives tokens for writes to shared wings"
    ),
    "governance.token_seconds": Key(
        "token_seconds", number_in(1, 86_400, "seconds"), "how long such a token is valid, in seconds; 1 to 86400"
    ),
    "server.profile": Key(
        "profile",
        choice(Profile),
        "which tools the MCP server lists: `core`, `sessions`, `research`, or for a trial `test`",
    ),
    "server.timeout_seconds": Key(
        "timeout_seconds",
        number_in(1, 600, "seconds"),
        "how many seconds a retrieval over MCP may take before it is retried once, then stopped; 1 to 600",
    ),
    "server.answer_tokens": Key(
        "answer_tokens",
        number_in(250, 10_000, "tokens"),
        "where an answer over MCP is cut, with a cursor for the rest, in tokens of 4 bytes; 250 to 10000",
    ),
    "server.answer_bytes": Key(
        "answer_bytes",
        number_in(1_000, 40_000, "bytes"),
        "the same limit in bytes; goes before `answer_tokens`; 1000 to 40000",
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
    "check.select": Key(
        "select", texts, "the checks that run on this wing; goes before the setting for all wings", absent="all"
    ),
    "check.ignore": Key("ignore", texts, "the checks that do not run on this wing"),
    "check.severity": Key("severity", table(choice(Severity)), "a severity by check, on this wing"),
    "git": Key(
        "git",
        repository,
        "the repository that the wing lives in: a URL (file, git, http, https, ssh), `user@host:path`, or a path from "
        "the root",
    ),
    "ref": Key("ref", ref, "the branch or tag to follow there", absent="its HEAD"),
    "path": Key("path", below_root, "the folder of the memory that contains the wing there", absent="its only memory"),
    "commit": Key("commit", commit, "the commit to read; `mdmem sync --wings` writes it"),
}
_REMOTE_KEYS = ("git", "ref", "path", "commit")
