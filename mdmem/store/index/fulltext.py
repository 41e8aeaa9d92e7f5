"""Search entries with a Whoosh index, which is compared with the files and updated before each question.

If the index cannot be written, the changed documents are indexed in memory and searched together with the index on
disk.

Matches are ranked by a weighted sum of BM25 scores for the title, the decision, the whole text and the best passage.
BM25 has its usual constants. Its statistics count only live documents, which are neither deleted nor hidden from the
caller. Other documents therefore change no score, and an updated index gives the same scores as a new one.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from heapq import nsmallest
from itertools import product
from math import log
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from whoosh.codec.whoosh3 import W3Codec
from whoosh.index import FileIndex
from whoosh.matching import NullMatcher
from whoosh.reading import MultiReader
from whoosh.scoring import BM25F
from whoosh.searching import Searcher
from whoosh.writing import MERGE_SMALL, OPTIMIZE

from mdmem.disk import locked, make_folder
from mdmem.store.index import Corpus, IndexBusyError, IndexState, IndexWriteError, Match, RefreshResult, TextAnswer
from mdmem.store.index.analysis import GENERAL_TERMS
from mdmem.store.index.query import ParsedQuestion, containing_query, parse, plain
from mdmem.store.index.schema import FORMAT, SCHEMA, WEIGHTS, CheckedStorage, MemoryStorage, fields_of, rows_of, to_text

_B, _K1 = 0.75, 1.2
# General words (`GENERAL_TERMS`) have this share of their rarity. Chosen on PEPs and KEPs: the right record is
# first for 67 of 133 questions with shares from 0 to .45, and for 64 with 1. Confirmed on decisions (38 of 50 with
# .15 to 1, 37 with 0) and on four memories of 32 to 59 entries (76 of 104 with .3, 74 with 1).
_GENERAL_SHARE = 0.3
# The length of a passage in words, and the number of words from one to the next. Chosen on PEPs and KEPs, with weight 1
# for general words: the right record is first for 64 of 133 questions, and for 61 if passages of 80 words do not
# overlap. On decisions, for 38 and 36 of 50.
_PASSAGE, _STEP = 120, 40
# Each word is in the passage that begins at its step, and in the two that begin one and two steps earlier.
_STEPS_BACK = range(_PASSAGE // _STEP)
# The number of best matches whose passages are scored.
_COMPARED = 100
# Scores are rounded, because the segments of the index change the order of additions and so the last digits.
_DIGITS = 6


class _LiveBM25F(BM25F):  # type: ignore[misc]  # Whoosh has no types
    """BM25 with the statistics of the documents that are not masked; `lengths` has those of `WEIGHTS` by number."""

    def __init__(self, reader: Any, lengths: Mapping[int, Sequence[int]], masked: Set[int]) -> None:
        super().__init__(B=_B, K1=_K1)
        self._reader, self._masked = reader, masked
        self._idf: dict[str, float] = {}
        live = [found for number, found in lengths.items() if number not in masked]
        self._count = len(live)
        self._has_dead = self._count < reader.doc_count_all()
        # Compute the mean lengths here, since Whoosh's own means change when it merges segments.
        self._means = {
            name: sum(found) / len(live) for name, found in zip(WEIGHTS, zip(*live, strict=True), strict=False)
        }

    def idf(self, _searcher: Any, _fieldname: str, text: str | bytes) -> float:
        """Return the rarity of a term in the whole texts, for all fields; general words have only a share of theirs."""
        term = to_text(text) if isinstance(text, bytes) else text
        if term not in self._idf:
            holders = self._reader.doc_frequency("text", term)
            if holders and self._has_dead:
                holders = sum(one not in self._masked for one in self._reader.postings("text", term).all_ids())
            share = _GENERAL_SHARE if term in GENERAL_TERMS else 1
            self._idf[term] = share * (log(max(self._count, 1) / (holders + 1)) + 1)
        return self._idf[term]

    def scorer(self, searcher: Any, fieldname: str, text: str | bytes, qf: float = 1) -> Any:
        """Return the scorer of a term, with the mean length of the documents that are not outdated."""
        found = super().scorer(searcher, fieldname, text, qf=qf)
        found.avgfl = self._means.get(fieldname) or 1.0
        return found


# The searcher of an index, the key of each document number, and the numbers of outdated documents, which never match.
_View = tuple[Searcher, Sequence[str], frozenset[int]]


def rank(view: _View, question: ParsedQuestion, among: Collection[str] | None) -> list[Match]:
    """Return the documents that match and have a key in `among` (None means all), by score, then by key."""
    searcher, keys, masked = view
    if not keys:
        return []
    chosen = frozenset(among) if among is not None else None
    allowed = None if chosen is None else {number for number, key in enumerate(keys) if key in chosen}
    scores: dict[int, float] = defaultdict(float)
    terms: defaultdict[int, set[str]] = defaultdict(set)
    if question.leaves is None:
        # Any word may match, so reading the postings of each term is enough.
        for field, term in product(WEIGHTS, question.terms):
            matcher = searcher.postings(field, term) if (field, term) in searcher.reader() else NullMatcher()
            while matcher.is_active():
                number = matcher.id()
                if number not in masked and (allowed is None or number in allowed):
                    scores[number] += WEIGHTS[field] * matcher.score()
                    terms[number].update(question.terms[term])
                matcher.next()
    else:
        results = searcher.search(question.query, limit=None, filter=allowed, mask=set(masked) or None)
        scores.update(results.items())
        for term, leaf in question.leaves.items():
            for number in searcher.docs_for_query(leaf):
                terms[number].add(term)
    scores = {number: round(score, _DIGITS) for number, score in scores.items()}
    best = nsmallest(_COMPARED, scores, key=lambda number: (-scores[number], keys[number]))
    passages = _best_passages(searcher, question.terms, sorted(best))
    known: dict[frozenset[str], frozenset[str]] = {}

    def match(number: int) -> Match:
        # Use one object for equal sets of terms, since thousands of matches have only a few different sets.
        found = known.setdefault(own := frozenset(terms[number]), own)
        return Match(keys[number], round(scores[number] + passages.get(number, 0.0), _DIGITS), found)

    return sorted(map(match, scores), key=lambda match: (-match.score, match.key))


def _best_passages(searcher: Searcher, terms: Iterable[str], numbers: Sequence[int]) -> dict[int, float]:
    """Return the score of the best passage of each document; `numbers` must be sorted."""
    scores: dict[int, defaultdict[int, float]] = {number: defaultdict(float) for number in numbers}
    for term in terms:
        if ("text", term) not in searcher.reader():
            continue
        rarity, matcher = searcher.idf("text", term), searcher.postings("text", term)
        for number in numbers:
            if matcher.is_active():
                matcher.skip_to(number)
            if not matcher.is_active():
                break
            if matcher.id() == number:
                starts = (place // _STEP - back for place in matcher.value_as("positions") for back in _STEPS_BACK)
                for passage, times in Counter(starts).items():
                    scores[number][passage] += rarity * times * (_K1 + 1) / (times + _K1)
    return {number: max(passages.values()) for number, passages in scores.items() if passages}


FOLDER = f"whoosh-{FORMAT}"
"""The folder of the index; its name has a version, so that two versions of mdmem do not overwrite one index."""

LOCK = "lock"
OVERLAY_LIMIT = 64
"""If no more documents than this changed, they are indexed in memory instead of waiting for another writer."""

# The seconds between commits while an index is built. Other processes can use each commit, and so can a later run.
_COMMIT_SECONDS = 2.0
# The seconds to wait for another writer.
_WAIT = 5.0
# The number of attempts to open the index while other processes commit.
_ATTEMPTS = 10
# The memory limit of the writer in megabytes, so large that it commits before it needs temporary files.
_LIMIT_MB = 512

_Stamp = tuple[tuple[str, int, int], ...]


class _OpenIndex(Struct, eq=False):
    """A state of the index in memory: the key of each number, and the live documents' hashes, numbers, lengths."""

    stamp: _Stamp
    readers: Sequence[Any] = ()
    keys: Sequence[str] = ()
    digests: Mapping[str, str] = {}  # never changed, as the two below
    numbers: Mapping[str, int] = {}
    lengths: Mapping[int, Sequence[int]] = {}

    def stale(self, live: Mapping[str, str]) -> list[str]:
        """Return the sorted keys of files that are missing in the index or have another hash there."""
        # Usually nothing changed, and comparing the whole tables takes a tenth of the time.
        if self.digests == live:
            return []
        return sorted(key for key, digest in live.items() if self.digests.get(key) != digest)

    def outdated(self, live: Mapping[str, str]) -> frozenset[int]:
        """Return Whoosh's numbers of the documents whose file was changed or deleted."""
        if self.digests == live:
            return frozenset()
        return frozenset(self.numbers[key] for key, digest in self.digests.items() if live.get(key) != digest)


