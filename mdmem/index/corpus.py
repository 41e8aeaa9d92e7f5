"""The documents that a question is put to, by number: their words, and how long their fields are."""

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Protocol

from mdmem.dataclass import dataclass
from mdmem.entry.fields import Searched, searched_as
from mdmem.index.fields import PASSAGE_FIELDS, SCORED
from mdmem.index.postings import Columns

LENGTH_SHARE = {name: 0.75 if name in (*searched_as(Searched.TITLE), "body") else 0.5 for name in SCORED}
"""How much of a frequency is counted by the length of the field; a knob of `scoring`."""

Norm = tuple[float, float, Mapping[int, int] | Sequence[int]]
"""What a document without the field has, how much more each word of it is, and its words by number."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a term weighs in each document that holds it, by the number of the document's first passage.

    `stated` is for the fields of the document, `wholes` for those that each passage has, with their `postings`; `times`
    is how often all documents together hold it.
    """

    stated: Mapping[int, float]
    wholes: Mapping[int, float]
    postings: Sequence[tuple[str, Mapping[int, float]]]
    times: float


class Postings(Protocol):
    """Which documents hold a term, by number."""

    def postings(self, field: str, term: str) -> Iterable[Columns]:
        """Return the numbers of the documents whose field holds the term, each with how often."""
        ...

    def lexicon(self, field: str, prefix: str) -> Iterable[str]:
        """Yield the field's terms that start with the prefix."""
        ...


@dataclass(frozen=True, slots=True)
class Totals:
    """What is known of all documents where a corpus holds those alone that a question may find.

    `lengths` are the words by field, `holders` how many documents hold a term, where the corpus may lack some of them.
    """

    documents: int
    passages: int
    lengths: Mapping[str, int]
    holders: Mapping[str, int]


@dataclass(frozen=True)
class Corpus:
    """The live passages by number; a number without a key is none, and its lengths are 0.

    The passages of a document follow one another; what is said of all of it stands with the first. `totals` are those
    of all documents, where not all are here.
    """

    keys: Sequence[str | None]
    lengths: Mapping[str, Sequence[int]]
    sources: tuple[Postings, ...]
    totals: Totals | None = None

    @cached_property
    def firsts(self) -> Sequence[int]:
        """The number of the first passage of the document that each number belongs to."""
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
        return len(self.keys) - self.keys.count(None) if self.totals is None else self.totals.passages

    @cached_property
    def count(self) -> int:
        """How many documents live."""
        return len(set(self.keys)) - (None in self.keys) if self.totals is None else self.totals.documents

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
        starts, sums = self._starts, [0, *accumulate(self.lengths[name])]
        return {start: sums[end] - sums[start] for start, end in pairwise((*starts, len(self.keys)))}

    @cached_property
    def _starts(self) -> Sequence[int]:
        return sorted(set(self.firsts))

    def postings(self, field: str, term: str) -> list[tuple[int, float]]:
        """Return number and frequency of the live passages that hold a term."""
        keys = self.keys
        columns = [columns for source in self.sources for columns in source.postings(field, term)]
        held = [pair for numbers, frequencies in columns for pair in zip(numbers, frequencies, strict=True)]
        return held if self.passages == len(keys) else [pair for pair in held if keys[pair[0]] is not None]


def _norm(name: str, lengths: Mapping[int, int] | Sequence[int], total: int, count: int) -> Norm:
    # Whole numbers up to here: their sum is the same in any order of the documents.
    share = LENGTH_SHARE[name]
    return 1.0 - share, share * count / total if total else 0.0, lengths
