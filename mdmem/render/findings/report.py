"""What the formats share: a checked root, its findings with their lines, and where a fix's edits lie."""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from mdmem.checks.engine import CheckReport
from mdmem.model.finding import Edit, Finding, Fix, Place, Severity, totals
from mdmem.model.text import visible_text
from mdmem.render.characters import replace_surrogates
from mdmem.render.ink import Ink
from mdmem.render.words import count, entries

_BOM = b"\xef\xbb\xbf"


class Point(Struct, frozen=True):
    """A place between two characters: line and columns count from 1, in characters and in bytes of UTF-8."""

    line: int
    column: int
    byte_column: int


def point(content: bytes, offset: int) -> Point:
    """Return where a byte offset lies in a text; lines end at a line feed, a byte order mark is no column.

    Raises UnicodeDecodeError where the line before the offset is no UTF-8, or the offset splits a character.
    """
    start = content.rfind(b"\n", 0, offset) + 1
    if start == 0 and content.startswith(_BOM) and offset >= len(_BOM):
        start = len(_BOM)
    before = content[start:offset]
    return Point(content.count(b"\n", 0, offset) + 1, len(before.decode()) + 1, len(before) + 1)


def is_text(content: bytes, edit: Edit) -> bool:
    """Say whether an edit takes whole characters out of a text and puts whole characters in."""
    if edit.start < len(_BOM) and content.startswith(_BOM):
        return False
    try:
        for part in (content[: edit.start], content[edit.start : edit.end], edit.content):
            part.decode()
    except UnicodeDecodeError:
        return False
    return True


def merged(fix: Fix, content: bytes) -> Edit:
    """Return one edit that does what all edits of a fix of one file do; what lies between them stays."""
    edits = sorted(fix.edits, key=lambda edit: (edit.start, edit.end))
    first, last = edits[0].start, max(edit.end for edit in edits)
    pieces, done = [], first
    for edit in edits:
        pieces += [content[done : edit.start], edit.content]
        done = edit.end
    return Edit(edits[0].path, first, last, b"".join([*pieces, content[done:last]]))


# Returns the line of a file a place is in, or None.
LineOf = Callable[[Place], str | None]
# Returns the content of a path of the root, or None where it cannot be read.
BytesOf = Callable[[str], bytes | None]
# Turns a path counted from the root into one the reader can open.
ShowPath = Callable[[str], str]


class CheckedRoot(Struct, frozen=True):
    """One root that was checked: its report, its folder from the repository's top ("" for the top), its files.

    `show_path` serves the outputs for people; the others count from the top.
    """

    report: CheckReport
    under: str
    line_of: LineOf
    bytes_of: BytesOf
    show_path: ShowPath

    def from_top(self, path: str) -> str:
        """Return a path of the root counted from the repository's top."""
        return f"{self.under}/{path}" if self.under else path


class Look(Struct, frozen=True):
    """How a report is to look: its colours, the version of the program, and whether all is told however much it is.

    One that is narrowed to paths need not fit on a page. `root` is the one that somebody typed, so that what to type
    next is about the same.
    """

    ink: Ink = field(default_factory=Ink)
    version: str = ""
    is_whole: bool = False
    is_narrowed: bool = False
    root: str | None = None

    def as_typed(self, help_: str) -> str:
        """Return what is to be typed so that it is about the root that was typed."""
        return help_ if self.root is None else help_.replace("`mdmem ", f"`mdmem --root {shlex.quote(self.root)} ")


class RootFinding(Struct, frozen=True):
    """One finding with the root that it is in."""

    checked: CheckedRoot
    finding: Finding

    @property
    def path(self) -> str:
        """Return the finding's path, counted from the repository's top."""
        return self.checked.from_top(self.finding.place.path)

    @property
    def severity(self) -> Severity:
        """Return the finding's severity; an error where the engine gave none."""
        return self.finding.weight

    @property
    def is_new(self) -> bool:
        """Say whether the tree compared with lacks the finding."""
        return self.finding.new

    @property
    def message(self) -> str:
        """Return the message as valid UTF-8 that acts on no terminal and no page."""
        return visible_text(replace_surrogates(self.finding.message))

    @property
    def advice(self) -> str:
        """Return the help in the same way."""
        return visible_text(replace_surrogates(self.finding.help))


