"""Which rows may answer: words, filters and wings are one intersection in the server's full text.

Of a million entries the rarity of the words tells which may answer best, without a look at most of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product

from mdmem.hub.reader import Reader
from mdmem.hub.rows import LARGE, SAMPLES, lexeme, title_mark, wing_mark

# More of them are compared with the row's own wing, which the intersection finds first.
_MARKED_WINGS = 32
EVERYTHING = 1 << 30

# So many are counted; of what more hold, a sample tells it well enough for a logarithm.
_COUNTED, _MOST_COUNTED = 2_000, 4_000
# What a word adds to a score, as a share of its rarity: in a body of common length, and in a title.
_GAINS = (0.0, 0.33, 0.72)
# A title has so few of an entry's words.
_TITLE_SHARE = 0.03
_MOST_WORDS = 5
_EXPECTED = (500, 3_000)
_ENOUGH, _MOST = 100, 8_000
# Entries in which words that begin as one does are looked for, and such words.
_GROWN_IN, _GROWN = 200, 12


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


def candidates(reader: Reader, asked: str, wings: Collection[int] | None, *, most: int) -> set[int]:
    """Return the ids of rows that the text of a `tsquery` finds, whichever come first where there are more."""
    named = None if wings is None else sorted(wings)
    return {row[0] for row in reader.rows("SELECT candidate(%s::tsquery, %s::int[], %s)", asked, named, most)}


def holders(reader: Reader, terms: Sequence[str], wings: Collection[int] | None) -> dict[str, int]:
    """Return how many entries of some wings hold each term, of common ones about; None are all that are seen."""
    found, asked = dict.fromkeys(terms, 0), list(terms)
    for mark, share in SAMPLES.items():
        sampled = {term: all_of((lexeme(mark), lexeme(term))) for term in asked}
        counts = dict(_counted(reader, sampled, wings, is_of_sample=True))
        found |= {term: max(found[term], share * number) for term, number in counts.items()}
        asked = [term for term, number in counts.items() if number == _MOST_COUNTED]
        if not asked:
            break
    rare = {term: lexeme(term) for term, number in found.items() if number < _COUNTED}
    return found | dict(_counted(reader, rare, wings))


def _counted(
    reader: Reader,
    asked: Mapping[str, str],
    wings: Collection[int] | None,
    *,
    most: int = _MOST_COUNTED,
    is_of_sample: bool = False,
) -> list[tuple[str, int]]:
    if not asked:
        return []
    found = reader.rows(
        "SELECT place, (SELECT count(*) FROM candidate(one::tsquery, %s::int[], %s, %s))"
        " FROM unnest(%s::text[]) WITH ORDINALITY AS asked (one, place) ORDER BY place",
        *(None if wings is None else sorted(wings), min(most, EVERYTHING), is_of_sample, list(asked.values())),
    )
    return [(term, count) for term, (_, count) in zip(asked, found, strict=True)]


def likely(
    reader: Reader, known: Mapping[str, int], wings: Collection[int] | None, *, documents: int, narrow: str = ""
) -> tuple[set[int], bool]:
    """Return the ids of the entries that may score best, and whether there are more that hold some of the terms.

    `known` says how many entries of the wings hold each term, `narrow` is the text of a `tsquery` that all must meet.
    """
    asked = levels(known, documents, share=_passing(reader, narrow, wings, documents))
    for number, level in enumerate(asked, start=1):
        found = candidates(reader, all_of((narrow, f"({level})")), wings, most=_MOST)
        if len(found) >= _ENOUGH or number == len(asked):
            return found, number < len(asked) or len(found) == _MOST
    return set(), False


def foremost(
    reader: Reader, known: Mapping[str, int], wings: Collection[int] | None, *, documents: int, narrow: str, most: int
) -> frozenset[int]:
    """Return the ids of entries that meet `narrow` and hold some of the terms: so many at least that may score best."""
    share, found = _passing(reader, narrow, wings, documents), set[int]()
    # One by one: without what was found before each is an easy question.
    for level in levels(known, documents, share=share, expected=(most, 4 * most)):
        found |= candidates(reader, all_of((narrow, f"({level})")), wings, most=most)
        if len(found) >= most:
            break
    return frozenset(found)


def _passing(reader: Reader, narrow: str, wings: Collection[int] | None, documents: int) -> float:
    """Return which share of the entries meets `narrow`."""
    if not narrow or not documents:
        return 1.0
    mark, one_of = next(iter(SAMPLES.items()))
    level = all_of((lexeme(mark), narrow))
    ((_, sampled),) = _counted(reader, {narrow: level}, wings, most=documents, is_of_sample=True)
    return one_of * sampled / documents


def levels(
    known: Mapping[str, int], documents: int, *, share: float = 1.0, expected: Sequence[int] = _EXPECTED
) -> list[str]:
    """Return the texts of a `tsquery` for the entries that may score best, for more of them, and for all.

    What an entry's score is about follows from which of the terms it holds, and which in its title; a level is all that
    reach a score which so many entries are expected to reach, of that share of them that meets the filters.
    """
    terms = sorted(known, key=lambda term: (known[term], term))[:_MOST_WORDS]
    if not terms:
        return []
    kinds = sorted(
        (
            _kind(places, [known[one] for one in terms], documents)
            for places in product(range(3), repeat=len(terms))
            if any(places)
        ),
        reverse=True,
    )
    found: list[str] = []
    for most in expected:
        so_far, taken = 0.0, list[tuple[int, ...]]()
        for _, number, places in kinds:
            if taken and share * (so_far + number) > most:
                break
            so_far += number
            taken.append(places)
        if len(taken) == len(kinds) and len(terms) == len(known):
            break
        found.append(_any_kind(terms, taken))
    return [*dict.fromkeys(found), " | ".join(map(lexeme, (*known, LARGE)))]


def _kind(places: tuple[int, ...], counts: Sequence[int], documents: int) -> tuple[float, float, tuple[int, ...]]:
    """Return what entries score that hold terms in such places, and how many such there may be."""
    score, number = 0.0, float(documents)
    for place, count in zip(places, counts, strict=True):
        share = min(1.0, count / documents) if documents else 0.0
        score += _GAINS[place] * math.log1p((documents - min(count, documents) + 0.5) / (count + 0.5))
        number *= (1.0 - share, share * (1.0 - _TITLE_SHARE), share * _TITLE_SHARE)[place]
    return score, number, places


def _any_kind(terms: Sequence[str], taken: Sequence[tuple[int, ...]]) -> str:
    least = list[tuple[int, ...]]()
    # Whatever is met by one that asks for less is met by one of these, which come first.
    for one in sorted(taken, key=sum):
        if not any(all(map(int.__le__, other, one)) for other in least):
            least.append(one)
    return " | ".join(f"({_held(terms, places)})" for places in sorted(least, key=taken.index))


def _held(terms: Sequence[str], places: Sequence[int]) -> str:
    held = zip(terms, places, strict=True)
    return all_of(lexeme(term if place == 1 else title_mark(term)) for term, place in held if place)


def terms_beginning(reader: Reader, begun: str, wings: Collection[int] | None, *, narrow: str = "") -> list[str]:
    """Return the terms that begin so in some entries of those that hold any, the commonest first."""
    ids = candidates(reader, all_of((narrow, f"{lexeme(begun)}:*")), wings, most=_GROWN_IN)
    return reader.terms_beginning(begun, ids, most=_GROWN) if ids else []
