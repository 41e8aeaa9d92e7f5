"""What a question needs of all files of a worktree, in one file of the cache: their stat, digest and meaning."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mdmem.catalog.content import CACHE_VERSION, read_moments
from mdmem.catalog.interpret import LoadedFile
from mdmem.entry.model import Wing
from mdmem.record import StoredRecord
from mdmem.state import read_packed, write_packed
from mdmem.tree import Stat, TreeFile

# A file that changed in the tick of the clock in which it was hashed, or the table written, may hold other bytes now.
_RACY_NS = 2_000_000_000
_UNTRUSTED: Stat = (0, 0, 0, 0)
# So many changes in a hundred files are kept beside the table before it is written anew.
_FEW = 1


class FileRow(StoredRecord, frozen=True, array_like=True):
    """One file: the digest of its content, the stat that it had then, and what it means, as far as that is known.

    A manifest without a wing is prose where it `is_parsed`.
    """

    digest: str
    stat: Stat = _UNTRUSTED
    loaded: LoadedFile | None = None
    wing: Wing | None = None
    is_parsed: bool = False


_Rows = dict[str, FileRow]


class Table:
    """The files of a worktree as they were when somebody looked last, by path.

    What was learned since then is kept beside it until it is enough to be written: an unchanged file is neither read
    nor parsed again, and one change does not cost the writing of ten thousand rows.
    """

    def __init__(self, path: Path) -> None:
        """Take the file, which need not exist."""
        self._path = path
        self._written_ns = 0
        self._rows: _Rows = {}
        self._learned: _Rows = {}
        with suppress(OSError):
            self._written_ns = path.stat().st_mtime_ns
            rows = read_packed(path, CACHE_VERSION, _Rows) or {}
            is_sound = read_moments((row.loaded for row in rows.values()), (row.wing for row in rows.values()))
            self._rows = rows if is_sound else {}

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:
        """Return, by path, the digest of each file whose stat is the one remembered, and old enough to be trusted."""
        rows, limit = self._rows, self._written_ns - _RACY_NS
        return {
            path: row.digest
            for path, stat in stats.items()
            if (row := rows.get(path)) is not None and row.stat == stat and stat[0] < limit and stat[1] < limit
        }

    def keep(self, path: str, stat: Stat, digest: str) -> None:
        """Remember the digest of a file that was read with this stat, and the stat unless it changed a moment before.

        Anybody can set the time of the content back, but not that of the last change.
        """
        if max(stat[:2]) >= time.time_ns() - _RACY_NS:
            stat = _UNTRUSTED
        row = self.row(path, digest)
        if row is None or row.stat != stat:
            self._learned[path] = row.with_changes(stat=stat) if row is not None else FileRow(digest, stat)

    def row(self, path: str, digest: str | None) -> FileRow | None:
        """Return what is known of a file that has a content."""
        for rows in (self._learned, self._rows):
            row = rows.get(path)
            if row is not None and row.digest == digest:
                return row
        return None

    def former(self, paths: Iterable[str]) -> dict[str, LoadedFile]:
        """Return what files meant that may have another content by now, by path."""
        rows = ((path, self._rows.get(path)) for path in paths)
        return {path: row.loaded for path, row in rows if row is not None and row.loaded is not None}

    def loaded(self, digests: Mapping[str, str]) -> dict[str, LoadedFile]:
        """Return what files in an entry's place mean, by path, where it is known of the content that they have."""
        rows = self._rows
        found = {
            path: row.loaded
            for path, digest in digests.items()
            if (row := rows.get(path)) is not None and row.digest == digest and row.loaded is not None
        }
        for path, row in list(self._learned.items()):
            if row.loaded is not None and digests.get(path) == row.digest:
                found[path] = row.loaded
        return found

    def learn(
        self, digests: Mapping[str, str], loaded: Mapping[str, LoadedFile], wings: Mapping[str, Wing | None]
    ) -> None:
        """Remember what files mean that have some contents, by path: entries, and the wings of manifests."""
        for path, one in loaded.items():
            row = self.row(path, digests[path]) or FileRow(digests[path])
            self._learned[path] = row.with_changes(loaded=one, is_parsed=True)
        for path, wing in wings.items():
            row = self.row(path, digests[path]) or FileRow(digests[path])
            self._learned[path] = row.with_changes(wing=wing, is_parsed=True)

    def save(self, files: Sequence[TreeFile] | None) -> None:
        """Write what is known of the files that are there, if that is much more than what stands in the table.

        `files` is None for who sees a part of them alone, and cannot tell which are gone.
        """
        if not self._learned and (files is None or len(self._rows) <= len(files)):
            return
        paths = {file.path for file in files} if files is not None else None
        gone = self._rows.keys() - paths if paths is not None else ()
        if 100 * (len(self._learned) + len(gone)) <= _FEW * len(self._rows):
            return
        known = {**self._rows, **self._learned}
        rows = {path: row for path, row in known.items() if paths is None or path in paths}
        if write_packed(self._path, CACHE_VERSION, rows):
            self._rows, self._learned = rows, {}
            with suppress(OSError):
                self._written_ns = self._path.stat().st_mtime_ns
