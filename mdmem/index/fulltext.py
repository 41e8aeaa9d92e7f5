"""The full-text index: fresh at every question, right without it; `scoring` ranks what it finds.

Segments hold the postings; documents that changed since are analysed and scored beside them, or all where no index is.
Statistics come from live documents only, so that the three ways give the same matches with the same scores.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence, Set
from pathlib import Path
from weakref import finalize

from msgspec.structs import replace

from mdmem.digests import unlike
from mdmem.index.corpus import Corpus
from mdmem.index.fields import Terms
from mdmem.index.manifest import NAME, DamagedIndexError, Manifest, Stamp, load, stamp_of
from mdmem.index.protocol import (
    Bar,
    Holding,
    IndexBusyError,
    IndexState,
    IndexWriteError,
    MatchColumns,
    Progress,
    Read,
    RefreshResult,
    TextAnswer,
)
from mdmem.index.scoring import Query, plain, rank
from mdmem.index.store import OpenIndex, bytes_in, open_index

Passages = tuple[Terms, ...]
# A state of the index, documents, whether it is of them, and which of them it lacks.
_Told = tuple[Manifest, Mapping[str, str], bool, Sequence[str]]

OVERLAY_LIMIT = 64
"""So many changed documents are scored beside the index, at half a millisecond each, before it is written."""


class FullTextIndex:
    """A full-text index in a folder of its own; without a folder, or with `persist` off, it never writes."""

    def __init__(self, folder: Path | None, *, persist: bool = True, progress: Progress | None = None) -> None:
        """Take the folder, which need not exist, and whom to tell when a question has to build the index first."""
        self._folder = folder
        self._writes = persist and folder is not None
        self._progress = progress
        self._opened: OpenIndex | None = None
        self._told: tuple[_Told, ...] = ()
        self._analysed: dict[tuple[str, str], Passages] = {}
        self._beside: tuple[tuple[Manifest, Mapping[str, str], Corpus], ...] = ()
        self._closing: finalize[..., FullTextIndex] | None = None
        # Readers seek in shared files, and a server asks from several threads.
        self._turn = threading.RLock()

    def search(
        self,
        question: str,
        *,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        syntax: bool = False,
        holding: Holding = (),
        may_refresh: bool = True,
        bar: Bar | None = None,
    ) -> TextAnswer:
        """Return the live documents that answer a question, or raise `QuerySyntaxError` where `syntax` is asked for."""
        query = _parsed(question) if syntax else plain(question)
        if query.is_empty or not live:
            return TextAnswer(MatchColumns(), tuple(query.typed), query.typed, "index")
        # Looked up for each match, where a list would be walked.
        given = among if among is None or isinstance(among, Set) else frozenset(among)
        chosen = None if given is None or live.keys() <= given else given
        with self._turn:
            opened, why = self._ready(live, read) if may_refresh else (self._open(), None)
            if opened is not None:
                try:
                    corpus = self._corpus(opened, query, live, read)
                    found = rank(query, corpus, read, among=chosen, holding=holding, bar=bar)
                    return TextAnswer(found, tuple(query.typed), query.typed, "index", why is not None, why, found.bar)
                except DamagedIndexError as error:
                    why = self._discarded(opened, error)
            # Imported here, as wherever documents are analysed: most questions find the index as the files are.
            from mdmem.index.overlay import scanned

            found = rank(query, scanned(query, live, read), read, among=chosen, holding=holding, bar=bar)
        return TextAnswer(found, tuple(query.typed), query.typed, "scan", why is not None, why, found.bar)

    def is_behind(self, *, live: Mapping[str, str]) -> bool:
        """Say whether so much changed that the next question would bring the index up to date first."""
        if not self._writes:
            return False
        with self._turn:
            opened = self._open()
            return len(live if opened is None else self._compared(opened, live)[1]) > (OVERLAY_LIMIT if opened else 0)

    def refresh(
        self, *, live: Mapping[str, str], read: Read, progress: Progress | None = None, rebuild: bool = False
    ) -> RefreshResult:
        """Bring the index on disk up to date, or raise `IndexBusyError` or `IndexWriteError`."""
        if self._folder is None or not self._writes:
            raise IndexWriteError("this index is not kept on disk")
        # Most questions find it as they need it.
        from mdmem.index.refresh import RefreshRequest, refresh

        with self._turn:
            return refresh(self._folder, RefreshRequest(live, read, progress), rebuild=rebuild)

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Return how the index on disk stands to the files, reading no document."""
        if self._folder is None:
            return _no_index(live, folder="", why="this index is not kept on disk")
        manifest, why = _loaded(self._folder)
        size = bytes_in(self._folder)
        if manifest is None:
            exists = (self._folder / NAME).exists()
            return replace(_no_index(live, folder=str(self._folder), why=why), exists=exists, bytes=size)
        return IndexState(
            exists=True,
            usable=True,
            documents=len(manifest.digest_of),
            stale=len(manifest.stale(live)),
            gone=len(manifest.gone(live)),
            bytes=size,
            folder=str(self._folder),
        )

    def close(self) -> None:
        """Let go of the index's files; the next question opens them again."""
        if self._closing is not None:
            self._closing()
        self._opened = self._closing = None
        self._told = self._beside = ()

    def _ready(self, live: Mapping[str, str], read: Read) -> tuple[OpenIndex | None, str | None]:
        """Return the index to ask, refreshed where that is due, and why it is not as it should be."""
        opened = self._open()
        changed = len(live) if opened is None else len(self._compared(opened, live)[1])
        if not self._writes or (opened is not None and changed <= OVERLAY_LIMIT):
            return opened, None
        try:
            self.refresh(live=live, read=read, progress=self._progress)
        except (IndexBusyError, IndexWriteError) as error:
            return self._open(), f"{error}, so that changed entries were read one by one"
        opened = self._open()
        return opened, None if opened else "the index cannot be opened, so that every entry was read"

    def _corpus(self, opened: OpenIndex, query: Query, live: Mapping[str, str], read: Read) -> Corpus:
        manifest = opened.manifest
        is_fresh, stale = self._compared(opened, live)
        if is_fresh:
            return opened.corpus
        for known_manifest, documents, corpus in self._beside:
            if known_manifest is manifest and documents is live:
                return corpus
        from mdmem.index.overlay import analysed, beside

        known = analysed(stale, live, read, known=self._analysed)
        # Kept for the next question only, so that a server analyses an edit once and holds on to no more than that.
        are_few = len(stale) <= OVERLAY_LIMIT
        self._analysed = known if are_few else {}
        held = {key: terms for (key, _), terms in known.items()}
        corpus = beside(opened, None if are_few else query.wanted, {*stale, *manifest.gone(live)}, held)
        # One answer asks several times, in turns of what binds and what is proposed; what is not as live is read again.
        if are_few and all((key, live[key]) in known for key in stale):
            self._beside = ((manifest, live, corpus), *self._beside[:1])
        return corpus

    def _compared(self, opened: OpenIndex, live: Mapping[str, str]) -> tuple[bool, Sequence[str]]:
        """Say whether the index is of these very documents, and which it lacks: told once for all that is asked."""
        manifest = opened.manifest
        for known, documents, is_fresh, stale in self._told:
            if known is manifest and documents is live:
                return is_fresh, stale
        held = next((told[1] for told in self._told if told[0] is manifest and told[2]), None)
        if held is not None:
            # The index holds these very documents, and of two tables in one order nothing is looked up.
            changed = list(unlike(held, live))
            is_fresh, stale = not changed, sorted(key for key in changed if key in live)
        else:
            is_fresh = manifest.is_of(live) and opened.corpus.count == len(live)
            stale = [] if is_fresh else manifest.stale(live)
        # Of a change on disk, what binds and what is proposed are asked in turns: what neither has is forgotten.
        self._told = ((manifest, live, is_fresh, stale), *self._told[:1])
        self._beside = tuple(one for one in self._beside if any(one[1] is told[1] for told in self._told))
        if all(told[2] for told in self._told):
            self._analysed = {}
        return is_fresh, stale

    def _open(self) -> OpenIndex | None:
        if self._folder is None:
            return None
        if self._opened is None or self._opened.stamp != stamp_of(self._folder):
            self.close()
            stamp = stamp_of(self._folder)
            try:
                self._opened = open_index(self._folder)
            except DamagedIndexError:
                self._withdraw(stamp)
                return None
            if self._opened is not None:
                self._closing = finalize(self, self._opened.close)
                # The system closes what is open when a process ends.
                self._closing.atexit = False
        return self._opened

    def _discarded(self, opened: OpenIndex, error: DamagedIndexError) -> str:
        self.close()
        self._withdraw(opened.stamp)
        return f"{error}, so that every entry was read"

    def _withdraw(self, stamp: Stamp | None) -> None:
        if self._folder is not None and self._writes:
            from mdmem.index.refresh import withdraw

            withdraw(self._folder, stamp)


def _parsed(question: str) -> Query:
    # Imported here: Whoosh's parser costs 25 ms, and plain words do without it.
    from mdmem.index.syntax import parse

    return parse(question)


def _no_index(live: Mapping[str, str], *, folder: str, why: str | None) -> IndexState:
    return IndexState(exists=False, usable=False, documents=0, stale=len(live), gone=0, bytes=0, folder=folder, why=why)


def _loaded(folder: Path) -> tuple[Manifest | None, str | None]:
    try:
        return load(folder), None
    except DamagedIndexError as error:
        return None, str(error)
