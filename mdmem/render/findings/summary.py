"""The sums of a run in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mdmem.checks.engine import CheckReport
from mdmem.finding import Finding, Severity
from mdmem.render.findings.report import CheckedRoot
from mdmem.render.words import count, entries


def summary_line(report: CheckReport) -> str:
    """Return what was checked, the sums by level, what is new, what was fixed and what can be."""
    against = f" against {report.base}" if report.base is not None else ""
    parts = [levels(report.findings), *_extras(report)]
    return f"{entries(report.checked)} checked in {_tree(report)}{against}: {'; '.join(parts)}"


def summary(roots: Sequence[CheckedRoot]) -> str:
    """Return one line of sums for each root; of several each is named."""
    if len(roots) == 1:
        return summary_line(roots[0].report)
    return "\n".join(f"{one.under or '.'}: {summary_line(one.report)}" for one in roots)


def levels(findings: Iterable[Finding]) -> str:
    """Return how many findings there are of each level, the worst first."""
    sums = Counter(finding.severity or Severity.ERROR for finding in findings)
    return ", ".join(count(sums[level], level.value) for level in Severity if sums[level]) or "no findings"


def _tree(report: CheckReport) -> str:
    return f"the {report.tree}" if report.tree in ("working tree", "git index") else report.tree


def _extras(report: CheckReport) -> list[str]:
    new = sum(finding.new for finding in report.findings)
    said = [f"{new} new"] if report.base is not None and report.findings else []
    said += [f"{report.older} older not shown, --verbose shows them"] if report.older else []
    said += [f"fixed {len(report.fixed)}"] if report.fixed else []
    return said + _fixable(report.findings)


def _fixable(findings: Iterable[Finding]) -> list[str]:
    fixes = [finding.fix for finding in findings if finding.fix is not None]
    safe = sum(fix.is_safe for fix in fixes)
    unsafe = len(fixes) - safe
    if safe:
        more = f" ({unsafe} more with --unsafe-fixes)" if unsafe else ""
        return [f"{safe} fixable with --fix{more}"]
    return [f"{unsafe} fixable with --unsafe-fixes"] if unsafe else []
