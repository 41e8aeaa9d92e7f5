"""Find the terms of a question in a text, and cut a snippet of one line around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import takewhile

from mdmem.store.index.analysis import spans

Span = tuple[int, int, frozenset[str]]
"""A part of a text with some terms: its start, its end, and the terms."""


def finder(terms: Iterable[str]) -> Callable[[str], list[Span]]:
    """Return a function that finds the parts of a text that contain some of the terms."""
    return _finder(frozenset(terms))


@lru_cache(maxsize=8)
def _finder(wanted: frozenset[str]) -> Callable[[str], list[Span]]:
    # Analyse only words that begin like one of the terms, which is ten times as fast. Stemming may turn `y` into `i`.
    beginnings = (re.escape(term[: max(1, min(4, len(term) - 1))]) for term in wanted if term.isascii())
    starts = sorted({re.sub("[iy]", "[iy]", beginning) for beginning in beginnings})
    likely = re.compile(rf"(?:{'|'.join([*starts, '[?]'])})\S*".encode())

    # Cached, because an answer may cut the same few bodies several times in other lengths.
    @lru_cache(maxsize=16)
    def find(text: str) -> list[Span]:
        found, end = [], 0
        # Encode each character as one byte, with `?` for characters that are not ASCII.
        for hit in likely.finditer(text.encode("ascii", "replace").lower()):
            start = max(end, *(text.rfind(blank, end, hit.start()) + 1 for blank in " \n"))
            end = hit.end()
            for first, last, token in spans(text[start:end]):
                terms = wanted.intersection((*token.words, *token.wholes))
                if terms:
                    found.append((start + first, start + last, terms))
        return found

    return find


_ELLIPSIS = "…"
# The pattern begins with the preceding line end, since searching for `\n` is faster than for `^`.
_MARKUP = re.compile(
    r"\n(?=[ \t]*[`~#>=*-])(?: {0,3}(?:`{3,}|~{3,})[^\n]*"
    r"| {0,3}#{1,6}[ \t]+"
    r"|[ \t]*>[ \t]?"
    r"| {0,3}(?:={2,}|-{3,}|\*{3,})[ \t]*(?=\n|\Z))"
)
# A Markdown link. Only its text is kept, since its address would fill the line.
# The lengths are limited, since a long line of `[x](` would be read to its end for each of them.
_LINK = re.compile(r"!?\[([^\]\n]{1,1000})\]\([^)\n]{0,1000}\)")


def snippet(text: str, terms: Iterable[str], *, width: int = 200) -> str:
    """Return at most `width` characters of plain text around the part with most terms, else the text's beginning."""
    unlinked = _LINK.sub(r"\1", unicodedata.normalize("NFC", text))
    # Remove `**` and backquotes last. Otherwise the text after them could look like markup at the start of a line.
    line = " ".join(_MARKUP.sub("\n", f"\n{unlinked}").replace("**", "").replace("`", "").split())
    if len(line) <= width:
        return line
    limit = width - 2 * len(_ELLIPSIS)
    start, end = _densest(finder(terms)(line), limit)
    # Put the part in the middle, but use the full limit at the beginning and the end of the line.
    left = max(0, min(start - (limit - (end - start)) // 2, len(line) - limit))
    if left > 0:
        space = line.find(" ", left - 1, start)
        left = space + 1 if space >= 0 else left
    right = min(len(line), left + limit)
    if right < len(line):
        space = line.rfind(" ", max(end, left + 1), right + 1)
        right = space if space >= 0 else right
    return f"{_ELLIPSIS if left else ''}{line[left:right].strip()}{_ELLIPSIS if right < len(line) else ''}"


def _densest(found: Sequence[Span], limit: int) -> tuple[int, int]:
    """Return the start and end of the part of at most `limit` characters with most terms, then with most matches."""
    best, stretch = (0, 0), (0, 0)
    for first, (start, _, _) in enumerate(found):
        inside = list(takewhile(lambda span: span[1] - start <= limit, found[first : first + limit]))  # noqa: B023 - used at once
        rank = len(frozenset().union(*(terms for _, _, terms in inside))), len(inside)
        if rank > best:
            best, stretch = rank, (start, inside[-1][1])
    return stretch
