"""Where files come from: the working tree, the git index, a revision.

A file that cannot be read is never an absent one.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

from mdmem.gitrepo import Blob, BlobReader, Repository, list_revision, list_staged

SETTINGS_NAME = "mdmem.toml"
_KIND_LINE = re.compile(rb"\A(?:\xef\xbb\xbf)?---\r?\n(?:(?!---).*\n)*?kind:")


class FileKind(StrEnum):
    """What stands at a path."""

    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    UNREADABLE = "unreadable"
    UNMERGED = "unmerged"


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One path below the root, in `/` form; `digest` is known without reading where git lists the file.

    `target` is what a symbolic link says, in `/` form.
    """

    path: str
    kind: FileKind = FileKind.FILE
    digest: str | None = None
    reason: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for the bytes of a file that is there and cannot be read."""

    reason: str


class Tree(Protocol):
    """Files below a root at one moment."""

    @property
    def name(self) -> str:
        """Return what people call this tree."""
        ...

    def files(self) -> tuple[TreeFile, ...]:
        """Return everything below the root whose name does not start with a dot, sorted by path."""
        ...

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked."""
        ...

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the content's identity of each file that can be read, by path."""
        ...

    def identity(self, path: str, content: bytes) -> str:
        """Return the identity of bytes that were just read at a path."""
        ...


class Digests(Protocol):
    """Remembers which content a file of a certain stat had."""

    def find(self, path: str, stat: os.stat_result) -> str | None:
        """Return the digest, or None where it is not known for certain."""
        ...

    def keep(self, path: str, stat: os.stat_result, digest: str) -> None:
        """Remember the digest of a file that was read with this stat."""
        ...

    def save(self, paths: set[str]) -> None:
        """Keep what is known of the paths that are there."""
        ...


class Forgetful:
    """Remembers nothing: every file is read."""

    def find(self, path: str, stat: os.stat_result) -> str | None:  # noqa: ARG002  # the port's names
        """Return None."""
        return None

    def keep(self, path: str, stat: os.stat_result, digest: str) -> None:
        """Do nothing."""

    def save(self, paths: set[str]) -> None:
        """Do nothing."""


def digest_of(content: bytes) -> str:
    """Return the name git gives a blob of these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_wing_manifest(content: bytes) -> bool:
    """Say whether a README has front matter with `kind`: where the root is the repository's top, that makes a wing."""
    return _KIND_LINE.match(content) is not None


@dataclass(slots=True)
class WorkingTree:
    """The files on disk, untracked and ignored ones included."""

    root: Path
    is_top: bool = False
    stats: Digests = field(default_factory=Forgetful)
    name: str = "working tree"
    _listed: tuple[TreeFile, ...] | None = None

    def files(self) -> tuple[TreeFile, ...]:
        """Return everything below the root, listed once; a folder that cannot be listed is one unreadable file."""
        if self._listed is None:
            found: list[TreeFile] = []
            self._scan(self.root, "", found)
            self._listed = tuple(sorted(found, key=lambda file: file.path))
        return self._listed

    def _scan(self, folder: Path | str, prefix: str, found: list[TreeFile]) -> None:
        try:
            with os.scandir(folder) as listing:
                items = list(listing)
        except OSError as error:
            reason = error.strerror or str(error)
            found.append(TreeFile(prefix.rstrip("/") or ".", FileKind.UNREADABLE, reason=reason))
            return
        for item in items:
            if not item.name.startswith("."):
                self._scan_item(item, prefix + item.name, found)

    def _scan_item(self, item: os.DirEntry[str], path: str, found: list[TreeFile]) -> None:
        if self.is_top and "/" not in path and item.name != SETTINGS_NAME and not self._is_wing(item.path):
            return
        if item.is_symlink():
            found.append(TreeFile(path, FileKind.SYMLINK, target=_target(item.path)))
        elif item.is_file(follow_symlinks=False):
            found.append(TreeFile(path))
        elif not item.is_dir(follow_symlinks=False):
            # To open a pipe would wait for ever.
            found.append(TreeFile(path, FileKind.UNREADABLE, reason="it is no regular file"))
        elif os.path.lexists(f"{item.path}/.git"):
            found.append(TreeFile(path, FileKind.SUBMODULE))
        else:
            self._scan(item.path, path + "/", found)

    @staticmethod
    def _is_wing(folder: str) -> bool:
        manifest = Path(folder) / "README.md"
        try:
            # As in git, what a symbolic link leads to is not looked at.
            is_file = S_ISREG(manifest.lstat().st_mode)
            return is_file and is_wing_manifest(_read_with_stat(str(manifest))[0])
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            # What cannot be read may be a wing, and then a wing is missing.
            return True

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked."""
        for path in paths:
            yield path, self._read(path)

    def _read(self, path: str) -> bytes | Unreadable:
        try:
            return _read_with_stat(f"{self.root}{os.sep}{path}")[0]
        except OSError as error:
            return Unreadable(error.strerror or str(error))

    def _learn(self, path: str) -> str | None:
        """Return the digest of a file that was read for it, and remember it."""
        try:
            content, stat = _read_with_stat(f"{self.root}{os.sep}{path}")
        except OSError:
            return None
        digest = digest_of(content)
        self.stats.keep(path, stat, digest)
        return digest

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return each file's digest, reading only those whose stat changed since they were last read."""
        found: dict[str, str] = {}
        base = f"{self.root}{os.sep}"
        for file in files:
            try:
                stat = os.stat(base + file.path, follow_symlinks=False)  # noqa: PTH116  # a Path costs 2 µs a file more
            except OSError:
                continue
            digest = self.stats.find(file.path, stat) or self._learn(file.path)
            if digest is not None:
                found[file.path] = digest
        self.stats.save({file.path for file in self.files()})
        return found

    def identity(self, path: str, content: bytes) -> str:  # noqa: ARG002  # a git tree needs the path
        """Return the digest of the bytes themselves: the file may have changed since it was listed."""
        return digest_of(content)


