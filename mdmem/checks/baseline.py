"""The baseline: a file that records known findings, by code and address, so that they are not reported again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import asdict

from mdmem import SETTINGS_NAME
from mdmem.checks.check import codes_of, find_check, find_severity, get_check, nearest_codes
from mdmem.checks.engine import is_incomplete
from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, GitError, SettingsError, UsageError
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.git.commit import stage_paths
from mdmem.store.settings import Settings, with_key
from mdmem.store.state.files import leads_away, write_new, write_whole
from mdmem.store.tree import Unreadable, read_one
from mdmem.store.workspace.workspace import Workspace

# The file that is written if neither an option nor the settings name a file.
DEFAULT_NAME = ".baseline.json"
_REWRITE = "`mdmem check --update-baseline` writes it again"
_STALE = "unused-suppression"

# The number of known findings by code and address; a file that is no entry counts by its path.
Counts = Mapping[tuple[str, str], int]


class _Record(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of findings of one check at one address or path."""

    code: str
    address: Annotated[str, Meta(min_length=1)]
    count: Annotated[int, Meta(ge=1)]


class _File(Struct, frozen=True):
    schema: Literal[1]
    findings: list[_Record]


def read_baseline(content: bytes, *, path: str = "the baseline") -> Counts:
    """Return the counts in the bytes of a baseline; raises SettingsError, with `path`, if a record is not valid."""
    try:
        records = convert(json.loads(content.decode("utf-8-sig")), _File).findings
    except json.JSONDecodeError as error:
        # The usual cause is a merge conflict that was not resolved.
        message = f"{path}:{error.lineno}: invalid JSON: {error.msg.lower()}; {_REWRITE}"
        raise SettingsError(message, line=error.lineno) from error
    except (RecursionError, ValueError, ValidationError) as error:
        # A ValueError may also come from a number with more digits than Python reads.
        raise SettingsError(f"{path} cannot be read: {error}; {_REWRITE}") from error
    counts: dict[tuple[str, str], int] = {}
    for record in records:
        check, key = find_check(record.code), (record.code, record.address)
        if check is None:
            raise SettingsError(f"{path}: there is no check `{record.code}`; {nearest_codes(record.code)}")
        if not check.is_excusable:
            raise SettingsError(f"{path}: `{record.code}` cannot be recorded in a baseline; remove the record")
        if key in counts:
            raise SettingsError(f"{path}: `{record.code}` is recorded twice for `{record.address}`; keep one")
        counts[key] = record.count
    return counts


def baseline_of(
    findings: Iterable[Finding], *, old: Counts = MappingProxyType({}), codes: Collection[str] | None = None
) -> bytes:
    """Return the bytes of a baseline of some findings, one record per line, sorted.

    Findings that no baseline may excuse are left out. Records in `old` of checks that are not in `codes` are kept.
    """
    counts = Counter(
        _key(one)
        for one in findings
        if one.severity is not Severity.INFO and (check := find_check(one.code)) is not None and check.is_excusable
    )
    for key, count in old.items():
        if codes is not None and get_check(key[0]).code not in codes:
            counts[key] = count
    return baseline_bytes(counts)


def baseline_bytes(counts: Counts) -> bytes:
    """Return the bytes of a baseline that records these counts, one per line, sorted."""
    records = (asdict(_Record(*key, count)) for key, count in sorted(counts.items()))
    listed = ",\n".join(json.dumps(one, ensure_ascii=False) for one in records)
    return f'{{"schema": 1, "findings": [\n{listed}\n]}}\n'.encode()


def apply_baseline(
    findings: Iterable[Finding], counts: Counts, *, path: str, settings: Settings, codes: Collection[str]
) -> tuple[list[Finding], list[Finding]]:
    """Return two sorted lists: the findings that are not in the baseline, and a finding for each outdated record.

    A record is outdated if it counts more findings than there are; none is if some file could not be read. If there are
    more findings than recorded, new ones are reported first, then those furthest down in the file.
    """
    by_key: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        # A record under the former code of a check also counts.
        former = (finding.former, _key(finding)[1])
        by_key.setdefault(former if former in counts else _key(finding), []).append(finding)
    unknown = []
    for key, group in by_key.items():
        latest = sorted(group, key=lambda one: (not one.new, -one.place.line, -one.place.column))
        unknown += latest[: max(0, len(group) - counts.get(key, 0))]
    is_whole = not any(is_incomplete(group[0]) for group in by_key.values())
    stale = []
    for (code, address), count in counts.items() if is_whole and _STALE in codes else ():
        check, number = get_check(code), len(by_key.get((code, address), ()))
        did_run = check.code in codes and not check.asks_git
        is_chosen = not settings.wings or code in codes_of(settings, address)
        if number < count and did_run and is_chosen:
            message = f"the baseline has {count} of `{code}` for `{address}`, and the run found {number}"
            help_, was = "run `mdmem check --update-baseline`", "stale-baseline-entry"
            severity = find_severity(settings, "", _STALE, was) or get_check(_STALE).severity
            stale.append(Finding(_STALE, message, Place(path), help_, severity=severity, former=was))
    return sorted(unknown, key=lambda one: one.sort_key), stale


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.address or finding.place.path


