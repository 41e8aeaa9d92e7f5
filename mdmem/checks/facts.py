"""Facts about a root that only git knows; each is asked when a check first needs it."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import takewhile

from msgspec import Struct

from mdmem.model.access import Access
from mdmem.model.globs import any_match, fixed_part
from mdmem.store.git.history import days_of_ends, list_deletions
from mdmem.store.git.process import BlobReader, Repository
from mdmem.store.git.status import list_ignored, list_not_added, list_staged, list_tracked


class GitFacts(Struct, frozen=True, dict=True):
    """What git knows about one root; paths are relative to the root unless a name says otherwise.

    `on_disk` are the paths to ask git about. `revisions` are the commits whose history is read; if empty, HEAD.
    `access` limits every answer to the wings that the caller may read, and `hidden` are the folders that are left out.
    """

    repository: Repository
    under: str
    on_disk: tuple[str, ...]
    revisions: tuple[str, ...] = ()
    access: Access = Access()
    hidden: frozenset[str] = frozenset()

    @cached_property
    def tracked(self) -> frozenset[str]:
        """Return the paths in git's index below the root, without files that were only added with `--intent-to-add`."""
        return self._seen(blob.path for blob in list_staged(self.repository, self.under))

    @cached_property
    def tracked_in_repository(self) -> frozenset[str]:
        """Return every path in git's index, relative to the top of the repository."""
        paths = list_tracked(self.repository)
        hidden = tuple(f"{self.from_top(name)}/" for name in self.hidden)
        return frozenset(path for path in paths if not path.startswith(hidden)) if hidden else paths

    def committed(self, path: str) -> bytes | None:
        """Return the content of a file in HEAD, or None if HEAD has no such file or the caller may not read it."""
        # A path with a line feed would be read as two requests.
        if "\n" in path or not self.access.sees(path):
            return None
        name = f"HEAD:{self.from_top(path)}"
        return dict(self._reader.read([name]))[name]

    @cached_property
    def _reader(self) -> BlobReader:
        return BlobReader(self.repository)

    @cached_property
    def ignored(self) -> frozenset[str]:
        """Return the paths on disk below the root that git ignores."""
        asked = [self.from_top(path) for path in self.on_disk if path not in self.tracked]
        return self._seen(list_ignored(self.repository, asked))

    @cached_property
    def not_added(self) -> frozenset[str]:
        """Return the untracked paths below the root that git does not ignore."""
        return self._seen(list_not_added(self.repository, self.under))

    @cached_property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return, for each deleted path, the last commit that deleted it ("" for the index), and its new path.

        The new path is None if the file did not move, or if the caller may not see it.
        """
        gone = list_deletions(self.repository, self.under, revisions=self.revisions)
        found = {}
        for path, (commit, moved) in gone.items():
            new = self._from_root(moved) if moved else None
            if self.access.sees(self._from_root(path)):
                found[self._from_root(path)] = (commit, new if new is not None and self.access.sees(new) else None)
        return found

    @cached_property
    def ended(self) -> Mapping[str, str]:
        """Return, for each deprecated file, the ISO date on which its status became `deprecated`."""
        return {self._from_root(path): day for path, day in days_of_ends(self.repository, self.under).items()}

    def _seen(self, paths: Iterable[str]) -> frozenset[str]:
        return frozenset(path for path in map(self._from_root, paths) if self.access.sees(path))

    def _from_root(self, path: str) -> str:
        return path.removeprefix(f"{self.under}/") if self.under else path

    def from_top(self, path: str) -> str:
        """Return a path from the root as a path from the top of the repository."""
        return f"{self.under}/{path}" if self.under else path

    @cached_property
    def _sorted(self) -> list[str]:
        # All paths below a folder follow each other.
        return sorted(self.tracked_in_repository)

    def has(self, path: str) -> bool:
        """Return whether a file or folder is tracked; the path starts at the root, or with a slash at the top."""
        top = path.lstrip("/") if path.startswith("/") else posixpath.normpath(self.from_top(path))
        top = top.rstrip("/")
        return top in self.tracked_in_repository or next(self._below(f"{top}/"), None) is not None

    def has_match(self, glob: str) -> bool:
        """Return whether a glob matches a tracked path; only paths that begin like the glob are compared."""
        start = fixed_part(glob)
        return start is not None and any_match([glob], self._below(start)) is not None

    def _below(self, start: str) -> Iterator[str]:
        numbers = range(bisect_left(self._sorted, start), len(self._sorted))
        return takewhile(lambda path: path.startswith(start), map(self._sorted.__getitem__, numbers))
