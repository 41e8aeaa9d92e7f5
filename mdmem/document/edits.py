"""Edits of one file: made from places in its text, and applied to its bytes."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from mdmem.document.parse import Document
from mdmem.errors import MdmemError
from mdmem.finding import Edit


class UnpatchableError(MdmemError, ValueError):
    """A patch would touch more than what it is to change; the sentence says what to do by hand."""


def apply_edits(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Return the bytes with every edit made; inserts at one offset stand in the order given.

    Raises ValueError where two edits overlap, or one lies outside the bytes.
    """
    parts, end = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not end <= edit.start <= edit.end <= len(data):
            raise ValueError(f"the edit of bytes {edit.start} to {edit.end} overlaps another, or leaves the file")
        parts += [data[end : edit.start], edit.content]
        end = edit.end
    return b"".join((*parts, data[end:]))


def replace_span(document: Document, start: int, end: int, text: str) -> tuple[Edit, ...]:
    """Return the edit that puts a text, as it is, in place of characters of the document's text."""
    if not 0 <= start <= end <= len(document.text):
        raise ValueError(f"{document.path} has no characters {start} to {end}")
    if document.text[start:end] == text:
        return ()
    mark = len(codecs.BOM_UTF8) if document.data.startswith(codecs.BOM_UTF8) else 0
    first = mark + len(document.text[:start].encode())
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise UnpatchableError(f"{document.path}: the new text holds half a character; write the whole one") from error
    return (Edit(document.path, first, first + len(document.text[start:end].encode()), content),)


def replace_in_body(document: Document, offset: int, width: int, text: str) -> tuple[Edit, ...]:
    """Return the edit that replaces characters of the body; new lines end as the line before them does."""
    if offset < 0:
        raise ValueError(f"{document.path} has no character {offset} in its body")
    start = len(document.text) - len(document.body) + offset
    above = document.text.rfind("\n", 0, start)
    line_break = "\r\n" if above > 0 and document.text[above - 1] == "\r" else "\n"
    content = text.replace("\r\n", "\n").replace("\n", line_break)
    return replace_span(document, start, start + width, content)