_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def _read_with_stat(path: str) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes with the stat taken before them: a write in between makes a cache miss, never lie."""
    descriptor = os.open(path, _FLAGS)
    try:
        stat = os.fstat(descriptor)
        content = os.read(descriptor, stat.st_size + 1)
        # One byte more was asked for than there should be: only a file that changed meanwhile needs another look.
        while len(content) != stat.st_size and (more := os.read(descriptor, 1 << 20)):
            content += more
    finally:
        os.close(descriptor)
    return content, stat


@dataclass(slots=True)
class GitTree:
    """The files that git lists below a root, in its index or in a commit; never what is on disk."""

    repository: Repository
    under: str
    commit: str | None
    name: str
    index: Path | None = None
    _listed: tuple[TreeFile, ...] | None = None
    _digests: dict[str, str] = field(default_factory=dict)
    _reader: BlobReader = field(init=False)

    def __post_init__(self) -> None:
        """Make the one reader of this tree's blobs."""
        self._reader = BlobReader(self.repository)

    def files(self) -> tuple[TreeFile, ...]:
        """Return the listed files, sorted by path."""
        if self._listed is None:
            self._listed = self._list()
        return self._listed

    def _list(self) -> tuple[TreeFile, ...]:
        prefix = f"{self.under}/" if self.under else ""
        found: dict[str, TreeFile] = {}
        for blob in self._blobs():
            path = blob.path[len(prefix) :]
            if not any(part.startswith(".") for part in path.split("/")):
                found[path] = TreeFile(path, _kind_of(blob), blob.digest)
        if not self.under:
            found = self._wings_only(found)
        found |= self._targets(found)
        self._digests = {path: file.digest or "" for path, file in found.items()}
        return tuple(found[path] for path in sorted(found))

    def _blobs(self) -> list[Blob]:
        if self.commit is None:
            return list_staged(self.repository, self.under, index=self.index)
        return list_revision(self.repository, self.commit, self.under)

    def _wings_only(self, found: dict[str, TreeFile]) -> dict[str, TreeFile]:
        manifests = {
            path: file.digest or ""
            for path, file in found.items()
            if path.endswith("/README.md") and path.count("/") == 1
        }
        content = dict(self._reader.read(list(manifests.values())))
        wings = {
            path.split("/")[0] for path, digest in manifests.items() if is_wing_manifest(content.get(digest) or b"")
        }
        return {path: file for path, file in found.items() if path == SETTINGS_NAME or path.split("/")[0] in wings}

    def _targets(self, found: dict[str, TreeFile]) -> dict[str, TreeFile]:
        links = [file for file in found.values() if file.kind is FileKind.SYMLINK]
        blobs = self._reader.read([file.digest or "" for file in links])
        said = (os.fsdecode(content or b"") for _, content in blobs)
        return {file.path: replace(file, target=target) for file, target in zip(links, said, strict=False)}

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked, from one git process."""
        self.files()
        listed = [path for path in paths if path in self._digests]
        blobs = self._reader.read([self._digests[path] for path in listed])
        content = {path: blob for path, (_, blob) in zip(listed, blobs, strict=False)}
        for path in paths:
            found = content.get(path)
            yield path, Unreadable("the blob is missing from the repository") if found is None else found

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digests that git listed."""
        return {file.path: file.digest for file in files if file.digest}

    def identity(self, path: str, content: bytes) -> str:
        """Return the digest that git listed."""
        return self._digests.get(path) or digest_of(content)


def _target(path: str) -> str:
    try:
        return os.readlink(path).replace(os.sep, "/")  # noqa: PTH115  # a Path drops what it holds normalised
    except OSError:
        return ""


def _kind_of(blob: Blob) -> FileKind:
    if blob.stage:
        return FileKind.UNMERGED
    return {"120000": FileKind.SYMLINK, "160000": FileKind.SUBMODULE}.get(blob.mode, FileKind.FILE)


def read_one(tree: Tree, path: str) -> bytes | Unreadable:
    """Return the bytes of one file of a tree."""
    return next(content for _, content in tree.read([path]))
