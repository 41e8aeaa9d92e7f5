"""The marks round what mdmem itself wrote into another tool's file, so that no import takes it back in."""

from __future__ import annotations

from mdmem.exchange.seal import without_regions
from mdmem.setup.clients import own_lines


def without_own(text: str) -> str:
    """Return a text without what stands between marks, and without the lines that `mdmem init` writes."""
    text = without_regions(text)
    for lines in own_lines():
        for newline in ("\n", "\r\n"):
            text = text.replace(lines.replace("\n", newline), "")
    return text
