"""A log of lines of JSON that many processes append to, rotated by size."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from mdmem.disk import make_folder, read_regular
from mdmem.store.state.lock import write_lock

LARGEST = 1024 * 1024


class Journal(Struct, frozen=True):
    """One log of a state folder: `name.jsonl`, and `kept` older ones before it, each of at most `largest` bytes."""

    state: Path
    name: str
    kept: int = 4
    largest: int = LARGEST
    wait: float = 2.0

    @property
    def path(self) -> Path:
        """Return the file that is written."""
        return self.state / f"{self.name}.jsonl"

    def append(self, content: Mapping[str, Any]) -> None:
        """Write one line, and make room first where the file is full; raises BusyError and OSError."""
        line = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        folder = self.state / self.name
        make_folder(folder, mode=0o700)
        # A lock of its own: a writer of entries may hold the other one for seconds.
        with write_lock(folder, wait=self.wait):
            self._append(line)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines, the oldest first; what a crash tore is left out."""
        for path in (*(self._older(number) for number in range(self.kept, 0, -1)), self.path):
            try:
                lines = read_regular(path).splitlines()
            except OSError:
                continue
            yield from (found for line in lines if (found := _parsed(line)) is not None)

    def _append(self, line: bytes) -> None:
        path = self.path
        # A pipe that nobody reads refuses at once.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        if path.exists() and path.stat().st_size + len(line) > self.largest:
            self._rotate()
        # What is asked is nobody else's business.
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "ab") as stream:
            if stream.tell() and not _ends_its_line(path):
                # A process died in the middle of a line: it is not to swallow this one.
                stream.write(b"\n")
            stream.write(line)

    def _rotate(self) -> None:
        for number in range(self.kept, 0, -1):
            newer = self._older(number - 1) if number > 1 else self.path
            if newer.exists():
                newer.replace(self._older(number))

    def _older(self, number: int) -> Path:
        return self.state / f"{self.name}.{number}.jsonl"


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _ends_its_line(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"
