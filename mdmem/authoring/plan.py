"""A change of several files, known to the last byte before the first is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mdmem.authoring.renaming import Renaming, in_fewest
from mdmem.authoring.writing import Writing
from mdmem.errors import EnvironmentFaultError, KeptAsideError, LostRaceError, MdmemError, taken
from mdmem.regular_file import read_regular
from mdmem.state import leads_away, write_lock


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; None where it is not there, `to` is its path afterwards where it is renamed."""

    path: str
    to: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes in the order in which they are written, each of a file of its own; every rename comes after them.

    The renames of all that a folder holds are made as one where the system can.
    """

    changes: tuple[Change, ...] = ()


def carry_out(root: Path, plan: Plan, *, state: Path, newest: Callable[[], Plan] | None = None) -> None:
    """Write a plan to a root, all of it or nothing, alone among all writers; `state` is the folder of the root's state.

    `newest` gives the plan to write instead, asked for when no other writer can change any more what it rests on.
    Raises LostRaceError where a file is not what the plan read, EnvironmentFaultError where one cannot be written, and
    BusyError where others write for too long. A process that is killed leaves whole files, those first in the plan new.
    """
    if not plan.changes:
        return
    try:
        with write_lock(state):
            plan = newest() if newest is not None else plan
            for change in plan.changes:
                _compare(root, change)
            _write(root, plan)
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


def _write(root: Path, plan: Plan) -> None:
    writing = Writing(root)
    path = ""
    try:
        for change in plan.changes:
            path = change.path
            if change.after is not None and change.after != change.before:
                writing.prepare(path, change.after)
        for change in plan.changes:
            path = change.path
            writing.put(path, change.before, change.after)
        writing.settle()
        renames = {change.path: change.to for change in plan.changes if change.to != change.path}
        contents = {change.to: change.after for change in plan.changes if change.after is not None}
        writing.clear(renames)
        for one in in_fewest(root, renames):
            path = one.new
            _rename(writing, one, contents)
    except (LostRaceError, OSError) as error:
        raise _taken_back(writing, path, error) from error
    finally:
        writing.close()


def _taken_back(writing: Writing, path: str, error: LostRaceError | OSError) -> MdmemError:
    """Take back what is in place and return what to say of it."""
    left = "" if writing.undo() else " and what was written before could not be taken back"
    kept = "".join(f"; `{one}` keeps a text that was saved meanwhile" for one in writing.kept)
    then = "`mdmem check` says what is left to do" if left else "nothing was changed"
    if isinstance(error, OSError):
        return EnvironmentFaultError(f"cannot write `{path}`: {error.strerror or error}{left}; {then}{kept}")
    if kept or left:
        return KeptAsideError(f"{error}{left}; {then}{kept}")
    return LostRaceError(f"{error}; nothing was written")


def _rename(writing: Writing, one: Renaming, contents: Mapping[str, bytes]) -> None:
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
