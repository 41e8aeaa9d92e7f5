"""The marks round what mdmem itself wrote into another tool's file, so that no import takes it back in."""

from __future__ import annotations

import re

from mdmem.setup.clients import FORMER_LINES, own_lines
from mdmem.setup.seal import BEGIN, END, without_regions

_LINE = re.compile(rf"^(?:{re.escape(BEGIN)} [^\n]*-->|{re.escape(END)})[ \t]*\r?\n?", re.MULTILINE)
_VISIBLE = re.compile(r"\S")
_RECORD = re.compile(rf"^{re.escape(BEGIN)} [0-9a-f]*: of (\S+);", re.MULTILINE)


def exported_from(text: str) -> str | None:
    """Return the address of the entry that an exported record is of, None for any other text."""
    found = _RECORD.search(text)
    return found[1] if found is not None else None


def without_marks(text: str) -> str:
    """Return an exported record without the marks round what was exported."""
    return _LINE.sub("", text)


def without_comments(text: str) -> str:
    """Return a text with blanks in place of its HTML comments, each line as long; one that nothing closes is text."""
    parts: list[str] = []
    at = 0
    # Where one is not closed, no later one is: a pattern would look for that from each of thousands.
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += (text[at:start], _VISIBLE.sub(" ", text[start : end + 3]))
        at = end + 3
    return "".join([*parts, text[at:]])


_LABEL = re.compile(r"\[[^\[\]]*\](?=\()")


def with_whole_labels(text: str) -> str:
    """Return a text with blanks for the line ends in labels of links, each character at its place."""
    if "](" not in text:
        return text
    return _LABEL.sub(lambda found: re.sub(r"\r?\n", lambda end: " " * len(end[0]), found[0]), text)


def without_own(text: str) -> str:
    """Return a text without what stands between marks, and without the lines that `mdmem init` writes."""
    text = FORMER_LINES.sub("", without_regions(text))
    for lines in own_lines():
        for newline in ("\n", "\r\n"):
            text = text.replace(lines.replace("\n", newline), "")
    return text
