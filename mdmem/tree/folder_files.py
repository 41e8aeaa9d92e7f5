"""The files of a folder that is asked about again and again: no object is made of any name or stat."""

from __future__ import annotations

import os
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from itertools import repeat
from operator import floordiv, mod
from threading import Lock
from typing import Any

from mdmem.dataclass import dataclass, field
from mdmem.disk import RACY_NS
from mdmem.tree.model import Stat, stat_of

# A folder on a disk changes when a name in it does; what comes over a network or out of a store may not, nor may a
# folder that another system wrote to: where that is usual (FAT, exFAT), times have steps of ten milliseconds or more.
_IS_LINUX, _NO_DEVICE, _COARSE_NS = sys.platform == "linux", 0, 10_000_000
_SECOND = 1_000_000_000
# The kernel's `struct statx`, the same on all machines: its size, and where in it stand numbers of eight and of four
# bytes: number and size of the file, seconds of the last change and of that of the content; what is left of both.
_BYTES = 256
_LONG, _SHORT = (4, 5, 12, 14), (26, 30)
_NO_FOLLOW, _BASIC_STATS = 0x100, 0x7FF
# So many fit into what is nearest to the processor.
_AT_ONCE = 512


Listed = tuple[int, Stat]
"""When the names in a folder were listed, in nanoseconds, and the stat that it had then."""


def listed_at(now: int, told: os.stat_result) -> Listed | None:
    """Return what tells later that a folder still holds the names which are listed next; None where nothing does."""
    return (now, stat_of(told)) if _tells_its_names(told) else None


def _tells_its_names(told: os.stat_result) -> bool:
    return _IS_LINUX and os.major(told.st_dev) != _NO_DEVICE and told.st_ctime_ns % _COARSE_NS != 0


class FolderFiles:
    """Names in a folder, hidden ones among them, and the stats of the files that are read."""

    def __init__(self, names: Sequence[str], listed: Listed | None = None) -> None:
        """Take the names, and when they were; nothing is prepared for who asks only once."""
        self._names, self.listed = names, listed
        self._is_asked_again = False

    @cached_property
    def read(self) -> Sequence[str]:
        """Return the names of the files that are read."""
        return [name for name in self._names if name[0] != "."]

    def are_all(self, handle: int) -> bool:
        """Say whether a folder that is open holds these names and no others; raises OSError."""
        now, told = time.time_ns(), os.fstat(handle)
        stat, is_kept = stat_of(told), _tells_its_names(told)
        if is_kept and self.listed is not None and self.listed[1] == stat and max(stat[:2]) < self.listed[0] - RACY_NS:
            return True
        # A third faster than by path, and than entry by entry of `os.scandir`.
        if sorted(os.listdir(handle)) != sorted(self._names):
            return False
        self.listed = listed_at(now, told)
        return True

    def columns(self, handle: int) -> list[array[int]] | None:
        """Return the stats in a folder that is open, as `columns_like` does; a fifth less work than `os.lstat` of each.

        None at the first time, where the system does not tell them so, and while another thread asks.
        """
        if not self._is_asked_again:
            self._is_asked_again = True
            return None
        buffer = _buffer()
        if buffer is None or not buffer.turn.acquire(blocking=False):
            return None
        try:
            return buffer.columns(handle, self._encoded)
        finally:
            buffer.turn.release()

    @cached_property
    def _encoded(self) -> Sequence[bytes]:
        return list(map(os.fsencode, self.read))


@dataclass(frozen=True, slots=True)
class _Buffer:
    """Where the system puts the stats of some files at once, and its call."""

    statx: Callable[..., Any]
    places: Sequence[object]
    found: memoryview
    turn: Lock = field(default_factory=Lock)

    def columns(self, handle: int, names: Sequence[bytes]) -> list[array[int]] | None:
        """Return the columns of files in a folder that is open; None where one of them is not told."""
        long, short = self.found.cast("q"), self.found.cast("I")
        columns = [*(array("q") for _ in _LONG), *(array("I") for _ in _SHORT)]
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            if any(map(self.statx, repeat(handle), some, repeat(_NO_FOLLOW), repeat(_BASIC_STATS), self.places)):
                return None
            longs = (long[place : len(some) * _BYTES // 8 : _BYTES // 8] for place in _LONG)
            shorts = (short[place : len(some) * _BYTES // 4 : _BYTES // 4] for place in _SHORT)
            for column, part in zip(columns, (*longs, *shorts), strict=True):
                column.frombytes(part.tobytes())
        return columns


@cache
def _buffer() -> _Buffer | None:
    """Return the buffer of this process, None where the system has no such call."""
    import ctypes

    try:
        statx = ctypes.CDLL(None).statx
    except (AttributeError, OSError, TypeError):
        return None
    found = ctypes.create_string_buffer(_BYTES * _AT_ONCE)
    places = [ctypes.byref(found, _BYTES * place) for place in range(_AT_ONCE)]
    return _Buffer(statx, places, memoryview(found).cast("B"))


def columns_like(column: array[int]) -> list[array[int]]:
    """Return the columns that stats have, which are given number after number."""
    changed, written = column[1::4], column[0::4]
    parts = [array("q", map(floordiv, times, repeat(_SECOND))) for times in (changed, written)]
    rests = [array("I", map(mod, times, repeat(_SECOND))) for times in (changed, written)]
    return [column[3::4], column[2::4], *parts, *rests]
