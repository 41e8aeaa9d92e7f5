"""Cut one line out of a text around the words of a question."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import takewhile

from mdmem.store.index.finder import Span, finder

_ELLIPSIS = "…"
# The pattern begins with the end of the line before, which is found faster than the start of a line.
_MARKUP = re.compile(
    r"\n(?=[ \t]*[`~#>=*-])(?: {0,3}(?:`{3,}|~{3,})[^\n]*"
    r"| {0,3}#{1,6}[ \t]+"
    r"|[ \t]*>[ \t]?"
    r"| {0,3}(?:={2,}|-{3,}|\*{3,})[ \t]*(?=\n|\Z))"
)
# A link's address would take up the line, and a reader sees only its text.
_LINK = re.compile(r"!?\[([^\]\n]+)\]\([^)\n]*\)")


def snippet(text: str, terms: Collection[str], *, width: int = 200) -> str:
    """Return at most `width` characters of plain text around the densest match, cut between words.

    Without a match it is the text's start.
    """
    return _snippet(text, frozenset(terms), width)


@lru_cache(maxsize=64)
def _snippet(text: str, terms: frozenset[str], width: int) -> str:
    line = " ".join(_plain(unicodedata.normalize("NFC", text)).split())
    if len(line) <= width:
        return line
    room = width - 2 * len(_ELLIPSIS)
    start, end = _densest(finder(terms)(line), room)
    return _cut(line, start, end, room)


def _plain(text: str) -> str:
    """Return a text without Markdown's marks."""
    unlinked = _LINK.sub(r"\1", text) if "](" in text else text
    # The marks within a line go last, so that none of them turns the text after it into the start of a line.
    return _MARKUP.sub("\n", f"\n{unlinked}").replace("**", "").replace("`", "")


def _densest(found: Sequence[Span], room: int) -> tuple[int, int]:
    """Return start and end of the stretch with most different terms, then most matches, then the earliest."""
    best, stretch = (0, 0), (0, 0)
    for first, (start, _, _) in enumerate(found):
        inside = list(takewhile(lambda span: span[1] - start <= room, found[first : first + room]))  # noqa: B023 - used at once
        rank = len(frozenset().union(*(terms for _, _, terms in inside))), len(inside)
        if rank > best:
            best, stretch = rank, (start, inside[-1][1])
    return stretch


def _cut(line: str, start: int, end: int, room: int) -> str:
    """Return the words around a stretch, with an ellipsis on each side that was cut."""
    # The stretch is in the middle, unless that would leave the line short at an end.
    left = max(0, min(start - (room - (end - start)) // 2, len(line) - room))
    if left > 0:
        space = line.find(" ", left - 1, start)
        left = space + 1 if space >= 0 else left
    right = min(len(line), left + room)
    if right < len(line):
        space = line.rfind(" ", max(end, left + 1), right + 1)
        right = space if space >= 0 else right
    return f"{_ELLIPSIS if left else ''}{line[left:right].strip()}{_ELLIPSIS if right < len(line) else ''}"
