"""Where the symbolic links below a root lead."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from mdmem.catalog import Catalog
from mdmem.tree import FileKind, TreeFile


def symlinks(catalog: Catalog) -> Iterator[TreeFile]:
    """Yield every symbolic link below the root."""
    for file in (*catalog.files, *catalog.others):
        if file.kind is FileKind.SYMLINK:
            yield file


def leaves_root(file: TreeFile) -> bool:
    """Say whether a link's own text leads out of the root; an absolute one does on every other machine."""
    if file.target.startswith("/") or file.target[1:2] == ":":
        return True
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), file.target))
    return reached == ".." or reached.startswith("../")
