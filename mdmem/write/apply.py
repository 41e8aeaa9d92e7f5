"""Write a change set completely or not at all, and never overwrite what somebody saved in the meantime.

All bytes are on disk before the first file changes, so that a full disk is noticed in time. Editors and git ignore
mdmem's lock. Therefore a file is replaced, renamed or removed only if it still has the content that was read. Otherwise
all changes are undone.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from stat import S_IMODE

from msgspec import Struct

from mdmem.disk import note_written, read_regular
from mdmem.errors import EnvironmentFaultError, KeptAsideError, LostRaceError, taken
from mdmem.store.state.files import (
    FileChangedError,
    default_mode,
    has_content,
    leads_away,
    move_aside,
    rename_new,
    swap,
    write_lock,
)
from mdmem.write.change_set import Change

TEMPORARY = ".mdmem-tmp"


@contextmanager
def writers_lock(state: Path) -> Iterator[None]:
    """Hold the write lock of a root. Raises BusyError after a long wait, or EnvironmentFaultError if locking fails."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(write_lock(state))
        except OSError as error:
            raise EnvironmentFaultError(f"cannot lock the memory for writing: {error.strerror or error}") from error
        yield


def write_changes(root: Path, changes: Sequence[Change]) -> None:
    """Write changes. The caller must hold the writers' lock.

    Raises LostRaceError if a file changed since it was read, and EnvironmentFaultError if a file cannot be written. All
    changes are then undone. If that fails, or a newer text is kept, the error is a KeptAsideError. If the process is
    killed, each file has either its old or its new content.
    """
    for change in changes:
        _compare(root, change)
    writing, path = FileTransaction(root), ""
    try:
        for change in changes:
            path = change.path
            if change.after is not None and change.after != change.before:
                writing.prepare(path, change.after)
        for change in changes:
            path = change.path
            writing.write(path, change.before, change.after)
        writing.settle()
        renames = {change.path: change.to for change in changes if change.to != change.path}
        contents = {change.to: change.after for change in changes if change.after is not None}
        for folder in {(root / old).parent for old in renames}:
            _remove_left_over(folder)
        for one in group_renames(root, renames):
            path = one.new
            try:
                writing.rename(one.old, one.new, {to: contents[to] for _, to in one.files})
            except OSError:
                # In a container, a layered file system cannot rename a folder that is part of the image.
                if one.files == ((one.old, one.new),):
                    raise
                for old, new in one.files:
                    writing.rename(old, new, {new: contents[new]})
    except (LostRaceError, OSError) as error:
        left = "" if writing.undo() else " and the earlier changes could not be undone"
        places = (one.relative_to(root).as_posix() for one in writing.kept)
        kept = "".join(f"; `{one}` keeps a text that was saved meanwhile" for one in places)
        then = "`mdmem check` says what is left to do" if left else "nothing was changed"
        if isinstance(error, OSError):
            fault = f"cannot write `{path}`: {error.strerror or error}{left}; {then}{kept}"
            raise EnvironmentFaultError(fault) from error
        if kept or left:
            raise KeptAsideError(f"{error}{left}; {then}{kept}") from error
        raise LostRaceError(f"{error}; nothing was written") from error
    finally:
        writing.close()
    for change in changes:
        note_written(str(root / change.to))


def _compare(root: Path, change: Change) -> None:
    """Raise LostRaceError if a file changed since the change was planned."""
    for path in (change.path, change.to):
        if leads_away(root, path):
            raise LostRaceError(
                f"`{path}` is reached through a symbolic link, so nothing was written; use the real path"
            )
    old, new = root / change.path, root / change.to
    if change.before is None:
        if os.path.lexists(old):
            raise LostRaceError(taken(change.path.removesuffix(".md")))
        return
    try:
        content = read_regular(old)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LostRaceError(f"`{change.path}` cannot be read any more: {reason}; nothing was written") from error
    if content != change.before:
        raise LostRaceError(f"`{change.path}` changed while it was read; nothing was written, try again")
    # On a file system that ignores case, both names may mean the same file.
    if change.to != change.path and os.path.lexists(new) and not new.samefile(old):
        raise LostRaceError(f"`{change.to}` exists by now; nothing was written, try again")


