"""Where files come from: the working tree, the git index, a revision, wings that live elsewhere."""

from mdmem import SETTINGS_NAME
from mdmem.store.tree.filtered import NarrowedTree, access_to, narrowed
from mdmem.store.tree.git import GitTree
from mdmem.store.tree.model import (
    Digests,
    FileKind,
    Forgetful,
    Stat,
    Tree,
    TreeFile,
    Unreadable,
    digest_of,
    find_file,
    first_names,
    has_file,
    is_wing_manifest,
    path_of,
    read_one,
)
from mdmem.store.tree.orphans import orphaned_entries
from mdmem.store.tree.overlay import OverlaidTree
from mdmem.store.tree.union import JoinedTree, MissingWing, fetched_wings, missing_wings
from mdmem.store.tree.working import WorkingTree

__all__ = [
    "SETTINGS_NAME",
    "Digests",
    "FileKind",
    "Forgetful",
    "GitTree",
    "JoinedTree",
    "MissingWing",
    "NarrowedTree",
    "OverlaidTree",
    "Stat",
    "Tree",
    "TreeFile",
    "Unreadable",
    "WorkingTree",
    "access_to",
    "digest_of",
    "fetched_wings",
    "find_file",
    "first_names",
    "has_file",
    "is_wing_manifest",
    "missing_wings",
    "narrowed",
    "orphaned_entries",
    "path_of",
    "read_one",
]
