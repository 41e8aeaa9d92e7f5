"""Find the terms of a question in a text, and cut one line out of the text around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product, takewhile

from mdmem.store.index.analysis import spans

Span = tuple[int, int, frozenset[str]]
"""Start, end, and the terms that are there."""


def finder(terms: Iterable[str]) -> Callable[[str], list[Span]]:
    """Return a function that finds the runs of a text that have some of the terms."""
    return _finder(frozenset(terms))


@lru_cache(maxsize=8)
def _finder(wanted: frozenset[str]) -> Callable[[str], list[Span]]:
    # Only words that begin like one of the terms are analysed, which takes a tenth of the time.
    beginnings = {re.escape(start) for term in wanted if term.isascii() for start in _beginnings(term)}
    likely = re.compile(rf"(?:{'|'.join([*sorted(beginnings), r'[?]'])})\S*".encode())

    # An answer is cut in several lengths from the same few bodies.
    @lru_cache(maxsize=16)
    def find(text: str) -> list[Span]:
        found, end = [], 0
        # One byte for each character, `?` for one that is not ASCII.
        for hit in likely.finditer(text.encode("ascii", "replace").lower()):
            start = max(end, *(text.rfind(blank, end, hit.start()) + 1 for blank in " \n"))
            end = hit.end()
            for first, last, token in spans(text[start:end]):
                terms = wanted.intersection((*token.words, *token.wholes))
                if terms:
                    found.append((start + first, start + last, terms))
        return found

    return find


def _beginnings(term: str) -> Iterator[str]:
    """Yield the first letters of the words with a stem: an `i` of the stem may be a `y`, and an `e` be its end."""
    letters = term[: max(1, min(4, len(term) - 1))]
    yield from map("".join, product(*("iy" if letter in "iy" else letter for letter in letters)))


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
