"""Read files from the work tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from stat import S_ISREG

from msgspec import Struct, field

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular, read_with_stat
from mdmem.store.git import Repository, has_sparse_checkout, list_ignored
from mdmem.store.tree.git import GitTree, left_out_of
from mdmem.store.tree.model import (
    Digests,
    FileKind,
    Forgetful,
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

    What a sparse checkout of `repository` leaves out is read from git's index: it is there, though not on disk.
    """

    root: Path
    is_top: bool = False
    stats: Digests = field(default_factory=Forgetful)
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
            self._list_left_out()
            found: list[TreeFile] = []
            if not self._in_index or self.root.exists():
                self._scan(self.root, "", found)
            for file in found if self._in_index else ():
                self._in_index.pop(file.path, None)
            self._listed = tuple(sorted([*found, *self._in_index.values()], key=path_of))
        return self._listed

    def _list_left_out(self) -> None:
        if self.repository is None or not has_sparse_checkout(self.repository):
            return
        relative = self.root.relative_to(self.repository.top).as_posix()
        self._left_out = left_out_of(self.repository, "" if relative == "." else relative)
        if self._left_out is not None:
            self._in_index = {file.path: file for file in self._left_out.files()}

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
            name = item.name
            if name[0] == "." or (is_first and name != SETTINGS_NAME and not self._is_wing(item.path)):
                continue
            path = prefix + name
            if not item.is_file(follow_symlinks=False):
                self._scan_other(item, path, found)
                continue
            found.append(TreeFile(path))
            try:
                self._stats[path] = stat_of(item.stat(follow_symlinks=False))
            except OSError:
                # Gone since it was listed: whoever reads it is told.
                continue

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

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return each file's digest, reading only those whose stat changed since they were last read.

        The stat is that of the listing: what is changed after it belongs to another moment.
        """
        self.files()
        new = [file for file in files if file.path not in self._digests]
        known = self.stats.known({file.path: self._stats[file.path] for file in new if file.path in self._stats})
        for file in new:
            digest = known.get(file.path) or file.digest or self._learn(file.path)
            if digest is not None:
                self._digests[file.path] = digest
        return {file.path: self._digests[file.path] for file in files if file.path in self._digests}

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


_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n((?:(?!---).*\n)*)")
_TELLING = tuple(re.compile(rb"^%s:" % key, re.MULTILINE) for key in (b"type", b"status"))


def orphaned_entries(tree: Tree) -> tuple[str, ...]:
    """Return the paths of files at `x/y/z.md` that are meant as entries and belong to no wing, sorted.

    Only where the root is the repository's top, and only to who may see everything.
    """
    inner: Tree | None = tree
    while inner is not None and not isinstance(inner, (WorkingTree, GitTree)):
        if isinstance(inner, NarrowedTree):
            return ()
        inner = getattr(inner, "below", None)
    if inner is None:
        return ()
    return tuple(sorted(path for path, content in inner.orphans() if is_entry_text(content)))


def is_entry_text(content: bytes) -> bool:
    """Say whether a file's front matter has `type` and `status`."""
    front = _FRONT.match(content)
    return front is not None and all(key.search(front[1]) for key in _TELLING)