def without_known(
    workspace: Workspace, found: Sequence[Finding], codes: Sequence[str], option: str | None
) -> tuple[list[Finding], list[Finding]]:
    """Return two lists: the findings to report, with those about the baseline itself, and those that it excuses.

    The baseline of an option is read from disk, that of the settings from the checked tree. Raises SettingsError for an
    invalid baseline, and UsageError if that of the option cannot be read.
    """
    name, root = option or workspace.settings.baseline, workspace.location.root
    if name is None:
        return list(found), []
    if option is not None:
        try:
            # Not `read_regular`, because the option may name a pipe.
            content = (root / option).read_bytes()
        except OSError as error:
            hint = f"the path is relative to the root {root}"
            raise UsageError(f"the baseline {option} cannot be read: {error.strerror or error}; {hint}") from error
    else:
        _refuse_link(root, name)
        read = read_one(workspace.whole_tree, name)
        if isinstance(read, Unreadable):
            hint = "`mdmem check --update-baseline` writes it"
            raise SettingsError(f"mdmem.toml: the baseline {name} cannot be read: {read.reason.lower()}; {hint}")
        content = read
    counts = read_baseline(content, path=name)
    left, stale = apply_baseline(found, counts, path=name, settings=workspace.settings, codes=codes)
    if workspace.access.is_narrow:
        # Records about hidden wings would look too high, since the caller does not see their findings.
        stale = []
    unknown = set(left)
    known = [one for one in found if one not in unknown]
    return sorted([*left, *stale], key=lambda finding: finding.sort_key), known


class BaselineResult(Struct, frozen=True):
    """A written baseline, the changed settings file, the number of findings, and whether git has staged both."""

    path: Path
    settings: Path | None
    number: int
    is_staged: bool = False


def write_baseline(
    workspace: Workspace, found: Sequence[Finding], codes: Sequence[str], option: str | None
) -> BaselineResult:
    """Write a baseline of the findings that it may excuse to the given path, the settings' path or `.baseline.json`.

    The default is also written to the settings, so that every run reads it. Records of checks that did not run stay.
    Raises SettingsError for a symbolic link, an invalid old baseline or settings, else EnvironmentFaultError.
    """
    root, stated = workspace.location.root, workspace.settings.baseline
    name = option or stated or DEFAULT_NAME
    if option is None:
        _refuse_link(root, name)
    path, settings = root / name, root / SETTINGS_NAME
    old = read_baseline(read_regular(path), path=str(path)) if path.exists() else {}
    written = {path: baseline_of(found, old=old, codes=codes)}
    if not (option or stated):
        written[settings] = with_key(read_regular(settings, follow=False), "check.baseline", name)
    for one, content in written.items():
        try:
            # `write_new` gives a new file the usual permissions, so that other users can read it.
            (write_whole if one.exists() else write_new)(one, content)
        except OSError as error:
            raise EnvironmentFaultError(f"cannot write {one}: {error.strerror or error}") from error
    repository, is_staged, paths = workspace.location.repository, False, [one.resolve() for one in written]
    if repository is not None and all(one.is_relative_to(repository.top) for one in paths):
        # Stage the baseline for the next commit, which also has the recorded problems.
        with suppress(GitError):
            stage_paths(repository, [one.relative_to(repository.top).as_posix() for one in paths])
            is_staged = True
    number = sum(read_baseline(written[path]).values())
    return BaselineResult(path, settings if settings in written else None, number, is_staged)


def _refuse_link(root: Path, path: str) -> None:
    """Raise SettingsError if the path of the baseline contains a symbolic link, which could lead out of the root."""
    if leads_away(root, path):
        raise SettingsError(
            f"mdmem.toml: the path of the baseline {path} contains a symbolic link; choose another path"
        )
