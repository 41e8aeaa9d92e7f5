"""Colour texts for a terminal, and wrap their lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width

from msgspec import Struct

from mdmem.model.finding import Severity
from mdmem.model.text import visible_text

# This stands for the escape character in our colours until the text is printed. It is random for each process, so that
# no text of a file, a commit or a client can contain it.
_SEALED = os.urandom(10).hex()
_COLOR = re.compile(rf"{_SEALED}\[[0-9;]+m")
_HANGING = 2


class Ink(Struct, frozen=True):
    """Colours a text, or leaves it plain; `sent` and `sent_as_is` turn the marks into escape sequences."""

    color: bool = False

    def bold(self, text: str) -> str:
        """Return the text in bold."""
        return self._in("1", text)

    def dim(self, text: str) -> str:
        """Return the text in a faint colour."""
        return self._in("2", text)

    def warn(self, text: str) -> str:
        """Return the text in the colour of a warning."""
        return self._in("33", text)

    def added(self, text: str) -> str:
        """Return the text in the colour of an addition."""
        return self._in("32", text)

    def removed(self, text: str) -> str:
        """Return the text in the colour of a removal."""
        return self._in("31", text)

    def severity(self, severity: Severity, text: str) -> str:
        """Return the text in the colour of a severity."""
        return self._in({Severity.ERROR: "1;31", Severity.WARNING: "33", Severity.INFO: "36"}[severity], text)

    def _in(self, code: str, text: str) -> str:
        return f"{_SEALED}[{code}m{text}{_SEALED}[0m" if self.color else text


def sent(text: str) -> str:
    """Return a text for a terminal: with our colours, and with every other control character escaped."""
    return visible_text(text).replace(_SEALED, "\x1b")


def sent_as_is(text: str) -> str:
    """Return a text with our colours and no other character changed, for a program."""
    return text.replace(_SEALED, "\x1b")


def fitted(text: str, width: int) -> str:
    """Return a text with lines wrapped at blanks to a number of columns, and continued with an indent.

    A word that is wider than the line, such as an address, stays whole.
    """
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def fitted_page(text: str, width: int) -> str:
    """Return a page of Markdown with its paragraphs wrapped to a number of columns.

    Tables and code stay as they are.
    """
    return "\n".join(_fitted_page(text, width))


def _fitted_page(text: str, width: int) -> Iterator[str]:
    paragraph: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_fence = line.startswith("```")
        is_kept = is_code or is_fence or not line.strip() or line.startswith(_KEPT)
        if paragraph and (is_kept or line.startswith(_BEGINNING)):
            yield from _paragraph(paragraph, width)
            paragraph = []
        if is_kept:
            yield line
        else:
            paragraph.append(line)
        is_code ^= is_fence
    yield from _paragraph(paragraph, width) if paragraph else ()


# A line that begins so is not part of a paragraph, or starts a new one.
_KEPT = ("    ", "|", "#")
_BEGINNING = ("- ", "* ")


def _paragraph(lines: Sequence[str], width: int) -> Iterator[str]:
    first, *others = lines
    hanging = _HANGING if first.startswith(_BEGINNING) else 0
    return _broken(" ".join([first, *(line.lstrip(" ") for line in others)]), width, hanging)


def _broken(line: str, width: int, more: int = _HANGING) -> Iterator[str]:
    if len(line) <= width // 2 or _columns(line) <= width:
        yield line
        return
    begun = len(line) - len(line.lstrip(" "))
    hanging = " " * min(begun + more, width // 2)
    current, used = line[:begun], begun
    for gap, word in _WORDS.findall(line[begun:]):
        wide = _columns(word)
        if current.strip() and used + len(gap) + wide > width:
            yield current
            current, used, gap = hanging, len(hanging), ""
        current, used = f"{current}{gap}{word}", used + len(gap) + wide
    yield current


_WORDS = re.compile(r"( *)([^ ]+)")


def _columns(text: str) -> int:
    """Return the width of a text on a terminal."""
    text = _COLOR.sub("", text)
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)