_NO_INDEX = _OpenIndex(())


class FullTextIndex:
    """A full-text index in its own folder; without a folder, or with `persist=False`, it never writes to disk."""

    def __init__(
        self, folder: Path | None, *, persist: bool = True, progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Take the folder, which may be missing, and a function that reports the progress of building the index."""
        self._folder = folder
        self._writes = persist and folder is not None
        self._progress = progress
        self._opened = _NO_INDEX
        self._damaged: _Stamp = ()
        self._views: dict[object, _View] = {}
        # A server searches from several threads.
        self._turn = threading.RLock()

    def search(
        self,
        question: str,
        corpus: Corpus,
        *,
        among: Collection[str] | None = None,
        syntax: bool = False,
        may_refresh: bool = True,
        is_timed: bool = False,
    ) -> TextAnswer:
        """Return the documents that match a question, of those in `among` (None means all).

        The index is updated first if `may_refresh`, which needs a corpus with all documents of the tree. If the answer
        has a time limit, a new index is built only in part. With `syntax`, the question is in the query language, and
        an invalid one raises QuerySyntaxError.
        """
        parsed = parse(question) if syntax else plain(question)
        terms = tuple(parsed.words)
        if parsed.is_empty or not corpus.live or (among is not None and not among):
            return TextAnswer((), terms, parsed.words, "index")
        with self._turn:
            why, by_titles = None, False
            if self._writes and may_refresh:
                why, by_titles = self._catch_up(corpus, is_timed=is_timed)
            found, is_damaged = self._answer(parsed, corpus, among, by_titles=by_titles)
            is_scan = self._opened is _NO_INDEX
        if is_damaged:
            why = "the index is damaged, so every entry was read"
        if by_titles:
            why = f"{why}, so other entries were found by their titles only"
        return TextAnswer(found, terms, parsed.words, "scan" if is_scan else "index", why is not None, why)

    def find_containing(self, texts: Collection[str], corpus: Corpus) -> list[str]:
        """Return the keys of documents that contain all words of at least one of the texts, best match first."""
        question = ParsedQuestion(containing_query(texts), {}, leaves={})
        if question.is_empty or not corpus.live:
            return []
        with self._turn:
            found, _ = self._answer(question, corpus)
        return [match.key for match in found]

    def _answer(
        self, question: ParsedQuestion, corpus: Corpus, among: Collection[str] | None = None, *, by_titles: bool = False
    ) -> tuple[list[Match], bool]:
        """Return the matches, and whether the index was damaged, so that all documents were read instead."""
        view, is_damaged = self._view(corpus, by_titles=by_titles), False
        if self._opened is not _NO_INDEX:
            # Opening the index does not read all files, so a damaged file may only be found now.
            with suppress(Exception):
                return rank(view, question, among), False
            self._damaged, is_damaged = self._opened.stamp, True
            self.close()
            view = self._view(corpus, by_titles=by_titles)
        return rank(view, question, among), is_damaged

    def is_behind(self, *, live: Mapping[str, str]) -> bool:
        """Return whether so many documents changed that the next search would update the index first."""
        if not self._writes:
            return False
        with self._turn:
            opened = self._open()
            return len(opened.stale(live)) > (0 if opened is _NO_INDEX else OVERLAY_LIMIT)

    def refresh(
        self, corpus: Corpus, *, rebuild: bool = False, wait: float = _WAIT, is_timed: bool = False
    ) -> RefreshResult:
        """Update the index on disk, or build a damaged one again; with `is_timed`, stop after the first commit.

        Raises IndexBusyError if another process writes it for `wait` seconds, and IndexWriteError if it cannot be
        written.
        """
        folder = self._folder
        if folder is None or not self._writes:
            raise IndexWriteError("this index is not stored on disk")
        with self._turn:
            opened = self._open()
            if opened.digests == corpus.live and not rebuild and opened is not _NO_INDEX:
                return RefreshResult(len(corpus.live), 0, 0, rebuilt=False)
            try:
                make_folder(folder)
                with locked(folder / LOCK, wait=wait):
                    if not rebuild and self._open() is not _NO_INDEX:
                        # Whoosh raises these errors for a damaged file. Rebuild the index below. If `read` raised
                        # the error, it raises the same error again during the rebuild.
                        with suppress(ArithmeticError, LookupError, TypeError, ValueError, AssertionError, EOFError):
                            return self._write(folder, corpus, is_timed=is_timed)
                    for path in folder.iterdir():
                        if path.is_dir() and not path.is_symlink():
                            shutil.rmtree(path)
                        elif path.name != LOCK:
                            path.unlink()
                    FileIndex.create(CheckedStorage(folder), SCHEMA, "MAIN")
                    self.close()
                    self._damaged = ()
                    return replace(self._write(folder, corpus, is_timed=is_timed), rebuilt=True)
            except BlockingIOError as error:
                raise IndexBusyError("the index is being written") from error
            except OSError as error:
                raise IndexWriteError(f"the search index cannot be written: {error.strerror or error}") from error

    def _write(self, folder: Path, corpus: Corpus, *, is_timed: bool) -> RefreshResult:
        """Write the documents that changed; the caller must hold the lock."""
        opened, live = self._opened, corpus.live
        stale, done = opened.stale(live), 0
        storage = CheckedStorage(folder)
        index = FileIndex(storage, SCHEMA)
        # Measure CPU time. On a busy machine, measuring real time would cause many small commits.
        writer, began = _writer_of(index), time.process_time()
        try:
            for number in opened.outdated(live):
                writer.delete_document(number)
            for done, document in enumerate(corpus.read(stale), start=1):
                writer.add_document(**fields_of(document))
                if time.process_time() - began > _COMMIT_SECONDS:
                    writer.commit(merge=False)
                if self._progress is not None:
                    self._progress(done, len(stale))
                if writer.is_closed:
                    if is_timed:
                        break
                    writer, began = _writer_of(index), time.process_time()
            if not writer.is_closed:
                # Rewrite all segments when most of their documents are deleted.
                is_worn = 2 * len(opened.digests) < len(opened.keys)
                writer.commit(mergetype=OPTIMIZE if is_worn else MERGE_SMALL)
        finally:
            if not writer.is_closed:
                with suppress(Exception):
                    writer.cancel()
            storage.close_written()
        return RefreshResult(len(live), done, sum(key not in live for key in opened.digests), rebuilt=False)

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Compare the index on disk with the files, without reading documents."""
        if self._folder is None:
            return IndexState(stale=len(live), why="this index is not stored on disk")
        with self._turn:
            opened, exists = self._open(), bool(_stamp_of(self._folder))
        files = list(self._folder.rglob("*")) if self._folder.is_dir() else []
        is_usable = opened is not _NO_INDEX
        return IndexState(
            exists=exists,
            usable=is_usable,
            documents=len(opened.digests),
            stale=len(opened.stale(live)),
            gone=sum(key not in live for key in opened.digests),
            bytes=sum(path.stat().st_size for path in files if path.is_file()),
            folder=str(self._folder),
            why="the index is damaged; the next question rebuilds it" if exists and not is_usable else None,
        )

    def close(self) -> None:
        """Close the index; the next search opens it again."""
        self._opened, self._views = _NO_INDEX, {}

    def _open(self) -> _OpenIndex:
        """Return the current state of the index on disk, or `_NO_INDEX` if it is missing or damaged."""
        folder = self._folder
        if folder is None or (stamp := _stamp_of(folder)) == self._opened.stamp:
            return self._opened
        self.close()
        for _ in range(_ATTEMPTS if stamp != self._damaged else 0):
            before, opened = _stamp_of(folder), _NO_INDEX
            with suppress(Exception):
                reader = FileIndex(CheckedStorage(folder), SCHEMA).reader()
                leaves = [leaf for leaf, _ in reader.leaf_readers()] if reader.doc_count_all() else []
                for leaf, name in product(leaves, WEIGHTS):
                    # Load the lengths now, since another process may delete the file.
                    leaf.doc_field_length(0, name)
                opened = _opened(before, leaves)
            # Another process may have committed meanwhile and deleted files of this state. Whoosh does not report a
            # missing column file and reads empty values, so compare the stamp again.
            if _stamp_of(folder) == before:
                self._opened = opened
                break
        self._damaged = stamp if self._opened is _NO_INDEX else ()
        return self._opened

    def _catch_up(self, corpus: Corpus, *, is_timed: bool) -> tuple[str | None, bool]:
        """Update the index; return why it is still outdated (or None), and whether to read only titles."""
        wait = 0.0 if is_timed or len(self._open().stale(corpus.live)) <= OVERLAY_LIMIT else _WAIT
        why, is_being_built = "the index is being built" if is_timed else None, is_timed
        try:
            self.refresh(corpus, wait=wait, is_timed=is_timed)
        except (IndexBusyError, IndexWriteError) as error:
            why, is_being_built = str(error), is_timed or isinstance(error, IndexBusyError)
        opened = self._open()
        is_near = len(opened.stale(corpus.live)) <= OVERLAY_LIMIT
        # A few changed documents can be indexed in memory, without loss.
        if opened is not _NO_INDEX and is_near:
            return None, False
        # If another process is reading all documents for the index, read only the titles here.
        return why, bool(why and is_being_built and corpus.titles and not is_near)

    def _view(self, corpus: Corpus, *, by_titles: bool) -> _View:
        """Return the index on disk together with the changed documents in memory; the last result is cached."""
        opened, read = self._open(), corpus.titles if by_titles and corpus.titles else corpus.read
        stale, masked = opened.stale(corpus.live), opened.outdated(corpus.live)
        changed = [(key, corpus.live[key]) for key in stale]
        seen = (opened.stamp, tuple(changed), masked)
        if not by_titles and seen in self._views:
            return self._views[seen]
        documents, whole = list(read(stale)) if stale else [], opened
        if documents:
            index = FileIndex.create(MemoryStorage(), SCHEMA, "MAIN")
            writer = _writer_of(index)
            for document in documents:
                writer.add_document(**fields_of(document))
            writer.commit()
            whole = _opened(opened.stamp, [leaf for leaf, _ in index.reader().leaf_readers()], opened)
        reader = MultiReader(whole.readers)
        view = Searcher(reader, weighting=_LiveBM25F(reader, whole.lengths, masked)), whole.keys, masked
        # Do not cache the result if a file changed after the listing, so that the next search reads the file again.
        if not by_titles and [(one.key, one.digest) for one in documents] == changed:
            self._views = {seen: view}
        return view


def _stamp_of(folder: Path) -> _Stamp:
    """Return a value that changes with every commit of the index; empty if there is no index."""
    # The number of the commit in the name is not enough, because it starts again when the index is rebuilt.
    found = []
    for path in folder.glob("*.toc"):
        with suppress(OSError):
            stat = path.stat()
            found.append((path.name, stat.st_ino, stat.st_mtime_ns))
    return tuple(sorted(found))


def _opened(stamp: _Stamp, leaves: Sequence[Any], before: _OpenIndex = _NO_INDEX) -> _OpenIndex:
    """Return a state with the segments `leaves` added to the segments of another state."""
    keys, digests = list(before.keys), dict(before.digests)
    numbers, lengths = dict(before.numbers), dict(before.lengths)
    for leaf in leaves:
        base, rows = len(keys), rows_of(leaf)
        keys += (key for _, _, key in rows)
        for number in leaf.all_doc_ids():
            digest, lengths[base + number], key = rows[number]
            digests[key], numbers[key] = digest, base + number
    return _OpenIndex(stamp, [*before.readers, *leaves], keys, digests, numbers, lengths)


def _writer_of(index: FileIndex) -> Any:
    # No compression, since most blocks have only a few documents and would not get smaller.
    return index.writer(limitmb=_LIMIT_MB, compound=False, codec=W3Codec(compression=0))
