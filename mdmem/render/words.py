"""Small pieces of sentences."""

from __future__ import annotations

import textwrap


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun in the right form."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def entries(number: int) -> str:
    """Return a number of entries in words."""
    return count(number, "entry", "entries")


def indent(text: str, by: int = 2) -> str:
    """Return a text with every line that is not blank moved to the right."""
    return textwrap.indent(text, " " * by)
