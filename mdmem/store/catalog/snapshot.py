"""The cache of loaded entries: one file for each worktree, read whole and written whole."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock

from mdmem import __version__
from mdmem.disk import RACY_NS
from mdmem.model.entry import DATE_FIELDS, Wing, parse_moment
from mdmem.model.fields import VERSION
from mdmem.record import StoredRecord, read_texts
from mdmem.store.catalog.interpret import LoadedFile
from mdmem.store.state import read_packed, write_packed
from mdmem.store.tree import Stat

# The number is raised whenever what is stored of a file changes; the table of fields has a version of its own.
RECORD_VERSION = f"9.{VERSION} {__version__}"
_VERSION = f"snapshot {RECORD_VERSION} {sys.version_info.major}.{sys.version_info.minor}"
_UNTRUSTED: Stat = (0, 0, 0, 0)
# A server that reads many revisions keeps so many loaded files beside those of the worktree.
_MOST_OTHERS = 20_000


class FileRow(StoredRecord, frozen=True, array_like=True):
    """One file: its content's digest, the stat that it had when it was read, and what was loaded from it.

    A manifest has a `wing`, or None for prose; `is_loaded` says that it was parsed.
    """

    digest: str
    stat: Stat = _UNTRUSTED
    loaded: LoadedFile | None = None
    wing: Wing | None = None
    is_loaded: bool = False


_Rows = dict[str, FileRow]


class EntryCache:
    """Loaded files of one worktree by path, and by content for other trees of the same repository.

    Without a path nothing is read or written, and files are remembered by this process alone.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Take the file, which need not exist; it is read when something is asked for."""
        self._path = path
        self._rows: _Rows | None = None
        self._written_ns = 0
        self._is_changed = False
        self._by_digest: dict[str, LoadedFile] | None = None
        self._others: dict[str, LoadedFile] = {}
        # Calls of a server share one cache.
        self._turn = RLock()

    def bind(self, path: Path) -> EntryCache:
        """Set the file, once, and return self."""
        if self._path is None:
            self._path = path
        return self

    @property
    def rows(self) -> _Rows:
        """Return the rows by path."""
        with self._turn:
            if self._rows is None:
                self._rows = self._read()
            return self._rows

    def _read(self) -> _Rows:
        # Asked before the read: a write in between makes what is read look older, never newer.
        self._written_ns = _changed_ns(self._path)
        found = read_packed(self._path, _VERSION, _Rows) if self._path is not None else None
        rows = found.values() if found is not None else ()
        is_sound = read_dates((row.loaded for row in rows), (row.wing for row in rows))
        return found if found is not None and is_sound else {}

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:
        """Return, by path, the digest of each file whose stat is the remembered one, and old enough to be trusted."""
        rows, limit = self.rows, self._written_ns - RACY_NS
        return {
            path: row.digest
            for path, stat in stats.items()
            if (row := rows.get(path)) is not None and row.stat == stat and stat[0] < limit and stat[1] < limit
        }

    def keep(self, path: str, stat: Stat, digest: str) -> None:
        """Remember the digest of a file that was read with this stat.

        A file that changed a moment ago may change again within the same tick of the clock: its stat is not trusted.
        Anybody can set the time of the content back, but not that of the last change.
        """
        if max(stat[:2]) >= time.time_ns() - RACY_NS:
            stat = _UNTRUSTED
        row = self.rows.get(path)
        if row is not None and row.digest == digest:
            self._set(path, row.with_changes(stat=stat))
        else:
            self._set(path, FileRow(digest, stat))

    def loaded(self, path: str, digest: str | None) -> LoadedFile | None:
        """Return what was loaded from a content in an entry's place, at any path."""
        if digest is None:
            return None
        row = self.rows.get(path)
        if row is not None and row.digest == digest and row.loaded is not None:
            return row.loaded
        with self._turn:
            if self._by_digest is None:
                self._by_digest = {one.digest: one.loaded for one in self.rows.values() if one.loaded is not None}
            found = self._by_digest.get(digest) or self._others.get(digest)
        return found.at(path) if found is not None else None

    def manifest(self, path: str, digest: str | None) -> FileRow | None:
        """Return the row of a manifest that was parsed from a content."""
        row = self.rows.get(path)
        return row if row is not None and row.is_loaded and row.digest == digest else None

    def learn(self, path: str, digest: str, loaded: LoadedFile, *, is_on_disk: bool) -> None:
        """Remember what was loaded; of another tree than the files on disk, only what no row stands for yet."""
        row = self.rows.get(path)
        if row is not None and row.digest == digest:
            self._set(path, row.with_changes(loaded=loaded))
        elif is_on_disk or row is None:
            self._set(path, FileRow(digest, loaded=loaded))
        else:
            if len(self._others) >= _MOST_OTHERS:
                self._others.clear()
            self._others[digest] = loaded

    def learn_manifest(self, path: str, digest: str, wing: Wing | None, *, is_on_disk: bool) -> None:
        """Remember what a manifest states."""
        row = self.rows.get(path)
        if row is not None and row.digest == digest:
            self._set(path, row.with_changes(wing=wing, is_loaded=True))
        elif is_on_disk or row is None:
            self._set(path, FileRow(digest, wing=wing, is_loaded=True))

    def _set(self, path: str, row: FileRow) -> None:
        with self._turn:
            if self.rows.get(path) != row:
                self.rows[path] = row
                self._is_changed, self._by_digest = True, None

    def save(self, live: Collection[str] | None = None) -> None:
        """Write the rows if one changed; with `live`, the paths that are there, the others are forgotten."""
        with self._turn:
            for path in self.rows.keys() - live if live is not None else ():
                del self.rows[path]
                self._is_changed, self._by_digest = True, None
            if self._is_changed and self._path is not None and write_packed(self._path, _VERSION, dict(self.rows)):
                self._is_changed = False


def with_utc(one: LoadedFile) -> LoadedFile:
    """Return a loaded file with its times in UTC, as they are read back."""
    entry = one.entry
    stated = {name: getattr(entry, name) for name in DATE_FIELDS} if entry is not None else {}
    offset = {name: time for name, time in stated.items() if isinstance(time, datetime) and time.utcoffset()}
    if entry is None or not offset:
        return one
    return one.with_changes(entry=entry.with_changes(**{name: time.astimezone(UTC) for name, time in offset.items()}))


def read_dates(files: Iterable[LoadedFile | None], wings: Iterable[Wing | None]) -> bool:
    """Turn the texts of dates in what was just decoded into dates; False where one of them is none."""
    try:
        entries = [one.entry for one in files if one is not None and one.entry is not None]
        read_texts(entries, DATE_FIELDS, parse_moment)
        read_texts([wing for wing in wings if wing is not None], ("last_hygiene_at",), parse_moment)
    except ValueError:
        return False
    return True


def _changed_ns(path: Path | None) -> int:
    """Return when a file was written by the clock of its file system, 0 where there is none."""
    try:
        return path.stat().st_mtime_ns if path is not None else 0
    except OSError:
        return 0
