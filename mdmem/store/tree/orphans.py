"""What lies at a repository's top like the entry of a wing, in a folder without the manifest that makes it one."""

from __future__ import annotations

import re

from mdmem.store.tree.filtered import NarrowedTree
from mdmem.store.tree.git import GitTree
from mdmem.store.tree.model import Tree
from mdmem.store.tree.working import WorkingTree

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
