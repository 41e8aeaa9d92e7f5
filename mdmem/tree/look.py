"""What a folder of files was at one look, so that the next one may tell that all of it is as it was."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain
from operator import eq, is_
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.dataclass import dataclass, field
from mdmem.record import StoredRecord
from mdmem.tree.model import Stat, TreeFile, path_of, stat_of

if TYPE_CHECKING:
    from mdmem.tree.ahead import Ahead

# What changed within this time of a look may have changed again in the same tick of the clock.
_RACY_NS = 2_000_000_000
# To have another process takes as long as to look at a thousand files.
_MANY = 2_500
_CAN_LOOK = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd


@dataclass(frozen=True)
class FolderLook:
    """A folder's files that are read, each with its stat and its digest, and all its names.

    `at` is when it was looked at, in nanoseconds; `column` holds the stats of the `paths`, number after number;
    `digests` are those that were asked for since. One that `is_whole` holds nothing but files, so that the look may
    stand in for another one.
    """

    at: int
    names: Sequence[str]
    files: Sequence[TreeFile]
    paths: Sequence[str]
    column: Sequence[int]
    digests: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True

    def is_of(self, folder: Path | str) -> bool:
        """Say whether a folder still holds these files and no others, none of which changed since."""
        if not (_CAN_LOOK and self.is_whole and self._is_settled):
            return False
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            # A third faster than by path, and than entry by entry of `os.scandir`.
            names = os.listdir(handle)  # noqa: PTH208  # a Path has no handle
            return names == self.names and self._has_stats(handle)
        except OSError:
            return False
        finally:
            os.close(handle)

    def _has_stats(self, handle: int) -> bool:
        """Say whether each file of the folder that is open has the stat that it had; of thousands no step is Python's.

        Of each there is a stat: who makes a look, and who reads one, sees to that.
        """
        numbers = iter(self.column)
        named = [name for name in self.names if name[0] != "."]
        found = map(stat_of, map(partial(os.lstat, dir_fd=handle), named))
        return all(map(eq, found, zip(numbers, numbers, numbers, numbers, strict=True)))

    @cached_property
    def _is_settled(self) -> bool:
        """Whether each file had its stat for so long that any change since would show."""
        column = self.column
        return max(max(column[0::4], default=0), max(column[1::4], default=0)) < self.at - _RACY_NS

    @property
    def stats(self) -> dict[str, Stat]:
        """Return the stat of each file that is read."""
        numbers = iter(self.column)
        return dict(zip(self.paths, zip(numbers, numbers, numbers, numbers, strict=True), strict=True))

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:
        """Return, by path, the digest of each file whose stat is still the one that was seen, and was settled then."""
        limit, seen = self.at - _RACY_NS, self.stats
        return {
            path: digest
            for path, digest in self.digests.items()
            if seen.get(path) == stats.get(path) and max(seen[path][:2]) < limit
        }

    def tells_as(self, other: FolderLook | None) -> bool:
        """Say whether another look tells no less."""
        if self is other or other is None:
            return self is other
        return (self.names, self.column, self.digests) == (other.names, other.column, other.digests)

    def stored(self) -> StoredLook | None:
        """Return what a file keeps of it; None of what may have changed since, and of a whole one without a digest."""
        column = self.column
        if not (isinstance(column, array) and self._is_settled):
            return None
        digests = [self.digests.get(path, "") for path in self.paths]
        if self.is_whole and "" in digests:
            return None
        return StoredLook(self.at, list(self.names), column.tobytes(), digests, self.is_whole)


class StoredLook(StoredRecord, frozen=True):
    """A look as a file keeps it: in columns, of which those of stats and digests leave out the hidden names."""

    at: int
    names: list[str]
    stats: bytes
    digests: list[str]
    is_whole: bool = True

    def look(self, prefix: str, *, at: int) -> FolderLook | None:
        """Return the look at the folder of a prefix, no later than at a moment; None where columns do not fit."""
        paths = [prefix + name for name in self.names if name[:1] != "."]
        if not 32 * len(paths) == len(self.stats) == 32 * len(self.digests):
            return None
        digests = dict(zip(paths, self.digests, strict=True))
        if not self.is_whole:
            digests = {path: digest for path, digest in digests.items() if digest}
        files = sorted(map(TreeFile, paths), key=path_of)
        return FolderLook(min(self.at, at), self.names, files, paths, array("q", self.stats), digests, self.is_whole)


def column_of(stats: Iterable[Stat]) -> Sequence[int]:
    """Return the numbers of stats, one after the other, in a tenth of their memory."""
    numbers = list(chain.from_iterable(stats))
    try:
        return array("q", numbers)
    except OverflowError:
        # The number of a file may be larger on some file systems.
        return numbers


@dataclass(frozen=True)
class Listing:
    """What the looks at all folders of a tree came to: what they `found`, the same in order, and the digests asked for.

    It stands as long as each of these very looks does, and nothing else is found beside them.
    """

    looks: Sequence[FolderLook]
    found: Sequence[TreeFile]
    files: tuple[TreeFile, ...]
    asked: tuple[TreeFile, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)

    def is_of(self, looks: Sequence[FolderLook], found: Sequence[TreeFile]) -> bool:
        """Say whether looks and what they found are these."""
        return len(looks) == len(self.looks) and all(map(is_, looks, self.looks)) and found == self.found


class Looks(dict[str, FolderLook]):
    """What was seen of folders, by their path in a tree with a slash behind it, and what it came to the last time."""

    listing: Listing | None = None
    _ahead: Ahead | None = None

    def look_ahead(self, root: Path) -> bool:
        """Let another process look at the folders of a root, if there is much in them; say whether it does."""
        whole = [prefix for prefix, look in self.items() if look.is_whole]
        if sum(len(self[prefix].paths) for prefix in whole) < _MANY:
            return False
        from mdmem.tree.ahead import Ahead, can_be_ahead

        if can_be_ahead():
            with suppress(OSError):
                self._ahead = Ahead(whole, lambda prefix: self[prefix].is_of(root / prefix))
        return self._ahead is not None

    def stood_ahead(self) -> Set[str]:
        """Return the folders that were seen to be as they were, once; any other is to be looked at."""
        ahead, self._ahead = self._ahead, None
        return ahead.found() if ahead is not None else frozenset()
