"""Define the data that all report formats share: a checked root, its findings in order, and the totals."""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from mdmem.model.finding import Finding, Fix, Place, Severity, totals
from mdmem.model.text import visible_text
from mdmem.render.style import Style
from mdmem.render.text import count, entries, replace_surrogates

if TYPE_CHECKING:
    from mdmem.checks.engine import CheckReport


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
    """Options of a report: its colours, the version of mdmem, and whether to show every finding in full (`is_whole`).

    `is_narrowed` says that the user chose paths to check; the report may then be longer than a page. `root` is the
    option `--root` as typed, to be repeated in the commands of help texts. `again` is the command that repeats the run.
    """

    ink: Style = field(default_factory=Style)
    version: str = ""
    is_whole: bool = False
    is_narrowed: bool = False
    root: str | None = None
    again: str = "mdmem check"

    def as_typed(self, help_: str) -> str:
        """Return a help text whose commands have the option `--root` if the user typed it."""
        return help_ if self.root is None else help_.replace("`mdmem ", f"`mdmem --root {shlex.quote(self.root)} ")


class RootFinding(Struct, frozen=True):
    """One finding, with the checked root in which it was found."""

    checked: CheckedRoot
    finding: Finding

    @property
    def path(self) -> str:
        """Return the finding's path, relative to the repository's top."""
        return self.checked.from_top(self.finding.place.path)

    @property
    def place(self) -> str:
        """Return the finding's path and line."""
        return f"{self.path}:{self.finding.place.line}"

    @property
    def severity(self) -> Severity:
        """Return the finding's severity."""
        return self.finding.weight

    @property
    def message(self) -> str:
        """Return the message as valid UTF-8, with control characters escaped."""
        return safe_text(self.finding.message)

    @property
    def advice(self) -> str:
        """Return the help text as valid UTF-8, with control characters escaped."""
        return safe_text(self.finding.help)


def safe_text(text: str) -> str:
    """Return a text as valid UTF-8, with control characters escaped."""
    return visible_text(replace_surrogates(text))


def findings_of(
    roots: Iterable[CheckedRoot], which: Literal["findings", "reported", "fixed"] = "reported"
) -> tuple[RootFinding, ...]:
    """Return findings sorted by severity (the worst first), new or old (new first), path and place.

    `findings` are all of them, `reported` are those to report one by one, without old ones.
    """
    found = (RootFinding(one, finding) for one in roots for finding in getattr(one.report, which))
    return tuple(
        sorted(found, key=lambda one: (one.severity.rank, not one.finding.new, one.path, one.finding.sort_key))
    )


def fingerprints(found: Sequence[RootFinding]) -> tuple[str, ...]:
    """Return a unique hash for each finding, which does not change if the finding moves to another line."""
    seen: Counter[str] = Counter()
    hashes = []
    for one in found:
        identity = "\0".join(
            (one.checked.under, one.finding.code, one.finding.address or one.path, one.finding.message)
        )
        seen[identity] += 1
        numbered = f"{identity}\0{seen[identity]}"
        hashes.append(hashlib.sha256(numbered.encode("utf-8", "surrogatepass")).hexdigest())
    return tuple(hashes)


def fix_line(fix: Fix) -> str:
    """Return the title of a fix and the option that applies it."""
    return f"{fix.title} ({fix_flag(fix)})"


def fix_flag(fix: Fix) -> str:
    """Return the option that applies a fix."""
    return "--fix" if fix.is_safe else "--unsafe-fixes"


def summary_line(report: CheckReport) -> str:
    """Return a line with the number of checked entries, and of findings by level: new, fixed, fixable, known."""
    against = f" against {report.base}" if report.base is not None else ""
    tree = f"the {report.tree}" if report.tree in ("working tree", "git index") else report.tree
    parts = [levels(report.reported)]
    if report.base is not None and report.reported:
        parts.append(f"{sum(totals(one for one in report.reported if one.new).values())} new")
    if report.fixed:
        parts.append(f"{'would fix' if report.is_dry else 'fixed'} {len(report.fixed)}")
    fixes = [finding.fix for finding in report.reported if finding.fix is not None]
    safe = sum(fix.is_safe for fix in fixes)
    unsafe = len(fixes) - safe
    if safe:
        parts.append(f"{safe} fixable with --fix{f' ({unsafe} more with --unsafe-fixes)' if unsafe else ''}")
    elif unsafe:
        parts.append(f"{unsafe} fixable with --unsafe-fixes")
    if report.known:
        parts.append(f"{sum(totals(report.known).values())} in the baseline (--no-baseline shows them)")
    return f"{entries(report.checked)} checked in {tree}{against}: {'; '.join(parts)}"


def summary(roots: Sequence[CheckedRoot]) -> str:
    """Return a line with the totals of each root, and a line about its old findings if there are any."""
    lines = []
    for one in roots:
        name = f"{one.under or '.'}: " if len(roots) != 1 else ""
        lines += [f"{name}{line}" for line in (summary_line(one.report), old_line(one.report)) if line]
    return "\n".join(lines)


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
