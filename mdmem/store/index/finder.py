"""Find the places of a question's terms in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import product

from mdmem.store.index.analysis import spans

Span = tuple[int, int, frozenset[str]]
"""Start, end, and the terms that are there."""


def finder(terms: Iterable[str]) -> Callable[[str], list[Span]]:
    """Return a function that finds the runs of a text that have some of the terms."""
    return _finder(frozenset(terms))


@lru_cache(maxsize=8)
def _finder(wanted: frozenset[str]) -> Callable[[str], list[Span]]:
    # Only words that begin like one of the terms are analysed, which takes a tenth of the time.
    beginnings = {re.escape(start) for term in wanted if term.isascii() for start in _beginnings(term)}
    likely = re.compile(rf"(?:{'|'.join([*sorted(beginnings), r'[?]'])})\S*".encode())

    # An answer is cut in several lengths from the same few bodies.
    @lru_cache(maxsize=16)
    def find(text: str) -> list[Span]:
        found, end = [], 0
        # One byte for each character, `?` for one that is not ASCII.
        for hit in likely.finditer(text.encode("ascii", "replace").lower()):
            start = max(end, *(text.rfind(blank, end, hit.start()) + 1 for blank in " \n"))
            end = hit.end()
            for first, last, token in spans(text[start:end]):
                terms = wanted.intersection((*token.words, *token.wholes))
                if terms:
                    found.append((start + first, start + last, terms))
        return found

    return find


def _beginnings(term: str) -> Iterator[str]:
    """Yield the first letters of the words with a stem: an `i` of the stem may be a `y`, and an `e` be its end."""
    letters = term[: max(1, min(4, len(term) - 1))]
    yield from map("".join, product(*("iy" if letter in "iy" else letter for letter in letters)))
