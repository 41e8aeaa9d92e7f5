"""A text page by page: a section is never split while it fits a page, and what is quoted stays quoted.

A section is a heading with what stands below it, or a paragraph where there is no heading. Every line of an entry
stands behind `>` or in a line of ours, so that no heading and no blank line is an entry's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mdmem.dataclass import dataclass
from mdmem.mcp.page import Page, bytes_of, mark_line, marks_of, seal_of, start_of

# What the marks of a cut page take.
_MARKS = 120
_BINDS, _PART = "### invariant", "## "
_QUOTE = "> "


@dataclass(frozen=True, slots=True)
class _Piece:
    """A section of the text or a part of one; `of` numbers the sections, `binds` marks one of an invariant."""

    text: str
    of: int
    binds: bool


def text_page_of(text: str, *, limit: int, asked: str = "", cursor: str | None = None) -> Page:
    """Return the page that a cursor means, the first without one, of `limit` bytes at most.

    Raises UsageError for a cursor of another call, or of an answer that is another one by now.
    """
    if cursor is None and bytes_of(text) <= limit:
        return Page(text)
    pieces = list(_pieces(text, limit - _MARKS))
    seal = seal_of(asked, text)
    start = start_of(cursor, seal, len(pieces))
    end, room = start + 1, limit - _MARKS - bytes_of(pieces[start].text)
    while end < len(pieces) and (room := room - bytes_of(pieces[end].text) - 2) >= 0:
        end += 1
    rest = pieces[end:]
    marks = []
    if rest:
        invariants = len({piece.of for piece in rest if piece.binds}) if any(one.binds for one in pieces) else None
        marks = [mark_line(marks_of(end, seal, remaining=len({piece.of for piece in rest}), invariants=invariants))]
    return Page("\n\n".join([*marks, *(piece.text for piece in pieces[start:end])]), is_last=not rest)


def _pieces(text: str, room: int) -> Iterator[_Piece]:
    binds_here = True
    for number, section in enumerate(_sections(text.split("\n\n"))):
        # What stands below a heading of its own, as what is only proposed, binds nobody.
        binds_here = binds_here and not section.startswith(_PART)
        for piece in _parts(section, room):
            yield _Piece(piece, number, binds_here and section.startswith(_BINDS))


def _sections(paragraphs: Sequence[str]) -> Iterator[str]:
    section: list[str] = []
    for paragraph in paragraphs:
        if section and not (section[0].startswith("#") and not paragraph.startswith("#")):
            yield "\n\n".join(section)
            section = []
        section.append(paragraph)
    yield "\n\n".join(section)


def _parts(section: str, room: int) -> Iterator[str]:
    """Yield a section whole, or as many of its lines at a time as fit, each time below its heading."""
    if bytes_of(section) <= room:
        yield section
        return
    head, _, rest = section.partition("\n") if section.startswith("#") else ("", "", section)
    again = f"{head[:200]} (continued)\n\n" if head else ""
    room -= bytes_of(again) + bytes_of(head)
    part, left = ([head] if head else []), room
    for line in (short for long in rest.split("\n") for short in _short_lines(long, room)):
        if bytes_of(line) + 1 > left:
            yield "\n".join(part).rstrip("\n")
            part, left = ([again.rstrip("\n"), ""] if again else []), room
        part.append(line)
        left -= bytes_of(line) + 1
    yield "\n".join(part)


def _short_lines(line: str, room: int) -> Iterator[str]:
    """Yield a line, or one that is longer than a page in several, each of them quoted where it is."""
    # A character has four bytes at most.
    longest = max(1, (room - len(_QUOTE)) // 4)
    quote = _QUOTE if line.startswith(_QUOTE) else ""
    if bytes_of(line) < room:
        yield line
        return
    for start in range(len(quote), len(line), longest):
        yield quote + line[start : start + longest]
