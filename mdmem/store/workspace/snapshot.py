"""Which state of the files a run is about; it imports nothing, since a hook asks for it at every commit."""

from __future__ import annotations

from msgspec import Struct


class Snapshot(Struct, frozen=True):
    """Which state of the files is read: the working tree, git's index, a revision, or a merge that has not happened.

    With `merge_into` it is the result of merging the revision, HEAD where there is none, into that one. `said` is what
    somebody called the revision, `is_dated` that this was a day or a moment, `remarks` what is to be told about it.
    `is_resolved` says that the revision is the whole name of a commit that is here.
    """

    revision: str | None = None
    staged: bool = False
    merge_into: str | None = None
    said: str | None = None
    is_dated: bool = False
    remarks: tuple[str, ...] = ()
    is_resolved: bool = False

    @property
    def is_working_tree(self) -> bool:
        """Say whether the files on disk are read."""
        return not self.staged and self.revision is None and self.merge_into is None