def in_order(roots: Sequence[CheckedRoot]) -> tuple[RootFinding, ...]:
    """Return all findings, the worst first, among them the new ones first, then by path and place."""
    return _sorted(RootFinding(one, finding) for one in roots for finding in one.report.findings)


def told(roots: Sequence[CheckedRoot]) -> tuple[RootFinding, ...]:
    """Return the findings that are told one by one, in the same order; what was there before is counted."""
    return _sorted(RootFinding(one, finding) for one in roots for finding in one.report.reported)


def mended(roots: Sequence[CheckedRoot]) -> tuple[RootFinding, ...]:
    """Return what was fixed before these findings were left, in the same order."""
    return _sorted(RootFinding(one, finding) for one in roots for finding in one.report.fixed)


def _sorted(found: Iterable[RootFinding]) -> tuple[RootFinding, ...]:
    return tuple(sorted(found, key=lambda one: (one.severity.rank, not one.is_new, one.path, one.finding.sort_key)))


def fingerprints(found: Sequence[RootFinding]) -> tuple[str, ...]:
    """Return a hash for each finding that stays the same while lines move, and that no two share."""
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


def fix_flag(fix: Fix) -> str:
    """Return what to type so that a fix is made."""
    return "--fix" if fix.is_safe else "--unsafe-fixes"


def summary_line(report: CheckReport) -> str:
    """Return what was checked, the sums by level, what is new, what was fixed and what can be."""
    against = f" against {report.base}" if report.base is not None else ""
    parts = [levels(report.reported), *_extras(report)]
    return f"{entries(report.checked)} checked in {_tree(report)}{against}: {'; '.join(parts)}"


def summary(roots: Sequence[CheckedRoot]) -> str:
    """Return one line of sums for each root, and one of what was there before; of several roots each is named."""
    if len(roots) == 1:
        return "\n".join(_sums(roots[0].report))
    return "\n".join(f"{one.under or '.'}: {line}" for one in roots for line in _sums(one.report))


def _sums(report: CheckReport) -> list[str]:
    return [line for line in (summary_line(report), old_line(report)) if line]


def old_line(report: CheckReport) -> str:
    """Return how many findings were there before and are not told, and the two ways on; empty where there are none."""
    if not report.left_out:
        return ""
    verb = "was" if len(report.left_out) == 1 else "were"
    ways = "`mdmem check` shows them, `mdmem check --update-baseline` sets them aside"
    return f"{levels(report.left_out)} {verb} there before; {ways}"


def levels(findings: Iterable[Finding]) -> str:
    """Return how many findings there are of each level, the worst first."""
    sums = totals(findings)
    return ", ".join(count(number, level) for level, number in sums.items() if number) or "no findings"


def _tree(report: CheckReport) -> str:
    return f"the {report.tree}" if report.tree in ("working tree", "git index") else report.tree


def _extras(report: CheckReport) -> list[str]:
    new = sum(totals(finding for finding in report.reported if finding.new).values())
    said = [f"{new} new"] if report.base is not None and report.reported else []
    said += [f"{'would fix' if report.is_dry else 'fixed'} {len(report.fixed)}"] if report.fixed else []
    known = sum(totals(report.known).values())
    return said + _fixable(report.reported) + ([f"{known} in the baseline (--no-baseline shows them)"] if known else [])


def _fixable(findings: Iterable[Finding]) -> list[str]:
    fixes = [finding.fix for finding in findings if finding.fix is not None]
    safe = sum(fix.is_safe for fix in fixes)
    unsafe = len(fixes) - safe
    if safe:
        more = f" ({unsafe} more with --unsafe-fixes)" if unsafe else ""
        return [f"{safe} fixable with --fix{more}"]
    return [f"{unsafe} fixable with --unsafe-fixes"] if unsafe else []
