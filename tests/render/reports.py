"""Reports for the tests of the outputs, over files that are held in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mdmem.checks.engine import CheckReport
from mdmem.model.finding import Edit, Finding, Fix, Place, Severity
from mdmem.render.findings import get_format
from mdmem.render.findings.report import CheckedRoot, ReportStyle

RULE = "nav/rules/a.md"
TEXT = "---\ntype: decision\nsee: nav/rules/nowhere\n---\n\nWé decided.\n"


def finding(
    code: str = "dangling-link",
    message: str = "`see` contains `nav/rules/nowhere`, which is nowhere",
    *,
    place: Place | None = None,
    **more: Any,
) -> Finding:
    """Return an error at line 3, column 6 of the rule, unless the values say otherwise."""
    stated = {"help": "write an address", "address": "nav/rules/a", "severity": Severity.ERROR} | more
    return Finding(code, message, place or Place(RULE, 3, 6, 17), **stated)


def edit(start: int, end: int, content: str | bytes, *, path: str = RULE) -> Edit:
    """Return an edit of the rule."""
    return Edit(path, start, end, content.encode() if isinstance(content, str) else content)


def fix(*edits: Edit, title: str = "remove the link", is_safe: bool = True, **more: Any) -> Fix:
    """Return a fix of the edits."""
    return Fix(title, edits, is_safe, **more)


def checked(
    *findings: Finding, under: str = "memory", files: Mapping[str, bytes] | None = None, **report: Any
) -> CheckedRoot:
    """Return a root with these findings in the order given, whose files are at hand."""
    held = {RULE: TEXT.encode()} if files is None else files

    def line_of(place: Place) -> str | None:
        lines = held.get(place.path, b"").decode("utf-8", "replace").splitlines()
        return lines[place.line - 1] if place.line <= len(lines) else None

    made = CheckReport(**({"tree": "working tree", "checked": 2, "findings": findings} | report))
    return CheckedRoot(made, under, line_of, lambda path: f"../{path}")


def rendered(form: str, *roots: CheckedRoot) -> str:
    """Return the roots in a format."""
    return get_format(form)(roots, ReportStyle(version="1.2.3"))
