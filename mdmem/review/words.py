"""Which words of a text changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from mdmem.review.model import Span

KEPT, TAKEN, PUT = " ", "-", "+"
# difflib takes time that grows with the product: beyond it the changed middle is told as one stretch.
_MANY = 4_000_000
_TOKEN = re.compile(r"\n[ \t]*\n\s*|\S+")
_PARAGRAPH = "\n\n"


def word_changes(before: str, after: str) -> tuple[Span, ...]:
    """Return a text as stretches of words that were kept, taken out or put in; where lines end does not count.

    A blank line parts paragraphs and counts as a word of its own. Texts of the same words give no span.
    """
    old, new = _words(before), _words(after)
    if old == new:
        return ()
    return tuple(_spans(old, new))


def _words(text: str) -> list[str]:
    return [_PARAGRAPH if token.isspace() else token for token in _TOKEN.findall(text.strip())]


def _spans(old: list[str], new: list[str]) -> Iterator[Span]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle = old[start : len(old) - end], new[start : len(new) - end]
    yield from _span(KEPT, old[:start])
    if len(middle[0]) * len(middle[1]) > _MANY:
        yield from (*_span(TAKEN, middle[0]), *_span(PUT, middle[1]))
    else:
        yield from _matched(*middle)
    yield from _span(KEPT, old[len(old) - end :])


def _matched(old: list[str], new: list[str]) -> Iterator[Span]:
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from _span(KEPT, old[first:last])
        else:
            yield from (*_span(TAKEN, old[first:last]), *_span(PUT, new[start:end]))


def _span(mark: str, words: list[str]) -> Iterator[Span]:
    if words:
        yield Span(mark, " ".join(words).replace(f" {_PARAGRAPH} ", _PARAGRAPH))


def _common(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))
