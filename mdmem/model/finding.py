"""A finding: one fault at one place in a file, with help, and a fix if the right change is certain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from mdmem.model.text import one_line

# The codes that parts of a check had before they became one check. Settings, suppressions, baselines and options may
# still use them.
FORMER_CODES: Mapping[str, tuple[str, ...]] = {
    "not-text": ("not-utf8", "empty-file", "git-lfs-pointer"),
    "file-form": ("utf8-bom", "mixed-line-endings", "no-final-newline"),
    "invisible-characters": ("control-characters",),
    "file-too-large": ("front-matter-too-large",),
    "symlink-or-submodule": ("symlink", "path-escapes-root", "submodule"),
    "unportable-name": ("path-illegal-on-windows", "name-collision", "case-collision", "unicode-collision"),
    "misplaced-file": ("stray-file", "odd-extension", "wrong-depth"),
    "front-matter-fence": ("front-matter-missing", "fence-unterminated", "fence-variant", "second-front-matter"),
    "front-matter-shape": (
        *("duplicate-key", "anchor-or-alias", "custom-tag", "multiple-documents", "not-a-mapping", "nested-value"),
        *("non-text-key", "unsupported-yaml", "wiki-link-value"),
    ),
    "unknown-field": ("key-spelling", "unknown-key"),
    "lost-value": ("empty-value", "comment-truncates-value"),
    "invalid-value": ("wrong-type", "unknown-type", "unknown-status"),
    "list-form": ("duplicate-list-item", "tag-with-comma"),
    "unclear-title": ("title-missing", "title-too-long", "title-differs-from-heading"),
    "invariant-wording": ("vague-invariant", "several-rules"),
    "link-form": ("short-address", "link-by-path"),
    "needless-link": ("self-link", "duplicate-link"),
    "supersession-one-sided": ("supersession-mismatch",),
    "successor-not-current": ("superseded-by-draft", "superseded-by-dead"),
    "date-form": ("invalid-date", "not-iso", "date-without-offset"),
    "impossible-date": ("future-date", "verified-before-created"),
    "fixed-field-changed": ("created-at-changed", "type-changed"),
    "merge-conflict": ("merge-two-successors", "merge-address-collision"),
    "amendment-invalid": ("amends-across-types", "amends-across-wings", "amends-ended"),
    "override-invalid": ("override-without-reason", "override-of-own-wing", "override-across-types"),
    "unknown-wing": ("default-wing-unknown", "unknown-shared-wing", "shared-wing-is-project"),
    "git-unavailable": ("base-unavailable", "shallow-history"),
    "unused-suppression": ("stale-baseline-entry",),
}
CURRENT_CODES: Mapping[str, str] = {former: code for code, formers in FORMER_CODES.items() for former in formers}


class Severity(StrEnum):
    """The severity of a finding: an error fails the check, a warning is reported, an info is shown on request."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Return 0 for an error, 1 for a warning and 2 for an info."""
        return ("error", "warning", "info").index(self.value)


class Place(Struct, frozen=True):
    """A part of one line in a file, counted from 1 in characters; the width is 0 if only the start is known."""

    path: str
    line: int = 1
    column: int = 1
    width: int = 0


class Edit(Struct, frozen=True):
    """A replacement of bytes in one file. Offsets count from the start of the file, and `start == end` inserts."""

    path: str
    start: int
    end: int
    content: bytes


class Fix(Struct, frozen=True):
    """A change that resolves a finding, in one file or several. It is applied completely or not at all.

    `title` starts with a verb. A safe fix keeps the meaning of the entry. Any other fix makes a decision that a person
    should make. `renames` are pairs of old and new path, applied after the edits.
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
    """One fault: its message (lower case, no full stop), its place, and how to correct it (`help` starts with a verb).

    `severity` is None until the engine sets it. `count` is the number of faults that the finding sums up. `other` is
    the place of the other end of a link. `new` means that the tree before the change does not have the finding. If
    `quotable` is False, the line may contain a secret and must not be printed. `former` is the code in `FORMER_CODES`
    for this kind of finding. Three fields are never shown: `distinct_by` distinguishes findings with the same message,
    `cause` is the field or the kind of YAML error that a fix corrects, and `item` is the index in a list.
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
    distinct_by: str = ""
    former: str = ""
    cause: str = ""
    item: int = 0

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Return the key that sorts findings by file, then from top to bottom."""
        return (self.place.path, self.place.line, self.place.column, self.code, self.message)

    @property
    def level(self) -> Severity:
        """Return the severity. Before the engine sets it, this is `error`."""
        return self.severity or Severity.ERROR

    def in_one_line(self) -> Finding:
        """Return the same finding with every text on a single line. Texts may quote line breaks from a file."""
        texts = (self.message, self.help, self.fix.title if self.fix else "")
        if "".join(texts).isprintable():
            return self
        message, help_, title = map(one_line, texts)
        return replace(self, message=message, help=help_, fix=self.fix and replace(self.fix, title=title))

    def at(self, path: str, address: str | None) -> Finding:
        """Return the same finding for another path that has the same content."""
        return replace(self, place=replace(self.place, path=path), address=address)


def fault(
    kind: str, message: str, place: Place, help_: str = "", address: str | None = None, *, cause: str = ""
) -> Finding:
    """Return a finding; `kind` is the code of a check, or one of its former codes."""
    code = CURRENT_CODES.get(kind, kind)
    return Finding(code, message, place, help_, address, former=kind if kind != code else "", cause=cause)


def totals(findings: Iterable[Finding]) -> dict[str, int]:
    """Return the number of findings of each severity, the most severe first. Every output uses this function."""
    found = dict.fromkeys((level.value for level in Severity), 0)
    for finding in findings:
        found[finding.level.value] += finding.count
    return found
