"""Segments: parts of the index that are written in one go, two files each, in the format of Whoosh's codec."""

import os
import zlib
from array import array
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from whoosh.codec.whoosh3 import W3Codec, W3FieldWriter, W3LeafMatcher, W3Segment, W3TermInfo, W3TermsReader
from whoosh.formats import Existence

from mdmem.index.manifest import DamagedIndexError
from mdmem.index.storage import OwnedStorage, loads_plain

# A block of 128 postings takes 2 KiB at most.
_LARGEST_BLOCK = 1 << 16

# Whoosh keeps the frequency as the posting's weight at less cost than a value with it.
_FORMAT = Existence()

Postings = tuple[list[int], list[float]]


class Pool:
    """Postings in memory, grouped by term.

    Whoosh's own pool sorts a tuple for each posting and compares neighbours to find where terms end.
    Documents come in order, so that only terms need sorting: writing takes half the time.
    """

    def __init__(self) -> None:
        """Start without postings."""
        self._groups: dict[str, dict[bytes, tuple[array[int], array[float]]]] = {}

    def add(self, field: str, term: bytes, number: int, frequency: float) -> None:
        """Take in one posting; those of a term come by number."""
        groups = self._groups.get(field)
        if groups is None:
            groups = self._groups[field] = {}
        # A `setdefault` would make two arrays for each posting only to throw them away.
        group = groups.get(term)
        if group is None:
            group = groups[term] = array("I"), array("f")
        group[0].append(number)
        group[1].append(frequency)

    def write(self, storage: OwnedStorage) -> str:
        """Write the postings as a segment, and return its name."""
        name = os.urandom(8).hex()
        writer = W3FieldWriter(_CODEC, storage, _segment(name))
        for field, groups in sorted(self._groups.items()):
            writer.start_field(field, _Field)
            for term, (numbers, frequencies) in sorted(groups.items()):
                writer.start_term(term)
                for number, frequency in zip(numbers, frequencies, strict=True):
                    writer.add(number, frequency, b"", 0)
                writer.finish_term()
            writer.finish_field()
        writer.close()
        return name


class Segment:
    """A segment that is open for reading; where its files are broken, anything may be raised."""

    def __init__(self, storage: OwnedStorage, name: str, count: int) -> None:
        """Open its files, which the storage releases, and take how many documents it is to hold."""
        self._terms = _CODEC.terms_reader(storage, _segment(name))
        self._fields = frozenset(self._terms.indexed_field_names())
        self._count = count

    def postings(self, field: str, term: bytes) -> Postings | None:
        """Return the numbers of the documents whose field holds a term, and how often, none where none does."""
        if field not in self._fields or (field, term) not in self._terms:
            return None
        matcher = self._terms.matcher(field, term, _FORMAT)
        numbers: list[int] = []
        frequencies: list[float] = []
        for block in matcher.columns():
            numbers += block[0]
            frequencies += block[1]
        # An array takes nothing but numbers, so that a scorer meets none that it cannot count with.
        held, counted = array("I", numbers), array("d", frequencies)
        if held and not (max(held) < self._count and min(counted) > 0 and isfinite(sum(counted))):
            raise DamagedIndexError("the index names documents that it does not hold")
        return numbers, frequencies

    def lexicon(self, field: str, prefix: bytes) -> Iterator[bytes]:
        """Yield the field's terms that start with the prefix."""
        if field in self._fields:
            for name, term in self._terms.terms_from(field, prefix):
                if name != field or not term.startswith(prefix):
                    return
                yield term

    def terms(self) -> Iterator[tuple[str, bytes]]:
        """Yield every field with each of its terms."""
        yield from self._terms.terms()


def files_of(name: str) -> tuple[str, ...]:
    """Return the names of a segment's files."""
    return tuple(_segment(name).make_filename(ending) for ending in (W3Codec.TERMS_EXT, W3Codec.POSTS_EXT))


def _segment(name: str) -> Any:
    return W3Segment(_CODEC, "terms", segid=name)


class _Field:
    """What Whoosh's writer asks a field for."""

    format = _FORMAT


class _Blocks(W3LeafMatcher):  # type: ignore[misc]
    """The blocks of one term; Whoosh's own would unpickle what they hold with `pickle.loads`."""

    def columns(self) -> Iterator[tuple[Sequence[int], Sequence[float]]]:
        """Yield numbers and frequencies block by block: to step through the postings takes ten times as long."""
        while self.is_active():
            self._read_ids()
            self._read_weights()
            yield self._ids, self._weights
            self._next_block()

    def _read_data(self) -> None:
        content = self._postfile.get(self._dataoffset, self._nextoffset - self._dataoffset)
        if self._compression:
            inflater = zlib.decompressobj()
            content = inflater.decompress(content, _LARGEST_BLOCK)
            if not inflater.eof:
                raise DamagedIndexError("a block of the index is torn, or larger than any block")
        self._data = loads_plain(content)
        if len(self._data[0]) != self._blocklength:
            raise DamagedIndexError("a block of the index does not fit its header")


class _Terms(W3TermsReader):  # type: ignore[misc]
    """The terms of a segment; postings inside of a term, which Whoosh would unpickle, are never written."""

    def term_info(self, fieldname: str, tbytes: bytes) -> Any:
        """Return where the postings of a term lie."""
        content = self._tindex[self._keycoder(fieldname, tbytes)]
        if content[0]:
            raise DamagedIndexError("the index holds postings where it has none")
        return W3TermInfo.from_bytes(content)


class _Codec(W3Codec):  # type: ignore[misc]
    """Whoosh's codec, read as plain data."""

    def postings_reader(self, dbfile: Any, terminfo: Any, format_: Any, **_options: Any) -> _Blocks:
        """Return the postings of one term."""
        return _Blocks(dbfile, *terminfo.extent(), format_)

    def terms_reader(self, storage: Any, segment: Any) -> _Terms:
        """Return the terms of a segment."""
        name = segment.make_filename(self.TERMS_EXT)
        postings = segment.open_file(storage, self.POSTS_EXT)
        return _Terms(self, storage.open_file(name), storage.file_length(name), postings)


# Compressed lightly: the files are as small as at 3, and its checksums tell when a disk lied.
_CODEC = _Codec(compression=1)
