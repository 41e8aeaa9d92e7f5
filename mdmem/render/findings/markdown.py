"""Findings as Markdown, for the summary of a CI job or a comment on a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mdmem.render.findings.report import CheckedRoot, Look, RootFinding, fix_flag, levels, mended, summary, told
from mdmem.render.markdown import code, prose

# A comment on GitHub holds 65,536 characters; a job's summary holds more.
_LIMIT = 65_000
# What the table leaves for the help and for what was fixed.
_TABLE_LIMIT = 45_000
_FIXED_LIMIT = 5_000
_HEAD = "| | code | place | finding |\n| --- | --- | --- | --- |"


def summary_markdown(roots: Sequence[CheckedRoot], _: Look) -> str:
    """Return the sums, a table with the worst first, what was fixed, and the help, in 65,000 characters at most."""
    found, fixed = told(roots), mended(roots)
    findings = [one.finding for one in found]
    head = f"## mdmem: {levels(findings)}\n\n" + "  \n".join(prose(line) for line in summary(roots).split("\n"))
    unread = [f"- {code(one.from_top(path))}" for one in roots for path in one.report.incomplete]
    parts = [head, *_listed("Could not be read, so the run is incomplete", unread, limit=_FIXED_LIMIT)]
    if found:
        parts.append(f"{_HEAD}\n{_fitting(map(_row, found), len(found), limit=_TABLE_LIMIT)}")
    parts += _listed("Fixed", [_fixed(one) for one in fixed], limit=_FIXED_LIMIT)
    left = _LIMIT - sum(len(part) + 2 for part in parts)
    parts += _listed("How to mend", [_help(one) for one in found if _advice(one)], limit=left)
    return "\n\n".join(parts)


def _row(found: RootFinding) -> str:
    new = " **new**" if found.is_new else ""
    place = code(f"{found.path}:{found.finding.place.line}")
    return f"| {found.severity}{new} | {code(found.finding.code)} | {place} | {prose(found.finding.message)} |"


def _advice(found: RootFinding) -> list[str]:
    fix = found.finding.fix
    return [
        *([prose(found.finding.help)] if found.finding.help else []),
        *([f"{prose(fix.title)} ({code(f'mdmem check {fix_flag(fix)}')})"] if fix is not None else []),
    ]


def _help(found: RootFinding) -> str:
    place = code(f"{found.path}:{found.finding.place.line}")
    return f"- {place} {code(found.finding.code)}: {'; or '.join(_advice(found))}"


def _fixed(found: RootFinding) -> str:
    fix = found.finding.fix
    done = fix.title if fix is not None else found.finding.message
    return f"- {code(found.path)} {code(found.finding.code)}: {prose(done)}"


def _listed(title: str, lines: Sequence[str], *, limit: int) -> list[str]:
    """Return a block that opens on a click; nothing where it has no line, or no room."""
    start, end = f"<details><summary>{title}</summary>\n\n", "\n\n</details>"
    inner = _fitting(lines, len(lines), limit=limit - len(start) - len(end) - 2)
    return [f"{start}{inner}{end}"] if inner else []


def _fitting(lines: Iterable[str], number: int, *, limit: int) -> str:
    """Return the lines that fit into a number of characters, and how many were left out."""
    kept: list[str] = []
    room = limit - len(_left_out(number))
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, _left_out(number - len(kept))]) if limit > 0 else ""
        kept.append(line)
    return "\n".join(kept)


def _left_out(number: int) -> str:
    return f"\n{number} more left out; `mdmem check` shows all."
