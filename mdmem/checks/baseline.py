"""The findings that a team has known since it began, by code and address, and the file that keeps them."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from mdmem.checks.registry import ASKS_GIT, CODES, EXCUSABLE, INCOMPLETE_CODES
from mdmem.checks.rules.run import stale_baseline_entry
from mdmem.checks.severity import codes_of
from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, GitError, SettingsError, UsageError
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.git.commit import stage_paths
from mdmem.store.settings import Settings
from mdmem.store.settings.insertion import with_baseline
from mdmem.store.state import leads_away, write_new, write_whole
from mdmem.store.tree import SETTINGS_NAME, Unreadable, read_one
from mdmem.store.workspace.workspace import Workspace

SCHEMA = 1
# Where the file lies that nobody named.
USUAL = ".baseline.json"
_ANEW = "`mdmem check --update-baseline` writes it anew"
_KEYS = {"code", "address", "count"}


class Record(Struct, frozen=True):
    """So many findings of one check at one address, or at a path that is no entry's; `line` is its own in the file."""

    code: str
    address: str
    count: int
    line: int = 1


class Baseline(Struct, frozen=True, dict=True):
    """What a baseline's file records, in the file's order; `path` is the file's."""

    path: str
    records: tuple[Record, ...]

    @cached_property
    def counts(self) -> Mapping[tuple[str, str], int]:
        """Return how many findings are known, by code and address."""
        return {(record.code, record.address): record.count for record in self.records}


def read_baseline(content: bytes, *, path: str = "the baseline") -> Baseline:
    """Return what a baseline's bytes record; raises SettingsError naming the file and the line."""
    stated = _parsed(content, path)
    if not isinstance(stated, dict) or not isinstance(stated.get("findings"), list):
        raise SettingsError(f"{path} holds no list of `findings`; {_ANEW}")
    if stated.get("schema") != SCHEMA:
        raise SettingsError(f"{path} has the schema {stated.get('schema')!r}, and this mdmem reads {SCHEMA}; {_ANEW}")
    lines = _lines(content)
    records: dict[tuple[str, str], Record] = {}
    for item in stated["findings"]:
        line = lines.get(json.dumps(item, sort_keys=True), 1)
        fault = _fault(item, records)
        if fault:
            raise SettingsError(f"{path}:{line}: {fault}", line=line)
        records[item["code"], item["address"]] = Record(item["code"], item["address"], item["count"], line)
    return Baseline(path, tuple(records.values()))


