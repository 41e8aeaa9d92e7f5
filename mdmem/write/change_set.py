"""A change of several files, known to the last byte before the first is written, and what people are told about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, KeptAsideError, LostRaceError, MdmemError, taken
from mdmem.reply import note_written
from mdmem.store.state import leads_away
from mdmem.store.state.files import write_lock
from mdmem.write.files import FileTransaction
from mdmem.write.message import WriteAction


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


class Change(Struct, frozen=True):
    """One file before and after; None where it is not there, `to` is its path afterwards where it is renamed."""

    path: str
    to: str
    before: bytes | None
    after: bytes | None


class ChangeSet(Struct, frozen=True):
    """Changes in the order in which they are written, each of a file of its own, and what they mean.

    Every rename comes after them; the renames of all that a folder holds are made as one where the system can.
    `actions` say what is done to which entry, the first one foremost; `supersedes` are the entries that end in favour
    of another; `reason` is the user's own words. `remarks` are sentences for people that belong to no file.
    `tells_faults`: it takes in what was written elsewhere, whose faults are told, and keep nothing from being written.
    """

    changes: tuple[Change, ...] = ()
    actions: tuple[WriteAction, ...] = ()
    supersedes: tuple[str, ...] = ()
    reason: str | None = None
    agent: str | None = None
    remarks: tuple[str, ...] = ()
    tells_faults: bool = False


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
