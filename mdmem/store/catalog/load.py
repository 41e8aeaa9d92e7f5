"""Load the catalog of a tree, including wings of other repositories, with a cache of the files of each worktree."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import RLock

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from mdmem import SETTINGS_NAME, __version__
from mdmem.disk import RACY_NS
from mdmem.errors import GitError
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry, Wing, parse_moment
from mdmem.model.fields import DATE_FIELDS, VERSION
from mdmem.model.finding import Finding, Place
from mdmem.record import StoredRecord
from mdmem.store.catalog.addresses import (
    LoadedFile,
    is_entry_place,
    is_manifest,
    iter_documents,
    load_entry,
    load_manifest,
    unreadable,
    with_full_links,
)
from mdmem.store.catalog.model import Catalog, Redaction, known_addresses
from mdmem.store.git.process import Repository
from mdmem.store.settings import WingSettings, is_path
from mdmem.store.state.files import read_packed, write_packed
from mdmem.store.state.local_records import find_pin, store_of
from mdmem.store.tree import FileKind, GitTree, Stat, Tree, TreeFile, TreeView, digest_of, settings_of

NAME = f"snapshot-15.{VERSION}-{__version__}-{sys.version_info.major}.{sys.version_info.minor}"
"""The name of the cache file, by which two versions on one machine do not overwrite each other's file.

