"""Trees: the files below a root at one moment, from the disk, git's index or a commit, and filtered or changed views.

A file that cannot be read is listed as unreadable. It never counts as absent.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cached_property
from hashlib import sha1
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from typing import Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular, read_with_stat
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.finding import Finding
from mdmem.record import StoredRecord
from mdmem.store.git.process import BlobReader, Repository
from mdmem.store.git.status import list_ignored, list_revision, list_staged, refuse_sparse
from mdmem.store.settings import Settings, readable_settings


class FileKind(StrEnum):
    """The kind of a listed path; UNMERGED means a merge conflict in git's index."""

    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    UNREADABLE = "unreadable"
    UNMERGED = "unmerged"


class TreeFile(StoredRecord, frozen=True):
    """One path below the root. `digest` is git's hash if git lists the file; `target` is a symbolic link's target."""

    path: str
    kind: FileKind = FileKind.FILE
    digest: str | None = None
    reason: str = ""
    target: str = ""


class Unreadable(Struct, frozen=True):
    """Takes the place of the bytes of a file that is missing or cannot be read; `reason` is the error."""

    reason: str


class Tree:
    """The files below a root at one moment.

    `access` says which wings the tree may contain. `is_on_disk` says that the files are those on disk, without planned
    changes. `fetched_wings` are the visible wings of other repositories that were read; `missing_wings` has those that
    could not be read, each with a finding.
    """

    name: str
    access: Access = EVERYTHING
    is_on_disk: bool = False
    fetched_wings: frozenset[str] = frozenset()
    missing_wings: Mapping[str, Finding] = {}
    _listed: tuple[TreeFile, ...] | None = None

    def files(self) -> tuple[TreeFile, ...]:
        """Return the files by path, without hidden ones; at a repository's top only the settings and the wings.

        They are listed at the first call. Raises GitError if git fails.
        """
        if self._listed is None:
            self._listed = self._list()
        return self._listed

    def _list(self) -> tuple[TreeFile, ...]:
        raise NotImplementedError

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, or with an Unreadable, in the order of the arguments."""
        raise NotImplementedError

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return git's hash of the content of each file that can be read, by path."""
        return {file.path: file.digest for file in files if file.digest}

    def orphans(self) -> tuple[str, ...]:
        """Return the sorted paths that look like entries but are in no wing; only if the root is a repository's top."""
        return ()

    def hidden(self) -> frozenset[str]:
        """Return the wings and top-level files that the caller may not see, by name."""
        return frozenset()


def digest_of(content: bytes) -> str:
    """Return the hash that git gives to a file with these bytes."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


path_of = attrgetter("path")


def find_file(files: Sequence[TreeFile], path: str) -> TreeFile | None:
    """Return the file at a path, or None; `files` must be sorted by path."""
    place = bisect_left(files, path, key=path_of)
    return files[place] if place < len(files) and files[place].path == path else None


def read_one(tree: Tree, path: str) -> bytes | Unreadable:
    """Return the bytes of one file of a tree, or an Unreadable."""
    return next(content for _, content in tree.read([path]))


def settings_bytes(tree: Tree) -> bytes | Unreadable:
    """Return the bytes of a tree's settings file, or an Unreadable; empty if there is none."""
    return b"" if find_file(tree.files(), SETTINGS_NAME) is None else read_one(tree, SETTINGS_NAME)


def settings_of(tree: Tree) -> Settings:
    """Return the settings of a tree, with defaults for each part that cannot be parsed."""
    content = settings_bytes(tree)
    return Settings() if isinstance(content, Unreadable) else readable_settings(content)


def read_file(tree: Tree, path: str) -> bytes | None:
    """Return the bytes of a regular file of a tree, or None if there is none or it cannot be read."""
    file = find_file(tree.files(), path)
    # Opening a pipe would wait for ever.
    content = read_one(tree, path) if file is not None and file.kind is FileKind.FILE else None
    return content if isinstance(content, bytes) else None


def is_wing_manifest(content: bytes) -> bool:
    """Return whether a README has front matter with `kind`, which makes a top-level folder a wing."""
    text = content.removeprefix(b"\xef\xbb\xbf")
    kind, end = text.find(b"\nkind:", len(b"---")), text.find(b"\n---", len(b"---"))
    return text.startswith((b"---\n", b"---\r\n")) and kind >= 0 and (end < 0 or kind < end)


# The path of the README of a wing.
MANIFEST_PATH = re.compile(r"[^/]+/README\.md")
_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n((?:(?!---).*\n)*)")
_REQUIRED = tuple(re.compile(rb"^%s:" % key, re.MULTILINE) for key in (b"type", b"status"))


