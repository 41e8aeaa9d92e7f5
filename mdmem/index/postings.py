"""Where postings come from: documents in memory, or a Whoosh index on disk."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from mdmem.index.damage import DamagedIndexError, reading
from mdmem.index.terms import Terms

Columns = tuple[Sequence[int], Sequence[float]]
"""Numbers of documents, and how often the field of each holds a term.

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


class WhooshPostings:
    """Postings of an opened Whoosh index; every method raises `DamagedIndexError` where the files are broken."""

    def __init__(self, reader: Any) -> None:
        """Take an index reader of Whoosh, which stays the caller's to close."""
        with reading():
            self._segments = tuple((segment, base, segment.doc_count_all()) for segment, base in reader.leaf_readers())

    def postings(self, field: str, term: str) -> list[Columns]:
        """Return the postings of one term, segment by segment."""
        with reading():
            return [
                _decoded(segment.postings(field, term), base, count)
                for segment, base, count in self._segments
                if (field, term) in segment
            ]

    def lexicon(self, field: str, prefix: str) -> list[str]:
        """Return the field's terms that start with the prefix."""
        with reading():
            return [
                text.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else text
                for segment, _, _ in self._segments
                if field in segment.schema
                for text in segment.expand_prefix(field, prefix)
            ]


def _decoded(matcher: Any, base: int, count: int) -> Columns:
    numbers: list[int] = []
    frequencies: list[float] = []
    while matcher.is_active():
        numbers.append(base + matcher.id())
        frequencies.append(matcher.weight())
        matcher.next()
    if numbers and not base <= numbers[0] <= numbers[-1] < base + count:
        raise DamagedIndexError("the index names documents that it does not hold")
    return numbers, frequencies
