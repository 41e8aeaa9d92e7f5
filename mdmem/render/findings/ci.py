"""Findings for continuous integration: commands of GitHub, code quality of GitLab, and JUnit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from mdmem.model.finding import Severity
from mdmem.model.text import visible
from mdmem.render.characters import for_xml, json_text, replace_surrogates
from mdmem.render.findings.report import (
    CheckedRoot,
    Look,
    RootFinding,
    fingerprints,
    fix_flag,
    in_order,
    summary,
    summary_line,
    told,
)
from mdmem.render.findings.text import concise_line
from mdmem.render.words import count

# GitHub shows ten annotations of each level for one step; what is past them would vanish unseen.
_LIMIT = 10
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def commands(roots: Sequence[CheckedRoot], _: Look) -> str:
    """Return ten commands a level at most, the worst and new ones, then the rest as plain lines, then the sums."""
    shown: Counter[str] = Counter()
    annotated: list[str] = []
    rest: list[str] = []
    for found in told(roots):
        shown[found.severity] += 1
        if shown[found.severity] <= _LIMIT:
            annotated.append(_command(found))
        else:
            rest.append(_plain(concise_line(found, found.checked.from_top)))
    more = [f"{count(len(rest), 'more finding')} without an annotation:"] if rest else []
    return replace_surrogates("\n".join([*annotated, *more, *rest, summary(roots)]))


def _command(found: RootFinding) -> str:
    place = found.finding.place
    end = f",endColumn={place.column + place.width}" if place.width else ""
    title = _property(f"mdmem {found.finding.code}{' (new)' if found.is_new else ''}")
    said = [found.finding.message, found.finding.help, _fix(found)]
    message = _escaped("\n".join(part for part in said if part))
    at = f"file={_property(found.path)},line={place.line},col={place.column}{end}"
    return f"::{_LEVELS[found.severity]} {at},title={title}::{message}"


def _fix(found: RootFinding) -> str:
    fix = found.finding.fix
    return f"fix: {fix.title} ({fix_flag(fix)})" if fix is not None else ""


def _plain(line: str) -> str:
    # The runner takes a line that starts with `::` for a command, and `##[` anywhere in one.
    return f"- {line.replace('##[', '## [')}"


def _escaped(text: str) -> str:
    # GitHub's runner: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


# GitLab's words go up to `blocker`; an error here is what its own linters call major.
_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def code_quality(roots: Sequence[CheckedRoot], _: Look) -> str:
    """Return the findings as a list; by a fingerprint that no line number is in GitLab knows what is new."""
    found = in_order(roots)
    issues = [_issue(one, fingerprint) for one, fingerprint in zip(found, fingerprints(found), strict=True)]
    return json_text(issues)


def _issue(found: RootFinding, fingerprint: str) -> dict[str, object]:
    finding = found.finding
    return {
        "description": "; ".join(part for part in (found.message, found.advice) if part),
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[found.severity],
        "location": {"path": replace_surrogates(found.path), "lines": {"begin": finding.place.line}},
    }


def suites(roots: Sequence[CheckedRoot], _: Look) -> str:
    """Return a suite for each root and a case for each finding, failed where it fails the run; a clean root passes one.

    What was there before is skipped, so that no server takes it for mended.

    What could not be read is a case in error. A case is named by its check and message, never by a line.
    """
    top = ElementTree.Element("testsuites", {"name": "mdmem"})
    for checked in roots:
        top.append(_suite(checked))
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode")


def _suite(checked: CheckedRoot) -> ElementTree.Element:
    found = in_order([checked])
    cases = [_case(one, name) for one, name in zip(found, _names(found), strict=True)] + [
        _unread(checked, path) for path in checked.report.incomplete
    ]
    suite = ElementTree.Element("testsuite", _sums(checked, found, max(1, len(cases))))
    suite.extend(cases or [_passed(checked)])
    return suite


def _sums(checked: CheckedRoot, found: Sequence[RootFinding], tests: int) -> dict[str, str]:
    return {
        "name": for_xml(f"mdmem {checked.under}".strip()),
        "tests": str(tests),
        "failures": str(sum(map(_fails, found))),
        "errors": str(len(checked.report.incomplete)),
        "skipped": str(sum(map(_is_old, found))),
    }


def _fails(found: RootFinding) -> bool:
    return found.checked.report.fails(found.finding)


def _is_old(found: RootFinding) -> bool:
    return found.checked.report.is_old(found.finding) and not _fails(found)


def _names(found: Sequence[RootFinding]) -> list[str]:
    """Return a name for each finding: what is the same twice in a file is numbered, or GitLab shows it once."""
    seen: Counter[tuple[str, str]] = Counter()
    names = []
    for one in found:
        name = f"{one.finding.code}: {one.finding.message}"
        seen[one.path, name] += 1
        again = seen[one.path, name]
        names.append(for_xml(f"{name} ({again})" if again > 1 else name))
    return names


def _case(found: RootFinding, name: str) -> ElementTree.Element:
    finding = found.finding
    path = for_xml(visible(found.path))
    case = ElementTree.Element("testcase", {"classname": path, "name": name, "file": path})
    where = f"{path}:{finding.place.line}:{finding.place.column}"
    said = "\n".join(for_xml(part) for part in (f"{where}: {finding.message}", finding.help) if part)
    if _fails(found):
        kind = {"message": for_xml(finding.message), "type": found.severity.value}
        ElementTree.SubElement(case, "failure", kind).text = said
    elif _is_old(found):
        ElementTree.SubElement(case, "skipped", {"message": f"was there before: {for_xml(finding.message)}"})
    else:
        ElementTree.SubElement(case, "system-out").text = f"{found.severity}: {said}"
    return case


def _unread(checked: CheckedRoot, path: str) -> ElementTree.Element:
    shown = for_xml(visible(checked.from_top(path)))
    case = ElementTree.Element("testcase", {"classname": shown, "name": "incomplete", "file": shown})
    said = {"message": "the file could not be read, so the run is incomplete", "type": "incomplete"}
    ElementTree.SubElement(case, "error", said)
    return case


def _passed(checked: CheckedRoot) -> ElementTree.Element:
    case = ElementTree.Element("testcase", {"classname": "mdmem", "name": "check"})
    ElementTree.SubElement(case, "system-out").text = for_xml(summary_line(checked.report))
    return case
