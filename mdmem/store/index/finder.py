"""Where a text holds terms of a question: only what begins like one of them is analysed."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product

from mdmem.store.index.analysis import spans

Span = tuple[int, int, frozenset[str]]
"""Start, end, and which of the terms."""

# Words that one question's finder remembers.
_KEPT = 20_000
# Texts that are longer, of which what was found is remembered.
_LONG, _BODIES = 400, 16
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz")
_BLANK = re.compile(r"\s")
_REPLACED = re.compile(rb"\?+")


def finder(terms: Iterable[str]) -> Callable[[str], list[Span]]:
    """Return what finds the runs of a text that hold some of the terms."""
    return _finder(frozenset(terms))


# The same for the same terms, so that what was found in a text for them is known again.
@lru_cache(maxsize=8)
def _finder(wanted: frozenset[str]) -> Callable[[str], list[Span]]:
    beginnings = sorted({start for term in wanted if term.isascii() for start in _beginnings(term)})
    # Texts repeat their words, and a word in front of a comma is another chunk.
    known: dict[str, Sequence[Span]] = {}

    def held_in(chunk: str) -> Sequence[Span]:
        # Several threads may ask at once.
        found = known.get(chunk)
        if found is None:
            held = ((start, end, wanted.intersection((*one.words, *one.wholes))) for start, end, one in spans(chunk))
            found = [span for span in held if span[2]]
            if len(known) >= _KEPT:
                known.clear()
            known[chunk] = found
        return found

    def found_in(text: str) -> list[Span]:
        return [
            (start + first, start + last, held)
            for start, end in _chunks(text, beginnings)
            for first, last, held in held_in(text[start:end])
        ]

    # An answer is shaped in several lengths from the same few bodies, and looks at hundreds of titles between.
    known_bodies = lru_cache(maxsize=_BODIES)(found_in)

    def find(text: str) -> list[Span]:
        return known_bodies(text) if len(text) > _LONG else found_in(text)

    return find


def _beginnings(term: str) -> Iterator[str]:
    """Yield the first letters of whatever has this stem: an `e` may be ours, an `i` a `y`."""
    letters = term[: max(1, min(4, len(term) - 1))]
    yield from map("".join, product(*("iy" if letter in "iy" else letter for letter in letters)))


def _chunks(text: str, beginnings: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the parts between blanks that hold a beginning, or what is no ASCII; no run holds a blank."""
    end = 0
    for place, after in _places(text, beginnings):
        if after <= end:
            continue
        start = max(end, text.rfind(" ", end, place) + 1, text.rfind("\n", end, place) + 1)
        blank = _BLANK.search(text, after)
        end = blank.start() if blank else len(text)
        yield start, end


def _places(text: str, beginnings: Sequence[str]) -> Sequence[tuple[int, int]]:
    """Return where beginnings, in any case, and stretches that are no ASCII start and end, in their order."""
    # One byte for each letter, `?` for what is no ASCII.
    lowered, places = text.encode("ascii", "replace").lower(), list[tuple[int, int]]()
    if not text.isascii():
        stretches = (one.span() for one in _REPLACED.finditer(lowered))
        places += (one for one in stretches if not text[slice(*one)].isascii())
    for beginning in beginnings:
        sought = beginning.encode("ascii")
        at = lowered.find(sought)
        while at >= 0:
            # No word begins between two small letters, and of ten finds of `ap` nine stand there.
            if text[at] not in _SMALL or not at or text[at - 1] not in _SMALL:
                places.append((at, at + len(sought)))
            at = lowered.find(sought, at + 1)
    places.sort()
    return places
