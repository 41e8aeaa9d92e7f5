"""The baseline: a file of findings that a team already knows, by code and address."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.checks.check import find_check, get_check, nearest_excusable
from mdmem.checks.codes import codes_of, stated_severity
from mdmem.checks.engine import is_incomplete
from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, GitError, SettingsError, UsageError
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.git.commit import stage_paths
from mdmem.store.settings import Settings, with_baseline
from mdmem.store.state.files import leads_away, write_new, write_whole
from mdmem.store.tree import Unreadable, read_one
from mdmem.store.workspace.workspace import Workspace

SCHEMA = 1
# The file that is written if neither the settings nor an option name one.
USUAL = ".baseline.json"
_REWRITE = "`mdmem check --update-baseline` writes it again"
_KEYS = {"code", "address", "count"}
_STALE = "unused-suppression"


class Record(Struct, frozen=True):
    """The number of findings of one check at one address, or at a path without an entry; `line` is in the file."""

    code: str
    address: str
    count: int
    line: int = 1


class Baseline(Struct, frozen=True, dict=True):
    """The records of a baseline, in the order of its file at `path`."""

    path: str
    records: tuple[Record, ...]

    @cached_property
    def counts(self) -> Mapping[tuple[str, str], int]:
        """Return how many findings are known, by code and address."""
        return {(record.code, record.address): record.count for record in self.records}


def read_baseline(content: bytes, *, path: str = "the baseline") -> Baseline:
    """Return the records in a baseline's bytes; raises SettingsError with the file and the line."""
    try:
        text = content.decode("utf-8-sig")
        stated = json.loads(text)
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 at byte {error.start}; {_REWRITE}") from error
    except json.JSONDecodeError as error:
        # The usual cause is a merge that was not finished.
        message = f"{path}:{error.lineno}: no JSON: {error.msg[:1].lower()}{error.msg[1:]}; {_REWRITE}"
        raise SettingsError(message, line=error.lineno) from error
    except (RecursionError, ValueError) as error:
        # A number may have more digits than Python reads.
        raise SettingsError(f"{path} cannot be read: {error}; {_REWRITE}") from error
    if not isinstance(stated, dict) or not isinstance(stated.get("findings"), list):
        raise SettingsError(f"{path} has no list of `findings`; {_REWRITE}")
    if stated.get("schema") != SCHEMA:
        raise SettingsError(
            f"{path} has the schema {stated.get('schema')!r}, and this mdmem reads {SCHEMA}; {_REWRITE}"
        )
    lines = _line_numbers(text)
    records: dict[tuple[str, str], Record] = {}
    for item in stated["findings"]:
        line = lines.get(json.dumps(item, sort_keys=True), 1)
        fault = _fault(item, records)
        if fault:
            raise SettingsError(f"{path}:{line}: {fault}", line=line)
        records[item["code"], item["address"]] = Record(item["code"], item["address"], item["count"], line)
    return Baseline(path, tuple(records.values()))


def _line_numbers(text: str) -> dict[str, int]:
    """Return the line of each record that has a line of its own, the last of two equal ones."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found[json.dumps(json.loads(line.strip().rstrip(",")), sort_keys=True)] = number
        except (RecursionError, ValueError):
            continue
    return found


def _fault(item: object, known: Collection[tuple[str, str]]) -> str | None:
    if not isinstance(item, dict) or set(item) != _KEYS:
        return f"a record has `code`, `address` and `count`, and nothing else; {_REWRITE}"
    code, address, count = item["code"], item["address"], item["count"]
    if not isinstance(code, str) or not isinstance(address, str) or not address:
        return f"`code` and `address` must be texts; {_REWRITE}"
    check = find_check(code)
    if check is None:
        close = nearest_excusable(code)
        return f"there is no check `{code}`; {f'did you mean `{close}`?' if close else _REWRITE}"
    if not check.is_excusable:
        return f"`{code}` cannot be known beforehand; remove the record"
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        return f"`count` must be a whole number from 1, found {count!r}"
    return f"`{code}` is recorded twice for `{address}`; keep one" if (code, address) in known else None


def baseline_of(
    findings: Iterable[Finding], *, old: Baseline | None = None, codes: Collection[str] | None = None
) -> bytes:
    """Return the file that records findings, one a line, sorted; infos and what no baseline excuses are left out.

    `findings` are those of the whole memory before any baseline is applied. Records in `old` of checks that did not
    run, which are not among `codes`, stay.
    """
    counts = Counter(
        _key(one)
        for one in findings
        if one.severity is not Severity.INFO and (check := find_check(one.code)) is not None and check.is_excusable
    )
    for key, count in old.counts.items() if old else ():
        if codes is not None and get_check(key[0]).code not in codes:
            counts[key] = count
    return baseline_bytes(counts)


def baseline_bytes(counts: Mapping[tuple[str, str], int]) -> bytes:
    """Return the file that records a number of findings by code and address, one a line, sorted."""
    lines = (
        json.dumps({"code": code, "address": address, "count": count}, ensure_ascii=False)
        for (code, address), count in sorted(counts.items())
    )
    listed = ",\n".join(lines)
    return f'{{"schema": {SCHEMA}, "findings": [\n{listed}\n]}}\n'.encode()


def apply_baseline(
    findings: Iterable[Finding], baseline: Baseline, *, settings: Settings, codes: Collection[str]
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that are not known, sorted, and one finding for each record of more than there are.

    `findings` are those of the whole memory and of the `codes` that ran. If more are found than recorded, those that
    are new are reported, then the lowest in the file. A run that left something unread makes no record stale.
    """
    by_key: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        # A record of the time when the finding had another code knows it, too.
        former = (finding.former, _key(finding)[1])
        by_key.setdefault(former if former in baseline.counts else _key(finding), []).append(finding)
    unknown = []
    for key, group in by_key.items():
        latest = sorted(group, key=lambda one: (not one.new, -one.place.line, -one.place.column))
        unknown += latest[: max(0, len(group) - baseline.counts.get(key, 0))]
    is_whole = not any(is_incomplete(group[0]) for group in by_key.values())
    stale = list(_stale(baseline, by_key, settings, codes)) if is_whole and _STALE in codes else []
    return sorted(unknown, key=lambda one: one.sort_key), stale


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.address or finding.place.path


