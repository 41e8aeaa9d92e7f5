"""Load single files as entries or wings, and cache the results of each worktree in one file."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import RLock

from msgspec.structs import force_setattr

from mdmem import SETTINGS_NAME, __version__
from mdmem.disk import RACY_NS
from mdmem.markdown.parse import Document, first_heading, parse_document
from mdmem.model.entry import Entry, Flaw, Wing, parse_moment
from mdmem.model.fields import DATE_FIELDS, VERSION
from mdmem.model.finding import Finding, Place, fault
from mdmem.record import StoredRecord
from mdmem.store.catalog.addresses import has_short_links, is_entry_place
from mdmem.store.state.files import read_packed, write_packed
from mdmem.store.tree import FileKind, Stat, Tree, TreeFile, Unreadable


class LoadedFile(StoredRecord, frozen=True):
    """The result of loading one file; `entry` or `wing` is None if the file has no valid one."""

    path: str
    entry: Entry | None = None
    findings: tuple[Finding, ...] = ()
    has_short_links: bool = False
    wing: Wing | None = None

    @property
    def is_closed(self) -> bool:
        """Return whether the file could not be opened, so that nothing is known about its content."""
        return any(finding.code == "unreadable" for finding in self.findings)


def interpret(document: Document) -> LoadedFile:
    """Return the result of loading a document: its entry, or None if there is no valid one, and all findings."""
    address = document.path.removesuffix(".md")
    findings = tuple(finding.at(document.path, address) for finding in document.findings)
    if document.fields is None:
        return LoadedFile(document.path, None, findings)
    # Imported here, because pydantic needs a tenth of a second, and only files that are not cached need it.
    from mdmem.model.schema import read_entry

    heading = first_heading(document.body)
    entry, flaws = read_entry(address, document.fields, heading)
    findings += tuple(_placed(document, address, flaw) for flaw in flaws)
    has_short = entry is not None and has_short_links(entry)
    return LoadedFile(document.path, entry, findings, has_short)


def iter_documents(tree: Tree, paths: Sequence[str]) -> Iterator[Document]:
    """Yield the parsed documents of files, in the order of the paths; that of an unreadable file has only a finding."""
    if not paths:
        return
    for path, content in tree.read(paths):
        if isinstance(content, Unreadable):
            yield Document(path, b"", "", None, "", 1, (_closed(path, content.reason),))
        else:
            yield parse_document(path, content)


def _placed(document: Document, address: str | None, flaw: Flaw) -> Finding:
    """Return a flaw of the front matter as a finding with its place (line and column) in the file."""
    place = document.place(flaw.name, flaw.item, of_key=flaw.on_key)
    return fault(flaw.code, flaw.message, place, flaw.help, address, cause=flaw.name)


_REASONS = {
    FileKind.SYMLINK: ("symlink", "a symbolic link is in the place of an entry", "replace it by the file itself"),
    FileKind.SUBMODULE: ("submodule", "a submodule is in the place of an entry", "move it out of the memory"),
    FileKind.UNMERGED: (
        "merge-marker",
        "the file is unmerged in git's index",
        "`mdmem resolve` shows how to decide it",
    ),
}


def unreadable(file: TreeFile) -> LoadedFile:
    """Return the record of a file that was not opened, because it is a link, a submodule, unmerged or unreadable."""
    address = file.path.removesuffix(".md") if is_entry_place(file.path) else None
    if file.kind not in _REASONS:
        return LoadedFile(file.path, None, (_closed(file.path, file.reason, address),))
    code, message, help_ = _REASONS[file.kind]
    return LoadedFile(file.path, None, (fault(code, message, Place(file.path), help_, address),))


def _closed(path: str, reason: str, address: str | None = None) -> Finding:
    help_ = "make it readable, then run this again"
    return Finding("unreadable", f"cannot be read: {reason.lower()}", Place(path), help_, address)


def not_fetched(tree: Tree) -> list[Finding]:
    """Return a finding for each wing of another repository that could not be read, at its line in the settings."""
    code = "wing-not-fetched"
    return [Finding(code, one.message, Place(SETTINGS_NAME, one.line), one.help) for one in tree.missing_wings]


def interpret_manifest(document: Document) -> LoadedFile:
    """Return the result of loading a manifest: its wing and all findings; a README without front matter has neither."""
    faults = tuple(
        one
        if one.code == "unreadable"
        else Finding("manifest-invalid", f"{one.message} ({one.code})", one.place, one.help)
        for one in document.findings
    )
    if document.fields is None:
        is_prose = all(finding.former in ("front-matter-missing", "empty-file") for finding in document.findings)
        return LoadedFile(document.path, findings=() if is_prose else faults)
    from mdmem.model.schema import read_wing

    wing, flaws = read_wing(document.path.split("/")[0], document.fields)
    faults += tuple(_placed(document, None, flaw) for flaw in flaws)
    return LoadedFile(document.path, findings=faults, wing=wing)


NAME = f"snapshot-13.{VERSION}-{__version__}-{sys.version_info.major}.{sys.version_info.minor}"
"""The name of the cache file, by which two versions on one machine do not overwrite each other's file.

