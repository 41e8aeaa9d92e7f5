"""Which rows may answer: found by the server's full text, where words, filters and wings are one intersection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mdmem.hub.reader import Reader
from mdmem.hub.rows import LARGE, lexeme, wing_mark

# More of them are compared with the row's own wing, which the intersection finds first.
_MARKED_WINGS = 32
EVERYTHING = 1 << 30


def any_of(lexemes: Iterable[str]) -> str:
    """Return the text of a `tsquery` that finds the rows which hold any of some lexemes."""
    return f"({' | '.join(map(lexeme, lexemes))})"


def all_of(parts: Iterable[str]) -> str:
    """Return the text of a `tsquery` that finds the rows which each of some finds."""
    return " & ".join(part for part in parts if part)


def holding(terms: Iterable[str], wings: Collection[int]) -> str:
    """Return the text of a `tsquery` for the rows of some wings that hold any of some terms, or more than fit."""
    return all_of((within(wings), any_of((*terms, LARGE))))


def within(wings: Collection[int] | None) -> str:
    """Return what of a `tsquery` narrows to a few wings; nothing where they are many, or all."""
    return any_of(map(wing_mark, sorted(wings))) if wings and len(wings) <= _MARKED_WINGS else ""


def candidates(reader: Reader, levels: Sequence[str], wings: Collection[int] | None, *, most: int) -> dict[int, int]:
    """Return the ids of rows that a level finds, with that level, the first levels first, until there are enough."""
    rows = reader.rows(
        "SELECT id, level FROM candidate(%s::tsquery[], %s::int[], %s)",
        *(list(levels), None if wings is None else sorted(wings), most),
    )
    return dict(rows)
