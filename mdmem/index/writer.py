"""Writing a generation: segments in the format of Whoosh's codec, all documents anew or changes on top of another."""

import os
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from whoosh.codec.whoosh3 import W3Codec, W3FieldWriter, W3LeafMatcher, W3Segment, W3TermInfo, W3TermsReader
from whoosh.formats import Existence

from mdmem.index import plain_pickle
from mdmem.index.damage import DamagedIndexError
from mdmem.index.manifest import Manifest
from mdmem.index.protocol import IndexDocument
from mdmem.index.storage import OwnedStorage
from mdmem.index.store import link_files, new_generation, seal
from mdmem.index.terms import SCORED, lengths_of, terms_of

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
        while matcher.is_active():
            numbers.append(matcher.id())
            frequencies.append(matcher.weight())
            matcher.next()
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

    def _read_data(self) -> None:
        content = self._postfile.get(self._dataoffset, self._nextoffset - self._dataoffset)
        if self._compression:
            inflater = zlib.decompressobj()
            content = inflater.decompress(content, _LARGEST_BLOCK)
            if not inflater.eof:
                raise DamagedIndexError("a block of the index is torn, or larger than any block")
        self._data = plain_pickle.loads(content)
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


MAX_SEGMENTS = 6
"""Every segment costs each term of a question a look-up; past this many, all but the largest become one."""

DEAD_SHARE = 0.3
"""A segment with more dead documents than this is written anew."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the manifest holds of one document."""

    key: str
    digest: str
    lengths: tuple[int, ...]


_DEAD = (None, None, (0,) * len(SCORED))


def rebuild(folder: Path, documents: Iterable[IndexDocument]) -> Manifest:
    """Write a generation of these documents and nothing else."""
    with new_generation(folder) as path:
        pool = Pool()
        rows = _taken_in(pool, documents)
        return _manifest(path, [_written(path, pool, rows)])


def extend(folder: Path, old: Manifest, drop: frozenset[str], documents: Iterable[IndexDocument]) -> Manifest:
    """Write a generation that differs from an old one in these documents."""
    segments = _segments(old, drop)
    merged = _to_merge(segments)
    kept = [segment for segment in segments if segment not in merged]
    pool = Pool()
    rows = _taken_in(pool, documents)
    with _storage(folder / old.generation) as source:
        # All are opened, so that a broken one is found by who can write it anew.
        opened = {segment.name: Segment(source, segment.name, len(segment.rows)) for segment in segments}
        for segment in merged:
            rows += _carried(pool, segment, opened[segment.name], len(rows))
    with new_generation(folder) as path:
        link_files(folder / old.generation, path, [name for segment in kept for name in files_of(segment.name)])
        return _manifest(path, [*kept, _written(path, pool, rows)])


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """A segment's name, and what the manifest holds of its documents; none stands for a dead one."""

    name: str
    rows: Sequence[Row | None]

    @property
    def is_due(self) -> bool:
        return sum(row is None for row in self.rows) > DEAD_SHARE * len(self.rows)


@contextmanager
def _storage(path: Path) -> Iterator[OwnedStorage]:
    storage = OwnedStorage(path)
    try:
        yield storage
    finally:
        storage.release()


def _segments(old: Manifest, drop: frozenset[str]) -> list[_Rows]:
    rows = iter([row if row and row.key not in drop else None for row in _rows(old)])
    return [_Rows(name, list(islice(rows, count))) for name, count in old.segments]


def _to_merge(segments: Sequence[_Rows]) -> list[_Rows]:
    crowded = len(segments) >= MAX_SEGMENTS
    largest = max((len(segment.rows) for segment in segments), default=0)
    return [segment for segment in segments if segment.is_due or (crowded and len(segment.rows) < largest)]


def _taken_in(pool: Pool, documents: Iterable[IndexDocument]) -> list[Row]:
    rows = []
    for number, document in enumerate(documents):
        terms = terms_of(document)
        for field, counts in terms.items():
            for text, frequency in counts.items():
                pool.add(field, text.encode("utf-8", "surrogatepass"), number, frequency)
        rows.append(Row(document.key, document.digest, lengths_of(terms)))
    return rows


def _carried(pool: Pool, segment: _Rows, opened: Segment, start: int) -> list[Row]:
    """Add the postings of a segment's live documents under numbers from `start` on, and return their rows."""
    living = [number for number, row in enumerate(segment.rows) if row]
    renumbered = {number: start + place for place, number in enumerate(living)}
    for field, term in opened.terms():
        numbers, frequencies = opened.postings(field, term) or ((), ())
        for number, frequency in zip(numbers, frequencies, strict=True):
            if number in renumbered:
                pool.add(field, term, renumbered[number], frequency)
    return [row for row in segment.rows if row]


def _written(path: Path, pool: Pool, rows: Sequence[Row]) -> _Rows:
    with _storage(path) as storage:
        return _Rows(pool.write(storage), rows)


def _rows(manifest: Manifest) -> list[Row | None]:
    lengths = zip(*(manifest.lengths[name] for name in SCORED), strict=True)
    columns = zip(manifest.keys, manifest.digests, lengths, strict=True)
    return [Row(key, digest, sizes) if key and digest is not None else None for key, digest, sizes in columns]


def _manifest(path: Path, segments: Sequence[_Rows]) -> Manifest:
    rows = [row for segment in segments for row in segment.rows]
    columns = [(row.key, row.digest, row.lengths) if row else _DEAD for row in rows]
    lengths = {name: [sizes[at] for _, _, sizes in columns] for at, name in enumerate(SCORED)}
    named = [(segment.name, len(segment.rows)) for segment in segments]
    keys, digests = [key for key, _, _ in columns], [digest for _, digest, _ in columns]
    return Manifest(path.name, seal(path), named, keys, digests, lengths)
