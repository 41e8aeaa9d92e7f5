"""What git says about a root, asked when a check needs it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from mdmem.store.git import BlobReader, Repository, list_ignored, list_not_added, list_staged, list_tracked
from mdmem.store.git.history import FileDays, file_days, list_deletions, list_staged_deletions
from mdmem.store.tree import NarrowedTree


class GitFacts(Struct, frozen=True, dict=True):
    """The facts of one root; paths count from it unless a name says otherwise.

    `revisions` are the commits whose history counts, HEAD where there are none.
    """

    repository: Repository
    under: str
    on_disk: tuple[str, ...]
    index: Path | None = None
    revisions: tuple[str, ...] = ()

    @cached_property
    def tracked(self) -> frozenset[str]:
        """Return the paths of git's index below the root; what is only intended to be added is not there yet."""
        return frozenset(
            self._from_root(blob.path) for blob in list_staged(self.repository, self.under, index=self.index)
        )

    @cached_property
    def tracked_in_repository(self) -> frozenset[str]:
        """Return every path of git's index, from the repository's top."""
        return list_tracked(self.repository, index=self.index)

    def committed(self, path: str) -> bytes | None:
        """Return what HEAD has of a file; None where it has none."""
        # The name of an object ends with its line.
        named = f"HEAD:{self._from_top(path)}"
        return None if "\n" in path else dict(self._reader.read([named]))[named]

    @cached_property
    def _reader(self) -> BlobReader:
        return BlobReader(self.repository)

    @cached_property
    def ignored(self) -> frozenset[str]:
        """Return the paths on disk below the root that git ignores."""
        asked = [self._from_top(path) for path in self.on_disk if path not in self.tracked]
        return frozenset(self._from_root(path) for path in list_ignored(self.repository, asked, index=self.index))

    @cached_property
    def not_added(self) -> frozenset[str]:
        """Return the paths on disk below the root that `git add` would take."""
        return frozenset(map(self._from_root, list_not_added(self.repository, self.under, index=self.index)))

    @cached_property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return, by path, the newest commit that took a file away and where it moved to; no commit for the index."""
        found = {}
        gone = list_deletions(self.repository, self.under, revisions=self.revisions)
        if not self.revisions:
            gone |= list_staged_deletions(self.repository, self.under, index=self.index)
        for path, (commit, moved) in gone.items():
            found[self._from_root(path)] = (commit, self._from_root(moved) if moved else None)
        return found

    @cached_property
    def days(self) -> FileDays:
        """Return when files came and when they ended, by their paths now."""
        days = file_days(self.repository, self.under)
        added, ended = ({self._from_root(path): day for path, day in one.items()} for one in (days.added, days.ended))
        return FileDays(added, ended)

    def _from_root(self, path: str) -> str:
        return path.removeprefix(f"{self.under}/") if self.under else path

    def _from_top(self, path: str) -> str:
        return f"{self.under}/{path}" if self.under else path


class SeenFacts(Struct, frozen=True, dict=True):
    """The facts of a root as who sees some of its wings may know them."""

    whole: GitFacts
    tree: NarrowedTree

    @cached_property
    def tracked(self) -> frozenset[str]:
        """Return the paths of git's index below the root that are seen."""
        return frozenset(path for path in self.whole.tracked if self.tree.access.sees(path))

    @cached_property
    def tracked_in_repository(self) -> frozenset[str]:
        """Return the paths of git's index, from the repository's top, without the wings that are not seen."""
        prefix = f"{self.whole.under}/" if self.whole.under else ""
        hidden = tuple(f"{prefix}{name}/" for name in self.tree.hidden())
        return frozenset(path for path in self.whole.tracked_in_repository if not path.startswith(hidden))

    def committed(self, path: str) -> bytes | None:
        """Return what HEAD has of a file that is seen; None where it has none."""
        return self.whole.committed(path) if self.tree.access.sees(path) else None

    @property
    def days(self) -> FileDays:
        """Return when files came and when they ended; asked only of those that are seen."""
        return self.whole.days

    @property
    def ignored(self) -> frozenset[str]:
        """Return the paths on disk that are seen and that git ignores."""
        return self.whole.ignored

    @cached_property
    def not_added(self) -> frozenset[str]:
        """Return the paths on disk that are seen and that `git add` would take."""
        return frozenset(path for path in self.whole.not_added if self.tree.access.sees(path))

    @cached_property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return what became of files that are seen; one that moved out of sight is gone."""
        sees = self.tree.access.sees
        return {
            path: (commit, moved if moved is not None and sees(moved) else None)
            for path, (commit, moved) in self.whole.deleted.items()
            if sees(path)
        }
