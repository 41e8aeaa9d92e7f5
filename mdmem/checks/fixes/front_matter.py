"""Fixes of fences and of lines that YAML refuses or misreads; each is parsed again before it is offered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from mdmem.checks.fixes.base import line_end, line_start, with_edits
from mdmem.markdown.layout import apply_edits, replace_span
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.scalars import in_quotes
from mdmem.model.fields import KNOWN_FIELDS, REQUIRED
from mdmem.model.finding import Edit, Finding

_BLANK = re.compile(r"^[ \t]*\r?$", re.MULTILINE)
_INDENTED_END = re.compile(r"^[ \t]+---[ \t]*(?=\r?$)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*#", re.MULTILINE)
_FIELD = re.compile(r"^([a-z_]+):", re.MULTILINE)
_FIRST_LINE = re.compile(r"[^\r\n]*")
_LINE = re.compile(r"(?P<before>\s*(?:- +)?(?:[\w.-]+:[ \t]+)?)(?P<value>\S.*?)?[ \t\r]*\Z")
_PLAIN_START = re.compile(r"[^\s'\"\[{|>]")
_ITEM = re.compile(r"[^,\[\]{}'\"\n]+")
_KEY_LINE = re.compile(r"[\w.-]+:|---\r?\Z|[ \t]*- |#|[ \t]*\r?\Z")


def with_end(document: Document, finding: Finding) -> Finding:
    """Return a finding with the fix that ends the front matter before its first blank line."""
    text = document.text
    indented, blank = _INDENTED_END.search(text), _BLANK.search(text)
    if indented is not None and (blank is None or indented.start() < blank.start()):
        return _if_certain(document, finding, *replace_span(document, indented.start(), indented.end(), "---"))
    # A `#` may be a comment or the heading of the body, and a known field further down belongs above the fence.
    if blank is None or blank.start() == len(text) or _COMMENT.search(text, 0, blank.start()):
        return finding
    if any(found[1] in KNOWN_FIELDS for found in _FIELD.finditer(text, blank.start())):
        return finding
    fence = f"---{line_end(document)}"
    return _if_certain(document, finding, *replace_span(document, blank.start(), blank.start(), fence))


def with_start(document: Document, finding: Finding) -> Finding:
    """Return a finding with the fix that writes the opening fence above the first field."""
    start = len(document.text) - len(document.text.lstrip("\r\n"))
    found = _FIELD.match(document.text, start)
    if found is None or found[1] not in KNOWN_FIELDS:
        return finding
    return _if_certain(document, finding, *replace_span(document, 0, start, f"---{line_end(document)}"))


def with_exact_fences(document: Document, finding: Finding) -> Finding:
    """Return a finding with the fix that writes exactly `---`, at both ends if both are wrong."""
    first = _exact(document, finding)
    mended = parse_document(document.path, apply_edits(document.data, [first]))
    again = next((one for one in mended.findings if one.code == finding.code), None)
    if again is None:
        return _if_certain(document, finding, first)
    second = _exact(mended, again)
    shift = len(first.content) - (first.end - first.start)
    if second.start < first.end + shift:
        return finding
    moved = Edit(second.path, second.start - shift, second.end - shift, second.content)
    return _if_certain(document, finding, first, moved)


def _exact(document: Document, finding: Finding) -> Edit:
    text = document.text
    opening = len(text) - len(text.lstrip())
    if finding.place.line == 1 and opening and text[:opening].strip(" \t") and "\n" in text[:opening]:
        return replace_span(document, 0, text.rindex("\n", 0, opening) + 1, "")[0]
    start = line_start(document, finding.place.line)
    line = _FIRST_LINE.match(text, start)
    return replace_span(document, start, line.end() if line else start, "---")[0]


def _if_certain(document: Document, finding: Finding, *edits: Edit) -> Finding:
    mended = parse_document(document.path, apply_edits(document.data, edits))
    if mended.fields is None or mended.findings or not set(REQUIRED) <= mended.fields.keys():
        return finding
    return with_edits(finding, "Write the fence as `---`", *edits)


class _Rewrite(Struct, frozen=True):
    """Characters of one line to replace; `meant` is the value that the field, or one of its items, must have then."""

    start: int
    end: int
    text: str
    meant: str | None = None


def with_syntax_fix(document: Document, finding: Finding) -> Finding:
    """Return a finding of `yaml-syntax` with its fix, if the cause leaves no doubt about the meaning."""
    make = _REWRITES.get(finding.cause)
    return _with_rewrite(document, finding, make) if make is not None else finding


def with_whole_value(document: Document, finding: Finding) -> Finding:
    """Return a finding with the fix that quotes the value up to the end of the line."""
    return _with_rewrite(document, finding, _uncut)


def _with_rewrite(document: Document, finding: Finding, make: Callable[[str, int], _Rewrite | None]) -> Finding:
    start = line_start(document, finding.place.line)
    line, *following = document.text[start:].split("\n", 2)
    rewrite = make(line.rstrip("\r"), finding.place.column - 1)
    # The next line may continue the value.
    ends_here = len(following) > 0 and _KEY_LINE.match(following[0]) is not None
    if rewrite is None or (rewrite.meant is not None and not ends_here):
        return finding
    edits = replace_span(document, start + rewrite.start, start + rewrite.end, rewrite.text)
    if not _helps(document, finding, edits, rewrite.meant):
        return finding
    return with_edits(finding, "Put the value in quotes" if rewrite.text[:1] == '"' else "Correct the line", *edits)


def _helps(document: Document, finding: Finding, edits: tuple[Edit, ...], meant: str | None) -> bool:
    """Return whether the line has the right value now; if YAML refuses another line, whether it accepts this one."""
    mended = parse_document(document.path, apply_edits(document.data, edits))
    if any(one.code == finding.code and one.place.line <= finding.place.line for one in mended.findings):
        return False
    if mended.fields is None:
        # A file that could be read must stay so.
        return document.fields is None and all(one.place.line > finding.place.line for one in mended.findings)
    values = (item for value in mended.fields.values() for item in (value if isinstance(value, list) else [value]))
    return meant is None or meant in values


def _plain(line: str, column: int) -> _Rewrite | None:
    """Quote a value that begins with a sign, or that contains a colon and a blank."""
    found = _LINE.match(line)
    if found is None or not found["value"] or not found["before"].strip() or " #" in found["value"]:
        return None
    if found["value"].startswith("["):
        item = _ITEM.match(line, column)
        meant = item[0].strip() if item else ""
        return _Rewrite(column, column + len(meant), in_quotes(meant), meant) if meant else None
    if not _PLAIN_START.match(found["value"]) and line[column : column + 1] not in "|>":
        return None
    return _Rewrite(*found.span("value"), in_quotes(found["value"]), found["value"])


def _uncut(line: str, _: int) -> _Rewrite | None:
    found = _LINE.match(line)
    if found is None or not found["value"] or not found["before"].strip():
        return None
    # A `#` with a blank behind it is a comment, and stays one.
    value = re.split(r"\s+#(?=\s|\Z)", found["value"])[0]
    if not re.match(r"[^\s'\"\[{|>&*!]", value) and not value.startswith("#"):
        return None
    start = found.start("value")
    return _Rewrite(start, start + len(value), in_quotes(value), value)


def _open_quote(line: str, column: int) -> _Rewrite | None:
    """Close a double quote at the end of its line; a single one may be an apostrophe."""
    value = line[column:].rstrip()
    if value.count('"') != 1 or not value.startswith('"') or "\\" in value or " #" in value:
        return None
    end = column + len(value)
    return _Rewrite(end, end, '"', value[1:])


def _tab(line: str, column: int) -> _Rewrite | None:
    """Write blanks for a tab: two if it indents, one if it separates."""
    width = len(line) - column - len(line[column:].lstrip("\t"))
    is_indent = not line[:column].strip()
    return _Rewrite(column, column + width, "  " * width if is_indent else " ") if width else None


# By the causes that `yaml_loader` finds.
_REWRITES: Mapping[str, Callable[[str, int], _Rewrite | None]] = {
    "second colon": _plain,
    "first character": _plain,
    "open quote": _open_quote,
    "tab": _tab,
}
