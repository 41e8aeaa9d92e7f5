"""In which line of a text a character stands."""

from bisect import bisect_left
from functools import lru_cache


def line_at(text: str, offset: int) -> int:
    """Return the number of the line that holds the character at an offset, from 1; a line ends at a line feed."""
    return bisect_left(_ends(text), offset) + 1


# One body may have thousands of findings, each of which would count the lines before it.
@lru_cache(maxsize=4)
def _ends(text: str) -> tuple[int, ...]:
    ends, at = [], text.find("\n")
    while at >= 0:
        ends.append(at)
        at = text.find("\n", at + 1)
    return tuple(ends)
