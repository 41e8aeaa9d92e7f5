"""The settings of one root: parse `mdmem.toml`, report each mistake in it, and change single keys.

To add a setting, add a field of `Settings`, its name in `KEYS` if it is in a table, and a row of the guide's table.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct, ValidationError, convert, field

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
# The room in which an agent's entry is written if the call names no room, by the kind of the entry.
ROOMS: Mapping[str, str] = {
    "decision": "architecture",
    "pattern": "conventions",
    "context": "context",
    "session": "sessions",
    "entity": "entities",
}


class Profile(StrEnum):
    """A set of MCP tools: for code, for lessons of sessions, for research, or all. Former names are accepted."""

    CORE = "core"
    SESSIONS = "sessions"
    RESEARCH = "research"
    TEST = "test"

    @classmethod
    def _missing_(cls, value: object) -> Profile | None:
        return cls(_FORMER_PROFILES[value]) if isinstance(value, str) and value in _FORMER_PROFILES else None


_FORMER_PROFILES = {"graphbase": "sessions", "sibyl": "research", "all": "test"}


# A function that takes a key and its value, and returns the value to use; raises SettingsError.
_Then = Callable[[str, Any], Any]


def _refused(key: str, wanted: str, value: object) -> SettingsError:
    return SettingsError(f"mdmem.toml: `{key}` must be {wanted}, found {value!r}")


def _only(wanted: str, accepts: Callable[[Any], object]) -> Meta:
    """Return a mark for a type that allows only accepted values; `wanted` describes them in messages."""

    def check(key: str, value: Any) -> Any:
        if not accepts(value):
            raise _refused(key, wanted, value)
        return value

    return Meta(description=wanted, extra={"then": check})


def _from(least: int, most: int, unit: str) -> Meta:
    return Meta(ge=least, le=most, description=f"a whole number of {unit} from {least} to {most}")


def _named(joined_by: str) -> Callable[[str], object]:
    words = re.compile(rf"[^\W_]+(?:{joined_by}[^\W_]+)*\Z")
    return lambda name: name == name.lower() and words.match(name)


def _is_below_root(path: str) -> bool:
    """Return whether a path is below the root and not in a `.git` folder, so that every clone has the file."""
    refused = {"", ".", "..", ".git"}.intersection(path.casefold().split("/"))
    return not (path.startswith("/") or "\\" in path or path[1:2] == ":" or refused)


# Without the characters that would end a Markdown link or have another meaning in it.
_PAGE = re.compile(r"https?://[\w.~:/?#@!$&*+,;=%-]+(?:\{(?:change|run|view)\}[\w.~:/?#@!$&*+,;=%-]*)*", re.ASCII)
# The allowed protocols. `ext::` runs a program, and git's other remote helpers may run anything, too.
_PROTOCOLS = ("file", "git", "http", "https", "ssh")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
# Matches `git@host:folder/name.git`. A single letter before the colon would be a Windows drive.
_SCP = re.compile(r"(?:[\w.-]+@)?(?:[\w.-]{2,}|\[[0-9A-Fa-f:]+\]):(?!//)")
_PASSWORD = re.compile(r"://[^/@:]*:[^/@]*@")
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REF = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//))[\w.+/@#=,%-]+(?<![/.])(?<!\.lock)\Z")


def is_path(url: str) -> bool:
    """Return whether a repository is written as a path, not as a URL."""
    return not _SCHEME.match(url) and not _SCP.match(url)


def _repository(key: str, url: str) -> str:
    """Return a valid repository: a URL with an allowed protocol, `user@host:path`, or a path relative to the root."""
    if not url.isprintable() or url != url.strip() or url.startswith("-"):
        raise _refused(key, "the URL or the path of a repository", url)
    scheme = _SCHEME.match(url)
    if _HELPER.match(url) or (scheme and scheme[1].lower() not in _PROTOCOLS):
        allowed = ", ".join(f"`{protocol}`" for protocol in _PROTOCOLS)
        raise SettingsError(f"mdmem.toml: `{key}` must be a path, or a URL with one of {allowed}; found {url!r}")
    if _PASSWORD.search(url):
        raise SettingsError(f"mdmem.toml: `{key}` contains a password; store it in git's credential helper")
    return url


Text = Annotated[str, Meta(min_length=1, description="a text")]
Texts = Annotated[tuple[str, ...], Meta(description="a list of texts")]
Flag = Annotated[bool, Meta(description="true or false")]
Count = Annotated[int, Meta(ge=0, description="a whole number from 0")]
WingName = Annotated[str, _only("the name of a wing, such as `shared`", _named("_"))]
RoomName = Annotated[str, _only("the name of a room, such as `anti-patterns`", _named("-"))]
_DIFF = "an address such as `https://pages.example/{change}/diff.html`, with {change} and {run} to be filled in"
DiffPage = Annotated[str, _only(_DIFF, lambda text: _PAGE.fullmatch(text) and "{view}" not in text)]
_FILES = "an address such as `https://host.example/team/memory/{view}/main`"
FilesPage = Annotated[str, _only(_FILES, lambda text: _PAGE.fullmatch(text) and text.count("{view}") == 1)]
BelowRoot = Annotated[str, _only("a path below the root, such as `.baseline.json`", _is_below_root)]


class WingSettings(Struct, frozen=True, kw_only=True):
    """The settings of one wing, from `[wings.NAME]`; they take precedence over the settings in `[check]`.

    For a wing of another repository, `git` is the repository, `path` the memory's root in it, `ref` the branch or tag
    to follow (None for HEAD), and `commit` the commit to read.
    """

    select: Texts = ()
    ignore: Texts = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    git: Annotated[str, Meta(min_length=1, description="a text", extra={"then": _repository})] | None = None
    ref: Annotated[str, _only("the name of a branch or a tag", _REF.match)] | None = None
    path: BelowRoot | None = None
    commit: Annotated[str, _only("the full hash of a commit, 40 digits", _COMMIT.match)] | None = None


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of one root, as in `mdmem guide settings`; `source` is the file's content."""

    default_wing: Text | None = None
    default_shared_wing: WingName = "shared"
    rooms: Mapping[str, RoomName] = field(default_factory=lambda: dict(ROOMS))
    commit: Flag = False
    budget: Count = 1500
    consultations: Flag = True
    # Whether entries that are not on the default branch are shown, hidden, or treated like approved ones.
    proposals: Literal["show", "hide", "count"] = "show"
    # Whether a one-sided supersession of a current entry only counts as a claim, or takes effect.
    one_sided: Literal["claim", "fact"] = "claim"
    fail_on: Severity = Severity.ERROR
    select: Texts = ()
    ignore: Texts = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    # The severity of a finding about an entry that is not current: one level lower than usual, or the same.
    ended: Literal["lower", "same"] = "lower"
    # Whether a finding that already existed before the change is only counted, or fails the run.
    old: Literal["pass", "fail"] = "pass"
    baseline: BelowRoot | None = None
    review_after_days: Count = 365
    entry_tokens: Mapping[str, Count] = field(default_factory=dict)
    agent_status: Mapping[EntryType, Status] = field(default_factory=lambda: dict(AGENT_STATUS))
    # Whether an approval by somebody who does not own the wing is accepted with a remark, or refused.
    approvals: Literal["say", "refuse"] = "say"
    global_writes: Flag = True
    token_seconds: Annotated[int, _from(1, 86_400, "seconds")] = 60
    profile: Profile = Profile.CORE
    timeout_seconds: Annotated[int, _from(1, 600, "seconds")] = 5
    answer_tokens: Annotated[int, _from(250, 10_000, "tokens")] = 6_000
    answer_bytes: Annotated[int, _from(1_000, 40_000, "bytes")] | None = None
    diff_url: DiffPage | None = None
    files_url: FilesPage | None = None
    wings: Mapping[str, WingSettings] = field(default_factory=dict)
    source: bytes = b""

    @property
    def answer_limit(self) -> int:
        """Return the largest size of an answer over MCP, in bytes; a token counts as four bytes."""
        return self.answer_bytes if self.answer_bytes is not None else 4 * self.answer_tokens

    @property
    def remote_wings(self) -> dict[str, WingSettings]:
        """Return the wings that are read from other repositories, sorted by name."""
        return {name: stated for name, stated in sorted(self.wings.items()) if stated.git is not None}

    def line_of(self, key: str) -> int:
        """Return the number of the line that sets a dotted key, or else of the line of its table, or 1."""
        lines = self.source.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
        keys = [f"{name}." for name in _dotted_keys(lines)]
        wanted = f"{key}."
        setting = (number for number, name in enumerate(keys) if name.startswith(wanted))
        tables = (number for number, name in enumerate(keys) if wanted.startswith(name))
        return next(setting, max(tables, key=lambda number: len(keys[number]), default=0)) + 1


