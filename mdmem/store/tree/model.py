"""A tree: the files below a root at one moment. A file that cannot be read is never an absent one."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from hashlib import sha1
from operator import attrgetter
from typing import Protocol

from msgspec import Struct

from mdmem.record import StoredRecord

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FileKind(StrEnum):
    """The kind of a path."""

    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    UNREADABLE = "unreadable"
    UNMERGED = "unmerged"


class TreeFile(StoredRecord, frozen=True):
    """One path below the root, in `/` form.

    `digest` is set where git lists the file, so that it need not be read. `target` is that of a symbolic link, in `/`
    form.
    """

    path: str
    kind: FileKind = FileKind.FILE
    digest: str | None = None
    reason: str = ""
    target: str = ""


class Unreadable(Struct, frozen=True):
    """Takes the place of the bytes of a file that exists and cannot be read."""

    reason: str


class Tree(Protocol):
    """The files below a root at one moment."""

    @property
    def name(self) -> str:
        """Return the tree's name in messages."""
        ...

    def files(self) -> tuple[TreeFile, ...]:
        """Return everything below the root whose name does not start with a dot, sorted by path."""
        ...

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the given order."""
        ...

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digest of each file that can be read, by path."""
        ...


Stat = tuple[int, int, int, int]
"""The times of the last change of the content and of anything, in nanoseconds, the size, and the inode."""

stat_of: Callable[[os.stat_result], Stat] = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")


class Digests(Protocol):
    """Remembers the digest of each file by its stat."""

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:
        """Return, by path, the digests that are certain."""
        ...

    def keep(self, path: str, stat: Stat, digest: str) -> None:
        """Remember the digest of a file that was read with this stat."""
        ...


def digest_of(content: bytes) -> str:
    """Return git's name for a blob of these bytes."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_wing_manifest(content: bytes) -> bool:
    """Return whether a README has front matter with `kind`: at a repository's top, that makes its folder a wing."""
    text = content.removeprefix(_BYTE_ORDER_MARK)
    kind, end = text.find(b"\nkind:", len(b"---")), text.find(b"\n---", len(b"---"))
    return text.startswith((b"---\n", b"---\r\n")) and kind >= 0 and (end < 0 or kind < end)


path_of = attrgetter("path")


def find_file(files: Sequence[TreeFile], path: str) -> TreeFile | None:
    """Return the file at a path, of files that are sorted by path."""
    place = bisect_left(files, path, key=path_of)
    return files[place] if place < len(files) and files[place].path == path else None


def has_file(tree: Tree, path: str) -> bool:
    """Return whether a tree has anything at a path."""
    return find_file(tree.files(), path) is not None


def read_one(tree: Tree, path: str) -> bytes | Unreadable:
    """Return the bytes of one file of a tree."""
    return next(content for _, content in tree.read([path]))
