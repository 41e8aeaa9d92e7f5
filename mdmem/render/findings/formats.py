"""Render findings for programs: JSON, SARIF 2.1.0 (of OASIS), reviewdog, GitHub, GitLab, JUnit and Markdown for CI."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from mdmem import __version__
from mdmem.checks.check import find_check
from mdmem.checks.engine import CheckReport
from mdmem.model.finding import Place, Severity, totals
from mdmem.model.text import visible
from mdmem.record import record_json
from mdmem.render.findings.report import (
    CheckedRoot,
    ReportStyle,
    RootFinding,
    concise_line,
    findings_of,
    fingerprints,
    fix_line,
    levels,
    safe_text,
    summary,
)
from mdmem.render.json import SCHEMA, dump
from mdmem.render.text import code, count, fit_lines, for_xml, json_text, prose, replace_surrogates

# The names of the severities in SARIF, GitHub and GitLab. GitLab's own linters report an error as `major`.
_SARIF = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_GITLAB = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}
_UNREAD = "The file could not be read, so the run is incomplete."


def json(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return the findings of all roots as one JSON document."""
    return dump(findings_json(roots))


def findings_json(roots: Sequence[CheckedRoot]) -> dict[str, Any]:
    """Return the findings as JSON values; paths are relative to their root, which is named if there are several."""
    several = len(roots) != 1
    # All roots of a run are checked in the same kind of tree, for example the working tree.
    first = roots[0].report if roots else CheckReport("working tree", 0, ())
    return {
        **({"roots": [_summary(one) for one in roots]} if several else {"root": roots[0].under or "."}),
        **record_json(first, "tree", "base"),
        "checked": sum(one.report.checked for one in roots),
        "totals": totals(one.finding for one in findings_of(roots)),
        **_old(roots),
        "findings": [_finding(one, named=several) for one in findings_of(roots)],
        "incomplete": [one.from_top(path) if several else path for one in roots for path in one.report.incomplete],
        "fixed": [_finding(one, named=several) for one in findings_of(roots, "fixed")],
    }


def jsonl(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return one JSON line for each finding, each fixed finding, and the totals of each root, told apart by `kind`."""
    records = [{"kind": "finding", **_finding(one, named=True)} for one in findings_of(roots)]
    records += [{"kind": "fixed", **_finding(one, named=True)} for one in findings_of(roots, "fixed")]
    records += [{"kind": "summary", **_summary(one)} for one in roots]
    return "\n".join(json_text({"schema": SCHEMA, **record}, indent=None) for record in records)


def _summary(checked: CheckedRoot) -> dict[str, Any]:
    report = checked.report
    return {
        "root": checked.under or ".",
        **record_json(report, "tree", "base", "checked"),
        "findings": sum(totals(report.reported).values()),
        "totals": totals(report.reported),
        **_old([checked]),
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
        **({"root": found.checked.under or "."} if named else {}),
        **record_json(finding, "code", severity="weight"),
        **record_json(finding.place, "path", "line", "column"),
        **record_json(finding, "address", "message", "help"),
        "other": record_json(other, "path", "line") if other is not None else None,
        **({"count": finding.count} if finding.count > 1 else {}),
        "new": finding.new,
        "fix": fix,
    }


def sarif(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return a SARIF log with one run for all roots; it lists only rules that have findings."""
    found = findings_of(roots, "findings")
    codes = sorted({one.finding.code for one in found})
    unread = sorted(one.from_top(path) for one in roots for path in one.report.incomplete)
    notifications = [
        {"level": "error", "message": {"text": _UNREAD}, "locations": [_location(path)]} for path in unread
    ]
    driver = {"name": "mdmem", "semanticVersion": __version__, "rules": [rule(code) for code in codes]}
    results = []
    for one, fingerprint in zip(found, fingerprints(found), strict=True):
        finding, other, report = one.finding, one.finding.other, one.checked.report
        result: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": _SARIF[one.severity],
            # SARIF (3.11.6) interprets `[text](target)` as a link, which text from an entry must not become.
            "message": {"text": re.sub(r"\[([^\[\]]*)\]\(", r"\\[\1\\](", "\n".join(one.texts))},
            "locations": [_location(one.path, finding.place)],
            "partialFingerprints": {"finding/v1": fingerprint},
        }
        if other is not None:
            place = _location(one.checked.from_top(other.path), other)
            result["relatedLocations"] = [{**place, "message": {"text": "other end"}}]
        if report.base is not None:
            result["baselineState"] = "new" if finding.new else "unchanged"
        results.append(result)
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not unread, "toolExecutionNotifications": notifications}],
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The top of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json_text({"$schema": schema, "version": "2.1.0", "runs": [run]})


def rule(code: str) -> dict[str, Any]:
    """Return the SARIF rule for a code; if no check has this code, the rule has only its id."""
    check = find_check(code)
    if check is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": check.summary},
        # GitHub requires this key.
        "fullDescription": {"text": check.summary},
        "help": {"text": check.explanation},
        "defaultConfiguration": {"level": _SARIF[check.severity]},
        "properties": {"tags": [check.theme]},
    }


def _location(path: str, place: Place | None = None) -> dict[str, Any]:
    # %SRCROOT% is the usual placeholder for the repository's top in SARIF files.
    file = {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}
    if place is None:
        return {"physicalLocation": {"artifactLocation": file}}
    end = {"endColumn": place.column + place.width} if place.width else {}
    region = {"startLine": place.line, "startColumn": place.column, **end}
    return {"physicalLocation": {"artifactLocation": file, "region": region}}


