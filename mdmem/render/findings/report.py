"""Define the data that all report formats share, render findings for people, and explain checks."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from shlex import quote
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from mdmem.checks.check import Check
from mdmem.model.finding import Finding, Fix, Place, Severity, totals
from mdmem.model.text import visible, visible_text
from mdmem.render.text import Style, count, entries, first_of, replace_surrogates

if TYPE_CHECKING:
    from mdmem.checks.engine import CheckReport

# If there are more findings, they become a table, with the first errors in full.
_READABLE = 50
_FIRST = 20
# The number of wings listed after a check.
_WINGS = 4
_WAYS = "`--select CODE` shows those of one check, `--verbose` all; `mdmem check --update-baseline` accepts them"


class CheckedRoot(Struct, frozen=True):
    """One root that was checked, with its report.

    `under` is its folder relative to the repository's top, or "" for the top itself. `line_of` returns the source line
    of a place, or None if it cannot be read. `show_path` converts a path in the root to one that a person can open from
    the working directory; formats for programs use `from_top` instead.
    """

    report: CheckReport
    under: str
    line_of: Callable[[Place], str | None]
    show_path: Callable[[str], str]

    def from_top(self, path: str) -> str:
        """Return a path of the root relative to the repository's top."""
        return f"{self.under}/{path}" if self.under else path


class ReportStyle(Struct, frozen=True):
    """The colours of a report, whether to show every finding in full (`is_whole`), and `--root` as typed."""

    ink: Style = field(default_factory=Style)
    is_whole: bool = False
    root: str | None = None


class RootFinding(Struct, frozen=True):
    """One finding, with the checked root in which it was found."""

    checked: CheckedRoot
    finding: Finding

    @property
    def path(self) -> str:
        """Return the finding's path, relative to the repository's top."""
        return self.checked.from_top(self.finding.place.path)

    @property
    def severity(self) -> Severity:
        """Return the finding's severity."""
        return self.finding.weight

    @property
    def texts(self) -> list[str]:
        """Return the message and the help, if there is one, as valid UTF-8 with control characters escaped."""
        return [safe_text(one) for one in (self.finding.message, self.finding.help) if one]


def safe_text(text: str) -> str:
    """Return a text as valid UTF-8, with control characters escaped."""
    return visible_text(replace_surrogates(text))


def findings_of(
    roots: Iterable[CheckedRoot], which: Literal["findings", "reported", "fixed"] = "reported"
) -> tuple[RootFinding, ...]:
    """Return all findings or a part, the worst first, then new before old; `reported` are those to list one by one."""
    found = (RootFinding(one, finding) for one in roots for finding in getattr(one.report, which))
    return tuple(
        sorted(found, key=lambda one: (one.severity.rank, not one.finding.new, one.path, one.finding.sort_key))
    )


def fingerprints(found: Sequence[RootFinding]) -> tuple[str, ...]:
    """Return a unique hash for each finding, which does not change if the finding moves to another line."""
    seen: Counter[str] = Counter()
    hashes = []
    for one in found:
        finding = one.finding
        identity = "\0".join((one.checked.under, finding.code, finding.address or one.path, finding.message))
        seen[identity] += 1
        numbered = f"{identity}\0{seen[identity]}"
        hashes.append(hashlib.sha256(numbered.encode("utf-8", "surrogatepass")).hexdigest())
    return tuple(hashes)


def fix_line(fix: Fix) -> str:
    """Return the title of a fix and the option that applies it."""
    return f"{fix.title} ({'--fix' if fix.is_safe else '--unsafe-fixes'})"


def summary(roots: Sequence[CheckedRoot]) -> str:
    """Return each root's line of totals, and a line about findings from before the change if there are any."""
    lines = []
    for one in roots:
        name = f"{one.under or '.'}: " if len(roots) != 1 else ""
        lines += [f"{name}{line}" for line in (summary_line(one.report), old_line(one.report)) if line]
    return "\n".join(lines)