def _entries_in(files: Iterable[tuple[str, bytes | Unreadable]]) -> tuple[str, ...]:
    """Return the sorted paths of the files whose front matter has `type` and `status`."""
    fronts = ((path, _FRONT.match(content)) for path, content in files if isinstance(content, bytes))
    return tuple(sorted(path for path, front in fronts if front and all(key.search(front[1]) for key in _REQUIRED)))


def _may_be_orphan(file: TreeFile) -> bool:
    is_place = file.path.count("/") == 2 and file.path.endswith(".md") and not file.path.endswith("/README.md")
    return is_place and file.kind is FileKind.FILE


class MemoryTree(Tree, Struct, frozen=True):
    """A tree whose files are in memory, sorted by path. A listed file that is not in `contents` cannot be read."""

    name: str
    listed: tuple[TreeFile, ...] = ()
    contents: Mapping[str, bytes] = {}

    def files(self) -> tuple[TreeFile, ...]:
        """Return the files in the order in which they were given."""
        return self.listed

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, or with an Unreadable, in the order of the arguments."""
        return ((path, self.contents.get(path, Unreadable("No such file or directory"))) for path in paths)


_KINDS = {"120000": FileKind.SYMLINK, "160000": FileKind.SUBMODULE}


class GitTree(Tree, Struct, dict=True):
    """The files below `under` that git lists in a commit, a tree object or the index (None); the disk is not read."""

    repository: Repository
    under: str
    commit: str | None
    name: str
    _digests: dict[str, str] = field(default_factory=dict)
    _orphans: list[str] = field(default_factory=list)
    _listed: tuple[TreeFile, ...] | None = None

    @cached_property
    def _reader(self) -> BlobReader:
        return BlobReader(self.repository)

    def _list(self) -> tuple[TreeFile, ...]:
        if self.commit is None:
            blobs = list_staged(self.repository, self.under)
        else:
            blobs = list_revision(self.repository, self.commit, self.under)
        prefix = f"{self.under}/" if self.under else ""
        found: dict[str, TreeFile] = {}
        for blob in blobs:
            # If the root's own path is a link or a file, it has no files below it.
            if blob.path.startswith(prefix):
                path = blob.path.removeprefix(prefix)
                self._digests[path] = blob.digest
                if path[0] != "." and "/." not in path:
                    kind = FileKind.UNMERGED if blob.stage else _KINDS.get(blob.mode, FileKind.FILE)
                    found[path] = TreeFile(path, kind, blob.digest)
        # At the top of a repository, a folder without a manifest is no wing.
        if not self.under:
            files = [one for one in found.values() if one.kind in (FileKind.FILE, FileKind.UNMERGED)]
            manifests = {one.path: one.digest or "" for one in files if MANIFEST_PATH.fullmatch(one.path)}
            # A folder whose manifest cannot be read may be a wing, so it counts as one.
            wings = {
                path.partition("/")[0]
                for path, digest in manifests.items()
                if (read := self._reader.read(digest)) is None or is_wing_manifest(read)
            }
            others = [path for path in found if path.partition("/")[0] not in wings and path != SETTINGS_NAME]
            for path in others:
                if _may_be_orphan(found.pop(path)):
                    self._orphans.append(path)
        for file in [one for one in found.values() if one.kind is FileKind.SYMLINK]:
            target = self._reader.read(file.digest or "") or b""
            found[file.path] = replace(file, target=os.fsdecode(target))
        return tuple(found[path] for path in sorted(found))

    def orphans(self) -> tuple[str, ...]:
        """Return the sorted paths of files that look like entries but are in no wing."""
        self.files()
        return _entries_in(self.read(self._orphans))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, or with an Unreadable; one git process reads them all."""
        self.files()
        for path in paths:
            found = self._reader.read(self._digests[path]) if path in self._digests else None
            yield path, Unreadable("the blob is missing from the repository") if found is None else found


Stat = tuple[int, int, int, int]
"""A file's mtime and ctime in nanoseconds, size in bytes, and inode."""


def stat_of(stat: os.stat_result) -> Stat:
    """Return the parts of a stat from which a change of the file can be seen."""
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


class _Digests(Protocol):
    """A cache of the hash of each file by its stat, without files that may have changed."""

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]: ...
    def keep(self, path: str, stat: Stat, digest: str) -> None: ...


