"""Whether the memory holds with the commits of both sides."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.checks.engine import Report
from mdmem.checks.registry import INCOMPLETE_CODES
from mdmem.finding import Finding, Severity


def breaking(report: Report) -> tuple[Finding, ...]:
    """Return the findings that fail a run and that the others' side, with which it was compared, does not have.

    What cannot be read here and now, such as a wing that is not fetched, is no fault of the commits.
    """
    return tuple(one for one in _failing(report.findings, report.fail_on) if one.new)


def left(report: Report) -> int:
    """Return how many findings fail a run, whoever brought them."""
    return len(_failing(report.findings, report.fail_on))


def _failing(findings: Sequence[Finding], level: Severity) -> list[Finding]:
    weighed = (one for one in findings if one.severity is not None and one.severity.rank <= level.rank)
    return [one for one in weighed if one.code not in INCOMPLETE_CODES]
