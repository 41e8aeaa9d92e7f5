"""Where postings come from: documents in memory, or a Whoosh index on disk."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from mdmem.index.terms import Terms


class MemoryPostings:
    """Postings of documents that were analysed just now."""

    def __init__(self) -> None:
        """Start without documents."""
        self._postings: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)

    def add(self, number: int, terms: Terms, *, wanted: Collection[str] | None = None) -> None:
        """Take in a document; with `wanted`, only what it holds of these terms, which spares memory where thousands are scanned."""
        for field, counts in terms.items():
            for text in counts if wanted is None else counts.keys() & wanted:
                self._postings[field, text].append((number, counts[text]))

    def postings(self, field: str, term: str) -> Iterable[tuple[int, float]]:
        """Return number and frequency of each document whose field holds the term."""
        return self._postings.get((field, term), ())

    def lexicon(self, field: str, prefix: str) -> Iterable[str]:
        """Yield the field's terms that start with the prefix."""
        return (text for name, text in self._postings if name == field and text.startswith(prefix))


class WhooshPostings:
    """Postings of an opened Whoosh index."""

    def __init__(self, reader: Any) -> None:
        """Take an index reader of Whoosh, which stays the caller's to close."""
        self._segments = tuple(reader.leaf_readers())

    def postings(self, field: str, term: str) -> Iterator[tuple[int, float]]:
        """Yield number and frequency of each document whose field holds the term."""
        for segment, base in self._segments:
            if (field, term) in segment:
                matcher = segment.postings(field, term)
                while matcher.is_active():
                    yield base + matcher.id(), matcher.weight()
                    matcher.next()

    def lexicon(self, field: str, prefix: str) -> Iterator[str]:
        """Yield the field's terms that start with the prefix."""
        for segment, _base in self._segments:
            for text in segment.expand_prefix(field, prefix):
                yield text.decode("utf-8") if isinstance(text, bytes) else text