def _stale(
    baseline: Baseline, found: Mapping[tuple[str, str], list[Finding]], settings: Settings, codes: Collection[str]
) -> Iterator[Finding]:
    severity = stated_severity(settings.severity, _STALE, "stale-baseline-entry") or get_check(_STALE).severity
    for record in baseline.records:
        check, count = get_check(record.code), len(found.get((record.code, record.address), ()))
        did_run = check.code in codes and not check.asks_git
        is_chosen = not settings.wings or record.code in codes_of(settings, record.address)
        if count < record.count and did_run and is_chosen:
            message = (
                f"`{record.code}` is recorded {_times(record.count)} for `{record.address}`, found {_times(count)}"
            )
            place, help_ = Place(baseline.path, record.line), "run `mdmem check --update-baseline`"
            yield Finding(_STALE, message, place, help_, severity=severity, former="stale-baseline-entry")


def _times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def without_known(
    workspace: Workspace, found: Sequence[Finding], codes: Sequence[str], given: str | None
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that the baseline does not know, with those about the baseline, and those that it knows.

    A baseline that an option names is read from disk; the one in the settings is part of the tree that is read.
    """
    name, root = given or workspace.settings.baseline, workspace.location.root
    if name is None:
        return list(found), []
    if given is not None:
        try:
            # A user may name a pipe.
            content = (root / given).read_bytes()
        except OSError as error:
            hint = f"it counts from the root {root}"
            raise UsageError(f"the baseline {given} cannot be read: {error.strerror or error}; {hint}") from error
    else:
        _refuse_link(root, name)
        read = read_one(workspace.whole_tree, name)
        if isinstance(read, Unreadable):
            hint = "`mdmem check --update-baseline` writes it"
            raise SettingsError(f"mdmem.toml: the baseline {name} cannot be read: {read.reason.lower()}; {hint}")
        content = read
    left, stale = apply_baseline(found, read_baseline(content, path=name), settings=workspace.settings, codes=codes)
    if workspace.access.is_narrow:
        # It records findings of wings that the caller does not see, and those are not fixed.
        stale = []
    unknown = set(left)
    known = [one for one in found if one not in unknown]
    return sorted([*left, *stale], key=lambda finding: finding.sort_key), known


class BaselineResult(Struct, frozen=True):
    """A baseline that was written: its file, the settings if they were changed to name it, and its number of findings.

    With `is_staged` git has both for the next commit.
    """

    path: Path
    settings: Path | None
    number: int
    is_staged: bool = False


def write_baseline(
    workspace: Workspace, found: Sequence[Finding], codes: Sequence[str], given: str | None
) -> BaselineResult:
    """Write the file that knows every finding: the one that is given, else the settings' own, else the usual one.

    The usual one is named in the settings, so that every run reads it. Raises SettingsError if a symbolic link is on
    the way, or if the settings leave no certain place for the name.
    """
    root, stated = workspace.location.root, workspace.settings.baseline
    name = given or stated or USUAL
    if given is None:
        _refuse_link(root, name)
    path, settings = root / name, root / SETTINGS_NAME
    old = read_baseline(read_regular(path), path=str(path)) if path.exists() else None
    written = {path: baseline_of(found, old=old, codes=codes)}
    if not (given or stated):
        try:
            written[settings] = with_baseline(read_regular(settings, follow=False), name)
        except OSError as error:
            hint = f'write `baseline = "{name}"` below `[check]` yourself'
            raise SettingsError(f"{SETTINGS_NAME} is not a file that can be changed here; {hint}") from error
    for one, content in written.items():
        try:
            # Everybody who reads the repository reads a new file.
            (write_whole if one.exists() else write_new)(one, content)
        except OSError as error:
            raise EnvironmentFaultError(f"cannot write {one}: {error.strerror or error}") from error
    number = sum(record.count for record in read_baseline(written[path]).records)
    named = settings if settings in written else None
    return BaselineResult(path, named, number, _stage(workspace, list(written)))


def _stage(workspace: Workspace, paths: Sequence[Path]) -> bool:
    """Stage files of the root and say whether that worked: the next commit needs the baseline that knows its faults."""
    repository = workspace.location.repository
    if repository is None or not all(path.resolve().is_relative_to(repository.top) for path in paths):
        return False
    try:
        stage_paths(repository, [path.resolve().relative_to(repository.top).as_posix() for path in paths])
    except GitError:
        return False
    return True


def _refuse_link(root: Path, stated: str) -> None:
    """Raise SettingsError if a link is on the way to the settings' baseline: whoever commits could lead it outside."""
    if leads_away(root, stated):
        raise SettingsError(f"mdmem.toml: a symbolic link is on the way to the baseline {stated}; name a file without")
