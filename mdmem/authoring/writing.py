"""Putting prepared bytes in place, so that what fails half-way can be taken back."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from stat import S_IMODE

from mdmem.state import default_mode, write_whole

TEMPORARY = ".mdmem-tmp"


class Writing:
    """One plan on its way to the disk: all bytes are on it before the first file changes.

    A full disk is noticed before anything changed; the lock of the writers is the caller's to hold.
    """

    def __init__(self, root: Path) -> None:
        """Take the root; nothing is written yet."""
        self._root = root
        self._prepared: dict[str, Path] = {}
        self._undoing: list[Callable[[], object]] = []
        self._cleared: set[Path] = set()

    def prepare(self, path: str, content: bytes) -> None:
        """Write the new bytes of a file beside it, down to the disk; raises OSError."""
        target = self._root / path
        self._make_folder(target.parent)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=TEMPORARY, dir=target.parent)
        self._prepared[path] = Path(name)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # A temporary file is its owner's alone; who may read the old one may read the new one.
        Path(name).chmod(S_IMODE(target.stat().st_mode) if target.exists() else default_mode())

    def put(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Put the prepared bytes in place, or take a file away; raises OSError."""
        target = self._root / path
        if after == before:
            return
        if after is None:
            target.unlink()
        elif before is None:
            _link(self._prepared[path], target)
        else:
            self._prepared[path].replace(target)
        self._undoing.append(target.unlink if before is None else lambda: write_whole(target, before))

    def clear(self, paths: Iterable[str]) -> None:
        """Remove what a killed writer left beside files that are to be renamed; what is prepared is in place by now."""
        for folder in {(self._root / path).parent for path in paths}:
            _remove_left_over(folder)

    def rename(self, path: str, to: str) -> None:
        """Rename a file, or a folder, and remove the folders that it leaves empty; raises OSError."""
        old, new = self._root / path, self._root / to
        self._make_folder(new.parent)
        old.rename(new)
        self._undoing.append(lambda: _rename_back(new, old))
        _remove_empty(self._root, old.parent)

    def undo(self) -> bool:
        """Take back what was put in place, the last first, and say whether all of it could be."""
        try:
            while self._undoing:
                self._undoing.pop()()
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Remove what was prepared and not put in place, and the folders made for it."""
        for path, prepared in self._prepared.items():
            with contextlib.suppress(OSError):
                prepared.unlink()
            with contextlib.suppress(OSError):
                _remove_empty(self._root, (self._root / path).parent)

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if folder not in self._cleared:
            self._cleared.add(folder)
            _remove_left_over(folder)


def _rename_back(new: Path, old: Path) -> None:
    old.parent.mkdir(parents=True, exist_ok=True)
    new.rename(old)


def _remove_left_over(folder: Path) -> None:
    """Remove what a killed writer had prepared: whoever holds the lock is the only one alive."""
    for name in os.listdir(folder):  # noqa: PTH208  # one call for a folder of ten thousand names
        if name.endswith(TEMPORARY) and name.startswith("."):
            with contextlib.suppress(OSError):
                (folder / name).unlink()


def _link(prepared: Path, target: Path) -> None:
    try:
        # A hard link fails where the name is taken; a rename would replace what somebody wrote meanwhile.
        os.link(prepared, target)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no links.
        if os.path.lexists(target):
            raise
        prepared.rename(target)


def _remove_empty(root: Path, folder: Path) -> None:
    """Remove a folder that was left empty, and those above it, as git does."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
