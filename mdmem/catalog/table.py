"""What a question needs of all files of a worktree, in one file of the cache: their stat, digest and meaning."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.catalog.content import CACHE_VERSION, read_moments
from mdmem.catalog.former import NAME, Former, read_former, write_former
from mdmem.catalog.interpret import LoadedFile
from mdmem.digests import unlike
from mdmem.disk import RACY_NS
from mdmem.entry.model import Wing
from mdmem.record import Raw, StoredRecord, unpack_one
from mdmem.state import read_packed, write_packed
from mdmem.tree import Looks, Stat, StoredLook, TreeFile

if TYPE_CHECKING:
    from mdmem.catalog.model import Catalog

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
_Packed = dict[str, Raw]
_Looks = dict[str, StoredLook]


class Table:
    """The files of a worktree as they were when somebody looked last, by path.

    What was learned since then is kept beside it until it is enough to be written: an unchanged file is neither read
    nor parsed again, and one change does not cost the writing of ten thousand rows. Beside the table stand the looks at
    the folders, and what all files meant together: where nothing changed, no row is asked for.
    """

    def __init__(self, path: Path) -> None:
        """Take the file, which need not exist; those beside it begin with its name."""
        self._path = path
        self._learned: _Rows = {}
        self._written_ns = 0
        # Of what the files beside the table were made, as far as they were read.
        self._kept: Mapping[str, str] | None = None
        # What tells it, until it is asked for.
        self._unread: Former | None = None
        self._stored_looks = Looks()

    @cached_property
    def _packed(self) -> _Packed:
        # Told first: whoever writes the table meanwhile is not taken for who wrote what is read.
        self._written_ns = _changed_ns(self._path)
        return read_packed(self._path, CACHE_VERSION, _Packed) or {}

    @property
    def is_new(self) -> bool:
        """Say whether nothing was ever written of these files."""
        return not self._learned and not self._path.exists()

    @cached_property
    def _rows(self) -> _Rows:
        """The rows that were asked for."""
        return {}

    def _known_rows(self, paths: Iterable[str]) -> _Rows:
        """Return what the table has of some paths, reading of it no more than that; nothing of a few beside many."""
        rows = self._rows
        unread = [path for path in paths if path not in rows]
        if not unread or self._is_spared(len(unread)):
            return rows
        packed = self._packed
        new = {path: packed[path] for path in unread if path in packed} if packed else {}
        if not new:
            return rows
        read = {path: row for path, one in new.items() if (row := unpack_one(one, FileRow)) is not None}
        if read_moments((row.loaded for row in read.values()), (row.wing for row in read.values())):
            rows.update(read)
        return rows

    def _is_spared(self, count: int) -> bool:
        """Say whether so few files cost less to be read again than the table does: the looks know of all others."""
        if "_packed" in vars(self):
            return False
        return 100 * count <= _FEW * sum(len(look.digests) for look in self._stored_looks.values())

    @cached_property
    def looks(self) -> Looks:
        """Return what was seen of the folders; whoever looks again puts in what is seen then."""
        path = self._beside("looks")
        at, stored = _changed_ns(path), read_packed(path, CACHE_VERSION, _Looks) or {}
        looks = {prefix: one.look(prefix, at=at) for prefix, one in stored.items()}
        self._stored_looks = Looks({prefix: look for prefix, look in looks.items() if look is not None})
        return Looks(self._stored_looks)

    def take_former(self) -> Former | None:
        """Return what all files meant together, once: who takes it has all of it, and it is as large as that again."""
        # What else is asked of it is read before it is gone.
        _ = self._manifests
        found, self._former = self._former, None
        return found

    @cached_property
    def _manifests(self) -> _Rows:
        """What was known of manifests when all files were put together."""
        former = self._former
        if former is None:
            return {}
        stated = ((path, former.manifests.get(path), wing) for path, wing in former.wings.items())
        return {path: FileRow(digest, wing=wing, is_parsed=True) for path, digest, wing in stated if digest is not None}

    @cached_property
    def _former(self) -> Former | None:
        kept = read_former(self._beside("former"))
        found = (kept or {}).get(NAME)
        self._unread = found
        self._kept = {} if found is None and kept is not None else None
        return found

    def _beside(self, name: str) -> Path:
        return self._path.with_name(f"{self._path.name}-{name}")

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:
        """Return, by path, the digest of each file whose stat is the one remembered, and old enough to be trusted."""
        rows, limit = self._known_rows(stats), self._written_ns - RACY_NS
        return {
            path: row.digest
            for path, stat in stats.items()
            if (row := rows.get(path)) is not None and row.stat == stat and stat[0] < limit and stat[1] < limit
        }

    def keep(self, path: str, stat: Stat, digest: str) -> None:
        """Remember the digest of a file that was read with this stat, and the stat unless it changed a moment before.

        Anybody can set the time of the content back, but not that of the last change.
        """
        if max(stat[:2]) >= time.time_ns() - RACY_NS:
            stat = _UNTRUSTED
        row = self.row(path, digest)
        if row is None or row.stat != stat:
            self._learned[path] = row.with_changes(stat=stat) if row is not None else FileRow(digest, stat)

    def row(self, path: str, digest: str | None) -> FileRow | None:
        """Return what is known of a file that has a content."""
        learned = self._learned.get(path)
        row = learned if learned is not None and learned.digest == digest else self._known_rows((path,)).get(path)
        return row if row is not None and row.digest == digest else None

    def manifest(self, path: str, digest: str) -> FileRow | None:
        """Return what is known of a manifest that has a content."""
        row = self._manifests.get(path)
        return row if row is not None and row.digest == digest else self.row(path, digest)

    def before(self, paths: Collection[str]) -> dict[str, LoadedFile]:
        """Return what files meant that may have another content by now, by path."""
        rows = self._known_rows(paths)
        found = ((path, rows[path].loaded) for path in paths if path in rows)
        return {path: loaded for path, loaded in found if loaded is not None}

    def loaded(self, digests: Mapping[str, str]) -> dict[str, LoadedFile]:
        """Return what files in an entry's place mean, by path, where it is known of the content that they have."""
        rows = self._known_rows(digests)
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
        if self._is_spared(len(self._learned)):
            return
        packed = self._packed
        if not self._learned and (files is None or len(packed) <= len(files)):
            return
        paths = {file.path for file in files} if files is not None else None
        gone = packed.keys() - paths if paths is not None else ()
        if 100 * (len(self._learned) + len(gone)) <= _FEW * len(packed):
            return
        known = {**packed, **self._rows, **self._learned}
        rows = {path: row for path, row in known.items() if paths is None or path in paths}
        if write_packed(self._path, CACHE_VERSION, rows):
            # What was learned is read from the file, should it be asked for.
            self._learned = {}
            del self._rows, self._packed

    def save_whole(self, catalog: Catalog, wings: Mapping[str, Wing | None]) -> None:
        """Write what all files mean together, and the looks at the folders, where either is far from what is kept."""
        digests, unread = catalog.file_digests, self._unread
        if unread is not None:
            are_same = vars(catalog).get("identity") == unread.identity
            self._kept, self._unread = (digests if are_same else unread.file_digests) or None, None
        if self._kept is digests:
            apart = 0
        elif unread is not None and self._kept:
            apart = _count(self._kept, digests, unread.unlike(digests))
        else:
            apart = _apart(self._kept, digests)
        if 100 * apart > _FEW * len(self._kept or ()):
            write_former(self._beside("former"), catalog, wings)
            self._kept = digests or None
        elif self._kept and not apart:
            # To hold on to both would take a fifth of what the entries take.
            self._kept = digests
        self._save_looks(len(digests))

    def _save_looks(self, count: int) -> None:
        looks = self.looks
        stored = self._stored_looks
        new = {prefix: look for prefix, look in looks.items() if not look.tells_as(stored.get(prefix))}
        settled = {prefix: one for prefix, look in new.items() if (one := look.stored()) is not None}
        if 100 * sum(len(one.digests) for one in settled.values()) <= _FEW * count:
            return
        kept = {
            prefix: one for prefix, look in stored.items() if prefix in looks and (one := look.stored()) is not None
        }
        if write_packed(self._beside("looks"), CACHE_VERSION, kept | settled):
            self._stored_looks = Looks({**stored, **{prefix: looks[prefix] for prefix in settled}})


def _apart(kept: Mapping[str, str] | None, now: Mapping[str, str]) -> int:
    """Return how many files changed since; where a name has no UTF-8, nothing is kept, and that is it.

    Of no files nothing need be kept.
    """
    if not kept:
        return int(kept is None and bool(now))
    return _count(kept, now, unlike(kept, now))


def _count(kept: Mapping[str, str], now: Mapping[str, str], changed: Iterable[str]) -> int:
    return sum((path in kept) + (path in now) for path in changed)


def _changed_ns(path: Path) -> int:
    """Return when a file was written by the clock of its file system, 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
