"""Which content a file of a certain stat had, so that an unchanged file is not read again."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdmem.state.files import read_json, write_json

# A file that changed in the tick of the clock in which it was hashed, or the cache written, may hold other bytes now.
_RACY_NS = 2_000_000_000
_STAT_VERSION = "1"


@dataclass(slots=True)
class StatCache:
    """Remembers each file's digest by its stat, as git's index does, so that an unchanged file is not read again."""

    path: Path | None
    _known: dict[str, list[Any]] = field(default_factory=dict)
    _written_ns: int = 0
    _changed: bool = False

    def load(self) -> StatCache:
        """Read the file, if there is one, and return self."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                self._written_ns = self.path.stat().st_mtime_ns
                stored = read_json(self.path, _STAT_VERSION)
                self._known = {path: known for path, known in stored.items() if _is_record(known)}
        return self

    def find(self, path: str, stat: os.stat_result) -> str | None:
        """Return the digest of a file whose stat is the one remembered, and old enough to be trusted."""
        known = self._known.get(path)
        if known is None or _changed_ns(stat) >= self._written_ns - _RACY_NS:
            return None
        if known[:4] != [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino]:
            return None
        digest: str = known[4]
        return digest

    def keep(self, path: str, stat: os.stat_result, digest: str) -> None:
        """Remember the digest of a file that was read with this stat, unless it changed a moment before."""
        if _changed_ns(stat) >= time.time_ns() - _RACY_NS:
            return
        self._known[path] = [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino, digest]
        self._changed = True

    def save(self, paths: set[str]) -> None:
        """Write what is known of the paths that are there, if anything changed."""
        if self.path is None or not (self._changed or self._known.keys() - paths):
            return
        write_json(self.path, _STAT_VERSION, {path: self._known[path] for path in sorted(paths & self._known.keys())})
        self._changed = False


def _changed_ns(stat: os.stat_result) -> int:
    """Return when a file last changed; anybody can set its mtime back, but not its ctime."""
    return max(stat.st_mtime_ns, stat.st_ctime_ns)


def _is_record(known: object) -> bool:
    return isinstance(known, list) and len(known) == 5 and isinstance(known[4], str)