def rdjson(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return reviewdog's `DiagnosticResult`; columns count bytes of UTF-8, and the end is exclusive."""
    diagnostics = []
    for found in findings_of(roots):
        place = found.finding.place
        # If the line cannot be read, each character counts as one byte.
        line, span = found.checked.line_of(place) or "", {}
        for name, column in (("start", place.column), ("end", place.column + place.width)):
            before = line[: column - 1]
            more = len(before.encode("utf-8", "surrogatepass")) - len(before)
            span[name] = {"line": place.line, "column": column + more}
        diagnostics.append(
            {
                "message": "\n".join(found.texts),
                "location": {"path": replace_surrogates(found.path), "range": span},
                "severity": found.severity.upper(),
                "code": {"value": found.finding.code},
                "original_output": safe_text(concise_line(found, found.checked.from_top)),
            }
        )
    return json_text({"source": {"name": "mdmem"}, "diagnostics": diagnostics})


def github(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return GitHub commands for the ten worst and newest findings of a level, then the number of others and totals."""
    shown: Counter[str] = Counter()
    lines: list[str] = []
    for found in findings_of(roots):
        finding, place = found.finding, found.finding.place
        shown[found.severity] += 1
        # GitHub shows only ten annotations of each level for one step.
        if shown[found.severity] <= 10:
            end = f",endColumn={place.column + place.width}" if place.width else ""
            at = f"file={_property(found.path)},line={place.line},col={place.column}{end}"
            title = _property(f"mdmem {finding.code}{' (new)' if finding.new else ''}")
            fix = f"fix: {fix_line(finding.fix)}" if finding.fix is not None else ""
            message = _escaped("\n".join(filter(None, (finding.message, finding.help, fix))))
            lines.append(f"::{_GITHUB[found.severity]} {at},title={title}::{message}")
    if more := shown.total() - len(lines):
        lines.append(f"{count(more, 'more finding')} without an annotation: the job summary has them")
    return replace_surrogates("\n".join([*lines, summary(roots)]))


def _escaped(text: str) -> str:
    # GitHub's runner: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return a GitLab code quality report; fingerprints, which do not depend on lines, identify known findings."""
    found = findings_of(roots, "findings")
    return json_text(
        [
            {
                "description": "; ".join(one.texts),
                "check_name": one.finding.code,
                "fingerprint": fingerprint,
                "severity": _GITLAB[one.severity],
                "location": {"path": replace_surrogates(one.path), "lines": {"begin": one.finding.place.line}},
            }
            for one, fingerprint in zip(found, fingerprints(found), strict=True)
        ]
    )


def junit(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return a JUnit report with a case for each finding, which has failed if the finding fails the run.

    An old finding is a skipped case, so that it does not look fixed. An unreadable file is a case with an error. A
    report without findings has one passed case. GitLab shows cases with the same name and class only once, so the class
    is the place.
    """
    cases = []

    def add(path: str, at: str, name: str, tag: str, message: str, text: str = "") -> None:
        where = for_xml(visible(path))
        cases.append(ElementTree.Element("testcase", {"classname": f"{where}{at}", "name": for_xml(name)}))
        cases[-1].set("file", where)
        made = ElementTree.SubElement(cases[-1], tag, {} if tag == "system-out" else {"message": for_xml(message)})
        made.text = for_xml(text)

    for one in findings_of(roots, "findings"):
        finding, report, place = one.finding, one.checked.report, one.finding.place
        tag = "failure" if report.fails(finding) else "skipped" if report.is_old(finding) else "system-out"
        message = f"was there before: {finding.message}" if tag == "skipped" else finding.message
        text = "\n".join(filter(None, (f"{one.severity}: {finding.message}", finding.help)))
        add(one.path, f":{place.line}:{place.column}", f"{finding.code}: {finding.message}", tag, message, text)
    for checked in roots:
        for path in checked.report.incomplete:
            add(checked.from_top(path), "", "incomplete", "error", _UNREAD)
    if not cases:
        add("mdmem", "", "check", "system-out", "", summary(roots))
    top = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(top, "testsuite", {"name": "mdmem", "tests": str(len(cases))})
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.extend(cases)
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode")


# The most characters of the page. A comment on GitHub has at most 65,536 characters.
_PAGE = 65_000
_CUT = "\n{} more left out; `mdmem check` shows all."


def markdown(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return the totals and a table of findings with their help, the worst first, in at most 65,000 characters."""
    found = findings_of(roots)
    sums = "  \n".join(prose(line) for line in summary(roots).split("\n"))
    rows = [f"| error | | {code(one.from_top(path))} | {_UNREAD} |" for one in roots for path in one.report.incomplete]
    for one in found:
        finding = one.finding
        fix = f"fix: {fix_line(finding.fix)}" if finding.fix is not None else ""
        shown = "<br>".join(map(prose, filter(None, (finding.message, finding.help, fix))))
        severity = f"{one.severity}{' **new**' if finding.new else ''}"
        rows.append(f"| {severity} | {code(finding.code)} | {code(f'{one.path}:{finding.place.line}')} | {shown} |")
    head = f"## mdmem: {levels(one.finding for one in found)}\n\n{sums}"
    if not rows:
        return head
    head += "\n\n| | code | place | finding |\n| --- | --- | --- | --- |\n"
    return head + fit_lines(rows, _PAGE - len(head), _CUT)
