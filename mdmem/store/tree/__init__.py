"""Where files come from: the working tree, the git index, a revision, wings that live elsewhere."""

from mdmem import SETTINGS_NAME
from mdmem.store.tree.git import GitTree
from mdmem.store.tree.model import (
    Digests,
    FileKind,
    Stat,
    Tree,
    TreeFile,
    Unreadable,
    digest_of,
    find_file,
    has_file,
    is_wing_manifest,
    path_of,
    read_one,
)
from mdmem.store.tree.views import (
    JoinedTree,
    MissingWing,
    NarrowedTree,
    OverlaidTree,
    TreeView,
    access_to,
    fetched_wings,
    missing_wings,
    narrowed,
)
from mdmem.store.tree.working import WorkingTree, orphaned_entries

__all__ = [
    "SETTINGS_NAME",
    "Digests",
    "FileKind",
    "GitTree",
    "JoinedTree",
    "MissingWing",
    "NarrowedTree",
    "OverlaidTree",
    "Stat",
    "Tree",
    "TreeFile",
    "TreeView",
    "Unreadable",
    "WorkingTree",
    "access_to",
    "digest_of",
    "fetched_wings",
    "find_file",
    "has_file",
    "is_wing_manifest",
    "missing_wings",
    "narrowed",
    "orphaned_entries",
    "path_of",
    "read_one",
]
