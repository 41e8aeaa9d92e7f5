"""Where the edits of a fix lie in the text of a file, for outputs that count lines and columns."""

from __future__ import annotations

from dataclasses import dataclass

from mdmem.finding import Edit, Fix

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Point:
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
