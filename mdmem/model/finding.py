"""What a finding is: one fact about one place in a file, with what to do about it and the change that would."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from mdmem.model.text import one_line


class Severity(StrEnum):
    """How much a finding weighs: an error blocks, a warning is reported, an info is shown on request."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Return 0 for the gravest."""
        return ("error", "warning", "info").index(self.value)


class Place(Struct, frozen=True):
    """A stretch of one line of one file; line and column count from 1, column in characters."""

    path: str
    line: int = 1
    column: int = 1
    width: int = 0


class Edit(Struct, frozen=True):
    """Bytes to put in place of others in one file; offsets count bytes from its start, `start == end` inserts."""

    path: str
    start: int
    end: int
    content: bytes


class Fix(Struct, frozen=True):
    """A change that ends a finding: one plan over one file or several, all of it or nothing.

    `title` starts with a verb. A safe fix keeps the meaning; one that is not decides something for a person.
    `renames` are paths from and to, done after the edits.
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
    """One fault: what, where, and how to mend it.

    `message` is lower case without a full stop; `help` starts with a verb.
    `severity` is None until the engine gives the check's own or the settings' one; `count` says how many it sums up.
    `other` is the other end of a link; a line that is not `quotable` must not be printed: it may hold a secret.
    `new` says that the tree compared with does not have it; `fix` is the change that would end it;
    `unsaid` tells it from another in the same words, and is not shown.
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

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order findings as a reader meets them: by file, then from top to bottom."""
        return (self.place.path, self.place.line, self.place.column, self.code, self.message)

    @property
    def weight(self) -> Severity:
        """Return the severity; an error where the engine gave none yet."""
        return self.severity or Severity.ERROR

    def in_one_line(self) -> Finding:
        """Return the same finding with texts that begin no line of their own, whatever a file puts into them."""
        texts = (self.message, self.help, self.fix.title if self.fix else "")
        if "".join(texts).isprintable():
            return self
        message, help_, title = map(one_line, texts)
        return replace(self, message=message, help=help_, fix=self.fix and replace(self.fix, title=title))

    def at(self, path: str, address: str | None) -> Finding:
        """Return the same finding for a file of the same content at another path."""
        return replace(self, place=replace(self.place, path=path), address=address)


def totals(findings: Iterable[Finding]) -> dict[str, int]:
    """Return how many findings there are of each severity, the gravest first: the one count of every output."""
    found = dict.fromkeys((level.value for level in Severity), 0)
    for finding in findings:
        found[finding.weight.value] += finding.count
    return found
