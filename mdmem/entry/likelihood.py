"""What is likely to answer, whatever was asked: a value, a name in code, what is new, code that is shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import fsum

from mdmem.regex import regex

Span = tuple[int, int]

Stated = Sequence[tuple[float, Sequence[int]]]
"""Of each kind that is likely to answer what it weighs, and where it stands."""

# Of the mean weight of a word of the question, by logistic regression over the passages of 174 questions about PEPs and
# KEPs, half of them kept back: a default, a version or a time; a name in code of several parts; that something is new;
# code. How rare a name is over all bodies brought no more than that it has parts.
_VALUED, _NAMED, _ADDED, SHOWING = 1.05, 0.6, 0.5, 1.05
_DEFAULTS = ("default", "unset", "omitted", "not set", "not specified")
_NEWS = (" new ", "introduc", "propos", " add ", " adds ", " added ", " adding ")
# What stands before is looked at behind the first sign: a pattern that begins with looking back takes twenty times as
# long, and to look for a few words is faster than a pattern of them.
_NUMBER = regex(
    r"[0-9](?<![a-uw-zA-UW-Z0-9_].)[0-9]*+"
    r"(?:\.[0-9]|\s?(?:%|(?:m?s|seconds?|minutes?|hours?|days?|months?|years?|bytes?|[KMG]i?B)\b))"
)
_COUNTS, _UNIT = ("two", "three", "five", "six", "ten"), regex(r"\s(?:year|month|release|minute|second|hour)")
_NAME = regex(r"`(?<![\w`)]`)`?(?=[^\W_]|[./@$\[-])(?=[^`\n]*+`)[^`\n]*?(?:[a-z][A-Z]|[_./:@\[(-])")
_CODE = regex(r"\n(?:[ \t]{2}|```|~~~)")


def likely(text: str) -> float:
    """Return how likely a passage is to answer by what it states and shows."""
    shown = SHOWING if "\n" in text and _CODE.search(text) else 0.0
    stated = _stated(text, (0, len(text)))
    return shown + fsum(weight for weight, places in stated if next(places, None) is not None)


def stated_in(line: str, span: Span) -> Stated:
    """Return where a part of a body, which is told in one line as a passage is, states what is likely to answer."""
    return tuple((weight, sorted(places)) for weight, places in _stated(line, span))


def most_stated(stated: Stated, start: int, end: int) -> float:
    """Return the most that a passage may have by what it states, which begins at a place or later, and ends so."""
    return fsum(weight for weight, places in stated if bisect_left(places, start) < bisect_left(places, end))


def _stated(text: str, span: Span) -> Iterator[tuple[float, Iterator[int]]]:
    numbers = (one.start() for one in _NUMBER.finditer(text, *span))
    yield _VALUED, chain(_found(text, _DEFAULTS, span), numbers, _counted(text, span))
    yield _NAMED, (one.start() for one in _NAME.finditer(text, *span))
    yield _ADDED, _found(text, _NEWS, span)


def _counted(text: str, span: Span) -> Iterator[int]:
    return (at for word in _COUNTS for at in _found(text, (word,), span) if _UNIT.match(text, at + len(word)))


def _found(text: str, words: Iterable[str], span: Span) -> Iterator[int]:
    start, end = span
    for word in words:
        at = text.find(word, start, end)
        while at >= 0:
            yield at
            at = text.find(word, at + 1, end)
