"""What the outputs of `mdmem check` are made from: each root's report, and all findings in one order."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from mdmem.checks.engine import CheckReport
from mdmem.entry.model import visible_text
from mdmem.finding import Finding, Fix, Place, Severity
from mdmem.render.characters import replace_surrogates
from mdmem.render.ink import Ink

# Returns the line of a file a place is in, or None.
LineOf = Callable[[Place], str | None]
# Returns the content of a path of the root, or None where it cannot be read.
BytesOf = Callable[[str], bytes | None]
# Turns a path counted from the root into one the reader can open.
ShowPath = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class CheckedRoot:
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


@dataclass(frozen=True, slots=True)
class Look:
    """How a report is to look: its colours, and the version of the program that made it."""

    ink: Ink = field(default_factory=Ink)
    version: str = ""


@dataclass(frozen=True, slots=True)
class OrderedFindings:
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


def in_order(roots: Sequence[CheckedRoot]) -> tuple[OrderedFindings, ...]:
    """Return all findings, the worst first, among them the new ones first, then by path and place."""
    return _sorted(OrderedFindings(one, finding) for one in roots for finding in one.report.findings)


def mended(roots: Sequence[CheckedRoot]) -> tuple[OrderedFindings, ...]:
    """Return what was fixed before these findings were left, in the same order."""
    return _sorted(OrderedFindings(one, finding) for one in roots for finding in one.report.fixed)


def _sorted(found: Iterable[OrderedFindings]) -> tuple[OrderedFindings, ...]:
    return tuple(sorted(found, key=lambda one: (one.severity.rank, not one.is_new, one.path, one.finding.sort_key)))


def fingerprints(found: Sequence[OrderedFindings]) -> tuple[str, ...]:
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
