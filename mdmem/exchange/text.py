"""Blank out parts of a text that are not read: HTML comments, and what mdmem itself wrote into another tool's file."""

from __future__ import annotations

import re

from mdmem.setup.clients import COMMAND_LINES, FORMER_LINES, WINGS_LINE
from mdmem.setup.seal import BEGIN, END, without_regions

_MARKER = re.compile(rf"^(?:{re.escape(BEGIN)} [^\n]*-->|{re.escape(END)})[ \t]*\r?\n?", re.MULTILINE)
_EXPORTED = re.compile(rf"^{re.escape(BEGIN)} [0-9a-f]*: of (\S+);", re.MULTILINE)
_VISIBLE = re.compile(r"\S")
_LABEL = re.compile(r"\[[^\[\]]*\](?=\()")


def exported_from(text: str) -> str | None:
    """Return the address of the entry that an exported record was made from."""
    found = _EXPORTED.search(text)
    return found[1] if found is not None else None


def without_markers(text: str) -> str:
    """Return an exported record without the markers of the export."""
    return _MARKER.sub("", text)


def without_own(text: str) -> str:
    """Return a text without exported regions, and without the lines that `mdmem init` writes."""
    text = FORMER_LINES.sub("", without_regions(text))
    for lines in (COMMAND_LINES, WINGS_LINE):
        for newline in ("\n", "\r\n"):
            text = text.replace(lines.replace("\n", newline), "")
    return text


def without_comments(text: str) -> str:
    """Return a text with blanks for each HTML comment; every other character keeps its place."""
    parts: list[str] = []
    at = 0
    # A search for the end that fails once fails for every later start, so it ends the loop.
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += (text[at:start], _VISIBLE.sub(" ", text[start : end + 3]))
        at = end + 3
    return "".join([*parts, text[at:]])


def with_whole_labels(text: str) -> str:
    """Return a text with blanks for line breaks in the labels of links; every character keeps its place."""
    if "](" not in text:
        return text
    return _LABEL.sub(lambda found: re.sub(r"\r?\n", lambda end: " " * len(end[0]), found[0]), text)
