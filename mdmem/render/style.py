"""Define how to print a result: as text, with or without colours, or as Markdown; wrap lines for a terminal."""

from __future__ import annotations

import os
from textwrap import fill

from msgspec import Struct

from mdmem.model.finding import Severity
from mdmem.model.text import visible_text

# A placeholder for the escape character of our colours until the text is printed. It is random for each process, so
# that no text from a file, a commit or a client can contain it.
_SEALED = os.urandom(10).hex()
_HANGING = 2


class Style(Struct, frozen=True):
    """How to print a result: as Markdown, or as text, with colours if `color`.

    A colour is a placeholder at first; `sent` and `sent_as_is` turn it into an escape sequence. `shown` are the entries
    whose text is in the answer, so that lines that mention them do not repeat their titles.
    """

    color: bool = False
    is_markdown: bool = False
    shown: frozenset[str] = frozenset()

    def heading(self, text: str) -> str:
        """Return a heading inside an answer."""
        return f"## {text}" if self.is_markdown else self.bold(text)

    def foot(self, text: str) -> str:
        """Return a remark below an answer."""
        return f"_{text}_" if self.is_markdown else self.dim(text)

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
    """Return a text to print on a terminal, with our colours and with all other control characters escaped."""
    return visible_text(text).replace(_SEALED, "\x1b")


def sent_as_is(text: str) -> str:
    """Return a text to send to a program, with our colours and with control characters unchanged."""
    return text.replace(_SEALED, "\x1b")


def fitted(text: str, width: int) -> str:
    """Wrap lines that are wider than `width` columns at blanks, with a hanging indent; words are not broken."""
    lines = []
    for line in text.split("\n"):
        if len(line) <= width:
            lines.append(line)
            continue
        hanging = " " * min(len(line) - len(line.lstrip(" ")) + _HANGING, width // 2)
        lines.append(fill(line, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False))
    return "\n".join(lines)
