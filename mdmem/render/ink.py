"""Colour for a terminal; without it every text reads the same."""

from __future__ import annotations

import os
from dataclasses import dataclass

from mdmem.entry.model import visible_text
from mdmem.finding import Severity

# What stands for the escape character in a colour of ours until it is sent: drawn for each process, so that no text of
# a file, a commit or a client can hold it.
_SEALED = os.urandom(10).hex()


@dataclass(frozen=True, slots=True)
class Ink:
    """Puts colours round a text, or leaves it alone; they are sealed until `sent` or `sent_as_is` lets them go."""

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
        """Return the text in the colour of what a change puts in."""
        return self._in("32", text)

    def removed(self, text: str) -> str:
        """Return the text in the colour of what a change takes out."""
        return self._in("31", text)

    def severity(self, severity: Severity, text: str) -> str:
        """Return the text in the colour of a severity."""
        return self._in({Severity.ERROR: "1;31", Severity.WARNING: "33", Severity.INFO: "36"}[severity], text)

    def _in(self, code: str, text: str) -> str:
        return f"{_SEALED}[{code}m{text}{_SEALED}[0m" if self.color else text


def sent(text: str) -> str:
    """Return a text as a terminal may have it: the colours of an ink as they are, every other control written out."""
    return visible_text(text).replace(_SEALED, "\x1b")


def sent_as_is(text: str) -> str:
    """Return a text with the colours of an ink and not one other character changed, for a program to read."""
    return text.replace(_SEALED, "\x1b")