def _parsed(content: bytes, path: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 at byte {error.start}; {_ANEW}") from error
    except json.JSONDecodeError as error:
        # The usual cause is a merge that was not finished.
        message = f"{path}:{error.lineno}: no JSON: {error.msg[:1].lower()}{error.msg[1:]}; {_ANEW}"
        raise SettingsError(message, line=error.lineno) from error
    except (RecursionError, ValueError) as error:
        # A number may have more digits than Python reads.
        raise SettingsError(f"{path} cannot be read: {error}; {_ANEW}") from error


def _lines(content: bytes) -> dict[str, int]:
    """Return the line of each record that has one for itself, the last of two equal ones."""
    found = {}
    for number, line in enumerate(content.decode("utf-8-sig").splitlines(), 1):
        try:
            found[json.dumps(json.loads(line.strip().rstrip(",")), sort_keys=True)] = number
        except (RecursionError, ValueError):
            continue
    return found


def _fault(item: object, known: Collection[tuple[str, str]]) -> str | None:
    if not isinstance(item, dict) or set(item) != _KEYS:
        return f"a record has `code`, `address` and `count`, and nothing else; {_ANEW}"
    code, address, count = item["code"], item["address"], item["count"]
    if not isinstance(code, str) or not isinstance(address, str) or not address:
        return f"`code` and `address` must be texts; {_ANEW}"
    if code not in CODES:
        close = difflib.get_close_matches(code, EXCUSABLE, n=1, cutoff=0.4)
        return f"there is no check `{code}`; {f'did you mean `{close[0]}`?' if close else _ANEW}"
    if code not in EXCUSABLE:
        return f"`{code}` cannot be known beforehand; remove the record"
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        return f"`count` must be a whole number from 1, found {count!r}"
    return f"`{code}` is recorded twice for `{address}`; keep one" if (code, address) in known else None


def baseline_of(findings: Iterable[Finding], *, old: Baseline | None = None, codes: Collection[str] = CODES) -> bytes:
    """Return the file that records findings, one a line, sorted; infos and what no baseline excuses are left out.

    `findings` are those of the whole memory before any baseline is applied; what `old` records of checks that are not
    among `codes`, those that ran, is kept.
    """
    counts = Counter(_key(one) for one in findings if one.code in EXCUSABLE and one.severity is not Severity.INFO)
    for record in old.records if old else ():
        if record.code not in codes:
            counts[record.code, record.address] = record.count
    lines = (
        json.dumps({"code": code, "address": address, "count": count}, ensure_ascii=False)
        for (code, address), count in sorted(counts.items())
    )
    listed = ",\n".join(lines)
    return f'{{"schema": {SCHEMA}, "findings": [\n{listed}\n]}}\n'.encode()


def apply_baseline(
    findings: Iterable[Finding], baseline: Baseline, *, settings: Settings, codes: Collection[str]
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that are not known, sorted, and one for each record that knows more than there is.

    `findings` are those of the whole memory and of the `codes` that ran. Where more are found than recorded, those
    marked new are reported, then the lowest in the file. A run that left something unread makes no record stale.
    """
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault(_key(finding), []).append(finding)
    kept = [one for key, group in found.items() for one in _beyond(group, baseline.counts.get(key, 0))]
    is_whole = not any(code in INCOMPLETE_CODES for code, _ in found)
    stale = list(_stale(baseline, found, settings, codes)) if is_whole else []
    return sorted(kept, key=lambda one: one.sort_key), stale


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.address or finding.place.path


def _beyond(group: list[Finding], known: int) -> list[Finding]:
    if not known:
        return group
    latest = sorted(group, key=lambda one: (not one.new, -one.place.line, -one.place.column))
    return latest[: max(0, len(group) - known)]


def _stale(
    baseline: Baseline, found: Mapping[tuple[str, str], list[Finding]], settings: Settings, codes: Collection[str]
) -> Iterator[Finding]:
    check = stale_baseline_entry
    if check.code not in codes:
        return
    severity = settings.severity.get(check.code, check.severity)
    for record in baseline.records:
        count = len(found.get((record.code, record.address), ()))
        ran = record.code in codes and record.code not in ASKS_GIT
        if count < record.count and ran and _is_chosen(settings, record):
            message = (
                f"`{record.code}` is recorded {_times(record.count)} for `{record.address}`, found {_times(count)}"
            )
            place, help_ = Place(baseline.path, record.line), "run `mdmem check --update-baseline`"
            yield Finding(check.code, message, place, help_, severity=severity)


def _is_chosen(settings: Settings, record: Record) -> bool:
    """Say whether a wing's own choice lets the check of a record run there."""
    return not settings.wings or record.code in codes_of(settings, record.address)


def _times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def without_known(
    workspace: Workspace, found: Sequence[Finding], codes: Sequence[str], given: str | None
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that no baseline knows, with those about the baseline itself, and those that it knows."""
    name, content = _content(workspace, given)
    if content is None:
        return list(found), []
    baseline = read_baseline(content, path=name)
    kept, stale = apply_baseline(found, baseline, settings=workspace.settings, codes=codes)
    if workspace.access.is_narrow:
        # It knows of wings that are not seen, and what is not told of the others is no sign that it was mended.
        stale = []
    unknown = set(kept)
    known = [one for one in found if one not in unknown]
    return sorted([*kept, *stale], key=lambda finding: finding.sort_key), known


class BaselineResult(Struct, frozen=True):
    """A baseline that was written: its file, the settings if they were told of it, and how many findings it records.

    `is_staged` says that git has both for the next commit.
    """

    path: Path
    settings: Path | None
    number: int
    is_staged: bool = False


def write_baseline(
    workspace: Workspace, found: Sequence[Finding], codes: Sequence[str], given: str | None
) -> BaselineResult:
    """Write the file that knows every finding: the one that is given, else the settings' own, else the usual one.

    The usual one is named in the settings, so that every run reads it. Raises SettingsError where a symbolic link is on
    the way, or the settings leave no certain place for the name.
    """
    root, stated = workspace.location.root, workspace.settings.baseline
    name = given or stated or USUAL
    if given is None:
        _refuse_link(root, name)
    path, settings = root / name, root / SETTINGS_NAME
    is_named = given is not None or stated is not None
    named = b"" if is_named else _naming(settings, name)
    old = read_baseline(read_regular(path), path=str(path)) if path.exists() else None
    content = baseline_of(found, old=old, codes=codes)
    _write(path, content)
    if not is_named:
        _write(settings, named)
    number = sum(record.count for record in read_baseline(content).records)
    told = None if is_named else settings
    return BaselineResult(path, told, number, _staged(workspace, path, *([settings] if told else [])))


def _staged(workspace: Workspace, *paths: Path) -> bool:
    """Stage files of the root and say whether that worked: what is known has to be in the commit that holds it."""
    repository = workspace.location.repository
    if repository is None or not all(path.resolve().is_relative_to(repository.top) for path in paths):
        return False
    try:
        stage_paths(repository, [path.resolve().relative_to(repository.top).as_posix() for path in paths])
    except GitError:
        return False
    return True


def _naming(settings: Path, name: str) -> bytes:
    try:
        return with_baseline(read_regular(settings, follow=False), name)
    except OSError as error:
        hint = f'write `baseline = "{name}"` below `[check]` yourself'
        raise SettingsError(f"{SETTINGS_NAME} is no file that can be changed here; {hint}") from error


def _write(path: Path, content: bytes) -> None:
    try:
        if path.exists():
            write_whole(path, content)
        else:
            # Everybody who reads the repository reads it.
            write_new(path, content)
    except OSError as error:
        raise EnvironmentFaultError(f"cannot write {path}: {error.strerror or error}") from error


def _refuse_link(root: Path, stated: str) -> None:
    """Raise SettingsError where a link lies on the way to the settings' baseline: whoever commits could lead it out."""
    if leads_away(root, stated):
        raise SettingsError(f"mdmem.toml: a symbolic link is on the way to the baseline {stated}; name a file without")


def _content(workspace: Workspace, given: str | None) -> tuple[str, bytes | None]:
    """Return the name and the bytes of the baseline that counts; None where there is none.

    One that is named with an option is read from disk; the settings' own is part of the tree that is read.
    """
    stated = workspace.settings.baseline
    if given is None and stated is None:
        return "", None
    if given is not None:
        try:
            # Who names it may name a pipe.
            return given, (workspace.location.root / given).read_bytes()
        except OSError as error:
            hint = f"it counts from the root {workspace.location.root}"
            raise UsageError(f"the baseline {given} cannot be read: {error.strerror or error}; {hint}") from error
    _refuse_link(workspace.location.root, stated or "")
    content = read_one(workspace.whole_tree, stated or "")
    if isinstance(content, Unreadable):
        hint = "`mdmem check --update-baseline` writes it"
        raise SettingsError(f"mdmem.toml: the baseline {stated} cannot be read: {content.reason.lower()}; {hint}")
    return stated or "", content
