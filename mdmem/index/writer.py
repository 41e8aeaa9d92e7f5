"""Writing a generation: all documents anew, or changes on top of another."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from mdmem.index.fields import SCORED
from mdmem.index.manifest import Manifest
from mdmem.index.protocol import IndexDocument, Progress, Read
from mdmem.index.segments import Pool, Segment, file_of
from mdmem.index.store import link_files, new_generation, seal
from mdmem.index.terms import lengths_of, terms_of

MAX_SEGMENTS = 6
"""Every segment costs each term of a question a look-up; past this many, all but the largest become one."""

DEAD_SHARE = 0.3
"""A segment with more dead documents than this is written anew."""

# So many documents are held in memory, or a quarter of all where that is more: a look-up in four segments is no cost.
_TOGETHER, _PARTS = 16_000, 4


class Row(NamedTuple):
    """What the manifest holds of one passage of a document; without a key of a dead one."""

    key: str | None
    digest: str | None
    lengths: Sequence[int]


_DEAD = Row(None, None, (0,) * len(SCORED))


def rebuild(folder: Path, keys: Sequence[str], read: Read, progress: Progress | None = None) -> Manifest:
    """Write a generation of the documents of these keys, which are in order, and nothing else."""
    told, segments = count(1), []
    most = max(_TOGETHER, len(keys) // _PARTS)
    with new_generation(folder) as path, _frozen():
        for start in range(0, max(1, len(keys)), most):
            pool = Pool()
            documents = _counted(read(keys[start : start + most]), told, len(keys), progress)
            segments.append(_written(path, pool, _taken_in(pool, documents, [])))
        return _manifest(path, segments)


@contextmanager
def _frozen() -> Iterator[None]:
    """Keep the garbage collector from walking through all entries again and again: a tenth of the time."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _counted(
    documents: Iterable[IndexDocument], done: Iterator[int], total: int, progress: Progress | None
) -> Iterator[IndexDocument]:
    """Yield documents, and report after each how many are done."""
    for document in documents:
        yield document
        if progress is not None:
            progress(next(done), total)


def extend(folder: Path, old: Manifest, drop: frozenset[str], documents: Iterable[IndexDocument]) -> Manifest:
    """Write a generation that differs from an old one in these documents."""
    segments = _segments(old, drop)
    merged = _to_merge(segments)
    kept = [segment for segment in segments if segment not in merged]
    pool = Pool()
    rows = _taken_in(pool, documents, [])
    with ExitStack() as stack:
        # All are opened, so that a broken one is found by who can write it anew.
        for segment in segments:
            opened = stack.enter_context(closing(Segment(folder / old.generation, segment.name, len(segment.rows))))
            if segment in merged:
                rows += _carried(pool, segment, opened, len(rows))
    with new_generation(folder) as path:
        link_files(folder / old.generation, path, [file_of(segment.name) for segment in kept])
        return _manifest(path, [*kept, _written(path, pool, rows)])


class _Rows(Struct, frozen=True, eq=False):
    """A segment's name, and what the manifest holds of its documents."""

    name: str
    rows: Sequence[Row]

    @property
    def is_due(self) -> bool:
        return sum(row.key is None for row in self.rows) > DEAD_SHARE * len(self.rows)


def _segments(old: Manifest, drop: frozenset[str]) -> list[_Rows]:
    lengths = zip(*(old.lengths[name] for name in SCORED), strict=True)
    rows = map(Row._make, zip(old.keys, old.digests, lengths, strict=True))
    living = iter([_DEAD if row.key in drop else row for row in rows])
    return [_Rows(name, list(islice(living, count))) for name, count in old.segments]


def _to_merge(segments: Sequence[_Rows]) -> list[_Rows]:
    largest = max((len(segment.rows) for segment in segments), default=0)
    small = [segment for segment in segments if len(segment.rows) < largest]
    # Large ones stay: to write one anew takes as long as all changes since.
    merged = [segment for segment in small if 2 * len(segment.rows) < largest] or small
    crowded = len(segments) >= MAX_SEGMENTS
    return [segment for segment in segments if segment.is_due or (crowded and segment in merged)]


def _taken_in(pool: Pool, documents: Iterable[IndexDocument], rows: list[Row]) -> list[Row]:
    for document in documents:
        for terms in terms_of(document):
            for field, counts in terms.items():
                pool.add(len(rows), field, counts)
            rows.append(Row(document.key, document.digest, lengths_of(terms)))
    return rows


def _carried(pool: Pool, segment: _Rows, opened: Segment, start: int) -> list[Row]:
    """Add the postings of a segment's live documents under numbers from `start` on, and return their rows."""
    living = [number for number, row in enumerate(segment.rows) if row.key is not None]
    renumbered = {number: start + place for place, number in enumerate(living)}
    for field, term, postings in opened.contents():
        carried = [(renumbered[number], count) for number, count in zip(*postings, strict=True) if number in renumbered]
        if carried:
            pool.add_term(field, term, carried)
    return [segment.rows[number] for number in living]


def _written(path: Path, pool: Pool, rows: Sequence[Row]) -> _Rows:
    return _Rows(pool.write(path, len(rows)), rows)


def _manifest(path: Path, segments: Sequence[_Rows]) -> Manifest:
    rows = [row for segment in segments for row in segment.rows]
    keys, digests, sizes = zip(*rows, strict=True) if rows else ((), (), ())
    columns = zip(*sizes, strict=True) if rows else [()] * len(SCORED)
    named = [(segment.name, len(segment.rows)) for segment in segments]
    lengths = dict(zip(SCORED, map(list, columns), strict=True))
    return Manifest(path.name, seal(path), named, list(keys), list(digests), lengths)
