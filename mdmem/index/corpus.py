"""The documents that a question is put to, by number: their words, and how long their fields are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate, compress
from operator import sub
from typing import Any, Protocol, TypeVar

from msgspec import Struct, field

from mdmem.entry.fields import Searched, searched_as
from mdmem.index.fields import PASSAGE_FIELDS, SCORED
from mdmem.index.postings import Columns

LENGTH_SHARE = {name: 0.75 if name in (*searched_as(Searched.TITLE), "body") else 0.5 for name in SCORED}
"""How much of a frequency is counted by the length of the field; a knob of `scoring`."""

_Number = TypeVar("_Number", int, float)
# So few are looked up in a column faster than it is gone through.
_FEW_DEAD = 64

Norm = tuple[float, float, Mapping[int, int] | Sequence[int]]
"""What a document without the field has, how much more each word of it is, and its words by number."""


class Weights(Struct, frozen=True):
    """How much a term weighs in each document that holds it, by the number of the document's first passage.

    `stated` is for the fields of the document, `wholes` for those that each passage has; `postings` are those of both.
    `count` documents hold it, `times` in all; `columns` are what was made of these before, by what with.
    """

    stated: Mapping[int, float]
    wholes: Mapping[int, float]
    postings: Sequence[tuple[str, Sequence[Columns]]]
    count: int
    times: float
    columns: dict[float, Gains] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many postings there are."""
        return sum(len(numbers) for _, columns in self.postings for numbers, _ in columns)


class Gains(Struct, frozen=True):
    """What a term adds to the scores of the documents that hold it, by place: by its whole, and by what is stated."""

    places: Sequence[int]
    wholes: Sequence[float]
    stated_places: Sequence[int]
    stated: Sequence[float]


class Postings(Protocol):
    """Which documents hold a term, by number."""

    def postings(self, field: str, term: str) -> Iterable[Columns]:
        """Return the numbers of the documents whose field holds the term, each with how often."""
        ...

    def lexicon(self, field: str, prefix: str) -> Iterable[str]:
        """Yield the field's terms that start with the prefix."""
        ...


class Totals(Struct, frozen=True):
    """What is known of all documents where a corpus holds those alone that a question may find.

    `lengths` are the words by field, `holders` how many documents hold a term, where the corpus may lack some of them.
    """

    documents: int
    passages: int
    lengths: Mapping[str, int]
    holders: Mapping[str, int]


