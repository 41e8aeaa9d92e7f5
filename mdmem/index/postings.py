"""Where postings come from: documents in memory, or segments on disk."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path

from mdmem.index.fields import Terms
from mdmem.index.manifest import reading
from mdmem.index.segments import Segment

# Postings, which are held in the weights of their terms as well.
_KEPT, _LEAST = 50_000, 64

Columns = tuple[Sequence[int], Sequence[float]]
"""Numbers of documents, in order, and how often the field of each holds a term.

Lists of numbers rather than of pairs: the garbage collector walks through pairs, a third of a question's time.
"""


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
