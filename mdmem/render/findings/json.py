"""Render findings as JSON: as one document, or as one line for each finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdmem.checks.engine import CheckReport
from mdmem.model.finding import totals
from mdmem.render.findings.report import CheckedRoot, ReportStyle, RootFinding, findings_of
from mdmem.render.json import SCHEMA, dump, record_json
from mdmem.render.text import json_text


def document(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return the findings of all roots as one JSON document."""
    return dump(findings_json(roots))


def findings_json(roots: Sequence[CheckedRoot]) -> dict[str, Any]:
    """Return the findings as JSON values; paths are relative to their root, which is named if there are several."""
    several = len(roots) != 1
    # All roots of a run are checked in the same kind of tree, for example the working tree.
    first = roots[0].report if roots else CheckReport("working tree", 0, ())
    return {
        **({"roots": [_summary(one) for one in roots]} if several else {"root": _name(roots[0])}),
        **record_json(first, "tree", "base"),
        "checked": sum(one.report.checked for one in roots),
        "totals": totals(one.finding for one in findings_of(roots)),
        **_old(roots),
        "findings": [_finding(one, named=several) for one in findings_of(roots)],
        "incomplete": [one.from_top(path) if several else path for one in roots for path in one.report.incomplete],
        "fixed": [_finding(one, named=several) for one in findings_of(roots, "fixed")],
    }


def lines(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return one JSON line for each finding, each fixed finding, and the totals of each root, told apart by `kind`."""
    records = [{"kind": "finding", **_finding(one, named=True)} for one in findings_of(roots)]
    records += [{"kind": "fixed", **_finding(one, named=True)} for one in findings_of(roots, "fixed")]
    records += [{"kind": "summary", **_summary(one)} for one in roots]
    return "\n".join(json_text({"schema": SCHEMA, **record}, indent=None) for record in records)


def _name(checked: CheckedRoot) -> str:
    return checked.under or "."


def _summary(checked: CheckedRoot) -> dict[str, Any]:
    report = checked.report
    return {
        "root": _name(checked),
        **record_json(report, "tree", "base", "checked"),
        "findings": sum(totals(report.reported).values()),
        "totals": totals(report.reported),
        **_old(roots=[checked]),
        "fixed": len(report.fixed),
        "incomplete": list(report.incomplete),
    }


def _old(roots: Sequence[CheckedRoot]) -> dict[str, int]:
    counts = {
        "old": sum(sum(totals(one.report.left_out).values()) for one in roots),
        "known": sum(sum(totals(one.report.known).values()) for one in roots),
    }
    return {name: number for name, number in counts.items() if number}


def _finding(found: RootFinding, *, named: bool) -> dict[str, Any]:
    finding, other, fix = found.finding, found.finding.other, None
    if finding.fix is not None:
        # Bytes that are not UTF-8 become lone surrogates, as in file names.
        edits = [
            {**record_json(edit, "path", "start", "end"), "content": edit.content.decode("utf-8", "surrogateescape")}
            for edit in finding.fix.edits
        ]
        renames = [{"from": old, "to": new} for old, new in finding.fix.renames]
        fix = {"title": finding.fix.title, "safe": finding.fix.is_safe, "edits": edits, "renames": renames}
    return {
        **({"root": _name(found.checked)} if named else {}),
        **record_json(finding, "code", severity="weight"),
        **record_json(finding.place, "path", "line", "column"),
        **record_json(finding, "address", "message", "help"),
        "other": record_json(other, "path", "line") if other is not None else None,
        **({"count": finding.count} if finding.count > 1 else {}),
        "new": finding.new,
        "fix": fix,
    }
