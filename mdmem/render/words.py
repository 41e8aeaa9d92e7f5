"""Small pieces of sentences."""

from __future__ import annotations

from collections.abc import Sequence

# A link may lead nowhere, and a successor may have ended: that nothing replaced it is not known.
UNREPLACED = "no supersession here leads to an entry in force"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun in the right form."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def entries(number: int) -> str:
    """Return a number of entries in words."""
    return count(number, "entry", "entries")


def indent(text: str, by: int = 2) -> str:
    """Return a text with every line that is not blank moved to the right."""
    # As `textwrap` does, which is imported for as long as it takes to print an answer.
    return "".join(" " * by + line if line.strip() else line for line in text.splitlines(keepends=True))


_FEW_WINGS = 3


def unheld(words: Sequence[str], wings: Sequence[str]) -> str:
    """Return that some words are in no entry of the wings that were read."""
    of = f"of {' or '.join(wings)}" if 0 < len(wings) <= _FEW_WINGS else "searched"
    return f"In no entry {of}: {', '.join(words)}."
