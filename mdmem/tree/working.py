"""The files on disk."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, repeat
from operator import attrgetter, is_, not_
from pathlib import Path
from stat import S_ISREG
from typing import cast

from mdmem import SETTINGS_NAME
from mdmem.dataclass import dataclass, field, replace
from mdmem.disk import RACY_NS, read_regular, read_with_stat
from mdmem.git import Repository, has_sparse_checkout, list_ignored
from mdmem.tree.folder_files import listed_at
from mdmem.tree.git import GitTree, left_out_of
from mdmem.tree.look import FolderLook, Listing, Looks, column_of
from mdmem.tree.model import (
    Digests,
    FileKind,
    Forgetful,
    Stat,
    TreeFile,
    Unreadable,
    digest_of,
    is_wing_manifest,
    path_of,
    stat_of,
)


@dataclass(slots=True)
class WorkingTree:
    """The files on disk, untracked and ignored ones included.

    What a sparse checkout of `repository` leaves out is read from git's index: it is there, though not on disk.
    `looks` are those of trees before this one at the same folder, and of those behind it.
    """

    root: Path
    is_top: bool = False
    stats: Digests = field(default_factory=Forgetful)
    name: str = "working tree"
    repository: Repository | None = None
    looks: Looks = field(default_factory=Looks)
    _listed: Listing | None = None
    _stats: dict[str, Stat] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _looked: list[FolderLook] = field(default_factory=list)
    _told: dict[str, FolderLook] = field(default_factory=dict)
    _left_out: GitTree | None = None
    _in_index: dict[str, TreeFile] = field(default_factory=dict)
    _listed_at: int = 0

    def files(self) -> tuple[TreeFile, ...]:
        """Return everything below the root, listed once; a folder that cannot be listed is one unreadable file."""
        return self._listing().files

    def _listing(self) -> Listing:
        if self._listed is None:
            self._listed_at = time.time_ns()
            self._list_left_out()
            found: list[TreeFile] = []
            if not self._in_index or self.root.exists():
                self._scan(self.root, "", found)
            # What a server saw of a folder that is gone would stay as long as it runs.
            for gone in self.looks.keys() - self._told.keys():
                self.looks.pop(gone, None)
            for file in found if self._in_index else ():
                self._in_index.pop(file.path, None)
            found += self._in_index.values()
            self._listed = self.looks.listing = Listing.of(list(self._told.values()), found, self.looks.listing)
        return self._listed

    def _list_left_out(self) -> None:
        if self.repository is None or not has_sparse_checkout(self.repository):
            return
        relative = self.root.relative_to(self.repository.top).as_posix()
        self._left_out = left_out_of(self.repository, "" if relative == "." else relative)
        if self._left_out is not None:
            self._in_index = {file.path: file for file in self._left_out.files()}

    def _scan(self, folder: Path | str, prefix: str, found: list[TreeFile]) -> None:
        look = self.looks.get(prefix)
        renewed = look.renewed(folder) if look is not None else None
        if renewed is not None:
            if renewed is not look:
                self.looks[prefix] = renewed
                self._looked.append(renewed)
            self._told[prefix] = renewed
            found += renewed.files
            # A stat is asked for of a file alone whose digest is not known.
            self._stats |= renewed.unread
            return
        now = time.time_ns()
        try:
            listed = listed_at(now, os.stat(folder))  # noqa: PTH116  # of a path's text
            with os.scandir(folder) as listing:
                # In order, so that nobody who looks again puts them in order.
                items = sorted(listing, key=attrgetter("name"))
        except OSError as error:
            reason = error.strerror or str(error)
            found.append(TreeFile(prefix.rstrip("/") or ".", FileKind.UNREADABLE, reason=reason))
            return
        is_first, stats = self.is_top and not prefix, dict[str, Stat]()
        for item in items:
            name = item.name
            if name[0] == "." or (is_first and name != SETTINGS_NAME and not self._is_wing(item.path)):
                continue
            path = prefix + name
            if not item.is_file(follow_symlinks=False):
                self._scan_other(item, path, found)
                continue
            found.append(TreeFile(path))
            try:
                stats[path] = stat_of(item.stat(follow_symlinks=False))
            except OSError:
                # Gone since it was listed: whoever reads it is told.
                continue
        self._stats |= stats
        known = look.known(stats) if look is not None else {}
        is_whole = len(stats) == sum(item.name[0] != "." for item in items)
        if look is None or len(known) < max(len(stats), len(look.paths)) or is_whole:
            files = found[len(found) - len(stats) :] if is_whole else ()
            names = [item.name for item in items] if is_whole else [path.removeprefix(prefix) for path in stats]
            look = FolderLook(now, names, files, list(stats), column_of(stats.values()), known, is_whole, listed)
        self.looks[prefix] = look
        self._told[prefix] = look
        self._looked.append(look)

    def _scan_other(self, item: os.DirEntry[str], path: str, found: list[TreeFile]) -> None:
        if item.is_symlink():
            found.append(TreeFile(path, FileKind.SYMLINK, target=_target(item.path)))
        elif not item.is_dir(follow_symlinks=False):
            # To open a pipe would wait for ever.
            found.append(TreeFile(path, FileKind.UNREADABLE, reason="it is no regular file"))
        elif os.path.lexists(f"{item.path}/.git"):
            found.append(TreeFile(path, FileKind.SUBMODULE))
        else:
            self._scan(item.path, path + "/", found)

    def _is_wing(self, folder: str) -> bool:
        if f"{Path(folder).name}/README.md" in self._in_index:
            return True
        manifest = Path(folder) / "README.md"
        try:
            # As in git, what a symbolic link leads to is not looked at.
            is_file = S_ISREG(manifest.lstat().st_mode)
            return is_file and is_wing_manifest(read_regular(manifest, follow=False))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            # What cannot be read may be a wing, and then a wing is missing.
            return True

    def orphans(self) -> Iterator[tuple[str, bytes]]:
        """Yield the Markdown files at `x/y/z.md` of folders that are no wing, with their bytes, at a repository's top.

        What git ignores, submodules and symbolic links are left out.
        """
        paths: list[str] = []
        for folder in _folders(self.root) if self.is_top else ():
            if not self._is_wing(folder.path):
                for room in _folders(folder.path):
                    paths += [f"{folder.name}/{room.name}/{name}" for name in _entry_names(room.path)]
        ignored = list_ignored(self.repository, paths) if self.repository is not None else ()
        for path, content in self.read([path for path in paths if path not in ignored]):
            if isinstance(content, bytes):
                yield path, content

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked."""
        self.files()
        wanted = [path for path in paths if path in self._in_index]
        indexed = dict(self._left_out.read(wanted)) if self._left_out is not None and wanted else {}
        for path in paths:
            yield path, indexed[path] if path in indexed else self._read(path)

    def _read(self, path: str) -> bytes | Unreadable:
        try:
            return read_with_stat(f"{self.root}{os.sep}{path}", follow=False)[0]
        except OSError as error:
            return Unreadable(error.strerror or str(error))

    def _learn(self, path: str) -> str | None:
        """Return the digest of a file that was read for it, and remember it."""
        try:
            content, stat = read_with_stat(f"{self.root}{os.sep}{path}", follow=False)
        except OSError:
            return None
        digest = digest_of(content)
        self.stats.keep(path, stat_of(stat), digest)
        return digest

    def unread_size(self, paths: Sequence[str]) -> int | None:
        """Return how many bytes files hold of which no digest was asked for; None where one of them is none such."""
        stats = [self._stats[path] for path in paths if path in self._stats]
        return sum(stat[2] for stat in stats) if len(stats) == len(paths) else None

    def learn(self, digests: Mapping[str, str]) -> None:
        """Take the digests of files that were read elsewhere after they were listed."""
        limit = self._listed_at - RACY_NS
        for path in digests.keys() & self._stats.keys():
            stat = self._stats.pop(path)
            # Long ago when they were listed: the time at which they were read is not known.
            if max(stat[:2]) < limit:
                self.stats.keep(path, stat, digests[path])
        for look in self._looked:
            look.digests.update((path, digests[path]) for path in look.paths if path in digests)

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return each file's digest, reading only those whose stat changed since they were last read.

        The stat is that of the listing: what is changed after it belongs to another moment.
        """
        listing = self._listing()
        if tuple(files) == listing.asked:
            known = dict(listing.digests)
        else:
            # Of one listing several things are asked in turns, and all of it first.
            paths = list(map(path_of, files))
            known = dict(zip(paths, map((listing.digests or self._known_to_looks()).get, paths), strict=True))
        # Whether a text is None takes three times as long to tell as whether there is one.
        if all(known.values()):
            if not listing.digests:
                self._listed = self.looks.listing = replace(listing, asked=tuple(files), digests=dict(known))
            return cast("dict[str, str]", known)
        new = list(compress(files, map(is_, known.values(), repeat(None))))
        found = self._learned(new)
        paths = list(map(path_of, new))
        known.update(zip(paths, map(found.get, paths), strict=True))
        if not all(known.values()):
            return {path: digest for path, digest in known.items() if digest is not None}
        self._listed = self.looks.listing = replace(listing, asked=tuple(files), digests=dict(known))
        # The looks and the listing have them.
        self._digests = {} if len(found) <= len(known) else found
        return cast("dict[str, str]", known)

    def _known_to_looks(self) -> dict[str, str]:
        """Return the digests that the looks know."""
        found: dict[str, str] = {}
        for look in self._told.values():
            found |= look.digests
        return found

    def _learned(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digests that are known, with those of some files; one that cannot be read has none."""
        stats, found = self._stats, self._digests
        # What was asked for before lacks a digest in few folders: what changed in them, and what cannot be read.
        is_known = all(file.path in self._listing().digests for file in files)
        folders = {file.path[: file.path.rfind("/") + 1] for file in files} if is_known else self._told.keys()
        for folder in folders & self._told.keys():
            found |= self._told[folder].digests
        new = list(compress(files, map(not_, map(found.__contains__, map(path_of, files)))))
        found |= self.stats.known({file.path: stats[file.path] for file in new if file.path in stats})
        for file in new:
            if file.path not in found and (digest := file.digest or self._learn(file.path)) is not None:
                found[file.path] = digest
        for look in self._looked if new else ():
            look.digests.update((path, found[path]) for path in look.paths if path in found)
        # Nobody asks for it again, and it takes as much as a third of an entry.
        self._stats = {path: stat for path, stat in stats.items() if path not in found} if new else stats
        return found

    def identity(self, path: str, content: bytes) -> str:  # noqa: ARG002  # a git tree needs the path
        """Return the digest of the bytes themselves: the file may have changed since it was listed."""
        return digest_of(content)


def _folders(folder: Path | str) -> list[os.DirEntry[str]]:
    """Return the folders in a folder that are not hidden, no links and no repositories of their own."""
    return [
        item
        for item in _items(folder)
        if item.is_dir(follow_symlinks=False) and not os.path.lexists(f"{item.path}/.git")
    ]


def _entry_names(folder: str) -> list[str]:
    return [item.name for item in _items(folder) if item.name.endswith(".md") and item.name != "README.md"]


def _items(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return [item for item in listing if not item.name.startswith(".")]
    except OSError:
        return []


def _target(path: str) -> str:
    try:
        return os.readlink(path).replace(os.sep, "/")  # noqa: PTH115  # a Path drops what it holds normalised
    except OSError:
        return ""
