"""Where postings come from: documents in memory, or segments on disk."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from typing import Self

from mdmem.index.fields import Terms
from mdmem.index.manifest import reading
from mdmem.index.segments import Segment

# Postings, which are held in the weights of their terms as well.
_KEPT, _LEAST = 50_000, 64
# So many times as many numbers are gone through faster than those that are wanted are looked up.
_MANY = 16

Columns = tuple[Sequence[int], Sequence[float]]
"""Numbers of documents, in order, and how often the field of each holds a term.

Lists of numbers rather than of pairs: the garbage collector walks through pairs, a third of a question's time.
"""


class Weighed(Mapping[int, float]):
    """What documents weigh, in columns by number: of thousands no table is made."""

    def __init__(self, numbers: Sequence[int], weights: Sequence[float]) -> None:
        """Take both columns, in the order of the numbers."""
        self.numbers, self.weights = numbers, weights

    @classmethod
    def of(cls, held: Mapping[int, float]) -> Self:
        """Return what a table holds."""
        numbers = sorted(held)
        return cls(numbers, list(map(held.__getitem__, numbers)))

    def __getitem__(self, number: int) -> float:
        """Return what one weighs."""
        at = bisect_left(self.numbers, number)
        if at == len(self.numbers) or self.numbers[at] != number:
            raise KeyError(number)
        return self.weights[at]

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers."""
        return iter(self.numbers)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.numbers)


def table_of(held: Mapping[int, float]) -> dict[int, float]:
    """Return a table of its own of what documents weigh."""
    return dict(zip(held.numbers, held.weights, strict=True)) if isinstance(held, Weighed) else dict(held)


def held_by(among: frozenset[int], columns: Iterable[Columns]) -> Iterator[tuple[int, float]]:
    """Yield those of some numbers that columns hold, with how often."""
    for numbers, frequencies in columns:
        # To look a few up among thousands takes less than to go through those.
        for number in among.intersection(numbers) if len(numbers) < _MANY * len(among) else among:
            at = bisect_left(numbers, number)
            if at < len(numbers) and numbers[at] == number:
                yield number, frequencies[at]


class MemoryPostings:
    """Postings of documents that were analysed just now."""

    def __init__(self) -> None:
        """Start without documents."""
        self._postings: dict[tuple[str, str], tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))

    def add(self, number: int, terms: Terms, *, wanted: Collection[str] | None = None) -> None:
        """Take in a document, with `wanted` only what it holds of these terms."""
        for field, counts in terms.items():
            # A scan of thousands keeps what the question needs, where everything would take 100 MiB.
            for text in counts if wanted is None else counts.keys() & wanted:
                numbers, frequencies = self._postings[field, text]
                numbers.append(number)
                frequencies.append(counts[text])

    def postings(self, field: str, term: str) -> list[Columns]:
        """Return the postings of one term."""
        return [self._postings[field, term]] if (field, term) in self._postings else []

    def lexicon(self, field: str, prefix: str) -> Iterable[str]:
        """Return the field's terms that start with the prefix."""
        return [text for name, text in self._postings if name == field and text.startswith(prefix)]


class StoredPostings:
    """Postings of segments; every method raises `DamagedIndexError` where the files are broken."""

    def __init__(self, folder: Path, segments: Sequence[tuple[str, int]]) -> None:
        """Open the segments of a generation."""
        bases = accumulate((count for _, count in segments), initial=0)
        with reading(), ExitStack() as opened:
            self._segments: list[tuple[int, Segment]] = []
            for base, named in zip(bases, segments, strict=False):
                segment = Segment(folder, *named)
                opened.callback(segment.close)
                self._segments.append((base, segment))
            self.close = opened.pop_all().close
        self._known: dict[tuple[str, str], list[Columns]] = {}
        self._held = 0

    def postings(self, field: str, term: str) -> list[Columns]:
        """Return the postings of one term, segment by segment: those of a few questions are read once.

        After an edit the same words are counted in another corpus of the same postings.
        """
        found = self._known.get((field, term))
        if found is None:
            found = self._read(field, term)
            # A term that nothing holds takes as much as some numbers.
            size = _LEAST + sum(len(numbers) for numbers, _ in found)
            self._held += size
            if self._held > _KEPT:
                self._known, self._held = {}, size
            self._known[field, term] = found
        return list(found)

    def _read(self, field: str, term: str) -> list[Columns]:
        found: list[Columns] = []
        with reading():
            for base, segment in self._segments:
                if held := segment.postings(field, term):
                    numbers, frequencies = held
                    found.append(([base + number for number in numbers] if base else numbers, frequencies))
        return found

    def lexicon(self, field: str, prefix: str) -> list[str]:
        """Return the field's terms that start with the prefix."""
        with reading():
            return [term for _, segment in self._segments for term in segment.lexicon(field, prefix)]
