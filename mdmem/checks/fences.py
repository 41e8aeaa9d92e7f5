"""Fixes for fences, made only where the fields then read as an entry's: anything else would be a guess."""

from __future__ import annotations

import re

from mdmem.checks.fixing import line_end, line_start, only, with_fix
from mdmem.document.parse import Document, parse_document
from mdmem.document.patch import apply_edits, replace_span
from mdmem.entry.fields import KNOWN_FIELDS, REQUIRED
from mdmem.finding import Edit, Finding

_BLANK = re.compile(r"^[ \t]*\r?$", re.MULTILINE)
_INDENTED_END = re.compile(r"^[ \t]+---[ \t]*(?=\r?$)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*#", re.MULTILINE)
_FIELD = re.compile(r"^([a-z_]+):", re.MULTILINE)
_FIRST_LINE = re.compile(r"[^\r\n]*")


def with_end(document: Document, finding: Finding) -> Finding:
    """Return a finding of `fence-unterminated` with the fix that ends the front matter before its first blank line."""
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
    """Return a finding of `front-matter-missing` with the fix that writes the opening fence above the first field."""
    start = len(document.text) - len(document.text.lstrip("\r\n"))
    found = _FIELD.match(document.text, start)
    if found is None or found[1] not in KNOWN_FIELDS:
        return finding
    return _if_certain(document, finding, *replace_span(document, 0, start, f"---{line_end(document)}"))


def with_exact_fences(document: Document, finding: Finding) -> Finding:
    """Return a finding of `fence-variant` with the fix that writes exactly `---`, at the other end, too, if need be."""
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
    return with_fix(finding, "Write the fence as `---`", only, *edits)