def summary_line(report: CheckReport) -> str:
    """Return a line with the number of checked entries, and of findings by level: new, fixed, fixable, known."""
    against = f" against {report.base}" if report.base is not None else ""
    tree = f"the {report.tree}" if report.tree.startswith(("working tree", "git index", "merge of ")) else report.tree
    parts = [levels(report.reported)]
    if report.base is not None and report.reported:
        parts.append(f"{sum(totals(one for one in report.reported if one.new).values())} new")
    if report.fixed:
        parts.append(f"{'would fix' if report.is_dry else 'fixed'} {len(report.fixed)}")
    fixes = Counter("--fix" if one.fix.is_safe else "--unsafe-fixes" for one in report.reported if one.fix is not None)
    parts += [f"{number} fixable with {option}" for option, number in sorted(fixes.items())]
    if report.known:
        parts.append(f"{sum(totals(report.known).values())} in the baseline (--no-baseline shows them)")
    return f"{entries(report.checked)} checked in {tree}{against}: {'; '.join(parts)}"


def old_line(report: CheckReport) -> str:
    """Return a line that counts the old findings and says which commands handle them; empty if there are none."""
    if not report.left_out:
        return ""
    verb, them = ("was", "it") if len(report.left_out) == 1 else ("were", "them")
    ways = f"`mdmem check` shows {them}, `mdmem check --update-baseline` accepts {them}"
    return f"{levels(report.left_out)} {verb} there before; {ways}"


def levels(findings: Iterable[Finding]) -> str:
    """Return the number of findings of each level, the worst first, as text."""
    sums = totals(findings)
    return ", ".join(count(number, level) for level, number in sums.items() if number) or "no findings"


def text(roots: Sequence[CheckedRoot], style: ReportStyle) -> str:
    """Return each finding, then the totals; more than 50 become a table by check and wing, with the first errors."""
    found, sums, ink = findings_of(roots), summary(roots), style.ink
    if style.is_whole or len(found) <= _READABLE:
        return "\n\n".join([*(_block(one, style) for one in found), sums])
    checks: dict[tuple[Severity, str], Counter[str]] = {}
    for one in found:
        wing = visible(one.checked.from_top(one.finding.place.path.partition("/")[0]))
        checks.setdefault((one.severity, one.finding.code), Counter())[wing] += one.finding.count
    width = max(len(code) for _, code in checks)
    table = []
    # The worst checks come first, then those with the most findings.
    for (level, code), counted in sorted(checks.items(), key=lambda row: (row[0][0].rank, -row[1].total(), row[0][1])):
        wings = first_of([f"{wing} {number}" for wing, number in counted.most_common()], _WINGS)
        table.append(f"{ink.severity(level, f'{level:<7}')}  {code:<{width}}  {counted.total():>5}  {wings}")
    errors = [one for one in found if one.severity is Severity.ERROR]
    part = f"of {len(errors)} errors {_FIRST} are shown; " if len(errors) > _FIRST else ""
    blocks = (_block(one, style) for one in errors[:_FIRST])
    return "\n\n".join(["\n".join(table), *blocks, f"{sums}\n{part}{_WAYS}"])


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
        # Commands in the help must work as they are printed.
        typed = "`mdmem " if style.root is None else f"`mdmem --root {quote(style.root)} "
        lines.append(f"  help: {finding.help.replace('`mdmem ', typed)}")
    if finding.fix is not None:
        lines.append(f"  fix: {fix_line(finding.fix)}")
    return "\n".join(lines)


def _where(place: Place, show_path: Callable[[str], str]) -> str:
    return f"{visible(show_path(place.path))}:{place.line}:{place.column}"


def _source(place: Place, checked: CheckedRoot, ink: Style) -> list[str]:
    line = checked.line_of(place)
    # The place of a finding about a whole file is its first line, which is only the fence `---`.
    if not line or line.strip() in ("", "---"):
        return []
    line = line.rstrip("\r\n").replace("\t", " ")
    number = str(place.line)
    start = max(0, place.column - 60)
    shown = ("…" if start else "") + line[start : start + 110]
    caret = " " * (place.column - 1 - start + bool(start)) + "^" * max(1, min(place.width, len(shown)))
    # Each unprintable character is replaced by a single one, so that the caret stays in place.
    shown = "".join(one if one.isprintable() else "\ufffd" for one in shown)
    margins = ink.dim(f"{number} |"), ink.dim(f"{' ' * len(number)} |")
    return [f"  {margins[0]} {shown}", f"  {margins[1]} {caret}"]


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
