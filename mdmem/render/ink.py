"""Colour for a terminal; without it every text reads the same."""

from __future__ import annotations

from dataclasses import dataclass

from mdmem.finding import Severity


@dataclass(frozen=True, slots=True)
class Ink:
    """Puts ANSI colours round a text, or leaves it alone."""

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
        return f"\x1b[{code}m{text}\x1b[0m" if self.color else text
