"""Render findings in JSON: our own document and lines, SARIF 2.1.0 (of OASIS), and diagnostics for reviewdog."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from mdmem.checks.check import find_check
from mdmem.checks.engine import CheckReport
from mdmem.model.finding import Place, Severity, totals
from mdmem.render.findings.report import CheckedRoot, ReportStyle, RootFinding, findings_of, fingerprints, safe_text
from mdmem.render.findings.text import concise_line
from mdmem.render.json import SCHEMA, dump, record_json
from mdmem.render.text import json_text, replace_surrogates


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


LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
# The usual placeholder for the repository's top in SARIF files.
_TOP = "%SRCROOT%"


def rule(code: str) -> dict[str, Any]:
    """Return the SARIF rule for a code; if no check has this code, the rule has only its id."""
    check = find_check(code)
    if check is None:
        return {"id": code}
    explained = check.explanation
    first, _, rest = explained.partition("\n\n")
    why = rest.partition("\n\n")[0]
    return {
        "id": code,
        "shortDescription": {"text": " ".join(first.split())},
        "fullDescription": {"text": " ".join((why or first).split())},
        "help": {"text": explained},
        "defaultConfiguration": {"level": LEVELS[check.severity]},
        "properties": {"tags": [check.theme]},
    }


def sarif(roots: Sequence[CheckedRoot], style: ReportStyle) -> str:
    """Return a SARIF log with one run for all roots; it lists only rules that have findings."""
    found = findings_of(roots, "findings")
    codes = sorted({one.finding.code for one in found})
    unread = sorted(one.from_top(path) for one in roots for path in one.report.incomplete)
    notifications = [
        {
            "level": "error",
            "message": {"text": "The file could not be read, so the run is incomplete."},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(path)}}],
        }
        for path in unread
    ]
    more = {"toolExecutionNotifications": notifications} if notifications else {}
    driver = {"name": "mdmem", "semanticVersion": style.version, "rules": [rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not unread, **more}],
        "originalUriBaseIds": {_TOP: {"description": {"text": "The top of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(one, codes.index(one.finding.code), fingerprint)
            for one, fingerprint in zip(found, fingerprints(found), strict=True)
        ],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json_text({"$schema": schema, "version": "2.1.0", "runs": [run]})


def _result(found: RootFinding, index: int, fingerprint: str) -> dict[str, Any]:
    finding, report = found.finding, found.checked.report
    text = replace_surrogates("\n".join(filter(None, (found.message, found.advice))))
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[found.severity],
        # SARIF (3.11.6) interprets `[text](target)` as a link, which text from an entry must not become.
        "message": {"text": re.sub(r"\[([^\[\]]*)\]\(", r"\\[\1\\](", text)},
        "locations": [_location(found.path, finding.place)],
        "partialFingerprints": {"finding/v1": fingerprint},
    }
    if finding.other is not None:
        path = found.checked.from_top(finding.other.path)
        result["relatedLocations"] = [{**_location(path, finding.other), "message": {"text": "other end"}}]
    if report.base is not None:
        result["baselineState"] = "new" if finding.new else "unchanged"
    return result


def _location(path: str, place: Place) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column}
    end = {"endColumn": place.column + place.width} if place.width else {}
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": {**region, **end}}}


def _artifact(path: str) -> dict[str, Any]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": _TOP}


def rdjson(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return reviewdog's `DiagnosticResult`; columns count bytes of UTF-8, and the end of a range is exclusive."""
    diagnostics = []
    for found in findings_of(roots):
        place, other = found.finding.place, found.finding.other
        # If the line cannot be read, each character counts as one byte.
        line = found.checked.line_of(place) or ""
        span = {}
        for name, column in (("start", place.column), ("end", place.column + place.width)):
            before = line[: column - 1]
            more = len(before.encode("utf-8", "surrogatepass")) - len(before)
            span[name] = {"line": place.line, "column": column + more}
        other_end = safe_text(f"other end: {found.checked.from_top(other.path)}:{other.line}") if other else ""
        diagnostics.append(
            {
                "message": "\n".join(filter(None, (found.message, other_end, found.advice))),
                "location": {"path": replace_surrogates(found.path), "range": span},
                "severity": found.severity.upper(),
                "code": {"value": found.finding.code},
                "original_output": safe_text(concise_line(found, found.checked.from_top)),
            }
        )
    return json_text({"source": {"name": "mdmem"}, "diagnostics": diagnostics})
