"""The settings of one root: parse `mdmem.toml`, with a fault for each mistake, and change single keys in it.

A new setting is one field of `Settings`, one row of `KEYS`, and one row of the guide's table.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import asdict

from mdmem.errors import SettingsError
from mdmem.model.entry import EntryType, Status
from mdmem.model.finding import Severity

# Agents draft rules, and people approve them.
AGENT_STATUS: Mapping[EntryType, Status] = {
    EntryType.INVARIANT: Status.DRAFT,
    EntryType.DECISION: Status.DRAFT,
    EntryType.PATTERN: Status.ACTIVE,
    EntryType.NOTE: Status.ACTIVE,
}
# The room of an agent's entry, by its kind, where the call does not state one.
ROOMS: Mapping[str, str] = {
    "decision": "architecture",
    "pattern": "conventions",
    "context": "context",
    "session": "sessions",
    "entity": "entities",
}


class Profile(StrEnum):
    """A set of MCP tools: for work on code, for lessons of sessions, for research, or all of them for tests.

    All but the first have a former name, which settings and commands still accept.
    """

    CORE = "core"
    SESSIONS = "sessions"
    RESEARCH = "research"
    TEST = "test"

    @classmethod
    def _missing_(cls, value: object) -> Profile | None:
        return cls(_FORMER_PROFILES[value]) if isinstance(value, str) and value in _FORMER_PROFILES else None


_FORMER_PROFILES = {"graphbase": "sessions", "sibyl": "research", "all": "test"}


class Ended(StrEnum):
    """The severity of a finding on an entry that is not current: one level lower, or the same."""

    LOWER = "lower"
    SAME = "same"


class OneSided(StrEnum):
    """Whether a one-sided supersession of a current entry is only a claim, or a fact."""

    CLAIM = "claim"
    FACT = "fact"


class Old(StrEnum):
    """Whether a finding that was there before the change passes and is counted, or fails the run."""

    PASS = "pass"
    FAIL = "fail"


class Proposals(StrEnum):
    """Whether entries that are not on the default branch are shown, hidden, or counted as if they were there."""

    SHOW = "show"
    HIDE = "hide"
    COUNT = "count"


class Approvals(StrEnum):
    """Whether an approval by somebody who does not own the wing gets a remark, or is refused."""

    SAY = "say"
    REFUSE = "refuse"


class WingSettings(Struct, frozen=True, kw_only=True):
    """The settings of one wing, from `[wings.NAME]`; they take precedence over those of `[check]`.

    `git` is the repository that contains the wing, if it is another one; `path` is the root there, `ref` the branch or
    tag to follow, None for that repository's HEAD, and `commit` the commit to read.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    git: str | None = None
    ref: str | None = None
    path: str | None = None
    commit: str | None = None


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of one root; `mdmem guide settings` explains each.

    `source` is the file itself, which equality ignores.
    """

    default_wing: str | None = None
    budget: int = 1500
    review_after_days: int = 365
    fail_on: Severity = Severity.ERROR
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    ended: Ended = Ended.LOWER
    old: Old = Old.PASS
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
    proposals: Proposals = Proposals.SHOW
    one_sided: OneSided = OneSided.CLAIM
    profile: Profile = Profile.CORE
    timeout_seconds: int = 5
    answer_tokens: int = 6_000
    answer_bytes: int | None = None
    diff_url: str | None = None
    files_url: str | None = None
    consultations: bool = True
    source: bytes = b""

    @property
    def answer_limit(self) -> int:
        """Return how many bytes an answer over MCP may have, a token being four."""
        return self.answer_bytes if self.answer_bytes is not None else 4 * self.answer_tokens

    def __eq__(self, other: object) -> bool:
        """Compare the values, however the file states them."""
        if not isinstance(other, Settings):
            return NotImplemented
        return asdict(self) | {"source": b""} == asdict(other) | {"source": b""}

    @property
    def remote_wings(self) -> dict[str, WingSettings]:
        """Return the wings of other repositories, by name, sorted."""
        return {name: stated for name, stated in sorted(self.wings.items()) if stated.git is not None}

    def line_of(self, key: str, value: str = "") -> int:
        """Return the line of the file that sets a dotted key, or of a quoted text in its value; 1 where none does."""
        return line_of(key, self.source, value)


_TABLE = re.compile(r"\s*\[+([^\]#]+)\]")
_KEY = re.compile(r"""\s*([\w."' -]+?)\s*=""")
_QUOTES = str.maketrans("", "", "\"' ")


def line_of(key: str, content: bytes, value: str) -> int:
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
    """Yield, for each line, the key or the table that it sets, in full, or an empty text."""
    table = ""
    for line in lines:
        head, stated = _TABLE.match(line), _KEY.match(line)
        if head:
            table = f"{head[1].translate(_QUOTES)}."
        yield table[:-1] if head else table + stated[1].translate(_QUOTES) if stated else ""


# Parses the value of a key; raises SettingsError.
_Reader = Callable[[str, Any], Any]


def _refused(key: str, wanted: str, value: object) -> SettingsError:
    return SettingsError(f"mdmem.toml: `{key}` must be {wanted}, found {value!r}")


def _of(kind: Any, wanted: str, accepts: Callable[[Any], object] | None = None) -> _Reader:
    """Return a reader of the values of a type that a function accepts."""

    def read(key: str, value: Any) -> Any:
        try:
            found = convert(value, kind)
        except ValidationError as error:
            raise _refused(key, wanted, value) from error
        if accepts is not None and not accepts(found):
            raise _refused(key, wanted, value)
        return found

    return read


def _number(least: int, most: int, unit: str) -> _Reader:
    return _of(Annotated[int, Meta(ge=least, le=most)], f"a whole number of {unit} from {least} to {most}")


def _choice(closed_set: type[StrEnum]) -> _Reader:
    return _of(closed_set, f"one of {', '.join(f'`{member}`' for member in closed_set)}")


def _table(read: _Reader) -> _Reader:
    """Return a reader of a table whose values one reader parses."""

    def read_table(key: str, value: Any) -> Any:
        if not isinstance(value, dict):
            raise _refused(key, "a table", value)
        return {name: read(f"{key}.{name}", inner) for name, inner in value.items()}

    return read_table


def _over(defaults: Mapping[Any, Any], read: _Reader) -> _Reader:
    """Return a reader of a table that changes some of the defaults."""

    def read_table(key: str, value: Any) -> Any:
        stated = _table(read)(key, value)
        for name in stated.keys() - defaults.keys():
            raise SettingsError(_unknown(f"{key}.", name, defaults))
        return {**defaults, **stated}

    return read_table


def _is_name(words: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda name: name == name.lower() and words.match(name) is not None


_any_text = _of(Annotated[str, Meta(min_length=1)], "a text")
_count = _of(Annotated[int, Meta(ge=0)], "a whole number from 0")
_flag = _of(bool, "true or false")
_texts = _of(tuple[str, ...], "a list of texts")
_wing = _of(str, "the name of a wing, such as `shared`", _is_name(re.compile(r"[^\W_]+(?:_[^\W_]+)*\Z")))
_room = _of(str, "the name of a room, such as `anti-patterns`", _is_name(re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")))

# Without the characters that would end a link of Markdown, or mean something else there.
_PAGE = re.compile(r"https?://[\w.~:/?#@!$&*+,;=%-]+(?:\{(?:change|run|view)\}[\w.~:/?#@!$&*+,;=%-]*)*", re.ASCII)
_page = _of(
    str,
    "an address such as `https://pages.example/{change}/diff.html`, with {change} and {run} to be filled in",
    lambda text: _PAGE.fullmatch(text) and "{view}" not in text,
)
_files = _of(
    str,
    "an address such as `https://host.example/team/memory/{view}/main`",
    lambda text: _PAGE.fullmatch(text) and text.count("{view}") == 1,
)


def _is_below_root(path: str) -> bool:
    """Return whether a path is below the root, in `/` form, and not in git's own folder, so that every clone has it."""
    refused = {"", ".", "..", ".git"}.intersection(path.casefold().split("/"))
    return not (path.startswith("/") or "\\" in path or path[1:2] == ":" or refused)


_below_root = _of(str, "a path below the root, such as `.baseline.json`", _is_below_root)

# `ext::` runs a program, and git's other remote helpers may do anything.
_PROTOCOLS = ("file", "git", "http", "https", "ssh")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
# `git@host:folder/name.git`; a single letter before the colon is a drive of Windows.
_SCP = re.compile(r"(?:[\w.-]+@)?(?:[\w.-]{2,}|\[[0-9A-Fa-f:]+\]):(?!//)")
_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REF = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//))[\w.+/@#=,%-]+(?<![/.])(?<!\.lock)\Z")


def is_path(url: str) -> bool:
    """Return whether a repository is stated as a path."""
    return not _SCHEME.match(url) and not _SCP.match(url)


def _repository(key: str, value: Any) -> str:
    """Return a URL of a known protocol, `user@host:path`, or a path from the root."""
    url: str = _any_text(key, value)
    if not url.isprintable() or url != url.strip() or url.startswith("-"):
        raise _refused(key, "the URL or the path of a repository", url)
    scheme = _SCHEME.match(url)
    if _HELPER.match(url) or (scheme and scheme[1].lower() not in _PROTOCOLS):
        allowed = ", ".join(f"`{protocol}`" for protocol in _PROTOCOLS)
        raise SettingsError(f"mdmem.toml: `{key}` must use one of {allowed}, or be a path, found {url!r}")
    if _PASSWORD.search(url):
        raise SettingsError(f"mdmem.toml: `{key}` contains a password; store it in git's credential helper")
    return url


_Keys = Mapping[str, _Reader]
KEYS: _Keys = {
    "default_wing": _any_text,
    "default_shared_wing": _wing,
    "rooms": _over(ROOMS, _room),
    "commit": _flag,
    "budget": _count,
    "consultations": _flag,
    "proposals": _choice(Proposals),
    "lineage.one_sided": _choice(OneSided),
    "check.fail_on": _choice(Severity),
    "check.select": _texts,
    "check.ignore": _texts,
    "check.severity": _table(_choice(Severity)),
    "check.ended": _choice(Ended),
    "check.old": _choice(Old),
    "check.baseline": _below_root,
    "check.review_after_days": _count,
    "check.entry_tokens": _table(_count),
    "governance.agent_status": _over(AGENT_STATUS, _choice(Status)),
    "governance.approvals": _choice(Approvals),
    "governance.global_writes": _flag,
    "governance.token_seconds": _number(1, 86_400, "seconds"),
    "server.profile": _choice(Profile),
    "server.timeout_seconds": _number(1, 600, "seconds"),
    "server.answer_tokens": _number(250, 10_000, "tokens"),
    "server.answer_bytes": _number(1_000, 40_000, "bytes"),
    "site.diff_url": _page,
    "site.files_url": lambda key, value: _files(key, value).rstrip("/"),
}
"""The keys of the file; the last part of each is the name of the field that it sets."""

_WINGS = "wings"
WING_KEYS: _Keys = {
    "check.select": _texts,
    "check.ignore": _texts,
    "check.severity": _table(_choice(Severity)),
    "git": _repository,
    "ref": _of(str, "the name of a branch or a tag", _REF.match),
    "path": _below_root,
    "commit": _of(str, "the full hash of a commit, 40 digits", _COMMIT.match),
}
"""The keys of each table below `[wings]`."""

_REMOTE_KEYS = ("git", "ref", "path", "commit")
_Faults = list[tuple[str, str]]


def parse_settings(content: bytes) -> Settings:
    """Return the settings that a `mdmem.toml` states; raises SettingsError with the key or the line."""
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
    faults: _Faults = []
    wings = _wing_tables(stated.pop(_WINGS, {}), faults)
    settings = Settings(**_values(stated, KEYS, "", faults), wings=wings, source=content)
    if faults:
        key, message = faults[0]
        raise SettingsError(message, readable=settings, line=settings.line_of(key))
    return settings


def readable_settings(content: bytes) -> Settings:
    """Return the settings that can be read of a `mdmem.toml`, the defaults for the others."""
    try:
        return parse_settings(content)
    except SettingsError as error:
        return error.readable if isinstance(error.readable, Settings) else Settings()


def _is_too_large(value: object) -> bool:
    """Return whether a value has a whole number beyond the range of TOML, which a message could not print."""
    if isinstance(value, int):
        return not -(2**63) <= value < 2**63
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_is_too_large, inner))


def _values(stated: Mapping[str, Any], keys: _Keys, prefix: str, faults: _Faults) -> dict[str, Any]:
    """Return the values of some tables by field; values that cannot be parsed are left out and added to the faults."""
    tables, flat = _tables(keys), dict[str, Any]()
    for name, value in stated.items():
        is_table = name in tables and isinstance(value, dict)
        flat |= {f"{name}.{key}": inner for key, inner in value.items()} if is_table else {name: value}
    values = {}
    for key, value in flat.items():
        try:
            if key not in keys:
                raise SettingsError(_unknown(prefix, key, keys))
            values[key.rpartition(".")[2]] = keys[key](f"{prefix}{key}", value)
        except SettingsError as error:
            faults.append((f"{prefix}{key}", str(error)))
    return values


def _tables(keys: Mapping[str, Any]) -> set[str]:
    return {key.split(".")[0] for key in keys if "." in key}


def _unknown(prefix: str, key: str, keys: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(key, [*keys, *_tables(keys), *([] if prefix else [_WINGS])], n=1, cutoff=0.5)
    hint = f"did you mean `{prefix}{close[0]}`?" if close else "`mdmem guide settings` lists the known ones"
    return f"mdmem.toml has an unknown key `{prefix}{key}`; {hint}"


def _wing_tables(stated: object, faults: _Faults) -> dict[str, WingSettings]:
    """Return the settings of each wing; those about another repository count only where one is stated."""
    if not isinstance(stated, dict):
        faults.append((_WINGS, f"mdmem.toml: `{_WINGS}` must be a table, found {stated!r}"))
        return {}
    found = {}
    for name, inner in stated.items():
        table = f"{_WINGS}.{name}"
        if not isinstance(inner, dict):
            faults.append((table, f"mdmem.toml: `{table}` must be a table, found {inner!r}"))
            continue
        values = _values(inner, WING_KEYS, f"{table}.", faults)
        about = [key for key in _REMOTE_KEYS if key in values]
        if about and "git" not in values:
            key = f"{table}.{about[0]}"
            faults.append((key, f"mdmem.toml: `{key}` needs a repository; set `{table}.git`"))
        elif about:
            try:
                _wing(table, name)
            except SettingsError as error:
                faults.append((table, str(error)))
                values = {key: value for key, value in values.items() if key not in _REMOTE_KEYS}
        found[name] = WingSettings(**values)
    return found


def with_key(content: bytes, key: str, value: str) -> bytes:
    """Return a file of settings that sets a dotted key to a text, and every other byte as it was.

    Raises SettingsError if the file is written in a way that leaves no certain place for the key.
    """
    settings, (table, _, name) = parse_settings(content), key.rpartition(".")
    meant = inner = _tables_in(content)
    for part in table.split("."):
        inner = inner.setdefault(part, {})
    inner[name] = value
    for tried in (content, *_with_key(content, table, name, value)):
        with suppress(ValueError):
            if _tables_in(tried) == meant:
                return tried
    line, hint = settings.line_of(table), f'write `{name} = "{value}"` below `[{table}]` yourself'
    raise SettingsError(f"mdmem.toml:{line}: the place for `{key}` is unclear; {hint}", line=line)


def _tables_in(content: bytes) -> dict[str, Any]:
    return tomllib.loads(content.removeprefix(BOM_UTF8).decode())


def _with_key(content: bytes, table: str, name: str, value: str) -> Iterator[bytes]:
    """Yield the file with the value replaced, with a line after one of the table, and with a new table."""
    lines, line = content.decode().splitlines(keepends=True), f'{name} = "{value}"'
    keys = list(enumerate(_dotted_keys([line.removeprefix("\ufeff") for line in lines])))
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"

    def put(number: int, text: str, *, replaced: int = 0) -> bytes:
        return "".join([*lines[:number], text, *lines[number + replaced :]]).encode()

    for number, key in keys:
        if key in (f"{table}.{name}", table):
            found = rf"(\b{name}\s*=\s*)(?:\"[^\"\n]*\"|'[^'\n]*')"
            yield put(number, re.sub(found, rf'\g<1>"{value}"', lines[number], count=1), replaced=1)
    for number, key in reversed(keys):
        if key.rpartition(".")[0] == table:
            # Written like the key before it, which may be indented or dotted.
            bare = lines[number].rstrip("\r\n")
            stated = re.sub(r"[\w-]+(?=[\"']?\s*\Z)", name, bare.partition("=")[0].rstrip(), count=1)
            end = lines[number][len(bare) :]
            yield put(number, f'{bare}{end or ending}{stated} = "{value}"{end}', replaced=1)
    for number, key in keys:
        if key == table:
            yield put(number + 1, line + ending)
            yield put(number, lines[number].replace("{", f"{{ {line},", 1), replaced=1)
    missing = "" if not lines or lines[-1].endswith(("\n", "\r")) else ending
    yield put(len(lines), f"{missing}{ending if lines else ''}[{table}]{ending}{line}{ending}")
