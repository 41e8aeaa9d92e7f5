"""What a folder of files was at one look, so that the next one may tell that all of it is as it was."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from mdmem.dataclass import dataclass, field
from mdmem.tree.model import Stat, TreeFile, stat_of

# What changed within this time of a look may have changed again in the same tick of the clock.
_RACY_NS = 2_000_000_000
_CAN_LOOK = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd


@dataclass(frozen=True)
class FolderLook:
    """A folder that holds nothing but files: all its names, and of each file that is read the stat and the digest.

    `at` is when it was looked at, in nanoseconds; `digests` are those that were asked for since.
    """

    at: int
    names: Sequence[str]
    files: Sequence[TreeFile]
    stats: Mapping[str, Stat]
    digests: dict[str, str] = field(default_factory=dict)

    def is_of(self, folder: Path | str) -> bool:
        """Say whether a folder still holds these files and no others, none of which changed since."""
        if not (_CAN_LOOK and self._is_settled):
            return False
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            # A third faster than by path, and than entry by entry of `os.scandir`.
            names = os.listdir(handle)  # noqa: PTH208  # a Path has no handle
            return names == self.names and list(self.stats.values()) == [
                stat_of(os.stat(name, dir_fd=handle, follow_symlinks=False)) for name in names if name[0] != "."
            ]
        except OSError:
            return False
        finally:
            os.close(handle)

    @cached_property
    def _is_settled(self) -> bool:
        """Whether each file had its stat for so long that any change since would show."""
        return max((max(stat[:2]) for stat in self.stats.values()), default=0) < self.at - _RACY_NS


Looks = dict[str, FolderLook]
"""What was seen of folders, by their path in a tree with a slash behind it."""
