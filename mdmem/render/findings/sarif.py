"""Render findings as SARIF 2.1.0 (a JSON format of OASIS) and as diagnostics for reviewdog."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from mdmem.checks.check import find_check
from mdmem.model.finding import Place, Severity
from mdmem.render.findings.report import CheckedRoot, ReportStyle, RootFinding, findings_of, fingerprints, safe_text
from mdmem.render.findings.text import concise_line
from mdmem.render.text import json_text, replace_surrogates

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
