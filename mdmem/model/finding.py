"""Findings: one fault at one place in a file, with help and, where it is certain, a fix."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from mdmem.model.text import one_line


class Severity(StrEnum):
    """The severity of a finding: an error blocks, a warning is reported, an info is shown on request."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Return 0 for the most severe."""
        return ("error", "warning", "info").index(self.value)


class Place(Struct, frozen=True):
    """A stretch of one line of one file; line and column count from 1, column in characters."""

    path: str
    line: int = 1
    column: int = 1
    width: int = 0


class Edit(Struct, frozen=True):
    """Bytes that replace others in one file; offsets count bytes from its start, and `start == end` inserts."""

    path: str
    start: int
    end: int
    content: bytes


class Fix(Struct, frozen=True):
    """A change that resolves a finding: one plan over one file or several, applied as a whole or not at all.

    `title` starts with a verb. A safe fix keeps the meaning; another one makes a decision that is a person's.
    `renames` are pairs of old and new path, applied after the edits.
    """

    title: str
    edits: tuple[Edit, ...]
    is_safe: bool = True
    renames: tuple[tuple[str, str], ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Return every path that the fix reads or writes, sorted."""
        named = {edit.path for edit in self.edits} | {path for rename in self.renames for path in rename}
        return tuple(sorted(named))


class Finding(Struct, frozen=True):
    """One fault: its message, its place, and how to correct it.

    `message` is lower case without a full stop; `help` starts with a verb.
    `severity` is None until the engine sets that of the check or of the settings; `count` is the number of faults that
    it sums up. `other` is the other end of a link. A line that is not `quotable` must not be printed: it may contain a
    secret. `new` says that the compared tree does not have the finding, and `fix` is the change that resolves it.
    `unsaid` distinguishes it from another finding in the same words, and `cause` says what its fix corrects; neither is
    shown. `former` is the code that it had
    before its check replaced several: settings, suppressions and baselines may still use that.
    """

    code: str
    message: str
    place: Place
    help: str = ""
    address: str | None = None
    other: Place | None = None
    severity: Severity | None = None
    count: int = 1
    new: bool = False
    quotable: bool = True
    fix: Fix | None = None
    unsaid: str = ""
    former: str = ""
    cause: str = ""

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Return the key for sorting by file, then from top to bottom."""
        return (self.place.path, self.place.line, self.place.column, self.code, self.message)

    @property
    def weight(self) -> Severity:
        """Return the severity; an error where the engine has not set it yet."""
        return self.severity or Severity.ERROR

    def in_one_line(self) -> Finding:
        """Return the same finding with each text on one line, whatever it quotes from a file."""
        texts = (self.message, self.help, self.fix.title if self.fix else "")
        if "".join(texts).isprintable():
            return self
        message, help_, title = map(one_line, texts)
        return replace(self, message=message, help=help_, fix=self.fix and replace(self.fix, title=title))

    def at(self, path: str, address: str | None) -> Finding:
        """Return the same finding for a file of the same content at another path."""
        return replace(self, place=replace(self.place, path=path), address=address)


def totals(findings: Iterable[Finding]) -> dict[str, int]:
    """Return the number of findings of each severity, the most severe first; every output uses this count."""
    found = dict.fromkeys((level.value for level in Severity), 0)
    for finding in findings:
        found[finding.weight.value] += finding.count
    return found
