"""What a tree is: files below a root at one moment; one that cannot be read is never an absent one."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

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


def read_one(tree: Tree, path: str) -> bytes | Unreadable:
    """Return the bytes of one file of a tree."""
    return next(content for _, content in tree.read([path]))
