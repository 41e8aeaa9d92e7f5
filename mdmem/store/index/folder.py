"""The index on disk: opened, compared with the files, and written by one process at a time."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from whoosh.codec.whoosh3 import W3Codec
from whoosh.index import TOC, FileIndex
from whoosh.reading import SegmentReader
from whoosh.util.filelock import try_for
from whoosh.writing import MERGE_SMALL

from mdmem.disk import make_folder
from mdmem.store.index.protocol import IndexBusyError, IndexDocument
from mdmem.store.index.query import SCORED
from mdmem.store.index.schema import SCHEMA, fields_of
from mdmem.store.index.storage import CheckedStorage, MemoryStorage

LOCK = "lock"
_NAME = "MAIN"
# Megabytes of postings, so that none is put aside in a file meanwhile: commits come earlier.
_LIMIT = 512
# Seconds between two looks at a lock.
_LOOK = 0.05


class OpenIndex(Struct, eq=False):
    """A state of the index: the key of each document number, and the digest and number of each live key."""

    generation: int
    readers: Sequence[Any]
    keys: Sequence[str]
    held: Mapping[str, tuple[str, int]]

    def stale(self, live: Mapping[str, str]) -> list[str]:
        """Return the keys of the files that the index lacks as they are, in order."""
        held = self.held
        return sorted(key for key, digest in live.items() if key not in held or held[key][0] != digest)

    def numbers_beyond(self, live: Mapping[str, str]) -> frozenset[int]:
        """Return the numbers of the documents that are not as a file is."""
        return frozenset(number for key, (digest, number) in self.held.items() if live.get(key) != digest)


def open_index(folder: Path) -> OpenIndex | None:
    """Return the last state in a folder, None where it has none; raises whatever Whoosh raises for a damaged one."""
    generation = latest_generation(folder)
    if generation < 0:
        return None
    reader = FileIndex(CheckedStorage(folder), SCHEMA, _NAME).reader()
    readers = [] if reader.doc_count_all() == 0 else [leaf for leaf, _ in reader.leaf_readers()]
    return OpenIndex(generation, readers, *_contents(readers))


def latest_generation(folder: Path) -> int:
    """Return the number of the last commit, -1 where there is none."""
    found: int = TOC._latest_generation(CheckedStorage(folder), _NAME)  # as `FileIndex` does
    return found


def _contents(readers: Iterable[Any]) -> tuple[list[str], dict[str, tuple[str, int]]]:
    keys: list[str] = []
    held: dict[str, tuple[str, int]] = {}
    for reader in readers:
        base, digests = len(keys), list(reader.column_reader("digest"))
        keys += reader.column_reader("key")
        for number in reader.all_doc_ids():
            held[keys[base + number]] = digests[number], base + number
        for name in SCORED:
            # Read now: another process may write these files anew and remove them.
            reader.doc_field_length(0, name)
    return keys, held


def in_memory(documents: Iterable[IndexDocument]) -> tuple[Sequence[Any], list[IndexDocument]]:
    """Return readers of some documents, and what was read of them, in the order of their numbers."""
    taken: list[IndexDocument] = []
    index = FileIndex.create(MemoryStorage(), SCHEMA, _NAME)
    writer = _writer(index)
    for document in documents:
        writer.add_document(**fields_of(document))
        taken.append(document)
    writer.commit()
    return ([leaf for leaf, _ in index.reader().leaf_readers()] if taken else []), taken


def _writer(index: FileIndex) -> Any:
    # Most blocks are of a few documents, which zlib makes no smaller, and takes a fifth of the time for.
    return index.writer(limitmb=_LIMIT, compound=False, codec=W3Codec(compression=0))


@contextmanager
def locked(folder: Path, *, wait: float) -> Iterator[None]:
    """Let nobody else write the index, or raise `IndexBusyError` after so many seconds, and OSError."""
    make_folder(folder)
    lock = CheckedStorage(folder).lock(LOCK)
    if not try_for(lock.acquire, timeout=wait, delay=_LOOK):
        raise IndexBusyError("the index is being written")
    try:
        yield
    finally:
        lock.release()


def clear(folder: Path) -> None:
    """Remove what a folder holds but its lock, and begin an index there; the caller has the lock."""
    for path in folder.iterdir():
        if path.name == LOCK:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    FileIndex.create(CheckedStorage(folder), SCHEMA, _NAME)


class Writing:
    """Documents taken in and dropped, by whoever has the lock: in one commit, or one every few seconds."""

    def __init__(self, folder: Path, *, every: float) -> None:
        """Take the folder, and after how many seconds to commit."""
        self._storage, self._every = CheckedStorage(folder), every
        self._index = FileIndex(self._storage, SCHEMA, _NAME)

    def write(self, dropped: Iterable[int], documents: Iterable[IndexDocument]) -> Iterator[tuple[IndexDocument, bool]]:
        """Drop numbers and take in documents, yielding each, and whether it was committed."""
        # Time of this process: on a busy machine commits would be many and small.
        writer, began = _writer(self._index), time.process_time()
        try:
            for number in dropped:
                writer.delete_document(number)
            for document in documents:
                writer.add_document(**fields_of(document))
                is_due = time.process_time() - began > self._every
                if is_due:
                    writer.commit(merge=False)
                    writer, began = _writer(self._index), time.process_time()
                yield document, is_due
            writer.commit(mergetype=_merge)
        finally:
            # What was committed stays, and the rest is taken in by the next.
            if not writer.is_closed:
                with suppress(Exception):
                    writer.cancel()
            self._storage.release()


def _merge(writer: Any, segments: Sequence[Any]) -> Any:
    """Write anew the segments of which half is deleted, and otherwise merge as Whoosh does."""
    worn = [one for one in segments if 2 * one.deleted_count() > one.doc_count_all()]
    for segment in worn:
        if segment.doc_count():
            reader = SegmentReader(writer.storage, writer.schema, segment)
            writer.add_reader(reader)
            reader.close()
    return MERGE_SMALL(writer, [one for one in segments if one not in worn])
