"""Putting prepared bytes in place, so that what fails half-way can be taken back."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE

from mdmem.errors import LostRaceError, taken
from mdmem.store.state import default_mode
from mdmem.store.state.swap import OvertakenError, holds, rename_new, swap, take_away

TEMPORARY = ".mdmem-tmp"


class FileTransaction:
    """One plan on its way to the disk: all bytes are on it before the first file changes.

    A full disk is noticed before anything changed; the lock of the writers is the caller's to hold. Who holds no lock,
    an editor or git, may save at any time: a file is replaced, moved or removed only as it was read.
    """

    def __init__(self, root: Path) -> None:
        """Take the root; nothing is written yet."""
        self._root = root
        # What stands beside a file until all are in place: its new bytes, and then those that it had.
        self._beside: dict[str, Path] = {}
        self._replaced: dict[str, bytes] = {}
        self._undoing: list[Callable[[], object]] = []
        self._cleared: set[Path] = set()
        self._kept: list[Path] = []

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the files, from the root, that keep a text which others saved and which has no place any more."""
        return tuple(path.relative_to(self._root).as_posix() for path in self._kept)

    def prepare(self, path: str, content: bytes) -> None:
        """Write the new bytes of a file beside it, down to the disk; raises OSError."""
        target = self._root / path
        self._make_folder(target.parent)
        handle, self._beside[path] = _temporary(target)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # A temporary file is its owner's alone; who may read the old one may read the new one.
        self._beside[path].chmod(S_IMODE(target.stat().st_mode) if target.exists() else default_mode())

    def put(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Put the prepared bytes in place, or take a file away.

        Raises LostRaceError where something else is there than was read, and OSError.
        """
        if after == before:
            return
        if before is None:
            _link(self._beside[path], self._root / path, path)
        elif after is None:
            self._take_away(path, before)
        else:
            self._swap(path, before, after)
        self._replaced |= {path: before} if before is not None else {}
        self._undoing.append(lambda: self._take_back(path, before, after))

    def settle(self) -> None:
        """Look once more at the files that were replaced, for editors that hold one open, and remove them.

        Raises LostRaceError where one was written to after it was replaced.
        """
        for path, before in self._replaced.items():
            if not holds(self._beside[path], before):
                raise _lost(path)
        self._remove_prepared()

    def clear(self, paths: Iterable[str]) -> None:
        """Remove what a killed writer left beside files that are to be renamed; what is prepared is in place by now."""
        for folder in {(self._root / path).parent for path in paths}:
            _remove_left_over(folder)

    def rename(self, path: str, to: str, files: Mapping[str, bytes]) -> None:
        """Rename a file, or a folder, and remove the folders that it leaves empty.

        `files` are the new paths of all that moves, with what they hold. Raises LostRaceError where the new name is
        taken, or something else has moved, and OSError.
        """
        old, new = self._root / path, self._root / to
        self._make_folder(new.parent)
        try:
            rename_new(old, new)
        except FileExistsError as error:
            raise LostRaceError(f"`{to}` exists by now") from error
        self._undoing.append(lambda: self._rename_back(new, old))
        for file, content in files.items():
            if not holds(self._root / file, content):
                raise _lost(path)
        _remove_empty(self._root, old.parent)

    def undo(self) -> bool:
        """Take back what was put in place, the last first, and say whether all of it could be.

        What others saved over it in the meantime is newer, and stays.
        """
        try:
            while self._undoing:
                with contextlib.suppress(LostRaceError):
                    self._undoing.pop()()
        except OSError:
            return False
        return True

    def _take_back(self, path: str, before: bytes | None, after: bytes | None) -> None:
        if before is not None and path not in self._beside:
            self.prepare(path, before)
        if before is None:
            self._take_away(path, after or b"")
        elif after is None:
            _link(self._beside[path], self._root / path, path)
        else:
            self._swap(path, after, before)

    def _swap(self, path: str, read: bytes, written: bytes) -> None:
        with self._keeping(path):
            swap(self._beside[path], self._root / path, read=read, written=written)

    def _take_away(self, path: str, read: bytes) -> None:
        if path in self._beside:
            # A second name of the same file, which no rename would take from it.
            self._beside[path].unlink(missing_ok=True)
        handle, self._beside[path] = _temporary(self._root / path)
        os.close(handle)
        with self._keeping(path):
            take_away(self._root / path, self._beside[path], read=read)

    def _rename_back(self, new: Path, old: Path) -> None:
        old.parent.mkdir(parents=True, exist_ok=True)
        try:
            rename_new(new, old)
        except FileExistsError:
            self._kept.append(new)
        _remove_empty(self._root, new.parent)

    @contextmanager
    def _keeping(self, path: str) -> Iterator[None]:
        try:
            yield
        except OvertakenError as error:
            if error.kept is not None:
                self._kept.append(error.kept)
            raise _lost(path) from error

    def close(self) -> None:
        """Remove what still stands beside the files, and the folders made for it."""
        folders = {(self._root / path).parent for path in self._beside}
        self._remove_prepared()
        for folder in folders:
            with contextlib.suppress(OSError):
                _remove_empty(self._root, folder)

    def _remove_prepared(self) -> None:
        for prepared in self._beside.values():
            with contextlib.suppress(OSError):
                prepared.unlink()
        self._beside.clear()
        self._replaced.clear()

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if folder not in self._cleared:
            self._cleared.add(folder)
            _remove_left_over(folder)


def _temporary(target: Path) -> tuple[int, Path]:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=TEMPORARY, dir=target.parent)
    return handle, Path(name)


def _lost(path: str) -> LostRaceError:
    return LostRaceError(f"`{path}` changed while it was written")


def _remove_left_over(folder: Path) -> None:
    """Remove what a killed writer had prepared: whoever holds the lock is the only one alive."""
    for name in os.listdir(folder):  # noqa: PTH208  # one call for a folder of ten thousand names
        if name.endswith(TEMPORARY) and name.startswith("."):
            with contextlib.suppress(OSError):
                (folder / name).unlink()


def _link(prepared: Path, target: Path, path: str) -> None:
    try:
        try:
            # A hard link fails where the name is taken; a rename would replace what somebody wrote meanwhile.
            os.link(prepared, target)
        except FileExistsError:
            raise
        except OSError:
            # Some file systems have no links.
            rename_new(prepared, target)
    except FileExistsError as error:
        raise LostRaceError(taken(path.removesuffix(".md"))) from error


def _remove_empty(root: Path, folder: Path) -> None:
    """Remove a folder that was left empty, and those above it, as git does."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
