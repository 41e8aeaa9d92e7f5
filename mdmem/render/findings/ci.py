"""Render findings for CI: GitHub workflow commands, GitLab code quality, JUnit, and a Markdown summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from mdmem.model.finding import Severity
from mdmem.model.text import visible
from mdmem.render.findings import report
from mdmem.render.findings.report import CheckedRoot, ReportStyle, RootFinding
from mdmem.render.findings.text import concise_line
from mdmem.render.text import code, count, fit_lines, for_xml, json_text, prose, replace_surrogates

# GitHub shows only ten annotations of each level for one step.
_ANNOTATIONS = 10
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return GitHub commands for the ten worst and newest findings of a level, then the others and the totals."""
    shown: Counter[str] = Counter()
    annotated: list[str] = []
    rest: list[str] = []
    for found in report.findings_of(roots):
        finding, place = found.finding, found.finding.place
        shown[found.severity] += 1
        if shown[found.severity] > _ANNOTATIONS:
            # GitHub's runner interprets a line that starts with `::`, or contains `##[`, as a command.
            rest.append(f"- {concise_line(found, found.checked.from_top).replace('##[', '## [')}")
            continue
        end = f",endColumn={place.column + place.width}" if place.width else ""
        at = f"file={_property(found.path)},line={place.line},col={place.column}{end}"
        title = _property(f"mdmem {finding.code}{' (new)' if finding.new else ''}")
        fix = f"fix: {report.fix_line(finding.fix)}" if finding.fix is not None else ""
        message = _escaped("\n".join(filter(None, (finding.message, finding.help, fix))))
        annotated.append(f"::{_LEVELS[found.severity]} {at},title={title}::{message}")
    more = [f"{count(len(rest), 'more finding')} without an annotation:"] if rest else []
    return replace_surrogates("\n".join([*annotated, *more, *rest, report.summary(roots)]))


def _escaped(text: str) -> str:
    # GitHub's runner: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


# GitLab's severities go up to `blocker`, but its own linters report an error as `major`.
_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def gitlab(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return a GitLab code quality report; fingerprints, which do not depend on lines, identify known findings."""
    found = report.findings_of(roots, "findings")
    return json_text(
        [
            {
                "description": "; ".join(filter(None, (one.message, one.advice))),
                "check_name": one.finding.code,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[one.severity],
                "location": {"path": replace_surrogates(one.path), "lines": {"begin": one.finding.place.line}},
            }
            for one, fingerprint in zip(found, report.fingerprints(found), strict=True)
        ]
    )


def junit(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return a JUnit report with a suite for each root and a case for each finding.

    A case has failed if the finding fails the run. An old finding is a skipped case, so that it does not look fixed. An
    unreadable file is a case with an error. A root without findings has one passed case. The name of a case is the
    check and the message, without a line number; equal names in a file are numbered, since GitLab shows cases with the
    same name only once.
    """
    top = ElementTree.Element("testsuites", {"name": "mdmem"})
    for checked in roots:
        cases = []
        seen: Counter[tuple[str, str]] = Counter()
        for one in report.findings_of([checked], "findings"):
            name = f"{one.finding.code}: {one.finding.message}"
            seen[one.path, name] += 1
            again = seen[one.path, name]
            cases.append(_case(one, for_xml(f"{name} ({again})" if again > 1 else name)))
        for path in checked.report.incomplete:
            shown = for_xml(visible(checked.from_top(path)))
            cases.append(ElementTree.Element("testcase", {"classname": shown, "name": "incomplete", "file": shown}))
            message = "the file could not be read, so the run is incomplete"
            ElementTree.SubElement(cases[-1], "error", {"message": message, "type": "incomplete"})
        if not cases:
            cases.append(ElementTree.Element("testcase", {"classname": "mdmem", "name": "check"}))
            ElementTree.SubElement(cases[-1], "system-out").text = for_xml(report.summary_line(checked.report))
        suite = ElementTree.SubElement(top, "testsuite", {"name": for_xml(f"mdmem {checked.under}".strip())})
        suite.attrib["tests"] = str(len(cases))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.attrib[name] = str(sum(case.find(tag) is not None for case in cases))
        suite.extend(cases)
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode")


def _case(found: RootFinding, name: str) -> ElementTree.Element:
    finding, checked, path = found.finding, found.checked.report, for_xml(visible(found.path))
    case = ElementTree.Element("testcase", {"classname": path, "name": name, "file": path})
    where = f"{path}:{finding.place.line}:{finding.place.column}"
    text = "\n".join(map(for_xml, filter(None, (f"{where}: {finding.message}", finding.help))))
    if checked.fails(finding):
        kind = {"message": for_xml(finding.message), "type": found.severity.value}
        ElementTree.SubElement(case, "failure", kind).text = text
    elif checked.is_old(finding):
        ElementTree.SubElement(case, "skipped", {"message": f"was there before: {for_xml(finding.message)}"})
    else:
        ElementTree.SubElement(case, "system-out").text = f"{found.severity}: {text}"
    return case


# The most characters of the page, the table and the list. A comment on GitHub has at most 65,536 characters.
_PAGE = 65_000
_TABLE = 45_000
_LIST = 5_000
_CUT = "\n{} more left out; `mdmem check` shows all."
_HEAD = "| | code | place | finding |\n| --- | --- | --- | --- |"


def markdown(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return the totals, a table of findings with the worst first, and the help, in at most 65,000 characters."""
    found = report.findings_of(roots)
    sums = "  \n".join(prose(line) for line in report.summary(roots).split("\n"))
    parts = [f"## mdmem: {report.levels(one.finding for one in found)}\n\n{sums}"]
    unread = [f"- {code(one.from_top(path))}" for one in roots for path in one.report.incomplete]
    parts += _details("Could not be read, so the run is incomplete", unread, limit=_LIST)
    if found:
        rows = [
            f"| {one.severity}{' **new**' if one.finding.new else ''} | {code(one.finding.code)} "
            f"| {code(one.place)} | {prose(one.finding.message)} |"
            for one in found
        ]
        parts.append(f"{_HEAD}\n{fit_lines(rows, _TABLE, _CUT)}")
    helps = []
    for one in found:
        fix = one.finding.fix
        made = f"{prose(fix.title)} ({code(f'mdmem check {report.fix_flag(fix)}')})" if fix is not None else ""
        if advice := "; or ".join(filter(None, (prose(one.finding.help), made))):
            helps.append(f"- {code(one.place)} {code(one.finding.code)}: {advice}")
    parts += _details("How to fix", helps, limit=_PAGE - sum(len(part) + 2 for part in parts))
    return "\n\n".join(parts)


def _details(title: str, lines: Sequence[str], *, limit: int) -> list[str]:
    """Return a list with a collapsible block, or an empty list if there is no line or no line fits the limit."""
    start, end = f"<details><summary>{title}</summary>\n\n", "\n\n</details>"
    inner = fit_lines(lines, limit - len(start) - len(end) - 2, _CUT)
    return [f"{start}{inner}{end}"] if inner else []
