"""Words and phrases in a text, found as a pattern that disregards case finds them, and without one.

To compile a pattern of forty words takes as long as to read ten entries with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")
# What such a pattern takes for an ASCII letter.
_EQUAL = str.maketrans("\u0130\u0131\u017f\u212a", "iisk")


def lowered(text: str) -> str:
    """Return a text in small letters, as far as they are ASCII, every letter at its place."""
    return text.lower() if text.isascii() else text.translate(_EQUAL).lower()


def words_in(text: str) -> list[str]:
    """Return the words of a text, with digits and underscores."""
    found: list[str] = _WORD.findall(text)
    return found


def holds_any(text: str, phrases: Iterable[str], *, begun: bool = False, ended: bool = False) -> bool:
    """Say whether a text holds one of some phrases between words.

    What it has `begun` with may go on as a longer word, what it has `ended` with may have begun as one.
    """
    return any(one in text and _stands_in(text, one, begun=begun, ended=ended) for one in phrases)


def begins_with(text: str, phrase: str) -> bool:
    """Say whether a text begins with a phrase, and no word goes on behind it."""
    return text.startswith(phrase) and not _is_of_word(text[len(phrase) : len(phrase) + 1])


def _stands_in(text: str, phrase: str, *, begun: bool, ended: bool) -> bool:
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if (ended or not _is_of_word(text[at - 1 : at])) and (begun or not _is_of_word(text[end : end + 1])):
            return True
        at = text.find(phrase, at + 1)
    return False


def _is_of_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
