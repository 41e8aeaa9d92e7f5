"""Render findings for people, in full or as one line each, and explain checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from mdmem.checks.check import Check, get_check
from mdmem.markdown.body import size_of
from mdmem.model.finding import Place, Severity
from mdmem.model.text import visible
from mdmem.render.findings.report import CheckedRoot, ReportStyle, RootFinding, findings_of, fix_line, summary
from mdmem.render.style import Style
from mdmem.render.text import count

# If there are more findings, they become a table, with the first errors in full.
_READABLE = 50
_FIRST, _LEAST = 20, 3
# The bytes of a page, and of the line below the errors that counts them.
_PAGE, _LINE = 4_000, 60
# If a check has at least this many warnings, they are one line.
_FOLDED = 10
# The number of wings listed after a check.
_WINGS = 4
_WAYS = "`{} --select CODE` shows those of one check, `--verbose` all; `mdmem check --update-baseline` accepts them"


def text(roots: Sequence[CheckedRoot], style: ReportStyle) -> str:
    """Return each finding, then the totals; more than a page become a table by check and wing, with the worst."""
    found, sums = findings_of(roots), summary(roots)
    if style.is_whole:
        return "\n\n".join([*(_block(one, style) for one in found), sums])
    warnings: dict[str, list[RootFinding]] = {}
    for one in found:
        if one.severity is Severity.WARNING:
            warnings.setdefault(one.finding.code, []).append(one)
    folded = {code: some for code, some in warnings.items() if sum(one.finding.count for one in some) >= _FOLDED}
    single = [one for one in found if one.severity is not Severity.WARNING or one.finding.code not in folded]
    # A user who chose paths, or compares with a commit, wants all findings. A first check of a memory fits on a page.
    is_unlimited = style.is_narrowed or any(one.report.base is not None for one in roots)
    if len(single) <= _READABLE:
        lines = []
        for code, some in folded.items():
            # If the texts differ, the first one is not true of the others.
            is_same = len({one.message for one in some}) == 1
            message = some[0].message if is_same else get_check(code).summary.removesuffix(".")
            head = style.ink.severity(some[0].severity, f"{some[0].severity}[{code}]")
            where = _where(some[0].finding.place, some[0].checked.show_path)
            times = f"{sum(one.finding.count for one in some)} times, first at {where}"
            way = style.as_typed(f"`{style.again} --select {code}` lists them")
            lines.append(f"{head} {times}: {message}; {way}")
        page = "\n\n".join(filter(None, [*(_block(one, style) for one in single), "\n".join(lines), sums]))
        if is_unlimited or size_of(page) <= _PAGE:
            return page
    table, errors = _table(found, style.ink), [one for one in found if one.severity is Severity.ERROR]
    blocks = [_block(one, style) for one in errors[:_FIRST]]
    ways = style.as_typed(_WAYS.format(style.again))
    limit = _PAGE - size_of(f"{table}{sums}{ways}") - _LINE
    while not is_unlimited and len(blocks) > _LEAST and sum(size_of(block) + 2 for block in blocks) > limit:
        blocks.pop()
    part = f"of {len(errors)} errors {len(blocks)} are shown; " if len(errors) > len(blocks) else ""
    return "\n\n".join([table, *blocks, f"{sums}\n{part}{ways}"])


def _table(found: Sequence[RootFinding], ink: Style) -> str:
    """Return a line for each check with the number of its findings in each wing, sorted by severity and number."""
    checks: dict[tuple[Severity, str], Counter[str]] = {}
    for one in found:
        wing = visible(one.checked.from_top(one.finding.place.path.partition("/")[0]))
        checks.setdefault((one.severity, one.finding.code), Counter())[wing] += one.finding.count
    wings = {wing for counted in checks.values() for wing in counted}
    ordered = sorted(checks.items(), key=lambda row: (row[0][0].rank, -row[1].total(), row[0][1]))
    width = max(len(code) for _, code in checks)
    lines = []
    for (severity, code), counted in ordered:
        most = ", ".join(f"{wing} {number}" for wing, number in counted.most_common(_WINGS))
        more = f" and {count(len(counted) - _WINGS, 'more wing')}" if len(counted) > _WINGS else ""
        listed = f"  {most}{more}" if len(wings) > 1 else ""
        lines.append(f"{ink.severity(severity, f'{severity:<7}')}  {code:<{width}}  {counted.total():>5}{listed}")
    return "\n".join(lines)


def _block(found: RootFinding, style: ReportStyle) -> str:
    finding, checked, ink = found.finding, found.checked, style.ink
    head = ink.severity(found.severity, f"{found.severity}[{finding.code}]")
    new = " (new)" if finding.new else ""
    lines = [f"{head} {ink.bold(_where(finding.place, checked.show_path))}{new}", f"  {finding.message}"]
    if finding.quotable:
        lines += _source(finding.place, checked, ink)
    if finding.other is not None:
        lines.append(f"  other end: {_where(finding.other, checked.show_path)}")
        lines += _source(finding.other, checked, ink)
    if finding.help:
        lines.append(f"  help: {style.as_typed(finding.help)}")
    if finding.fix is not None:
        lines.append(f"  fix: {fix_line(finding.fix)}")
    return "\n".join(lines)


def _where(place: Place, show_path: Callable[[str], str]) -> str:
    return f"{visible(show_path(place.path))}:{place.line}:{place.column}"


def _source(place: Place, checked: CheckedRoot, ink: Style) -> list[str]:
    line = checked.line_of(place)
    # The place of a finding about a whole file is its first line, which is only the fence `---`.
    if not line or line.strip() in ("", "---" if place == Place(place.path) else ""):
        return []
    line = line.rstrip("\r\n").replace("\t", " ")
    number = str(place.line)
    margin = ink.dim(f"{number} |"), ink.dim(f"{' ' * len(number)} |")
    start = max(0, place.column - 60)
    shown = ("…" if start else "") + line[start : start + 110]
    caret = " " * (place.column - 1 - start + bool(start)) + "^" * max(1, min(place.width, len(shown)))
    # Each unprintable character is replaced by a single one, so that the caret stays in place.
    shown = "".join(one if one.isprintable() else "\ufffd" for one in shown)
    return [f"  {margin[0]} {shown}", f"  {margin[1]} {caret}"]


def concise(roots: Sequence[CheckedRoot], _: ReportStyle) -> str:
    """Return one line for each finding: `path:line:col: severity code message`; `[*]` marks a safe fix."""
    return "\n".join(concise_line(found, found.checked.show_path) for found in findings_of(roots))


def concise_line(found: RootFinding, show_path: Callable[[str], str]) -> str:
    """Return one finding as one line, with the path that `show_path` returns."""
    finding = found.finding
    mark = " [*]" if finding.fix is not None and finding.fix.is_safe else ""
    return f"{_where(finding.place, show_path)}: {found.severity} {finding.code}{mark} {finding.message}"


def explanation(code: str, check: Check) -> str:
    """Return the explanation of a check; if `code` is a former name of the check, say so."""
    former = f"`{code}` is called `{check.code}` now.\n\n" if code != check.code else ""
    return f"{former}{check.code} ({check.severity})\n\n{check.explanation}"


def check_list(checks: Iterable[Check]) -> str:
    """Return the code, severity and summary of each check, grouped by theme."""
    blocks = []
    for theme, group in groupby(checks, key=lambda check: check.theme):
        listed = list(group)
        width = max(len(check.code) for check in listed)
        lines = (f"  {check.code:<{width}}  {check.severity.value:<7}  {check.summary}" for check in listed)
        blocks.append("\n".join([f"{theme}:", *lines]))
    return "\n\n".join(blocks)
