"""What we ask git: every git process of mdmem starts here, one for many files."""

from mdmem.gitrepo.blobs import BlobReader, read_blobs
from mdmem.gitrepo.committing import commit_paths
from mdmem.gitrepo.errors import (
    DubiousOwnershipError,
    GitLockedError,
    GitTooOldError,
    NoCommonAncestorError,
    NotCommittedError,
    ShallowHistoryError,
    UnknownRevisionError,
    UnwritableStoreError,
)
from mdmem.gitrepo.history import Commit, history, list_deletions
from mdmem.gitrepo.identity import identity
from mdmem.gitrepo.listing import (
    Blob,
    has_sparse_checkout,
    list_changed_in_index,
    list_ignored,
    list_left_out,
    list_revision,
    list_staged,
    list_tracked,
    list_tracked_named,
    search_lines,
)
from mdmem.gitrepo.merging import Merged, merge, merge_base, parents_at_hand
from mdmem.gitrepo.ongoing import refuse_while_busy, state_of
from mdmem.gitrepo.process import (
    Repository,
    editor,
    environment_for,
    find_repository,
    hooks_folder,
    resolve,
    run,
    setting,
    staged_index,
)

__all__ = [
    "Blob",
    "BlobReader",
    "Commit",
    "DubiousOwnershipError",
    "GitLockedError",
    "GitTooOldError",
    "Merged",
    "NoCommonAncestorError",
    "NotCommittedError",
    "Repository",
    "ShallowHistoryError",
    "UnknownRevisionError",
    "UnwritableStoreError",
    "commit_paths",
    "editor",
    "environment_for",
    "find_repository",
    "has_sparse_checkout",
    "history",
    "hooks_folder",
    "identity",
    "list_changed_in_index",
    "list_deletions",
    "list_ignored",
    "list_left_out",
    "list_revision",
    "list_staged",
    "list_tracked",
    "list_tracked_named",
    "merge",
    "merge_base",
    "parents_at_hand",
    "read_blobs",
    "refuse_while_busy",
    "resolve",
    "run",
    "search_lines",
    "setting",
    "staged_index",
    "state_of",
]
