"""The full-text index: a Whoosh index that is compared with the files, and brought up to date, before each question.

Who cannot write asks the same engine, with the changed documents in memory beside the index on disk.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from whoosh.reading import MultiReader
from whoosh.searching import Searcher

from mdmem.store.index.folder import OpenIndex, Writing, clear, in_memory, latest_generation, locked, open_index
from mdmem.store.index.protocol import (
    IndexBusyError,
    IndexState,
    IndexWriteError,
    Match,
    Progress,
    Read,
    RefreshResult,
    Source,
    TextAnswer,
)
from mdmem.store.index.query import Asked, filtered, holding, parse, plain
from mdmem.store.index.schema import FORMAT
from mdmem.store.index.scores import rank, searcher_of

FOLDER = f"whoosh-{FORMAT}"
"""The name of the folder of an index, so that two versions on one machine do not undo each other."""

OVERLAY_LIMIT = 64
"""So many changed documents are taken into memory rather than waited for."""

# Seconds between commits, so that what is done of a first index serves others, and outlives whoever is stopped.
_COMMIT = 2.0
# Seconds to wait for another writer.
_WAIT = 5.0
_KEPT_VIEWS = 2

_Seen = tuple[int, tuple[tuple[str, str], ...], frozenset[int]]
"""A state on disk, the keys and digests of what it lacks, and the numbers that are not asked."""


class _View(Struct, eq=False):
    """What a question is put to: a searcher, the key of each of its numbers, and those that are not asked."""

    searcher: Searcher
    keys: Sequence[str]
    masked: frozenset[int]


class _Question(Struct, eq=False):
    """What is asked, of which documents; `is_kept` says that what is read of them serves the next question, too."""

    asked: Asked
    live: Mapping[str, str]
    read: Read
    among: Collection[str] | None = None
    filters: Mapping[str, Collection[str]] = {}  # never changed
    is_kept: bool = True


class _Ready(Struct):
    """The index as a question finds it: the state on disk, what it lacks, and why it is not as it should be.

    `is_being_built` says that what it lacks will be there in a while.
    """

    opened: OpenIndex | None
    stale: Sequence[str]
    why: str | None = None
    is_being_built: bool = False


class FullTextIndex:
    """A full-text index in a folder of its own; without a folder, or with `persist` off, it never writes."""

    def __init__(self, folder: Path | None, *, persist: bool = True, progress: Progress | None = None) -> None:
        """Take the folder, which need not exist, and what to call when a question has to build the index first."""
        self._folder = folder
        self._writes = persist and folder is not None
        self._progress = progress
        self._opened: OpenIndex | None = None
        self._unusable = -1
        self._views: dict[_Seen, _View] = {}
        # A server asks from several threads.
        self._turn = threading.RLock()

    def search(
        self,
        question: str,
        *,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        filters: Mapping[str, Collection[str]] | None = None,
        syntax: bool = False,
        may_refresh: bool = True,
        read_titles: Read | None = None,
        is_timed: bool = False,
    ) -> TextAnswer:
        """Return the live documents that answer a question, or raise `QuerySyntaxError` where `syntax` is asked for."""
        asked = parse(question) if syntax else plain(question)
        terms = tuple(asked.typed)
        if asked.is_empty or not live or (among is not None and not among):
            return TextAnswer((), terms, asked.typed, "index")
        with self._turn:
            ready = self._ready(live, read, may_refresh=may_refresh, is_timed=is_timed)
            # What another process is about to index is not read here, too.
            titles = read_titles if ready.is_being_built and len(ready.stale) > OVERLAY_LIMIT else None
            put = _Question(asked, live, titles or read, among, filters or {}, is_kept=titles is None)
            found, source = self._ranked(put, ready)
        why = f"{ready.why}, so that other entries were found by their titles alone" if titles else ready.why
        return TextAnswer(found, terms, asked.typed, source, why is not None, why)

    def find_holders(self, texts: Collection[str], *, live: Mapping[str, str], read: Read) -> list[str]:
        """Return the keys of the live documents that hold all words of one of some texts, the best first."""
        asked = Asked(holding(texts), {}, {})
        if asked.is_empty or not live:
            return []
        with self._turn:
            ready = self._ready(live, read, may_refresh=False, is_timed=False)
            found, _ = self._ranked(_Question(asked, live, read), ready)
        return [match.key for match in found]

    def is_behind(self, *, live: Mapping[str, str]) -> bool:
        """Say whether so much changed that it is worth bringing the index up to date first."""
        if not self._writes:
            return False
        with self._turn:
            opened = self._open()
            return len(live if opened is None else opened.stale(live)) > (OVERLAY_LIMIT if opened else 0)

    def refresh(
        self, *, live: Mapping[str, str], read: Read, progress: Progress | None = None, rebuild: bool = False
    ) -> RefreshResult:
        """Bring the index on disk up to date, or raise `IndexBusyError` or `IndexWriteError`."""
        with self._turn:
            return self._update(live, read, progress=progress, rebuild=rebuild)

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Return how the index on disk stands to the files, reading no document."""
        if self._folder is None:
            return IndexState(stale=len(live), why="this index is not kept on disk")
        with self._turn:
            opened, exists = self._open(), latest_generation(self._folder) >= 0
        files = list(self._folder.rglob("*")) if self._folder.is_dir() else []
        size = sum(path.stat().st_size for path in files if path.is_file())
        if opened is None:
            why = "the index is damaged, and is built anew by the next question" if exists else None
            return IndexState(exists=exists, stale=len(live), bytes=size, folder=str(self._folder), why=why)
        return IndexState(
            exists=True,
            usable=True,
            documents=len(opened.held),
            stale=len(opened.stale(live)),
            gone=sum(key not in live for key in opened.held),
            bytes=size,
            folder=str(self._folder),
        )

    def close(self) -> None:
        """Let go of what was read of the index; the next question opens it again."""
        self._opened, self._views = None, {}

    def _open(self) -> OpenIndex | None:
        """Return the last state on disk, None where there is none that can be used."""
        if self._folder is None:
            return None
        generation = latest_generation(self._folder)
        if self._opened is None or self._opened.generation != generation:
            self.close()
            if generation >= 0 and generation != self._unusable:
                # Whatever is wrong with it, it is built anew.
                with suppress(Exception):
                    self._opened = open_index(self._folder)
                self._unusable = -1 if self._opened is not None else generation
        return self._opened

    def _ready(self, live: Mapping[str, str], read: Read, *, may_refresh: bool, is_timed: bool) -> _Ready:
        opened = self._open()
        stale = sorted(live) if opened is None else opened.stale(live)
        is_current = opened is not None and not stale and len(opened.held) == len(live)
        if is_current or not (self._writes and may_refresh):
            return _Ready(opened, stale)
        are_few = opened is not None and len(stale) <= OVERLAY_LIMIT
        seconds, why, is_being_built = _COMMIT if is_timed else None, None, is_timed
        try:
            wait = 0.0 if is_timed or len(stale) <= OVERLAY_LIMIT else _WAIT
            self._update(live, read, progress=self._progress, wait=wait, seconds=seconds)
        except (IndexBusyError, IndexWriteError) as error:
            # A few changed documents are as good in memory.
            why = None if are_few else str(error)
            is_being_built = is_timed or isinstance(error, IndexBusyError)
        opened = self._open()
        stale = sorted(live) if opened is None else opened.stale(live)
        if why is None and is_timed and len(stale) > OVERLAY_LIMIT:
            why = "the index is being built"
        return _Ready(opened, stale, why, is_being_built=is_being_built)

    def _ranked(self, question: _Question, ready: _Ready) -> tuple[list[Match], Source]:
        opened = ready.opened
        if opened is not None:
            view = self._view(question, opened, ready.stale)
            # A file may be damaged where opening the index did not tell.
            with suppress(Exception):
                return _answered(view, question), "index"
            self._unusable = opened.generation
            self.close()
            ready.why = "the index is damaged, so that every entry was read"
        view = self._view(question, None, sorted(question.live))
        return _answered(view, question), "scan"

    def _view(self, question: _Question, opened: OpenIndex | None, stale: Sequence[str]) -> _View:
        """Return the state on disk with what it lacks in memory beside it; kept for the next question."""
        changed = tuple((key, question.live[key]) for key in stale)
        masked = opened.numbers_beyond(question.live) if opened is not None else frozenset[int]()
        seen = (opened.generation if opened is not None else -1, changed, masked)
        if question.is_kept and seen in self._views:
            return self._views[seen]
        readers, keys = (list(opened.readers), list(opened.keys)) if opened is not None else ([], [])
        more, taken = in_memory(question.read(stale)) if stale else ([], [])
        keys += [document.key for document in taken]
        view = _View(searcher_of(MultiReader([*readers, *more]), masked), keys, masked)
        # What changed since the files were looked at is read again.
        if question.is_kept and tuple((one.key, one.digest) for one in taken) == changed:
            while len(self._views) >= _KEPT_VIEWS:
                self._views.pop(next(iter(self._views)))
            self._views[seen] = view
        return view

    def _update(
        self,
        live: Mapping[str, str],
        read: Read,
        *,
        progress: Progress | None,
        rebuild: bool = False,
        wait: float = _WAIT,
        seconds: float | None = None,
    ) -> RefreshResult:
        """Bring the index on disk up to date, for so many seconds where that is said."""
        folder = self._folder
        if folder is None or not self._writes:
            raise IndexWriteError("this index is not kept on disk")
        opened = self._open()
        if opened is not None and not rebuild and not opened.stale(live) and len(opened.held) == len(live):
            return RefreshResult(len(live), 0, 0, rebuilt=False)
        try:
            with locked(folder, wait=wait):
                opened = self._open()
                if opened is not None and not rebuild:
                    # Whatever Whoosh raises of a damaged file: it is built anew. What reading raises comes again.
                    with suppress(ArithmeticError, LookupError, TypeError, ValueError, AssertionError, EOFError):
                        return self._write(folder, opened, live, read, progress, seconds)
                clear(folder)
                self.close()
                self._unusable = -1
                done = self._write(folder, None, live, read, progress, seconds)
                return replace(done, rebuilt=True)
        except OSError as error:
            raise IndexWriteError(f"the index cannot be written: {error.strerror or error}") from error

    def _write(
        self,
        folder: Path,
        opened: OpenIndex | None,
        live: Mapping[str, str],
        read: Read,
        progress: Progress | None,
        seconds: float | None,
    ) -> RefreshResult:
        """Write what the index lacks; the caller has the lock."""
        stale = sorted(live) if opened is None else opened.stale(live)
        dropped = frozenset[int]() if opened is None else opened.numbers_beyond(live)
        gone = 0 if opened is None else sum(key not in live for key in opened.held)
        done = 0
        for done, (_, is_committed) in enumerate(Writing(folder, every=_COMMIT).write(dropped, read(stale)), start=1):
            if progress is not None:
                progress(done, len(stale))
            if is_committed and seconds is not None:
                break
        return RefreshResult(len(live), done, gone, rebuilt=False)


def _answered(view: _View, question: _Question) -> list[Match]:
    if not view.keys:
        return []
    among, filters = question.among, question.filters
    allowed: Any = filtered(filters) if filters else None
    if among is not None:
        wanted = among if isinstance(among, Set) else frozenset(among)
        numbers = {number for number, key in enumerate(view.keys) if key in wanted}
        allowed = numbers.intersection(view.searcher.docs_for_query(allowed)) if filters else numbers
        if not allowed:
            return []
    return rank(view.searcher, question.asked, view.keys, allowed=allowed, masked=view.masked)