class WorkingTree(Tree, Struct):
    """The files on disk, also untracked and ignored ones, listed once; `is_top` if the root is a repository's top."""

    root: Path
    is_top: bool = False
    stats: _Digests | None = None
    name: str = "working tree"
    repository: Repository | None = None
    _listed: tuple[TreeFile, ...] | None = None
    _stats: dict[str, Stat] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    is_on_disk = True

    def _list(self) -> tuple[TreeFile, ...]:
        # If a sparse checkout left out some files, an answer without them may be wrong.
        if self.repository is not None:
            refuse_sparse(self.repository, self.root)
        found: list[TreeFile] = []
        self._scan(self.root, "", found)
        return tuple(sorted(found, key=path_of))

    def _scan(self, folder: Path | str, prefix: str, found: list[TreeFile], *, outside: bool = False) -> None:
        """Add the files below a folder; at a repository's top only those of wings, or with `outside` the rest."""
        try:
            with os.scandir(folder) as listing:
                items = list(listing)
        except OSError as error:
            reason = error.strerror or str(error)
            found.append(TreeFile(prefix.rstrip("/") or ".", FileKind.UNREADABLE, reason=reason))
            return
        is_first = self.is_top and not prefix
        for item in items:
            if item.name[0] == "." or (is_first and item.name != SETTINGS_NAME and self._is_wing(item.path) is outside):
                continue
            path = prefix + item.name
            if item.is_file(follow_symlinks=False):
                found.append(TreeFile(path))
                try:
                    self._stats[path] = stat_of(item.stat(follow_symlinks=False))
                except OSError:
                    # The file was deleted since the listing. `read` reports the error.
                    continue
            elif item.is_symlink():
                target = ""
                with suppress(OSError):
                    target = os.readlink(item.path).replace(os.sep, "/")  # noqa: PTH115  # a Path would normalise it
                found.append(TreeFile(path, FileKind.SYMLINK, target=target))
            elif not item.is_dir(follow_symlinks=False):
                # Opening a pipe would wait for ever.
                found.append(TreeFile(path, FileKind.UNREADABLE, reason="it is not a regular file"))
            elif os.path.lexists(f"{item.path}/.git"):
                found.append(TreeFile(path, FileKind.SUBMODULE))
            elif not outside or path.count("/") < 2:
                self._scan(item.path, path + "/", found, outside=outside)

    def _is_wing(self, folder: str) -> bool:
        manifest = Path(folder) / "README.md"
        try:
            # Symbolic links are not followed, since git does not follow them either.
            is_file = S_ISREG(manifest.lstat().st_mode)
            return is_file and is_wing_manifest(read_regular(manifest, follow=False))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            # A folder whose manifest cannot be read may be a wing, so it counts as one.
            return True

    def orphans(self) -> tuple[str, ...]:
        """Return the paths of files that look like entries but are in no wing, without those that git ignores."""
        found: list[TreeFile] = []
        if self.is_top:
            self._scan(self.root, "", found, outside=True)
        paths = [file.path for file in found if _may_be_orphan(file)]
        ignored = list_ignored(self.repository, paths) if self.repository is not None else ()
        return _entries_in(self.read([path for path in paths if path not in ignored]))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, or with an Unreadable, in the order of the arguments."""
        for path in paths:
            try:
                content: bytes | Unreadable = self._read(path)[0]
            except OSError as error:
                content = Unreadable(error.strerror or str(error))
            yield path, content

    def _read(self, path: str) -> tuple[bytes, os.stat_result]:
        return read_with_stat(f"{self.root}{os.sep}{path}", follow=False)

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return git's hash of each file. A file is read only if no hash is cached for its size and times."""
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


