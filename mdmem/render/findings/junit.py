"""JUnit's XML, which most CI servers list as tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from mdmem.model.entry import visible
from mdmem.render.characters import for_xml
from mdmem.render.findings.report import CheckedRoot, Look, RootFinding, in_order, summary_line


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