class FileTransaction:
    """Writes the files of one change set, and can undo the writes. The caller holds the writers' lock."""

    def __init__(self, root: Path) -> None:
        """Store the root. Nothing is written yet."""
        self._root = root
        # The temporary file next to each file. It has the new bytes, and after the swap the old bytes.
        self._beside: dict[str, Path] = {}
        self._replaced: dict[str, bytes] = {}
        self._undoing: list[Callable[[], object]] = []
        self._cleared: set[Path] = set()
        # The files that keep a text somebody else saved in the meantime, no longer at its own path.
        self.kept: list[Path] = []

    def prepare(self, path: str, content: bytes) -> None:
        """Write the new bytes of a file to a temporary file next to it. Raises OSError."""
        target = self._root / path
        self._make_folder(target.parent)
        handle, self._beside[path] = _temporary(target)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # Temporary files are readable only for their owner. Give the new file the permissions of the old file.
        self._beside[path].chmod(S_IMODE(target.stat().st_mode) if target.exists() else default_mode())

    def write(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Replace the file by the prepared bytes, or remove it. Raises OSError, and LostRaceError if it was changed."""
        if after == before:
            return
        self._replace(path, before, after)
        if before is not None:
            self._replaced[path] = before

        def restore() -> None:
            if before is not None and path not in self._beside:
                self.prepare(path, before)
            self._replace(path, after, before)

        self._undoing.append(restore)

    def settle(self) -> None:
        """Delete the replaced files. Raises LostRaceError if an editor had one open and still wrote to it."""
        for path, before in self._replaced.items():
            if not has_content(self._beside[path], before):
                raise _lost(path)
        self._remove_prepared()

    def rename(self, path: str, to: str, files: Mapping[str, bytes]) -> None:
        """Rename a file or folder; `files` has the expected contents by new path. Remove folders left empty."""
        old, new = self._root / path, self._root / to
        self._make_folder(new.parent)
        try:
            rename_new(old, new)
        except FileExistsError as error:
            raise LostRaceError(f"`{to}` exists by now") from error

        def rename_back() -> None:
            old.parent.mkdir(parents=True, exist_ok=True)
            try:
                rename_new(new, old)
            except FileExistsError:
                self.kept.append(new)
            _remove_empty(self._root, new.parent)

        self._undoing.append(rename_back)
        for file, content in files.items():
            if not has_content(self._root / file, content):
                raise _lost(path)
        _remove_empty(self._root, old.parent)

    def undo(self) -> bool:
        """Undo every change, the last first, but keep newer texts. Return whether all could be undone."""
        try:
            while self._undoing:
                with contextlib.suppress(LostRaceError):
                    self._undoing.pop()()
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Remove the temporary files, and the empty folders that were created for them."""
        folders = {(self._root / path).parent for path in self._beside}
        self._remove_prepared()
        for folder in folders:
            with contextlib.suppress(OSError):
                _remove_empty(self._root, folder)

    def _replace(self, path: str, read: bytes | None, written: bytes | None) -> None:
        target = self._root / path
        try:
            if read is None:
                rename_new(self._beside[path], target)
            elif written is None:
                handle, self._beside[path] = _temporary(target)
                os.close(handle)
                move_aside(target, self._beside[path], read=read)
            else:
                swap(self._beside[path], target, read=read, written=written)
        except FileExistsError as error:
            raise LostRaceError(taken(path.removesuffix(".md"))) from error
        except FileChangedError as error:
            if error.kept is not None:
                self.kept.append(error.kept)
            raise _lost(path) from error

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
    """Remove the temporary files of a writer that was killed. Nobody else can own them while the lock is held."""
    for name in os.listdir(folder):  # noqa: PTH208  # one call for a folder of ten thousand names
        if name.endswith(TEMPORARY) and name.startswith("."):
            with contextlib.suppress(OSError):
                (folder / name).unlink()


def _remove_empty(root: Path, folder: Path) -> None:
    """Remove an empty folder, and the folders above it that are empty then, as git does."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


class FolderRename(Struct, frozen=True):
    """The rename of one file, or of a whole folder; `files` are the old and new paths of all its files."""

    old: str
    new: str
    files: tuple[tuple[str, str], ...]


def group_renames(root: Path, renames: Mapping[str, str]) -> Iterator[FolderRename]:
    """Yield renames in order. A folder whose files all move is renamed as a whole, so that no crash can split it."""

    @cache
    def whole(old: str, new: str) -> FolderRename | None:
        files = tuple((path, to) for path, to in renames.items() if path.startswith(f"{old}/"))
        if os.path.lexists(root / new) or any(to != f"{new}{path.removeprefix(old)}" for path, to in files):
            return None
        found = set[str]()
        for where, folders, names in os.walk(root / old):
            links = [name for name in folders if Path(where, name).is_symlink()]
            found.update(Path(where, name).relative_to(root).as_posix() for name in (*names, *links))
        return FolderRename(old, new, files) if found == {path for path, _ in files} else None

    done: set[str] = set()
    for path, to in renames.items():
        if path not in done:
            # The folders that may move with all their files, the outermost first.
            parts, new = path.split("/"), to.split("/")
            below = [(depth, parts[depth:]) for depth in range(1, len(parts))]
            folders = [(at, rest) for at, rest in below if len(rest) < len(new) and new[-len(rest) :] == rest]
            moved = (whole("/".join(parts[:at]), "/".join(new[: -len(rest)])) for at, rest in folders)
            one = next(filter(None, moved), None) or FolderRename(path, to, ((path, to),))
            done.update(old for old, _ in one.files)
            yield one
