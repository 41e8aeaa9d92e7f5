"""Runs the checks over a case: severity from the check or the settings, findings in the order of reading."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Protocol, cast

from mdmem.checks.case import Case
from mdmem.checks.registry import CODES
from mdmem.errors import UsageError
from mdmem.finding import Finding, Severity
from mdmem.settings import Settings


class Check(Protocol):
    """What each module of a check offers."""

    __doc__: str
    CODE: str
    SEVERITY: Severity

    def find(self, case: Case) -> Iterable[Finding]:
        """Yield the findings; never prints, reads a file, or asks the clock."""
        ...


@dataclass(frozen=True, slots=True)
class Report:
    """What one run found: the findings in order, how many entries were read, and whether anything was left unread.

    `base` is what the tree was compared with, `fixed` what was mended before these findings were left.
    """

    tree: str
    checked: int
    findings: tuple[Finding, ...]
    incomplete: tuple[str, ...] = ()
    base: str | None = None
    fixed: tuple[Finding, ...] = ()

    def worst_at_or_above(self, level: Severity) -> bool:
        """Say whether any finding weighs at least as much as a level."""
        return any(finding.severity is not None and finding.severity.rank <= level.rank for finding in self.findings)


def get_check(code: str) -> Check:
    """Return the check of a code; raises UsageError naming the nearest code."""
    if code not in CODES:
        raise UsageError(_unknown_code(code))
    return cast("Check", import_module(f"mdmem.checks.{code.replace('-', '_')}"))


def _unknown_code(code: str) -> str:
    close = difflib.get_close_matches(code, CODES, n=3, cutoff=0.4)
    return (
        f"there is no check `{code}`; did you mean {' or '.join(f'`{one}`' for one in close)}?"
        if close
        else (f"there is no check `{code}`; `mdmem check --explain all` lists them")
    )


def chosen_codes(settings: Settings, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the codes to run, in the registry's order; raises UsageError for one that does not exist."""
    for code in (*select, *ignore, *settings.select, *settings.ignore, *settings.severity):
        if code not in CODES:
            raise UsageError(_unknown_code(code))
    wanted = set(select or settings.select or CODES)
    unwanted = {*ignore, *(() if select else settings.ignore)}
    return tuple(code for code in CODES if code in wanted - unwanted)


def run(case: Case, codes: Iterable[str]) -> list[Finding]:
    """Return what the checks find and no entry ignores, sorted by file, place and code, each with its severity."""
    found: list[Finding] = []
    for code in codes:
        check = get_check(code)
        severity = case.settings.severity.get(code)
        found.extend(
            replace(finding, severity=severity or finding.severity or check.SEVERITY)
            for finding in check.find(case)
            if not _is_kept_out(case, finding)
        )
    return sorted(set(found), key=lambda finding: finding.sort_key)


def _is_kept_out(case: Case, finding: Finding) -> bool:
    """Say whether the entry that a finding is about names its code, with a reason, under `ignore`."""
    entry = case.catalog.entries.get(finding.address) if finding.address else None
    return entry is not None and any(code == finding.code for code, _ in entry.ignore)


def first_sentences() -> dict[str, str]:
    """Return what each check finds, in its own first sentence."""
    return {code: get_check(code).__doc__.strip().splitlines()[0] for code in CODES}
