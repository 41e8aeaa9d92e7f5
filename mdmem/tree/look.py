"""What a folder of files was at one look, so that the next one may tell that all of it is as it was."""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, compress, count
from operator import is_, ne
from pathlib import Path
from stat import S_ISREG
from typing import TypeAlias

from mdmem.dataclass import dataclass, field, replace
from mdmem.disk import RACY_NS
from mdmem.record import StoredRecord
from mdmem.tree.folder_files import FolderFiles, Listed
from mdmem.tree.model import Stat, TreeFile, path_of, stat_of

_CAN_LOOK = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd


# An `array` is no generic class where it is run.
Column: TypeAlias = "array[int] | list[int]"


@dataclass(frozen=True)
class FolderLook:
    """A folder's files that are read, each with its stat and its digest, and all its names.

    `at` is when it was looked at, in nanoseconds; `column` holds the stats of the `paths`, number after number;
    `digests` are those that were asked for since. One that `is_whole` holds nothing but files, so that the look may
    stand in for another one. `listed` is what tells that the names are still these, where something does.
    """

    at: int
    names: Sequence[str]
    files: Sequence[TreeFile]
    paths: Sequence[str]
    column: Column
    digests: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True
    listed: Listed | None = None

    def renewed(self, folder: Path | str) -> FolderLook | None:
        """Return what a folder is now that still holds files of these names and no others; None of any other folder.

        It is this very look where nothing changed since. Of what did, or may have, the new one has no digest.
        """
        if not (_CAN_LOOK and self.is_whole):
            return None
        now = time.time_ns()
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return None
        try:
            if not self._all.are_all(handle):
                return None
            changed = self._changed(handle)
            if not changed and not self._unsettled:
                return self
            return self._with(now, {place: os.lstat(self._all.read[place], dir_fd=handle) for place in changed})
        except (OSError, OverflowError):
            return None
        finally:
            os.close(handle)

    def _with(self, at: int, changed: Mapping[int, os.stat_result]) -> FolderLook | None:
        """Return the look at another moment, at which some files had other stats; None where one is no file now."""
        if not all(S_ISREG(one.st_mode) for one in changed.values()):
            return None
        column, digests = self.column[:], dict(self.digests)
        for place, one in changed.items():
            for index, number in enumerate(stat_of(one), 4 * place):
                column[index] = number
        for place in (*changed, *self._unsettled):
            digests.pop(self.paths[place], None)
        new = replace(self, at=at, column=column, digests=digests)
        vars(new)["_all"] = self._all
        return new

    def _changed(self, handle: int) -> list[int]:
        """Return the places of the files in the folder that is open which have another stat; no step is Python's.

        Of each there is a stat: who makes a look, and who reads one, sees to that.
        """
        numbers = iter(self.column)
        found = map(stat_of, map(partial(os.lstat, dir_fd=handle), self._all.read))
        return list(compress(count(), map(ne, found, zip(numbers, numbers, numbers, numbers, strict=True))))

    @cached_property
    def _all(self) -> FolderFiles:
        return FolderFiles(self.names, self.listed)

    @cached_property
    def _unsettled(self) -> Sequence[int]:
        """The places of the files that may have changed again in the tick of the clock of their last change."""
        if self._is_settled:
            return ()
        limit, column = self.at - RACY_NS, self.column
        return [place for place, one in enumerate(map(max, column[0::4], column[1::4])) if one >= limit]

    @property
    def unread(self) -> dict[str, Stat]:
        """Return the stat of each file whose digest is not known."""
        if len(self.digests) == len(self.paths):
            return {}
        column = self.column
        return {
            path: (column[place], column[place + 1], column[place + 2], column[place + 3])
            for place, path in zip(count(0, 4), self.paths)
            if path not in self.digests
        }

    @cached_property
    def _is_settled(self) -> bool:
        """Whether each file had its stat for so long that any change since would show."""
        column = self.column
        return max(max(column[0::4], default=0), max(column[1::4], default=0)) < self.at - RACY_NS

    @property
    def stats(self) -> dict[str, Stat]:
        """Return the stat of each file that is read."""
        numbers = iter(self.column)
        return dict(zip(self.paths, zip(numbers, numbers, numbers, numbers, strict=True), strict=True))

    def known(self, stats: Mapping[str, Stat]) -> dict[str, str]:
        """Return, by path, the digest of each file whose stat is still the one that was seen, and was settled then."""
        limit, seen = self.at - RACY_NS, self.stats
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
        names = list(self.names)
        return StoredLook(self.at, names, column.tobytes(), digests, self.is_whole, self._all.listed)


class StoredLook(StoredRecord, frozen=True):
    """A look as a file keeps it: in columns, of which those of stats and digests leave out the hidden names."""

    at: int
    names: list[str]
    stats: bytes
    digests: list[str]
    is_whole: bool = True
    listed: Listed | None = None

    def look(self, prefix: str, *, at: int) -> FolderLook | None:
        """Return the look at the folder of a prefix, no later than at a moment; None where columns do not fit."""
        paths = [prefix + name for name in self.names if name[:1] != "."]
        if not 32 * len(paths) == len(self.stats) == 32 * len(self.digests):
            return None
        digests = dict(zip(paths, self.digests, strict=True))
        if not self.is_whole:
            digests = {path: digest for path, digest in digests.items() if digest}
        files, column = list(map(TreeFile, paths)), array("q", self.stats)
        listed = (min(self.listed[0], at), self.listed[1]) if self.listed is not None else None
        return FolderLook(min(self.at, at), self.names, files, paths, column, digests, self.is_whole, listed)


def column_of(stats: Iterable[Stat]) -> Column:
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

    It stands as long as each of these very looks does, and nothing else is found beside them. A digest is None that
    has to be learned anew.
    """

    looks: Sequence[FolderLook]
    found: Sequence[TreeFile]
    files: tuple[TreeFile, ...]
    asked: tuple[TreeFile, ...] = ()
    digests: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, looks: Sequence[FolderLook], found: Sequence[TreeFile], before: Listing | None) -> Listing:
        """Return what looks and what they found come to: the listing before, so far as they are the same."""
        if before is None or found != before.found:
            return cls(looks, found, tuple(sorted(found, key=path_of)))
        if len(looks) == len(before.looks) and all(map(is_, looks, before.looks)):
            return before
        known, digests = set(map(id, before.looks)), dict(before.digests)
        for look in looks:
            if id(look) not in known:
                digests.update((path, look.digests.get(path)) for path in look.paths if path in digests)
        return replace(before, looks=looks, digests=digests)


class Looks(dict[str, FolderLook]):
    """What was seen of folders, by their path in a tree with a slash behind it, and what it came to the last time."""

    listing: Listing | None = None
