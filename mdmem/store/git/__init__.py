"""What we ask git: every git process of mdmem starts here, one for many files.

History, committing, merging and who commits are imported from their modules: a question, or a hook with nothing to
check, needs none of them.
"""

from mdmem.store.git.blobs import BlobReader, read_blobs
from mdmem.store.git.discovery import find_repository, is_brought_along
from mdmem.store.git.errors import (
    DubiousOwnershipError,
    GitLockedError,
    GitTooOldError,
    NoCommonAncestorError,
    NotCommittedError,
    ShallowHistoryError,
    UnknownRevisionError,
    UnwritableStoreError,
)
from mdmem.store.git.process import (
    Repository,
    editor,
    environment_for,
    hooks_folder,
    resolve,
    run,
    setting,
    staged_index,
)
from mdmem.store.git.status import (
    Blob,
    has_sparse_checkout,
    list_apart,
    list_changed_in_index,
    list_ignored,
    list_left_out,
    list_not_added,
    list_revision,
    list_staged,
    list_tracked,
    list_tracked_named,
    matching_lines,
    search_lines,
)

__all__ = [
    "Blob",
    "BlobReader",
    "DubiousOwnershipError",
    "GitLockedError",
    "GitTooOldError",
    "NoCommonAncestorError",
    "NotCommittedError",
    "Repository",
    "ShallowHistoryError",
    "UnknownRevisionError",
    "UnwritableStoreError",
    "editor",
    "environment_for",
    "find_repository",
    "has_sparse_checkout",
    "hooks_folder",
    "is_brought_along",
    "list_apart",
    "list_changed_in_index",
    "list_ignored",
    "list_left_out",
    "list_not_added",
    "list_revision",
    "list_staged",
    "list_tracked",
    "list_tracked_named",
    "matching_lines",
    "read_blobs",
    "resolve",
    "run",
    "search_lines",
    "setting",
    "staged_index",
]
