"""The full-text engine: a Whoosh index that is compared with the files, and updated, before each question.

Where the index cannot be written, the changed documents are added in memory to the index on disk.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from whoosh.codec.whoosh3 import W3Codec
from whoosh.index import FileIndex
from whoosh.reading import MultiReader, SegmentReader
from whoosh.searching import Searcher
from whoosh.writing import MERGE_SMALL

from mdmem.disk import locked, make_folder
from mdmem.store.index.query import ParsedQuestion, containing_query, parse, plain
from mdmem.store.index.records import (
    IndexBusyError,
    IndexDocument,
    IndexState,
    IndexWriteError,
    Match,
    Progress,
    Read,
    RefreshResult,
    Source,
    TextAnswer,
)
from mdmem.store.index.schema import FORMAT, SCHEMA, WEIGHTS, fields_of, rows_of
from mdmem.store.index.scores import rank, searcher_of
from mdmem.store.index.storage import CheckedStorage, MemoryStorage

FOLDER = f"whoosh-{FORMAT}"
"""The name of the folder of an index: two versions of mdmem on one machine do not rebuild each other's."""

LOCK = "lock"
OVERLAY_LIMIT = 64
"""Up to this many changed documents are read into memory rather than waiting for another writer."""

# A first index is committed every few seconds: the part that is done serves others, and outlives an interruption.
_COMMIT_SECONDS = 2.0
# Seconds to wait for another writer.
_WAIT = 5.0
# Attempts to open an index while others commit.
_ATTEMPTS = 10
# Megabytes of postings; with so many none is written to a temporary file, since commits come earlier.
_LIMIT_MB = 512
_KEPT_VIEWS = 2

_Stamp = tuple[tuple[str, int, int], ...]


class _OpenIndex(Struct, eq=False):
    """One state of the index on disk, all of it in memory.

    `keys` has the key of each document number, `documents` the digest and number of each live key, `lengths` those of
    the fields of each live number.
    """

    stamp: _Stamp
    readers: Sequence[Any] = ()
    keys: Sequence[str] = ()
    documents: Mapping[str, tuple[str, int]] = {}  # never changed
    lengths: Mapping[int, Sequence[int]] = {}

    def stale(self, live: Mapping[str, str]) -> list[str]:
        """Return the keys of the files that are missing or different in the index, in order."""
        return sorted(key for key, digest in live.items() if self.documents.get(key, ("", 0))[0] != digest)

    def outdated(self, live: Mapping[str, str]) -> frozenset[int]:
        """Return the numbers of the documents that are not the current content of a file."""
        return frozenset(number for key, (digest, number) in self.documents.items() if live.get(key) != digest)


_NO_INDEX = _OpenIndex(())


class _View(Struct, eq=False):
    """A searchable state of the index: the searcher, the key of each document number, and the masked numbers."""

    searcher: Searcher
    keys: Sequence[str]
    masked: frozenset[int]

    def answer(self, question: ParsedQuestion, among: Collection[str] | None = None) -> list[Match]:
        """Return the matches that are among some keys."""
        wanted = frozenset(among) if among is not None else None
        allowed = None if wanted is None else {number for number, key in enumerate(self.keys) if key in wanted}
        return rank(self.searcher, question, self.keys, allowed=allowed, masked=self.masked) if self.keys else []