# The quantifiers never give back, because a line of a hundred thousand blanks or brackets would take minutes.
_TABLE = re.compile(r"\s*+\[{1,2}+([^\]#]++)\]")
_KEY = re.compile(r"""\s*+([\w."' -]++)\s*+=""")
_ENDS = "\r\n"
_QUOTES = str.maketrans("", "", "\"' ")


def _dotted_keys(lines: list[str]) -> Iterator[str]:
    """Yield, for each line, the full dotted name of the key or table on it, or an empty string."""
    prefix = ""
    for line in lines:
        head, key = _TABLE.match(line), _KEY.match(line)
        if head:
            prefix = f"{head[1].translate(_QUOTES)}."
            yield prefix.removesuffix(".")
        else:
            yield prefix + key[1].translate(_QUOTES) if key else ""


def _keys_of(kind: type[Struct], **tables: str) -> Mapping[str, Any]:
    """Return the type of each setting by its dotted key; `tables` has the names of the fields in each table."""
    places = {name: f"{table}.{name}" for table, names in tables.items() for name in names.split()}
    hints = get_type_hints(kind, include_extras=True)
    return {places.get(name, name): hint for name, hint in hints.items() if name not in ("wings", "source")}


KEYS = _keys_of(
    Settings,
    lineage="one_sided",
    check="fail_on select ignore severity ended old baseline review_after_days entry_tokens",
    governance="agent_status approvals global_writes token_seconds",
    server="profile timeout_seconds answer_tokens answer_bytes",
    site="diff_url files_url",
)
"""The keys of `mdmem.toml` with their types; the last part of a key is the name of its field in `Settings`."""