Increase the first number if the stored records change. VERSION changes with the fields of entries.
"""

_UNTRUSTED: Stat = (0, 0, 0, 0)


class FileRow(StoredRecord, frozen=True, array_like=True):
    """The cached record of one file: the hash of its content, its stat when it was read, and the loaded result."""

    digest: str
    stat: Stat = _UNTRUSTED
    loaded: LoadedFile | None = None


_Rows = dict[str, FileRow]


class EntryCache:
    """A cache of loaded files by path; a loaded file is used for any tree that has the same content at that path."""

    def __init__(self, path: Path | None = None) -> None:
        """Take the path of the cache file, which is read on first use; without it, the cache exists only in memory."""
        self._path = path
        self._rows: _Rows | None = None
        self._written_ns = 0
        self._is_changed = False
        # The threads of a server share one cache.
        self._turn = RLock()

    def bind(self, path: Path) -> EntryCache:
        """Set the path of the cache file if it is not set yet, and return the cache."""
        if self._path is None:
            self._path = path
        return self

    @property
    def rows(self) -> _Rows:
        """Return the cached rows by path."""
        if self._rows is None:
            with self._turn:
                if self._rows is None:
                    found: _Rows = {}
                    if self._path is not None:
                        # Get the time first, so that a write before the read makes the rows look older, never newer.
                        with suppress(OSError):
                            self._written_ns = self._path.stat().st_mtime_ns
                        found = read_packed(self._path, NAME, _Rows) or {}
                    self._rows = found if read_dates(row.loaded for row in found.values()) else {}
        return self._rows

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:
        """Return the cached hash of each file whose stat did not change and is old enough to be trusted."""
        rows, limit = self.rows, self._written_ns - RACY_NS
        return {
            path: row.digest
            for path, stat in stats.items()
            if (row := rows.get(path)) is not None and row.stat == stat and stat[0] < limit and stat[1] < limit
        }

    def keep(self, path: str, stat: Stat, digest: str) -> None:
        """Cache the hash of a file that was read with this stat.

        A file that changed less than two seconds ago may change again without a new time, so its stat is not trusted.
        """
        if max(stat[:2]) >= time.time_ns() - RACY_NS:
            stat = _UNTRUSTED
        row = self.rows.get(path)
        is_same = row is not None and row.digest == digest
        self._set(path, FileRow(digest, stat, row.loaded if row is not None and is_same else None))

    def loaded(self, digests: Mapping[str, str]) -> dict[str, LoadedFile]:
        """Return the loaded result of each file that is cached for this content, by path; `digests` are the hashes."""
        rows = self.rows
        found = ((path, digest, rows.get(path)) for path, digest in digests.items())
        return {path: row.loaded for path, digest, row in found if row and row.digest == digest and row.loaded}

    def learn(self, digest: str, loaded: LoadedFile, *, is_on_disk: bool) -> None:
        """Cache a loaded file; a file of a commit or the index never replaces a row with other content."""
        row = self.rows.get(loaded.path)
        if row is None or row.digest == digest or is_on_disk:
            stat = row.stat if row is not None and row.digest == digest else _UNTRUSTED
            self._set(loaded.path, FileRow(digest, stat, loaded))

    def _set(self, path: str, row: FileRow) -> None:
        with self._turn:
            if self.rows.get(path) != row:
                self.rows[path] = row
                self._is_changed = True

    def save(self, live: Collection[str] | None = None) -> None:
        """Write the cache file if a row changed; if `live` is given, rows of other paths are deleted first."""
        with self._turn:
            for path in self.rows.keys() - live if live is not None else ():
                del self.rows[path]
                self._is_changed = True
            if self._is_changed and self._path is not None and write_packed(self._path, NAME, dict(self.rows)):
                self._is_changed = False


def read_dates(files: Iterable[LoadedFile | None]) -> bool:
    """Replace the texts of dates in records that were just read from the cache by dates; False if one is no date."""
    parse = lru_cache(maxsize=None)(parse_moment)
    loaded = [one for one in files if one is not None]
    records: list[tuple[Entry | Wing, tuple[str, ...]]] = [(one.entry, DATE_FIELDS) for one in loaded if one.entry]
    records += [(one.wing, ("last_hygiene_at",)) for one in loaded if one.wing]
    try:
        for record, names in records:
            for name in names:
                text = getattr(record, name)
                if isinstance(text, str):
                    # Changing a frozen record is safe here, since nothing else uses it yet.
                    force_setattr(record, name, parse(text))
    except ValueError:
        return False
    return True
