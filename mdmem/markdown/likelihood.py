"""What is likely to answer, whatever was asked: a value, a name in code, what is new, code that is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import fsum

# Of the mean weight of a word of the question, by logistic regression over the passages of 174 questions about PEPs and
# KEPs, half of them kept back: a default, a version or a time; a name in code of several parts; that something is new;
# code. How rare a name is over all bodies brought no more than that it has parts.
_VALUED, _NAMED, _ADDED, SHOWING = 1.05, 0.6, 0.5, 1.05
_DEFAULTS = ("default", "unset", "omitted", "not set", "not specified")
_NEWS = (" new ", "introduc", "propos", " add ", " adds ", " added ", " adding ")
# What stands before is looked at behind the first sign: a pattern that begins with looking back takes twenty times as
# long, and to look for a few words is faster than a pattern of them.
_NUMBER = re.compile(
    r"[0-9](?<![a-uw-zA-UW-Z0-9_].)[0-9]*+"
    r"(?:\.[0-9]|\s?(?:%|(?:m?s|seconds?|minutes?|hours?|days?|months?|years?|bytes?|[KMG]i?B)\b))"
)
_COUNTS, _UNIT = ("two", "three", "five", "six", "ten"), re.compile(r"\s(?:year|month|release|minute|second|hour)")
_NAME = re.compile(r"`(?<![\w`)]`)`?(?=[^\W_]|[./@$\[-])(?=[^`\n]*+`)[^`\n]*?(?:[a-z][A-Z]|[_./:@\[(-])")
_CODE = re.compile(r"\n(?:[ \t]{2}|```|~~~)")


def likely(text: str) -> float:
    """Return how likely a passage is to answer by what it states and shows."""
    shown = SHOWING if "\n" in text and _CODE.search(text) else 0.0
    return shown + fsum(weight for weight, places in _stated(text) if next(places, None) is not None)


# A few bodies are shortened to several lengths.
@lru_cache(maxsize=64)
def stated_in(body: str) -> Sequence[tuple[float, Sequence[int]]]:
    """Return where a body states what is likely to answer, of each kind what it weighs and where it stands."""
    # As a passage is told: in one line.
    line = body.replace("\n", " ")
    return tuple((weight, sorted(places)) for weight, places in _stated(line))


def _stated(text: str) -> Iterator[tuple[float, Iterator[int]]]:
    yield _VALUED, chain(_found(text, _DEFAULTS), (one.start() for one in _NUMBER.finditer(text)), _counted(text))
    yield _NAMED, (one.start() for one in _NAME.finditer(text))
    yield _ADDED, _found(text, _NEWS)


def _counted(text: str) -> Iterator[int]:
    return (at for word in _COUNTS for at in _found(text, (word,)) if _UNIT.match(text, at + len(word)))


def _found(text: str, words: Iterable[str]) -> Iterator[int]:
    for word in words:
        at = text.find(word)
        while at >= 0:
            yield at
            at = text.find(word, at + 1)