WING_KEYS = _keys_of(WingSettings, check="select ignore severity")
"""The keys of each table `[wings.NAME]` with their types."""


def _read(key: str, value: Any, kind: Any, defaults: Any = None) -> Any:
    """Return the value of a key as its type; raises SettingsError. The keys of non-empty defaults are the only ones."""
    if get_origin(kind) in (Union, UnionType):
        kind = get_args(kind)[0]
    base, *marks = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    if get_origin(base) is Mapping:
        if not isinstance(value, dict):
            raise _refused(key, "a table", value)
        found = {name: _read(f"{key}.{name}", one, get_args(base)[1]) for name, one in value.items()}
        for name in found if defaults else ():
            if name not in defaults:
                raise SettingsError(_unknown(f"{key}.", name, defaults))
        return {**(defaults or {}), **found}
    mark = marks[0] if marks else Meta(description="one of " + ", ".join(f"`{one}`" for one in get_args(base) or base))
    try:
        found = convert(value, kind)
    except ValidationError as error:
        raise _refused(key, mark.description or "", value) from error
    then: _Then | None = (mark.extra or {}).get("then")
    return then(key, found) if then is not None else found


_WINGS = "wings"
_REMOTE_KEYS = ("git", "ref", "path", "commit")
_Faults = list[tuple[str, str]]


def _toml(content: bytes) -> dict[str, Any]:
    return tomllib.loads(content.removeprefix(BOM_UTF8).decode())