class Corpus(Struct, frozen=True, dict=True):
    """The live passages by number; a number without a key is none, and its lengths are 0.

    The passages of a document follow one another; what is said of all of it stands with the first. `totals` are those
    of all documents, where not all are here. `base` is the corpus that some were taken from, and others added to.
    """

    keys: Sequence[str | None]
    lengths: Mapping[str, Sequence[int]]
    sources: tuple[Postings, ...]
    totals: Totals | None = None
    base: Corpus | None = None

    @cached_property
    def firsts(self) -> Sequence[int]:
        """The number of the first passage of the document that each number belongs to."""
        if self.is_flat:
            return range(len(self.keys))
        found: list[int] = []
        first, last = 0, None
        for number, key in enumerate(self.keys):
            if key is None or key != last:
                first, last = number, key
            found.append(first)
        return found

    @cached_property
    def passages(self) -> int:
        """How many passages live."""
        return len(self.keys) - self._gone if self.totals is None else self.totals.passages

    @cached_property
    def count(self) -> int:
        """How many documents live."""
        return len(set(self.keys)) - bool(self._gone) if self.totals is None else self.totals.documents

    @cached_property
    def _gone(self) -> int:
        """How many numbers have no key: most often none has, which is told in a fifth of the time."""
        return 0 if all(self.keys) else self.keys.count(None)

    def passages_of(self, documents: Set[int]) -> frozenset[int]:
        """Return the numbers of the passages of documents, which are named by the first."""
        if self.is_flat:
            return frozenset(documents)
        firsts, found = self.firsts, list[int]()
        for first in documents:
            number = first
            while number < len(firsts) and firsts[number] == first:
                found.append(number)
                number += 1
        return frozenset(found)

    @property
    def is_flat(self) -> bool:
        """Whether each document is one passage."""
        return self.passages == self.count

    def norm(self, name: str) -> Norm:
        """Return what divides the frequencies of a field of a document, by the number of its first passage."""
        if name not in self._norms:
            self._norms[name] = _norm(name, self._whole(name), self._total(name), self.count)
        return self._norms[name]

    def part_norm(self, name: str) -> Norm:
        """Return what divides the frequencies of a field that passages have, by number."""
        if name not in self._part_norms:
            self._part_norms[name] = _norm(name, self.lengths[name], self._total(name), self.passages)
        return self._part_norms[name]

    def _total(self, name: str) -> int:
        return sum(self.lengths[name]) if self.totals is None else self.totals.lengths[name]

    @cached_property
    def weighed(self) -> dict[tuple[object, Sequence[str]], Weights]:
        """What was weighed already."""
        return {}

    @cached_property
    def _norms(self) -> dict[str, Norm]:
        return {}

    @cached_property
    def _part_norms(self) -> dict[str, Norm]:
        return {}

    def _whole(self, name: str) -> Mapping[int, int] | Sequence[int]:
        if name not in PASSAGE_FIELDS or self.is_flat:
            return self.lengths[name]
        starts, sums = self.starts, [0, *accumulate(self.lengths[name])]
        edges = [*map(sums.__getitem__, starts), sums[len(self.keys)]]
        return dict(zip(starts, map(sub, edges[1:], edges), strict=False))

    @cached_property
    def starts(self) -> Sequence[int]:
        """The number of the first passage of each document, dead ones too, by its place."""
        return range(len(self.keys)) if self.is_flat else sorted(set(self.firsts))

    @cached_property
    def names(self) -> Sequence[str | None]:
        """The key of each document by its place, of which none is left out: thousands are counted in lists."""
        return self.keys if self.is_flat else [self.keys[start] for start in self.starts]

    @cached_property
    def places(self) -> Mapping[int, int] | Sequence[int]:
        """The place of each document by the number of its first passage."""
        if self.is_flat:
            return range(len(self.keys))
        return {start: place for place, start in enumerate(self.starts)}

    @cached_property
    def in_order(self) -> Sequence[int]:
        """The places of the live documents by key."""
        if self.base is not None:
            return self._in_order_like(self.base)
        names: Sequence[Any] = self.names
        # Nearly always each document lives.
        live = compress(range(len(names)), names) if self._gone else range(len(names))
        return sorted(live, key=names.__getitem__)

    def _in_order_like(self, base: Corpus) -> Sequence[int]:
        names, place_of = self.names, self.places.__getitem__
        # A document keeps its number and not its place: of a dead one each passage has a place of its own.
        kept = map(place_of, map(base.starts.__getitem__, base.in_order))
        found = [place for place in kept if names[place] is not None]
        for place in range(bisect_left(self.starts, len(base.keys)), len(names)):
            found.insert(bisect_left(found, names[place] or "", key=lambda one: names[one] or ""), place)
        return found

    @cached_property
    def alive(self) -> frozenset[int]:
        """The places of the live documents."""
        return frozenset(self.in_order)

    def postings(self, field: str, term: str) -> list[Columns]:
        """Return the numbers of the live passages that hold a term, each with how often."""
        dead = self._dead
        columns = (columns for source in self.sources for columns in source.postings(field, term))
        return [_without(dead, *one) for one in columns] if dead else list(columns)

    @cached_property
    def _dead(self) -> frozenset[int]:
        """The numbers that have no key."""
        keys = self.keys
        return frozenset(number for number, key in enumerate(keys) if key is None) if self._gone else frozenset()


def _without(dead: frozenset[int], numbers: Sequence[int], frequencies: Sequence[float]) -> Columns:
    if len(dead) < _FEW_DEAD:
        found = ((number, bisect_left(numbers, number)) for number in dead)
        places = sorted(at for number, at in found if at < len(numbers) and numbers[at] == number)
        return _cut(numbers, places), _cut(frequencies, places)
    met = dead.intersection(numbers)
    if not met:
        return numbers, frequencies
    chosen = [number not in met for number in numbers]
    return list(compress(numbers, chosen)), list(compress(frequencies, chosen))


def _cut(column: Sequence[_Number], places: Sequence[int]) -> Sequence[_Number]:
    """Return a column without what stands at some places."""
    if not places:
        return column
    # A list or an array, either of which is copied at once.
    kept: Any = column[:]
    for place in reversed(places):
        del kept[place]
    found: Sequence[_Number] = kept
    return found


def _norm(name: str, lengths: Mapping[int, int] | Sequence[int], total: int, count: int) -> Norm:
    # Whole numbers up to here: their sum is the same in any order of the documents.
    share = LENGTH_SHARE[name]
    return 1.0 - share, share * count / total if total else 0.0, lengths
