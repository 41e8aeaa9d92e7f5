"""Putting prepared bytes in place, so that what fails half-way can be taken back."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from stat import S_IMODE

from msgspec import Struct

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, KeptAsideError, LostRaceError, MdmemError, taken
from mdmem.reply import note_written
from mdmem.store.state import default_mode, leads_away
from mdmem.store.state.files import write_lock
from mdmem.store.state.swap import OvertakenError, holds, rename_new, swap, take_away
from mdmem.write.change_set import Change, ChangeSet

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


class FolderRename(Struct, frozen=True):
    """A file, or a whole folder, with its new path, and the renames of files that this one stands for."""

    old: str
    new: str
    files: tuple[tuple[str, str], ...]


def in_fewest(root: Path, renames: Mapping[str, str]) -> Iterator[FolderRename]:
    """Yield renames in their order, those of all that a folder holds as one, the outermost folder first.

    A folder gets its new name at once or not at all, where a process that is killed between two of its files would
    leave it in two places.
    """

    @cache
    def whole(old: str, new: str) -> FolderRename | None:
        files = tuple((path, to) for path, to in renames.items() if path.startswith(f"{old}/"))
        moves_as_it_is = all(to == f"{new}{path.removeprefix(old)}" for path, to in files)
        is_all = moves_as_it_is and {path for path, _ in files} == set(_paths_below(root, old))
        return FolderRename(old, new, files) if is_all and not os.path.lexists(root / new) else None

    done: set[str] = set()
    for path, to in renames.items():
        if path not in done:
            found = next(filter(None, (whole(*folders) for folders in _folders(path, to))), None)
            one = found or FolderRename(path, to, ((path, to),))
            done.update(old for old, _ in one.files)
            yield one


def _folders(path: str, to: str) -> Iterator[tuple[str, str]]:
    """Yield each folder above a file that may move with all that is below it, and its new path, the outermost first."""
    old, new = path.split("/"), to.split("/")
    for depth in range(1, len(old)):
        below = old[depth:]
        if len(below) < len(new) and new[-len(below) :] == below:
            yield "/".join(old[:depth]), "/".join(new[: -len(below)])


def _paths_below(root: Path, folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(root / folder):
        links = [name for name in folders if Path(where, name).is_symlink()]
        yield from (Path(where, name).relative_to(root).as_posix() for name in (*names, *links))


def apply(root: Path, change_set: ChangeSet, *, state: Path, newest: Callable[[], ChangeSet] | None = None) -> None:
    """Write a change set, all of it or nothing, alone among all writers; `state` is the folder of the root's state.

    `newest` gives the one to write instead, asked for when no other writer can change any more what it rests on.
    Raises LostRaceError where a file is not what was planned on, EnvironmentFaultError where one cannot be written, and
    BusyError where others write for too long. A process that is killed leaves whole files, the first ones new.
    """
    if not change_set.changes:
        return
    try:
        with write_lock(state):
            change_set = newest() if newest is not None else change_set
            for change in change_set.changes:
                _compare(root, change)
            _write(root, change_set.changes)
            for change in change_set.changes:
                note_written(str(root / change.to))
    except OSError as error:
        raise EnvironmentFaultError(f"cannot lock the memory for writing: {error.strerror or error}") from error


def _compare(root: Path, change: Change) -> None:
    for path in dict.fromkeys((change.path, change.to)):
        if leads_away(root, path):
            raise LostRaceError(f"`{path}` goes through a symbolic link; nothing was written")
    if change.before is None:
        if os.path.lexists(root / change.path):
            raise LostRaceError(taken(change.path.removesuffix(".md")))
        return
    try:
        content = read_regular(root / change.path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LostRaceError(f"`{change.path}` cannot be read any more: {reason}; nothing was written") from error
    if content != change.before:
        raise LostRaceError(f"`{change.path}` changed while it was looked at; nothing was written, try again")
    if change.to != change.path and _is_taken(root, change):
        raise LostRaceError(f"`{change.to}` exists by now; nothing was written, try again")


def _is_taken(root: Path, change: Change) -> bool:
    old, new = root / change.path, root / change.to
    # Where capital letters do not count, a file stands under its new name already.
    return os.path.lexists(new) and not new.samefile(old)


def _write(root: Path, changes: Sequence[Change]) -> None:
    writing = FileTransaction(root)
    path = ""
    try:
        for change in changes:
            path = change.path
            if change.after is not None and change.after != change.before:
                writing.prepare(path, change.after)
        for change in changes:
            path = change.path
            writing.put(path, change.before, change.after)
        writing.settle()
        renames = {change.path: change.to for change in changes if change.to != change.path}
        contents = {change.to: change.after for change in changes if change.after is not None}
        writing.clear(renames)
        for one in in_fewest(root, renames):
            path = one.new
            _rename(writing, one, contents)
    except (LostRaceError, OSError) as error:
        raise _taken_back(writing, path, error) from error
    finally:
        writing.close()


def _taken_back(writing: FileTransaction, path: str, error: LostRaceError | OSError) -> MdmemError:
    """Take back what is in place and return what to say of it."""
    left = "" if writing.undo() else " and what was written before could not be taken back"
    kept = "".join(f"; `{one}` keeps a text that was saved meanwhile" for one in writing.kept)
    then = "`mdmem check` says what is left to do" if left else "nothing was changed"
    if isinstance(error, OSError):
        return EnvironmentFaultError(f"cannot write `{path}`: {error.strerror or error}{left}; {then}{kept}")
    if kept or left:
        return KeptAsideError(f"{error}{left}; {then}{kept}")
    return LostRaceError(f"{error}; nothing was written")


def _rename(writing: FileTransaction, one: FolderRename, contents: Mapping[str, bytes]) -> None:
    def rename(old: str, new: str, files: tuple[tuple[str, str], ...]) -> None:
        writing.rename(old, new, {to: contents[to] for _, to in files})

    try:
        rename(one.old, one.new, one.files)
    except OSError:
        # A container's layered file system gives no new name to a folder that came with the image.
        if one.files == ((one.old, one.new),):
            raise
        for old, new in one.files:
            rename(old, new, ((old, new),))
