"""Read files from the work tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from msgspec import Struct, field

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular, read_with_stat
from mdmem.store.git.process import Repository
from mdmem.store.git.status import has_sparse_checkout, list_ignored
from mdmem.store.tree.git import GitTree, left_out_of
from mdmem.store.tree.model import (
    Digests,
    FileKind,
    Stat,
    Tree,
    TreeFile,
    Unreadable,
    digest_of,
    is_wing_manifest,
    path_of,
    stat_of,
)
from mdmem.store.tree.views import NarrowedTree


class WorkingTree(Struct):
    """The files on disk, untracked and ignored ones included, as of one listing.

    Files that a sparse checkout of `repository` leaves out are read from git's index. `stats` remembers digests.
    """

    root: Path
    is_top: bool = False
    stats: Digests | None = None
    name: str = "working tree"
    repository: Repository | None = None
    _listed: tuple[TreeFile, ...] | None = None
    _stats: dict[str, Stat] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _left_out: GitTree | None = None
    _in_index: dict[str, TreeFile] = field(default_factory=dict)

    def files(self) -> tuple[TreeFile, ...]:
        """Return everything below the root, listed once; a folder that cannot be listed is one unreadable file."""
        if self._listed is None:
            if self.repository is not None and has_sparse_checkout(self.repository):
                relative = self.root.relative_to(self.repository.top).as_posix()
                self._left_out = left_out_of(self.repository, "" if relative == "." else relative)
                self._in_index = {file.path: file for file in self._left_out.files()} if self._left_out else {}
            found: list[TreeFile] = []
            if not self._in_index or self.root.exists():
                self._scan(self.root, "", found)
            for file in found:
                self._in_index.pop(file.path, None)
            self._listed = tuple(sorted([*found, *self._in_index.values()], key=path_of))
        return self._listed

    def _scan(self, folder: Path | str, prefix: str, found: list[TreeFile]) -> None:
        try:
            with os.scandir(folder) as listing:
                items = list(listing)
        except OSError as error:
            reason = error.strerror or str(error)
            found.append(TreeFile(prefix.rstrip("/") or ".", FileKind.UNREADABLE, reason=reason))
            return
        is_first = self.is_top and not prefix
        for item in items:
            if item.name[0] == "." or (is_first and item.name != SETTINGS_NAME and not self._is_wing(item.path)):
                continue
            path = prefix + item.name
            if item.is_file(follow_symlinks=False):
                found.append(TreeFile(path))
                # Whoever reads a file that is gone by now gets the error.
                with suppress(OSError):
                    self._stats[path] = stat_of(item.stat(follow_symlinks=False))
            elif item.is_symlink():
                found.append(TreeFile(path, FileKind.SYMLINK, target=_target_of(item.path)))
            elif not item.is_dir(follow_symlinks=False):
                # Opening a pipe would wait for ever.
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
            # As in git, symbolic links are not followed.
            is_file = S_ISREG(manifest.lstat().st_mode)
            return is_file and is_wing_manifest(read_regular(manifest, follow=False))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            # A manifest that cannot be read may be that of a wing.
            return True

    def orphans(self) -> Iterator[tuple[str, bytes]]:
        """Yield the Markdown files at `x/y/z.md` of a repository's top that are in no wing, with their bytes.

        Files that git ignores, submodules and symbolic links are left out.
        """
        paths: list[str] = []
        for folder in _folders_in(self.root) if self.is_top else ():
            for room in _folders_in(folder.path) if not self._is_wing(folder.path) else ():
                names = [item.name for item in _items_in(room.path)]
                entries = [name for name in names if name.endswith(".md") and name != "README.md"]
                paths += [f"{folder.name}/{room.name}/{name}" for name in entries]
        ignored = list_ignored(self.repository, paths) if self.repository is not None else ()
        for path, content in self.read([path for path in paths if path not in ignored]):
            if isinstance(content, bytes):
                yield path, content

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the given order."""
        self.files()
        wanted = [path for path in paths if path in self._in_index]
        indexed = dict(self._left_out.read(wanted)) if self._left_out is not None and wanted else {}
        for path in paths:
            if path in indexed:
                yield path, indexed[path]
                continue
            try:
                content, _ = self._read(path)
            except OSError as error:
                yield path, Unreadable(error.strerror or str(error))
            else:
                yield path, content

    def _read(self, path: str) -> tuple[bytes, os.stat_result]:
        return read_with_stat(f"{self.root}{os.sep}{path}", follow=False)

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return each file's digest, reading only those whose stat changed since they were last read.

        The stat is that of the listing: a later change belongs to another moment.
        """
        self.files()
        new = [file for file in files if file.path not in self._digests]
        stats = {file.path: self._stats[file.path] for file in new if file.path in self._stats}
        known = self.stats.known(stats) if self.stats is not None else {}
        for file in new:
            digest = known.get(file.path) or file.digest
            if digest is None:
                try:
                    content, stat = self._read(file.path)
                except OSError:
                    continue
                digest = digest_of(content)
                if self.stats is not None:
                    self.stats.keep(file.path, stat_of(stat), digest)
            self._digests[file.path] = digest
        return {file.path: self._digests[file.path] for file in files if file.path in self._digests}


def _folders_in(folder: Path | str) -> list[os.DirEntry[str]]:
    """Return the folders in a folder but for hidden ones, links and repositories of their own."""
    return [
        item
        for item in _items_in(folder)
        if item.is_dir(follow_symlinks=False) and not os.path.lexists(f"{item.path}/.git")
    ]


def _items_in(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return [item for item in listing if not item.name.startswith(".")]
    except OSError:
        return []


def _target_of(path: str) -> str:
    try:
        return os.readlink(path).replace(os.sep, "/")  # noqa: PTH115  # a Path would normalise the target
    except OSError:
        return ""


_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n((?:(?!---).*\n)*)")
_REQUIRED = tuple(re.compile(rb"^%s:" % key, re.MULTILINE) for key in (b"type", b"status"))


def orphaned_entries(tree: Tree) -> tuple[str, ...]:
    """Return the sorted paths of files at `x/y/z.md` that look like entries and belong to no wing.

    There are some only where the root is the repository's top, and for callers who may see everything.
    """
    inner: Tree | None = tree
    while inner is not None and not isinstance(inner, (WorkingTree, GitTree)):
        if isinstance(inner, NarrowedTree):
            return ()
        inner = getattr(inner, "below", None)
    if inner is None:
        return ()
    return tuple(sorted(path for path, content in inner.orphans() if _is_entry_text(content)))


def _is_entry_text(content: bytes) -> bool:
    """Return whether a file's front matter has `type` and `status`."""
    front = _FRONT.match(content)
    return front is not None and all(key.search(front[1]) for key in _REQUIRED)