Increase the first number if the stored records change. VERSION changes with the fields of entries.
"""

# The cache keeps this number of other versions of files, each under the path, a NUL and the hash.
_FORMER = 200
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
        self.path = path
        self._rows: _Rows | None = None
        self._written_ns = 0
        self._is_changed = False
        # The threads of a server share one cache.
        self._turn = RLock()

    @property
    def rows(self) -> _Rows:
        """Return the cached rows by path."""
        with self._turn:
            if self._rows is None:
                found: _Rows = {}
                if self.path is not None:
                    # Get the time first, so that a write before the read makes the rows look older, never newer.
                    with suppress(OSError):
                        self._written_ns = self.path.stat().st_mtime_ns
                    found = read_packed(self.path, NAME, _Rows) or {}
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
        """Cache the hash of a file that was read with this stat."""
        # A file that changed less than two seconds ago may change again without a new time.
        if max(stat[:2]) >= time.time_ns() - RACY_NS:
            stat = _UNTRUSTED
        self._set(path, FileRow(digest, stat, self._loaded(path, digest)))

    def loaded(self, digests: Mapping[str, str]) -> dict[str, LoadedFile]:
        """Return, by path, the cached result for each file whose content still has the hash in `digests`."""
        found = ((path, self._loaded(path, digest)) for path, digest in digests.items())
        return {path: loaded for path, loaded in found if loaded is not None}

    def _loaded(self, path: str, digest: str) -> LoadedFile | None:
        row = self.rows.get(path)
        if row is None or row.digest != digest:
            row = self.rows.get(f"{path}\0{digest}")
        return row.loaded if row is not None else None

    def add(self, digest: str, loaded: LoadedFile, *, is_on_disk: bool) -> None:
        """Cache a loaded file; one from a commit or the index is another version of a file with other content."""
        row = self.rows.get(loaded.path)
        is_other = row is not None and row.digest != digest and not is_on_disk
        stat = row.stat if row is not None and row.digest == digest else _UNTRUSTED
        self._set(f"{loaded.path}\0{digest}" if is_other else loaded.path, FileRow(digest, stat, loaded))

    def _set(self, path: str, row: FileRow) -> None:
        with self._turn:
            old = self.rows.get(path)
            if old != row:
                if old is not None and old.digest != row.digest:
                    self._retire(path)
                self.rows[path] = row
                self._is_changed = True

    def _retire(self, path: str) -> None:
        """Keep a row as another version of its file, which a checkout of a branch may bring back."""
        row = self.rows.pop(path)
        if row.loaded is not None:
            self.rows[f"{path}\0{row.digest}"] = row

    def save(self, live: Collection[str] | None = None) -> None:
        """Write the cache file if a row changed; if `live` is given, only rows of these paths count as files."""
        with self._turn:
            gone = self.rows.keys() - live if live is not None else ()
            for path in [path for path in gone if "\0" not in path]:
                self._retire(path)
                self._is_changed = True
            for path in [path for path in self.rows if "\0" in path][:-_FORMER]:
                del self.rows[path]
            if self._is_changed and self.path is not None and write_packed(self.path, NAME, dict(self.rows)):
                self._is_changed = False


def read_dates(files: Iterable[LoadedFile | None]) -> bool:
    """Replace each date that is still a text in records from the cache; return False if a text is no date."""
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


class UnavailableWing(Struct, frozen=True):
    """The reason why a wing of another repository cannot be read, as the end of a sentence, and a hint."""

    why: str
    help: str = "`mdmem sync --wings --pinned` fetches it"


_HIDDEN_BY_FOLDER = UnavailableWing(
    "is not read, since a folder here has its name",
    "remove or rename the folder, or take `git` out of the wing's table",
)
# A function that takes the name and settings of a wing and returns its files. It does not use the network.
Finder = Callable[[str, WingSettings], Tree | UnavailableWing]


def with_remote_wings(tree: Tree, find: Finder) -> Tree:
    """Return a tree with the wings of other repositories. A wing is missing if the tree has a folder of its name."""
    settings = settings_of(tree)
    if not settings.remote_wings:
        return tree
    own = {file.path.partition("/")[0] for file in tree.files()}
    wings, missing = dict[str, Tree](), dict[str, Finding]()
    for name, table in settings.remote_wings.items():
        found: Tree | UnavailableWing = _HIDDEN_BY_FOLDER if name in own else find(name, table)
        if isinstance(found, UnavailableWing):
            message = f"the wing `{name}` of {table.git} {found.why}"
            place = Place(SETTINGS_NAME, settings.line_of(f"wings.{name}.git"))
            missing[name] = Finding("wing-not-fetched", message, place, found.help)
        else:
            wings[name] = found
    return TreeView(tree, wings, missing)


def find_remote_wing(cache: Path, root: Path, name: str, table: WingSettings) -> Tree | UnavailableWing:
    """Return the files of a wing at its pinned commit (the commit in the settings), or why they cannot be read."""
    if table.commit is None:
        return UnavailableWing("is not pinned to a commit yet", "`mdmem sync --wings` fetches it and writes the commit")
    url = place_of(table, root)
    pin = find_pin(cache, url, table.commit)
    if pin is None:
        return UnavailableWing(f"is not fetched: its commit {table.commit[:10]} is not here")
    if table.path is None and len(pin.roots) > 1:
        listed = ", ".join(f"`{one or '.'}`" for one in pin.roots)
        return UnavailableWing(f"is one of several memories there: {listed}", "choose one with `path`")
    memory = table.path if table.path is not None else "".join(pin.roots)
    folder = f"{memory}/{name}".removeprefix("/")
    tree = GitTree(Repository.bare(store_of(cache, url)), folder, table.commit, f"{name} ({table.commit[:10]})")
    try:
        if tree.files():
            return tree
    except (GitError, OSError):
        return UnavailableWing("was fetched, but can no longer be read")
    at = f"is not there at the commit {table.commit[:10]}: no file is in `{folder}`"
    return UnavailableWing(at, "set `path` to the memory that contains it, or set another `ref`")


def place_of(table: WingSettings, root: Path) -> str:
    """Return the URL or path of the repository that contains a wing; a relative path starts at the root."""
    url = table.git or ""
    return os.path.normpath(root / url) if is_path(url) else url


# The total size of parsed documents that are kept in memory, in bytes. Parsing one again would take 100 µs.
_MAX_BYTES = 32 * 1024 * 1024


def load(tree: Tree, cache: EntryCache | None = None) -> Catalog:
    """Load the entries and wings of a tree; raises GitError if its files cannot be listed.

    With a cache, only files that are not in the cache are read, and entries lose their links into hidden wings. Without
    a cache, all documents stay in memory and entries keep such links.
    """
    entry_files, others = list[TreeFile](), list[TreeFile]()
    for file in tree.files():
        (entry_files if is_entry_place(file.path) else others).append(file)
    readable = [file for file in entry_files if file.kind is FileKind.FILE]
    manifests = [file for file in others if is_manifest(file)]
    documents: dict[str, Document] = {}
    if cache is not None:
        digests, loaded = _load_cached(tree, cache, [*readable, *manifests], documents)
    else:
        digests, loaded = None, {}
        for document in iter_documents(tree, [file.path for file in (*readable, *manifests)]):
            documents[document.path] = document
            loaded[document.path] = _load_document(document)
    found = [loaded.get(file.path) or unreadable(file) for file in entry_files]
    readmes = [loaded[file.path] for file in manifests]
    wings = {name: Wing(name=name) for name in {file.path.partition("/")[0] for file in entry_files}}
    for wing in (one.wing for one in readmes if one.wing is not None):
        seen = tuple(filter(tree.access.reads, wing.shared_wings)) if wing.shared_wings is not None else None
        wings[wing.name] = replace(wing, shared_wings=seen)
    findings = [
        *(finding for one in (*found, *readmes) for finding in one.findings),
        *(unreadable(file).findings[0] for file in others if file.kind is FileKind.UNREADABLE),
        *tree.missing_wings.values(),
    ]
    return Catalog(
        tree=tree,
        entries=_entries(tree, found, shows_hidden=cache is None),
        wings=dict(sorted(wings.items())),
        broken={one.path: one for one in found if one.entry is None},
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
        files=tuple(entry_files),
        others=tuple(others),
        _documents=documents,
        _digests=digests,
        one_end_suffices=settings_of(tree).one_sided == "fact",
    )


def _load_document(document: Document) -> LoadedFile:
    return load_entry(document) if is_entry_place(document.path) else load_manifest(document)


def _load_cached(
    tree: Tree, cache: EntryCache, files: Sequence[TreeFile], documents: dict[str, Document]
) -> tuple[dict[str, str], dict[str, LoadedFile]]:
    """Return the hash and the loaded record of each file by path; update the cache, and `documents` with files read."""
    digests = tree.digests(files)
    loaded = cache.loaded(digests)
    unknown, size = {file.path: file for file in files if file.path not in loaded}, 0
    for document in iter_documents(tree, list(unknown)):
        path = document.path
        size += len(document.data)
        if size <= _MAX_BYTES:
            documents[path] = document
        loaded[path] = found = _load_document(document)
        if not found.is_closed:
            # Compute the hash from the bytes that were read, since the file may have changed after the listing.
            digests[path] = unknown[path].digest or digest_of(document.data)
            cache.add(digests[path], found, is_on_disk=tree.is_on_disk)
    # Deleted files leave the cache, but only if the tree has all files. Otherwise a hidden file would look deleted.
    is_whole = tree.is_on_disk and not tree.access.is_narrow and not tree.missing_wings
    cache.save({file.path for file in tree.files()} if is_whole else None)
    return digests, loaded


def _entries(tree: Tree, loaded: Sequence[LoadedFile], *, shows_hidden: bool) -> dict[str, Entry]:
    """Return the entries by address, with short links replaced by full addresses where possible."""
    entries = {one.entry.address: one.entry for one in loaded if one.entry is not None}
    short = [one.entry for one in loaded if one.has_short_links and one.entry is not None]
    if not short and not tree.access.is_narrow:
        return entries
    there = frozenset(one.path.removesuffix(".md") for one in loaded)
    known = known_addresses(there, tree.access, frozenset(tree.missing_wings))
    entries |= {entry.address: with_full_links(entry, known) for entry in short}
    if tree.access.is_narrow and not shows_hidden:
        redaction = Redaction(tree.access, known)
        entries = {address: redaction.entry(entry) for address, entry in entries.items()}
    return entries
