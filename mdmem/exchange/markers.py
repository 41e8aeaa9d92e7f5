"""The marks round what mdmem itself wrote into another tool's file, so that no import takes it back in."""

from __future__ import annotations

import re

from mdmem.setup.clients import own_lines

_MARKED = re.compile(
    r"^[ \t]*<!-- mdmem:begin\b[^\n]*-->[ \t]*\r?\n.*?(?:^[ \t]*<!-- mdmem:end\b[^\n]*-->[ \t]*\r?$\n?|\Z)",
    re.MULTILINE | re.DOTALL,
)


def marked(text: str, name: str) -> str:
    """Return a text between the marks of one export, which ends in a line break."""
    return f"<!-- mdmem:begin {name} -->\n{text.rstrip()}\n<!-- mdmem:end {name} -->\n"


def without_own(text: str) -> str:
    """Return a text without what stands between marks, and without the lines that `mdmem init` writes."""
    text = _MARKED.sub("", text)
    for lines in own_lines():
        for newline in ("\n", "\r\n"):
            text = text.replace(lines.replace("\n", newline), "")
    return text
