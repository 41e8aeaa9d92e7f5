"""Writing a generation with Whoosh: all documents anew, or changes on top of another generation."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whoosh.index import FileIndex
from whoosh.reading import SegmentReader

from mdmem.index.bulk import BulkCodec, GroupedPool
from mdmem.index.fields import schema
from mdmem.index.generation import link_files, new_generation, seal
from mdmem.index.manifest import Manifest
from mdmem.index.protocol import IndexDocument
from mdmem.index.storage import OwnedStorage
from mdmem.index.terms import SCORED, lengths_of, terms_of

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
        with _writer(path, create=True) as writer:
            rows = [_add(writer, document) for document in documents]
            writer.commit(merge=False)
        return _manifest(path, rows)


def extend(folder: Path, old: Manifest, drop: frozenset[str], documents: Iterable[IndexDocument]) -> Manifest:
    """Write a generation that differs from an old one in these documents."""
    with new_generation(folder) as path:
        link_files(folder / old.generation, path)
        rows = [row if row and row.key not in drop else None for row in _rows(old)]
        segments = _segments(path, rows)
        merged = _to_merge(segments)
        with _writer(path) as writer:
            added = [_add(writer, document) for document in documents]
            # Only here does Whoosh learn of the dead: it would filter every posting of a segment that has some.
            for segment in merged:
                for number in segment.dead:
                    writer.delete_document(number)
            positions = {segment.position for segment in merged}
            writer.commit(mergetype=_merge(positions))
        kept = [row for segment in segments if segment.position not in positions for row in segment.rows]
        known = {row.key: row for row in (*rows, *added) if row}
        return _manifest(path, kept + [known[key] for key in _last_keys(path, len(kept))])


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of the index that Whoosh writes in one go."""

    position: int
    base: int
    rows: Sequence[Row | None]

    @property
    def dead(self) -> list[int]:
        return [self.base + offset for offset, row in enumerate(self.rows) if row is None]

    @property
    def is_due(self) -> bool:
        return len(self.dead) > DEAD_SHARE * len(self.rows)


@contextmanager
def _reader(path: Path) -> Iterator[Any]:
    storage = OwnedStorage(path)
    try:
        yield FileIndex(storage).reader()
    finally:
        storage.release()


def _segments(path: Path, rows: Sequence[Row | None]) -> list[_Segment]:
    with _reader(path) as reader:
        parts = [(base, part.doc_count_all()) for part, base in reader.leaf_readers()]
    return [_Segment(at, base, rows[base : base + count]) for at, (base, count) in enumerate(parts) if count]


def _to_merge(segments: Sequence[_Segment]) -> list[_Segment]:
    crowded = len(segments) >= MAX_SEGMENTS
    largest = max((len(segment.rows) for segment in segments), default=0)
    return [segment for segment in segments if segment.is_due or (crowded and len(segment.rows) < largest)]


def _merge(positions: set[int]) -> Callable[[Any, list[Any]], list[Any]]:
    def policy(writer: Any, segments: list[Any]) -> list[Any]:
        for position in sorted(positions):
            reader = SegmentReader(writer.storage, writer.schema, segments[position])
            writer.add_reader(reader)
            reader.close()
        return [segment for position, segment in enumerate(segments) if position not in positions]

    return policy


def _last_keys(path: Path, start: int) -> list[str]:
    """Return the keys of the segment that was just written, in its order."""
    with _reader(path) as reader:
        return [reader.stored_fields(number)["key"] for number in range(start, reader.doc_count_all())]


@contextmanager
def _writer(path: Path, *, create: bool = False) -> Iterator[Any]:
    storage = OwnedStorage(path)
    index = FileIndex.create(storage, schema()) if create else FileIndex(storage)
    # A compound file is copied into memory whenever it is opened, which takes 45 ms for 10,000 documents.
    # Compressed lightly: the files are as small as at 3, and its checksums tell when a disk lied.
    writer = index.writer(compound=False, codec=BulkCodec(compression=1))
    # Ours from the start: the pool is what `add_document` fills and `commit` empties, and nothing else looks at it.
    writer.pool = GroupedPool()
    try:
        yield writer
    finally:
        if not writer.is_closed:
            # Whatever made writing fail is on its way up already; the folder goes with it.
            with suppress(OSError, ValueError):
                writer.cancel()
        storage.release()


def _add(writer: Any, document: IndexDocument) -> Row:
    terms = terms_of(document)
    writer.add_document(key=document.key, **terms)
    return Row(document.key, document.digest, lengths_of(terms))


def _rows(manifest: Manifest) -> list[Row | None]:
    lengths = zip(*(manifest.lengths[name] for name in SCORED), strict=True)
    columns = zip(manifest.keys, manifest.digests, lengths, strict=True)
    return [Row(key, digest, sizes) if key and digest is not None else None for key, digest, sizes in columns]


def _manifest(path: Path, rows: Sequence[Row | None]) -> Manifest:
    columns = [(row.key, row.digest, row.lengths) if row else _DEAD for row in rows]
    lengths = {name: [sizes[at] for _, _, sizes in columns] for at, name in enumerate(SCORED)}
    return Manifest(
        path.name, seal(path), [key for key, _, _ in columns], [digest for _, digest, _ in columns], lengths
    )
