"""Findings as people and machines read them: text, concise, JSON, GitHub's commands."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mdmem.checks.engine import Check, Report
from mdmem.entry.model import visible
from mdmem.finding import Finding, Place, Severity
from mdmem.render.ink import Ink
from mdmem.render.json_form import dump
from mdmem.render.words import count, entries

# Returns the line of a file a place is in, or None.
LineOf = Callable[[Place], str | None]
# Turns a path counted from the root into one the reader can open.
ShowPath = Callable[[str], str]
# GitHub shows ten annotations of each level for one step; what is past them would vanish unseen.
_GITHUB_LIMIT = 10


def findings_text(report: Report, *, line_of: LineOf, show_path: ShowPath, ink: Ink) -> str:
    """Return each finding with its source line and caret, the other end and the help, then the sums."""
    blocks = [_block(finding, line_of, show_path, ink) for finding in report.findings]
    return "\n\n".join([*blocks, summary_line(report)])


def _block(finding: Finding, line_of: LineOf, show_path: ShowPath, ink: Ink) -> str:
    severity = finding.severity or Severity.ERROR
    place = finding.place
    head = ink.severity(severity, f"{severity}[{finding.code}]")
    lines = [f"{head} {ink.bold(_where(place, show_path))}", f"  {finding.message}"]
    if finding.quotable:
        lines += _source(place, line_of, ink)
    if finding.other is not None:
        lines.append(f"  other end: {_where(finding.other, show_path)}")
        lines += _source(finding.other, line_of, ink)
    if finding.help:
        lines.append(f"  help: {finding.help}")
    return "\n".join(lines)


def _where(place: Place, show_path: ShowPath) -> str:
    return f"{visible(show_path(place.path))}:{place.line}:{place.column}"


def _source(place: Place, line_of: LineOf, ink: Ink) -> list[str]:
    line = line_of(place)
    if not line or not line.strip():
        return []
    line = line.rstrip("\r\n").replace("\t", " ")
    number = str(place.line)
    margin = ink.dim(f"{number} |"), ink.dim(f"{' ' * len(number)} |")
    start = max(0, place.column - 60)
    shown = ("…" if start else "") + line[start : start + 110]
    caret = " " * (place.column - 1 - start + bool(start)) + "^" * max(1, min(place.width, len(shown)))
    return [f"  {margin[0]} {shown}", f"  {margin[1]} {caret}"]


def summary_line(report: Report) -> str:
    """Return the sums of a report in one line."""
    levels = Counter(finding.severity for finding in report.findings)
    found = ", ".join(count(levels[level], level.value) for level in Severity if levels[level]) or "no findings"
    tree = f"the {report.tree}" if report.tree in ("working tree", "git index") else report.tree
    return f"{entries(report.checked)} checked in {tree}: {found}"


def findings_concise(report: Report, *, show_path: ShowPath) -> str:
    """Return one line a finding: `path:line:col: severity code message`."""
    return "\n".join(
        f"{_where(finding.place, show_path)}: {finding.severity} {finding.code} {finding.message}"
        for finding in report.findings
    )


def findings_json(report: Report, *, root: str) -> str:
    """Return the report as one JSON document; `root` is the memory's folder, from the repository's top."""
    return dump(
        {
            "root": root,
            "tree": report.tree,
            "checked": report.checked,
            "findings": [_finding_json(finding) for finding in report.findings],
            "incomplete": list(report.incomplete),
            "fixed": [],
        }
    )


def _finding_json(finding: Finding) -> dict[str, Any]:
    other = finding.other
    return {
        "code": finding.code,
        "severity": finding.severity,
        "path": finding.place.path,
        "line": finding.place.line,
        "column": finding.place.column,
        "address": finding.address,
        "message": finding.message,
        "help": finding.help,
        "other": {"path": other.path, "line": other.line} if other is not None else None,
        "new": finding.new,
    }


def findings_github(report: Report, *, show_path: ShowPath) -> str:
    """Return GitHub's workflow commands, the worst first, ten a level at most, and the rest as plain lines."""
    shown: Counter[str] = Counter()
    commands, rest = [], []
    for finding in sorted(report.findings, key=lambda one: ((one.severity or Severity.ERROR).rank, not one.new)):
        level = {Severity.ERROR: "error", Severity.WARNING: "warning"}.get(finding.severity or Severity.ERROR, "notice")
        shown[level] += 1
        if shown[level] <= _GITHUB_LIMIT:
            commands.append(_command(level, finding, show_path))
        else:
            rest.append(finding)
    plain = findings_concise(replace(report, findings=tuple(rest)), show_path=show_path)
    return "\n".join(part for part in (*commands, plain, summary_line(report)) if part)


def _command(level: str, finding: Finding, show_path: ShowPath) -> str:
    place = finding.place
    end = f",endColumn={place.column + place.width}" if place.width else ""
    path = _property(show_path(place.path))
    message = f"{finding.message}\n{finding.help}".strip()
    title = _property(f"mdmem {finding.code}")
    return f"::{level} file={path},line={place.line},col={place.column}{end},title={title}::{_escaped(message)}"


def _escaped(text: str) -> str:
    # GitHub's runner: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def explanation(code: str, check: Check) -> str:
    """Return what a check finds, why, an example and the fix."""
    return f"{code} ({check.SEVERITY})\n\n{inspect.cleandoc(check.__doc__ or '')}"


def check_list(families: Mapping[str, Sequence[str]], first_lines: Mapping[str, str]) -> str:
    """Return every code with the first sentence of its explanation, by family."""
    blocks = []
    for family, codes in families.items():
        width = max((len(code) for code in codes), default=0)
        blocks.append("\n".join([f"{family}:", *(f"  {code:<{width}}  {first_lines[code]}" for code in codes)]))
    return "\n\n".join(blocks)
