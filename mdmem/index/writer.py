"""Writing a generation: all documents anew, or changes on top of another."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mdmem.index.fields import SCORED
from mdmem.index.manifest import Manifest
from mdmem.index.protocol import IndexDocument
from mdmem.index.segments import Pool, Segment, file_of
from mdmem.index.store import link_files, new_generation, seal
from mdmem.index.terms import lengths_of, terms_of

MAX_SEGMENTS = 6
"""Every segment costs each term of a question a look-up; past this many, all but the largest become one."""

DEAD_SHARE = 0.3
"""A segment with more dead documents than this is written anew."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the manifest holds of one passage of a document."""

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
    with ExitStack() as stack:
        # All are opened, so that a broken one is found by who can write it anew.
        for segment in segments:
            opened = stack.enter_context(closing(Segment(folder / old.generation, segment.name, len(segment.rows))))
            if segment in merged:
                rows += _carried(pool, segment, opened, len(rows))
    with new_generation(folder) as path:
        link_files(folder / old.generation, path, [file_of(segment.name) for segment in kept])
        return _manifest(path, [*kept, _written(path, pool, rows)])


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """A segment's name, and what the manifest holds of its documents; none stands for a dead one."""

    name: str
    rows: Sequence[Row | None]

    @property
    def is_due(self) -> bool:
        return sum(row is None for row in self.rows) > DEAD_SHARE * len(self.rows)


def _segments(old: Manifest, drop: frozenset[str]) -> list[_Rows]:
    rows = iter([row if row and row.key not in drop else None for row in _rows(old)])
    return [_Rows(name, list(islice(rows, count))) for name, count in old.segments]


def _to_merge(segments: Sequence[_Rows]) -> list[_Rows]:
    crowded = len(segments) >= MAX_SEGMENTS
    largest = max((len(segment.rows) for segment in segments), default=0)
    return [segment for segment in segments if segment.is_due or (crowded and len(segment.rows) < largest)]


def _taken_in(pool: Pool, documents: Iterable[IndexDocument]) -> list[Row]:
    rows: list[Row] = []
    for document in documents:
        for terms in terms_of(document):
            for field, counts in terms.items():
                pool.add(len(rows), field, counts)
            rows.append(Row(document.key, document.digest, lengths_of(terms)))
    return rows


def _carried(pool: Pool, segment: _Rows, opened: Segment, start: int) -> list[Row]:
    """Add the postings of a segment's live documents under numbers from `start` on, and return their rows."""
    living = [number for number, row in enumerate(segment.rows) if row]
    renumbered = {number: start + place for place, number in enumerate(living)}
    for field, term, (numbers, frequencies) in opened.contents():
        for number, frequency in zip(numbers, frequencies, strict=True):
            if number in renumbered:
                pool.add(renumbered[number], field, {term: frequency})
    return [row for row in segment.rows if row]


def _written(path: Path, pool: Pool, rows: Sequence[Row]) -> _Rows:
    return _Rows(pool.write(path, len(rows)), rows)


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
