"""The settings of one root and their defaults, and where a file of settings states what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import asdict

from mdmem.model.entry import EntryType, Status
from mdmem.model.finding import Severity

_TABLE = re.compile(r"\s*\[+([^\]#]+)\]")
_KEY = re.compile(r"""\s*([\w."' -]+?)\s*=""")
_QUOTES = str.maketrans("", "", "\"' ")


def line_of(key: str, content: bytes, value: str) -> int:
    """Return the line that sets a key or part of it, or the innermost table above it, or of a value from there on."""
    lines = content.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    keys = [f"{name}." for name in dotted_keys(lines)]
    wanted = f"{key}."
    setting = (number for number, name in enumerate(keys) if name.startswith(wanted))
    above = max(range(len(keys)), key=lambda number: len(keys[number]) * wanted.startswith(keys[number]), default=0)
    found = next(setting, above)
    quoted = (f'"{value}"', f"'{value}'")
    below = (number for number, line in enumerate(lines[found:], found) if any(text in line for text in quoted))
    return (next(below, found) if value else found) + 1


def dotted_keys(lines: list[str]) -> Iterator[str]:
    """Yield, for each line, the key or the table that it sets, in full, or an empty text."""
    table = ""
    for line in lines:
        head, stated = _TABLE.match(line), _KEY.match(line)
        if head:
            table = f"{head[1].translate(_QUOTES)}."
        yield table[:-1] if head else table + stated[1].translate(_QUOTES) if stated else ""


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
    """What a finding weighs on an entry that is no longer in force: one level less, or the same."""

    LOWER = "lower"
    SAME = "same"


class OneSided(StrEnum):
    """What a supersession is that the newer entry alone names, of one in force: a claim, or a fact."""

    CLAIM = "claim"
    FACT = "fact"


class Old(StrEnum):
    """What a finding does that was there before the change at hand: it passes and is counted, or it fails the run."""

    PASS = "pass"
    FAIL = "fail"


class Proposals(StrEnum):
    """What becomes of entries that the default branch has not seen: shown, hidden, or counted as if it had."""

    SHOW = "show"
    HIDE = "hide"
    COUNT = "count"


class Approvals(StrEnum):
    """What an approval by somebody who is no owner of the wing meets: a remark, or a refusal."""

    SAY = "say"
    REFUSE = "refuse"


class WingSettings(Struct, frozen=True, kw_only=True):
    """What `[wings.NAME]` sets for one wing: it goes before what `[check]` sets for all.

    `git` is the repository that the wing lives in, where that is another one; `path` is the root there, `ref` what is
    followed, None for what that repository calls its HEAD, and `commit` the one that is read.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    git: str | None = None
    ref: str | None = None
    path: str | None = None
    commit: str | None = None


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of one root.

    `budget` is in tokens of 4 bytes; `review_after_days` counts from the last verification; `agent_status` is the
    status that an agent's writes get, by type, and `rooms` their room, by kind. `baseline` is a path below the root,
    in `/` form; `wings` is by name. `profile`, `timeout_seconds` of a retrieval and `answer_tokens`, where an answer
    is cut, are the server's; `answer_bytes`, where it is stated, goes before the tokens. `proposals` counts as the
    default branch has it. `consultations` says that what agents are told is counted on this machine. `diff_url` is
    where the page of a change is, `files_url` where a host shows the files.
    `source` is the file itself, which equality leaves out.
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
        """Compare what is set, however it is written."""
        if not isinstance(other, Settings):
            return NotImplemented
        return asdict(self) | {"source": b""} == asdict(other) | {"source": b""}

    @property
    def remote_wings(self) -> dict[str, WingSettings]:
        """Return the wings that live in another repository, by name, sorted."""
        return {name: stated for name, stated in sorted(self.wings.items()) if stated.git is not None}

    def line_of(self, key: str, value: str = "") -> int:
        """Return the line of the file that sets a dotted key, or of a quoted text in its value; 1 where none does."""
        return line_of(key, self.source, value)
