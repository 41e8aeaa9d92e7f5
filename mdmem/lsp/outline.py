"""What of a text belongs together: what folds, and what a selection grows to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.place import EditorPage
from mdmem.lsp.session import EditorSession
from mdmem.lsp.symbols import sections_in

_PARAGRAPH = re.compile(r"(?:^[ \t]*\S[^\n]*\n?)+", re.MULTILINE)
_BRACKETS = re.compile(r"\[[^\[\]\n]*\]")


def folds(session: EditorSession, buffer: Buffer, _: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Return the front matter, each of its fields of several lines, and each section."""
    page = EditorPage(session, buffer)
    if page.is_code:
        return []
    spans = [(start, end) for start, end, _ in sections_in(page)]
    spans += [(field.start, field.end) for field in page.parts.fields]
    if page.parts.front is not None:
        spans.insert(0, (0, page.parts.body))
    lines = [(buffer.position_at(start).line, _last_line(buffer, start, end)) for start, end in spans]
    return [types.FoldingRange(first, last) for first, last in lines if last > first]


def _last_line(buffer: Buffer, start: int, end: int) -> int:
    return buffer.position_at(start + len(buffer.text[start:end].rstrip())).line


def selections(
    session: EditorSession, buffer: Buffer, params: types.SelectionRangeParams
) -> list[types.SelectionRange] | None:
    """Return, for each position, what it lies in, from the item or link to the whole text."""
    page = EditorPage(session, buffer)
    return None if page.is_code else [_selection(page, buffer.offset_at(one)) for one in params.positions]


def _selection(page: EditorPage, offset: int) -> types.SelectionRange:
    around = {(start, end) for start, end in _around(page, offset) if start <= offset <= end}
    grown = types.SelectionRange(page.buffer.range_of(0, len(page.buffer.text)))
    inner = (0, len(page.buffer.text))
    # The widest first; what would not lie within the one before is left out.
    for start, end in sorted(around, key=lambda one: one[0] - one[1]):
        if inner[0] <= start <= end <= inner[1] and (start, end) != inner:
            inner = (start, end)
            grown = types.SelectionRange(page.buffer.range_of(start, end), grown)
    return grown


def _around(page: EditorPage, offset: int) -> Iterator[tuple[int, int]]:
    parts, text = page.parts, page.buffer.text
    spot, field = parts.at(offset), parts.field_at(offset)
    if spot is not None:
        yield spot.start, spot.end
    if field is not None and field.items:
        yield field.items[0].start, field.items[-1].end
    if field is not None:
        yield field.start, field.start + len(text[field.start : field.end].rstrip())
    if parts.is_in_front(offset) and parts.front is not None:
        yield parts.front
        return
    yield parts.body, len(text)
    for pattern in (_BRACKETS, _PARAGRAPH):
        yield from (found.span() for found in pattern.finditer(text, parts.body))
    yield from ((start, end) for start, end, _ in sections_in(page))