def parse_settings(content: bytes) -> Settings:
    """Return the settings in a `mdmem.toml`; raises SettingsError with the key or the line of the first mistake."""
    try:
        stated = _toml(content)
    except UnicodeDecodeError as error:
        raise SettingsError(f"mdmem.toml is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        # A number with more digits than Python reads raises a ValueError that is no TOMLDecodeError.
        at = re.search(r"\(at line (\d+),", str(error))
        raise SettingsError(f"mdmem.toml cannot be read: {error}", line=int(at[1]) if at else 1) from error
    if _is_too_large(stated):
        raise SettingsError("mdmem.toml cannot be read: it has a number of more than 64 bits, or too many levels")
    faults: _Faults = []
    wings = _wing_tables(stated.pop(_WINGS, {}), faults)
    settings = Settings(**_values(stated, Settings, "", faults), wings=wings, source=content)
    if faults:
        key, message = faults[0]
        raise SettingsError(message, readable=settings, line=settings.line_of(key))
    return settings


def readable_settings(content: bytes) -> Settings:
    """Return the settings, with defaults for invalid keys; if the file is no valid TOML, all are defaults."""
    try:
        return parse_settings(content)
    except SettingsError as error:
        return error.readable if isinstance(error.readable, Settings) else Settings()


def _is_too_large(value: object, levels: int = 100) -> bool:
    """Return whether a value has too many levels, or an integer of more than 64 bits, which TOML does not allow."""
    if isinstance(value, int):
        return not -(2**63) <= value < 2**63
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not levels or any(_is_too_large(one, levels - 1) for one in inner)


def _values(
    stated: Mapping[str, Any], kind: type[Settings | WingSettings], prefix: str, faults: _Faults
) -> dict[str, Any]:
    """Return the parsed values of some tables by field name, and add those that are invalid to `faults`."""
    keys = KEYS if kind is Settings else WING_KEYS
    tables, flat, defaults = _tables(keys), dict[str, Any](), kind()
    for name, value in stated.items():
        is_table = name in tables and isinstance(value, dict)
        flat |= {f"{name}.{key}": inner for key, inner in value.items()} if is_table else {name: value}
    values = {}
    for key, value in flat.items():
        try:
            if key not in keys:
                raise SettingsError(_unknown(prefix, key, keys))
            name = key.rpartition(".")[2]
            values[name] = _read(f"{prefix}{key}", value, keys[key], getattr(defaults, name))
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
    """Return the settings of each wing; `ref`, `path` and `commit` without `git` are added to `faults`."""
    if not isinstance(stated, dict):
        faults.append((_WINGS, f"mdmem.toml: `{_WINGS}` must be a table, found {stated!r}"))
        return {}
    found = {}
    for name, inner in stated.items():
        table = f"{_WINGS}.{name}"
        if not isinstance(inner, dict):
            faults.append((table, f"mdmem.toml: `{table}` must be a table, found {inner!r}"))
            continue
        values = _values(inner, WingSettings, f"{table}.", faults)
        about = [key for key in _REMOTE_KEYS if key in values]
        if about and "git" not in values:
            key = f"{table}.{about[0]}"
            faults.append((key, f"mdmem.toml: `{key}` needs a repository; set `{table}.git`"))
        elif about:
            try:
                _read(table, name, WingName)
            except SettingsError as error:
                faults.append((table, str(error)))
                values = {key: value for key, value in values.items() if key not in _REMOTE_KEYS}
        found[name] = WingSettings(**values)
    return found


def with_key(content: bytes, key: str, value: str) -> bytes:
    """Return the bytes of `mdmem.toml` with one dotted key set to a text; raises SettingsError if it cannot be set."""
    settings, (table, _, name) = parse_settings(content), key.rpartition(".")
    meant = inner = _toml(content)
    for part in table.split("."):
        inner = inner.setdefault(part, {})
    inner[name] = value
    lines, line = content.decode().splitlines(keepends=True), f'{name} = "{value}"'
    keys = list(_dotted_keys([one.removeprefix("\ufeff") for one in lines]))
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    changes: list[tuple[int, str]] = []
    for number, (stated, text) in enumerate(zip(keys, lines, strict=True)):
        if stated == key:
            changes = [(number, re.sub(r"""(=\s*)("[^"\n]*"|'[^'\n]*')""", rf'\g<1>"{value}"', text, count=1))]
            break
        if table in (stated, stated.rpartition(".")[0]):
            # Write the key like the one on this line, which may be indented or dotted. Try the last line first.
            bare, indent = text.rstrip(_ENDS), text[: len(text) - len(text.lstrip())]
            like = re.sub(r"[\w-]+(?=[\"']?\s*\Z)", name, bare.partition("=")[0].rstrip(), count=1)
            written, end = f"{indent}{name}" if stated == table else like, text[len(bare) :]
            changes.insert(0, (number, f'{bare}{end or ending}{written} = "{value}"{end}'))
            # The table may be an inline table.
            changes.append((number, text.replace("{", f"{{ {line},", 1)))
    above = f"{lines[-1].rstrip(_ENDS)}{ending}{ending}" if lines else ""
    changes.append((len(lines) - 1, f"{above}[{table}]{ending}{line}{ending}"))
    for number, text in changes:
        changed = "".join([*lines[: max(number, 0)], text, *lines[number + 1 :]]).encode()
        with suppress(ValueError):
            if _toml(changed) == meant:
                return changed
    at, fault = settings.line_of(table), f"mdmem cannot set `{key}` without changing something else"
    raise SettingsError(f'mdmem.toml:{at}: {fault}; set it to "{value}" yourself', line=at)