class TreeView(Tree, Struct):
    """A view of another tree that adds wings of other repositories, hides files, or replaces the bytes of files.

    Paths in the trees of `wings` are relative to the wing's folder. `changed` has the new bytes of files by path, and
    `gone` the paths to leave out. With `changed`, each file is read only once, so that all results are from one moment.
    """

    below: Tree
    wings: Mapping[str, Tree] = {}
    missing: Mapping[str, Finding] = {}
    access: Access = EVERYTHING
    changed: Mapping[str, bytes] | None = None
    gone: frozenset[str] = frozenset()
    name: str = ""
    is_on_disk: bool = False
    fetched_wings: frozenset[str] = frozenset()
    missing_wings: Mapping[str, Finding] = {}
    _contents: dict[str, bytes | Unreadable] = {}
    _listed: tuple[TreeFile, ...] | None = None

    def __post_init__(self) -> None:
        """Take the attributes of the tree below; a copy with other changes must list its files again."""
        below, self._listed = self.below, None
        self.name = below.name
        self.access = access = self.access if self.access.is_narrow else below.access
        self.is_on_disk = below.is_on_disk and self.changed is None
        self.fetched_wings = frozenset(filter(access.reads, (*below.fetched_wings, *self.wings)))
        missing = {**below.missing_wings, **self.missing}
        self.missing_wings = {name: one for name, one in missing.items() if access.reads(name)}

    def _list(self) -> tuple[TreeFile, ...]:
        files = [*self.below.files()]
        for wing, tree in self.wings.items():
            files += (replace(file, path=f"{wing}/{file.path}") for file in tree.files())
        found = {file.path: file for file in files if self.access.sees(file.path) and file.path not in self.gone}
        found |= {path: replace(found.get(path, TreeFile(path)), digest=None) for path in self.changed or {}}
        return tuple(sorted(found.values(), key=path_of))

    def orphans(self) -> tuple[str, ...]:
        """Return the files that look like entries but are in no wing; empty if the caller may not see every wing."""
        return () if self.access.is_narrow else self.below.orphans()

    def hidden(self) -> frozenset[str]:
        """Return the wings and top-level files that the caller may not see, by name."""
        paths = (file.path for file in self.below.files() if not self.access.sees(file.path))
        return self.below.hidden().union(path.split("/", 1)[0] for path in paths)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, or with an Unreadable; files that the caller may not see are never read."""
        changed, found = self.changed or {}, self._contents if self.changed is not None else {}
        by_wing: dict[str, list[str]] = {}
        for path in paths:
            wing, _, rest = path.partition("/")
            if path in changed or path in found:
                continue
            if not self.access.sees(path):
                found[path] = Unreadable("No such file or directory")
            elif wing in self.wings:
                by_wing.setdefault(wing, []).append(rest)
            else:
                by_wing.setdefault("", []).append(path)
        for wing, own in by_wing.items():
            prefix = f"{wing}/" if wing else ""
            found.update((prefix + path, content) for path, content in self.wings.get(wing, self.below).read(own))
        for path in paths:
            yield path, changed[path] if path in changed else found[path]

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the hash of each visible file; in wings of other repositories, the hash comes from git's listing."""
        here = {**self._contents, **(self.changed or {})}
        found = {path: digest_of(content) for path, content in here.items() if isinstance(content, bytes)}
        rest = [file for file in files if file.path not in here and self.access.sees(file.path)]
        own = [file for file in rest if file.path.partition("/")[0] not in self.wings]
        joined = [file for file in rest if file.path.partition("/")[0] in self.wings]
        found |= self.below.digests(own) | super().digests(joined)
        return {file.path: found[file.path] for file in files if file.path in found}

    def with_changes(self, contents: Mapping[str, bytes], renames: Sequence[tuple[str, str]] = ()) -> TreeView:
        """Return a copy with new bytes in some files; some files are then renamed, if they can be read."""
        changed, gone = {**(self.changed or {}), **contents}, set(self.gone)
        for old, new in renames:
            content = changed.pop(old) if old in changed else self.bytes_below(old)
            if not isinstance(content, Unreadable):
                gone.add(old)
                changed[new] = content
        return replace(self, changed=changed, gone=frozenset(gone - changed.keys()))

    def bytes_below(self, path: str) -> bytes | Unreadable:
        """Return the bytes of a file without the changes of this view, or an Unreadable."""
        if path not in self._contents:
            self._contents.update(self.below.read([path]))
        return self._contents[path]


def restrict(tree: Tree, access: Access) -> Tree:
    """Return a view of a tree limited to an access, or the tree itself if the access allows everything."""
    return TreeView(tree, access=access) if access.is_narrow else tree


# A BaseException, because the index treats every `Exception` as damage and would be rebuilt.
class DeadlineError(BaseException):
    """The time limit of an answer is over."""


Clock = Callable[[], float]
_Result = TypeVar("_Result")


class TimedTree(TreeView, kw_only=True):
    """A tree that raises DeadlineError if it is read after the time `until` of a clock."""

    until: float
    clock: Clock

    def files(self) -> tuple[TreeFile, ...]:
        """Return all files below the root, sorted by path; raises DeadlineError after the time limit."""
        return self._in_time(self.below.files())

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, or with an Unreadable; raises DeadlineError after the time limit."""
        return map(self._in_time, self.below.read(paths))

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the hash of each file that can be read, by path; raises DeadlineError after the time limit."""
        return self._in_time(self.below.digests(files))

    def _in_time(self, result: _Result) -> _Result:
        if self.clock() > self.until:
            raise DeadlineError
        return result
