"""Matches of a full text in columns, best first: of thousands a few are looked at one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Self, overload

from mdmem.store.index.protocol import Match


class MatchColumns(Sequence[Match]):
    """Matches in columns."""

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __init__(
        self, keys: Sequence[str] = (), scores: Sequence[float] = (), terms: Sequence[frozenset[str]] = ()
    ) -> None:
        """Take the three columns."""
        self.keys, self.scores, self.terms = keys, scores, terms

    @classmethod
    def of(cls, matches: Iterable[Match]) -> Self:
        """Return some matches, which are in their order."""
        return cls(*list(map(list, zip(*matches, strict=True)))[:3])

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Return the place of each key among them."""
        return dict(zip(self.keys, range(len(self.keys)), strict=True))

    def at(self, places: Sequence[int]) -> Self:
        """Return those at some places, in the order of these."""
        keys, scores, terms = self.keys.__getitem__, self.scores.__getitem__, self.terms.__getitem__
        return type(self)(list(map(keys, places)), list(map(scores, places)), list(map(terms, places)))

    def where(self, chosen: Iterable[bool]) -> Self:
        """Return those that are chosen, in their order."""
        are = list(chosen)
        keys, scores, terms = compress(self.keys, are), compress(self.scores, are), compress(self.terms, are)
        return type(self)(list(keys), list(scores), list(terms))

    def merged(self, other: Self) -> Self:
        """Return these and others, both with the best score first, in the order of their scores."""
        scores = [*self.scores, *other.scores]
        both = type(self)([*self.keys, *other.keys], scores, [*self.terms, *other.terms])
        return both.at(sorted(range(len(scores)), key=scores.__getitem__, reverse=True))

    def find(self, key: str) -> Match | None:
        """Return the match of a key, None where it does not match."""
        at = self.places.get(key)
        return None if at is None else self[at]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.keys)

    def __iter__(self) -> Iterator[Match]:
        """Yield them in order."""
        return map(Match, self.keys, self.scores, self.terms)

    def __eq__(self, other: object) -> bool:
        """Say whether another sequence has equal ones in the same order."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    @overload
    def __getitem__(self, at: int) -> Match: ...

    @overload
    def __getitem__(self, at: slice) -> Self: ...

    def __getitem__(self, at: int | slice) -> Match | Self:
        """Return one, or some of them."""
        if isinstance(at, slice):
            return type(self)(self.keys[at], self.scores[at], self.terms[at])
        return Match(self.keys[at], self.scores[at], self.terms[at])
