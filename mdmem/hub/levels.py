"""In which order the server looks for rows that may answer: those that hold most of a question's words come first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

from mdmem.dataclass import dataclass
from mdmem.hub.candidates import all_of, any_of
from mdmem.hub.rows import LARGE, lexeme, title_mark

ENOUGH = 800
"""So many rows are ranked: what holds fewer of the words than all of these is seldom among the first."""

# Rows that an intersection may walk through beyond the one of all words; words and intersections that are tried.
_WALKED, _WORDS, _COMBINED = 60_000, 8, 20


@dataclass(frozen=True, slots=True)
class Levels:
    """What to look for, in order; `is_all` says that whatever holds any of the words is found."""

    texts: tuple[str, ...]
    is_all: bool


def levels_of(terms: Sequence[str], wholes: Sequence[str], holders: Mapping[str, int], narrowed: str) -> Levels:
    """Return what to look for to find the best of many; `holders` say how many entries hold a word.

    `narrowed` is what each row must be, whatever it holds. `wholes` are identifiers, whose parts are among the terms.
    """
    known = sorted((term for term in terms if holders.get(term)), key=lambda term: (holders[term], term))
    anything = all_of((narrowed, any_of((*terms, *wholes, LARGE))))
    if sum(holders.get(term, 0) for term in {*terms, *wholes}) <= ENOUGH or not known:
        return Levels((anything,), is_all=True)
    rare, found = known[:_WORDS], list[str]()
    for number in range(len(rare), 0, -1):
        found.append(all_of((narrowed, _some(list(map(title_mark, rare)), number))))
        # Whoever holds so many of them holds one of the rarest: the server walks through these alone.
        walked = sum(holders[term] for term in rare[: len(rare) - number + 1])
        if walked <= _WALKED or number == len(rare):
            found.append(all_of((narrowed, _some(rare, number))))
    return Levels(tuple(found), is_all=False)


def _some(lexemes: Sequence[str], number: int) -> str:
    """Return the text of a `tsquery` for so many of some lexemes, the first combinations where they are many."""
    if number == 1:
        return any_of(lexemes)
    return f"({' | '.join(islice(_together(lexemes, number), _COMBINED))})"


def _together(lexemes: Sequence[str], number: int) -> Iterator[str]:
    return (f"({' & '.join(map(lexeme, chosen))})" for chosen in combinations(lexemes, number))
