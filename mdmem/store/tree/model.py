"""What a tree is: files below a root at one moment; one that cannot be read is never an absent one."""

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
    """What stands at a path."""

    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    UNREADABLE = "unreadable"
    UNMERGED = "unmerged"


class TreeFile(StoredRecord, frozen=True):
    """One path below the root, in `/` form; `digest` is known without reading where git lists the file.

    `target` is what a symbolic link says, in `/` form.
    """

    path: str
    kind: FileKind = FileKind.FILE
    digest: str | None = None
    reason: str = ""
    target: str = ""


class Unreadable(Struct, frozen=True):
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


Stat = tuple[int, int, int, int]
"""When a file's content changed and when anything of it did, in nanoseconds, its size, and its inode."""


# What of a file's stat changes whenever the file does; a call in Python for each of ten thousand files would be felt.
stat_of: Callable[[os.stat_result], Stat] = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")


class Digests(Protocol):
    """Remembers which content a file of a certain stat had."""

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:
        """Return, by path, the digest of each file of which it is known for certain."""
        ...

    def keep(self, path: str, stat: Stat, digest: str) -> None:
        """Remember the digest of a file that was read with this stat."""
        ...


class Forgetful:
    """Remembers nothing: every file is read."""

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:  # noqa: ARG002  # the port's names
        """Return nothing."""
        return {}

    def keep(self, path: str, stat: Stat, digest: str) -> None:
        """Do nothing."""


def digest_of(content: bytes) -> str:
    """Return the name git gives a blob of these bytes."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_wing_manifest(content: bytes) -> bool:
    """Say whether a README has front matter with `kind`: where the root is the repository's top, that makes a wing."""
    text = content.removeprefix(_BYTE_ORDER_MARK)
    kind, end = text.find(b"\nkind:", len(b"---")), text.find(b"\n---", len(b"---"))
    return text.startswith((b"---\n", b"---\r\n")) and kind >= 0 and (end < 0 or kind < end)


path_of = attrgetter("path")


def has_file(tree: Tree, path: str) -> bool:
    """Say whether something stands at a path of a tree."""
    return find_file(tree.files(), path) is not None


def find_file(files: Sequence[TreeFile], path: str) -> TreeFile | None:
    """Return the file at a path, of files that are sorted by path."""
    place = bisect_left(files, path, key=path_of)
    return files[place] if place < len(files) and files[place].path == path else None


def first_names(files: Sequence[TreeFile]) -> Iterator[str]:
    """Yield the first folder of each path, once, of files that are sorted by path and lie in one."""
    place = 0
    while place < len(files):
        name = files[place].path.partition("/")[0]
        yield name
        # The sign after `/` comes before all that does not lie in that folder.
        place = bisect_left(files, f"{name}0", lo=place, key=path_of)


def read_one(tree: Tree, path: str) -> bytes | Unreadable:
    """Return the bytes of one file of a tree."""
    return next(content for _, content in tree.read([path]))