class FullTextIndex:
    """A full-text index in a folder of its own; without a folder, or with `persist` off, it never writes."""

    def __init__(self, folder: Path | None, *, persist: bool = True, progress: Progress | None = None) -> None:
        """Take the folder, which need not exist, and the function that is called when a question builds the index."""
        self._folder = folder
        self._writes = persist and folder is not None
        self._progress = progress
        self._opened = _NO_INDEX
        self._damaged: _Stamp = ()
        self._views: dict[object, _View] = {}
        # A server asks from several threads.
        self._turn = threading.RLock()

    def search(
        self,
        question: str,
        *,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        syntax: bool = False,
        may_refresh: bool = True,
        read_titles: Read | None = None,
        is_timed: bool = False,
    ) -> TextAnswer:
        """Return the live documents that match a question.

        Args:
            question: plain words, any of which may match; with `syntax` a query, or `QuerySyntaxError` is raised.
            live: the digest of each entry by key.
            read: reads documents that the index does not have.
            among: the keys that may match, None for all.
            syntax: whether the question is in the query language.
            may_refresh: whether to update the index first; only where `live` are all documents of the tree.
            read_titles: reads documents without their bodies, to be searched while the index is being built.
            is_timed: whether the answer has a time limit, so that a first index is built only in part.
        """
        parsed = parse(question) if syntax else plain(question)
        terms = tuple(parsed.words)
        if parsed.is_empty or not live or (among is not None and not among):
            return TextAnswer((), terms, parsed.words, "index")
        with self._turn:
            why, is_being_built = None, False
            if self._writes and may_refresh:
                why, is_being_built = self._catch_up(live, read, is_timed=is_timed)
            by_titles = None
            if why and is_being_built and len(self._open().stale(live)) > OVERLAY_LIMIT:
                # The process that builds the index reads the documents.
                by_titles = read_titles
            found, is_damaged = self._answer(parsed, live, by_titles or read, among, keep=not by_titles)
            source: Source = "scan" if self._opened is _NO_INDEX else "index"
        if is_damaged:
            why = "the index is damaged, so every entry was read"
        if by_titles:
            why = f"{why}, so other entries were found by their titles only"
        return TextAnswer(found, terms, parsed.words, source, why is not None, why)

    def find_containing(self, texts: Collection[str], *, live: Mapping[str, str], read: Read) -> list[str]:
        """Return the keys of the live documents that contain all words of any of some texts, best first."""
        question = ParsedQuestion(containing_query(texts), {}, leaves={})
        if question.is_empty or not live:
            return []
        with self._turn:
            found, _ = self._answer(question, live, read)
        return [match.key for match in found]

    def _answer(
        self,
        question: ParsedQuestion,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        *,
        keep: bool = True,
    ) -> tuple[list[Match], bool]:
        """Return the matches, and whether the index turned out to be damaged, so that every document was read."""
        view = self._view(live, read, keep=keep)
        if self._opened is _NO_INDEX:
            return view.answer(question, among), False
        # A file may be damaged though the index could be opened.
        with suppress(Exception):
            return view.answer(question, among), False
        self._damaged = self._opened.stamp
        self.close()
        return self._view(live, read, keep=keep).answer(question, among), True

    def is_behind(self, *, live: Mapping[str, str]) -> bool:
        """Return whether so much changed that the next question would update the index first."""
        if not self._writes:
            return False
        with self._turn:
            opened = self._open()
            return len(opened.stale(live)) > (0 if opened is _NO_INDEX else OVERLAY_LIMIT)

    def refresh(
        self,
        *,
        live: Mapping[str, str],
        read: Read,
        progress: Progress | None = None,
        rebuild: bool = False,
        wait: float = _WAIT,
        is_timed: bool = False,
    ) -> RefreshResult:
        """Update the index on disk; with `is_timed` only until the first commit that is due.

        Raises `IndexBusyError` if another process writes it for `wait` seconds, and `IndexWriteError`.
        """
        folder = self._folder
        if folder is None or not self._writes:
            raise IndexWriteError("this index is not stored on disk")
        with self._turn:
            opened = self._open()
            if (
                not rebuild
                and opened is not _NO_INDEX
                and len(opened.documents) == len(live)
                and not opened.stale(live)
            ):
                return RefreshResult(len(live), 0, 0, rebuilt=False)
            try:
                make_folder(folder)
                with locked(folder / LOCK, wait=wait):
                    if not rebuild and self._open() is not _NO_INDEX:
                        # Whoosh raises these for a damaged file. The index is rebuilt; errors of `read` come again.
                        with suppress(ArithmeticError, LookupError, TypeError, ValueError, AssertionError, EOFError):
                            return self._write(folder, live, read, progress, is_timed=is_timed)
                    _clear(folder)
                    self.close()
                    self._damaged = ()
                    return replace(self._write(folder, live, read, progress, is_timed=is_timed), rebuilt=True)
            except BlockingIOError as error:
                raise IndexBusyError("the index is being written") from error
            except OSError as error:
                raise IndexWriteError(f"the index cannot be written: {error.strerror or error}") from error

    def _write(
        self, folder: Path, live: Mapping[str, str], read: Read, progress: Progress | None, *, is_timed: bool
    ) -> RefreshResult:
        """Write the documents that changed; the caller has the lock."""
        opened = self._opened
        stale, done = opened.stale(live), 0
        storage = CheckedStorage(folder)
        index = FileIndex(storage, SCHEMA)
        # The time of this process: on a busy machine the wall clock would give many small commits.
        writer, began = _writer_of(index), time.process_time()
        try:
            for number in opened.outdated(live):
                writer.delete_document(number)
            for done, document in enumerate(read(stale), start=1):
                writer.add_document(**fields_of(document))
                if time.process_time() - began > _COMMIT_SECONDS:
                    writer.commit(merge=False)
                if progress is not None:
                    progress(done, len(stale))
                if writer.is_closed:
                    if is_timed:
                        break
                    writer, began = _writer_of(index), time.process_time()
            if not writer.is_closed:
                writer.commit(mergetype=_merge)
        finally:
            if not writer.is_closed:
                with suppress(Exception):
                    writer.cancel()
            storage.close_written()
        return RefreshResult(len(live), done, sum(key not in live for key in opened.documents), rebuilt=False)

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Compare the index on disk with the files, reading no document."""
        if self._folder is None:
            return IndexState(stale=len(live), why="this index is not stored on disk")
        with self._turn:
            opened, exists = self._open(), bool(_stamp_of(self._folder))
        files = list(self._folder.rglob("*")) if self._folder.is_dir() else []
        is_usable = opened is not _NO_INDEX
        return IndexState(
            exists=exists,
            usable=is_usable,
            documents=len(opened.documents),
            stale=len(opened.stale(live)),
            gone=sum(key not in live for key in opened.documents),
            bytes=sum(path.stat().st_size for path in files if path.is_file()),
            folder=str(self._folder),
            why="the index is damaged; the next question rebuilds it" if exists and not is_usable else None,
        )

    def close(self) -> None:
        """Drop the open index; the next question opens it again."""
        self._opened, self._views = _NO_INDEX, {}

    def _open(self) -> _OpenIndex:
        """Return the last state on disk, `_NO_INDEX` if there is none that can be used."""
        if self._folder is None:
            return _NO_INDEX
        stamp = _stamp_of(self._folder)
        if self._opened.stamp != stamp:
            self.close()
            if stamp != self._damaged:
                self._opened = _open_index(self._folder)
                self._damaged = stamp if self._opened is _NO_INDEX else ()
        return self._opened

    def _catch_up(self, live: Mapping[str, str], read: Read, *, is_timed: bool) -> tuple[str | None, bool]:
        """Update the index; return the reason if it is still outdated, and whether another process is building it."""
        wait = 0.0 if is_timed or len(self._open().stale(live)) <= OVERLAY_LIMIT else _WAIT
        why, is_being_built = "the index is being built" if is_timed else None, is_timed
        try:
            self.refresh(live=live, read=read, progress=self._progress, wait=wait, is_timed=is_timed)
        except (IndexBusyError, IndexWriteError) as error:
            why, is_being_built = str(error), is_timed or isinstance(error, IndexBusyError)
        # A few changed documents are as good in memory.
        opened = self._open()
        is_near = opened is not _NO_INDEX and len(opened.stale(live)) <= OVERLAY_LIMIT
        return (None, False) if is_near else (why, is_being_built)

    def _view(self, live: Mapping[str, str], read: Read, *, keep: bool = True) -> _View:
        """Return the state on disk with the changed documents in memory, cached for the last two sets of changes."""
        opened = self._open()
        stale, masked = opened.stale(live), opened.outdated(live)
        changed = [(key, live[key]) for key in stale]
        seen = (opened.stamp, tuple(changed), masked)
        if keep and seen in self._views:
            return self._views[seen]
        documents = list(read(stale)) if stale else []
        whole = _opened(opened.stamp, _read_into_memory(documents), opened) if documents else opened
        view = _View(searcher_of(MultiReader(whole.readers), whole.lengths, masked), whole.keys, masked)
        # A file that changed after it was listed is read again by the next question.
        if keep and [(one.key, one.digest) for one in documents] == changed:
            if len(self._views) >= _KEPT_VIEWS:
                self._views.clear()
            self._views[seen] = view
        return view


def _stamp_of(folder: Path) -> _Stamp:
    """Return a value that changes with every commit; empty if there is no index.

    The number of a commit is not enough: after a rebuild they start again.
    """
    found = []
    for path in folder.glob("*.toc"):
        with suppress(OSError):
            stat = path.stat()
            found.append((path.name, stat.st_ino, stat.st_mtime_ns))
    return tuple(sorted(found))


def _open_index(folder: Path) -> _OpenIndex:
    """Read the last state in a folder; `_NO_INDEX` where it is missing or damaged."""
    for _ in range(_ATTEMPTS):
        stamp, opened = _stamp_of(folder), _NO_INDEX
        with suppress(Exception):
            opened = _read_index(folder, stamp)
        # Another process may have committed meanwhile and removed the files of this state. Whoosh reads a column
        # whose file is gone as one of empty values.
        if _stamp_of(folder) == stamp:
            return opened
    return _NO_INDEX


def _read_index(folder: Path, stamp: _Stamp) -> _OpenIndex:
    reader = FileIndex(CheckedStorage(folder), SCHEMA).reader()
    leaves = [leaf for leaf, _ in reader.leaf_readers()] if reader.doc_count_all() else []
    for leaf in leaves:
        for name in WEIGHTS:
            # Read now, since another process may remove the file.
            leaf.doc_field_length(0, name)
    return _opened(stamp, leaves)


def _opened(stamp: _Stamp, leaves: Sequence[Any], before: _OpenIndex = _NO_INDEX) -> _OpenIndex:
    """Return some segments, after those of another state."""
    keys, documents, lengths = list(before.keys), dict(before.documents), dict(before.lengths)
    for leaf in leaves:
        base, rows = len(keys), rows_of(leaf)
        keys += (key for _, _, key in rows)
        for number in leaf.all_doc_ids():
            digest, lengths[base + number], key = rows[number]
            documents[key] = digest, base + number
    return _OpenIndex(stamp, [*before.readers, *leaves], keys, documents, lengths)


def _read_into_memory(documents: Iterable[IndexDocument]) -> list[Any]:
    """Return readers of an index of some documents in memory."""
    index = FileIndex.create(MemoryStorage(), SCHEMA, "MAIN")
    writer = _writer_of(index)
    for document in documents:
        writer.add_document(**fields_of(document))
    writer.commit()
    return [leaf for leaf, _ in index.reader().leaf_readers()]


def _writer_of(index: FileIndex) -> Any:
    # Most blocks are of a few documents, which compression makes no smaller.
    return index.writer(limitmb=_LIMIT_MB, compound=False, codec=W3Codec(compression=0))


def _clear(folder: Path) -> None:
    """Remove everything in a folder but its lock, and create an empty index there."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
    FileIndex.create(CheckedStorage(folder), SCHEMA, "MAIN")


def _merge(writer: Any, segments: Sequence[Any]) -> Any:
    """Rewrite the segments with more deleted than live documents, and merge the others as Whoosh does."""
    worn = [one for one in segments if 2 * one.deleted_count() > one.doc_count_all()]
    for segment in worn:
        if segment.doc_count():
            reader = SegmentReader(writer.storage, writer.schema, segment)
            writer.add_reader(reader)
            reader.close()
    return MERGE_SMALL(writer, [one for one in segments if one not in worn])
