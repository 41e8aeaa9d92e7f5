"""Renames that can be made as one: a folder whose files all move to one new place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Renaming:
    """A file, or a whole folder, with its new path, and the renames of files that this one stands for."""

    old: str
    new: str
    files: tuple[tuple[str, str], ...]


def in_fewest(root: Path, renames: Mapping[str, str]) -> Iterator[Renaming]:
    """Yield renames in their order, those of all that a folder holds as one, the outermost folder first.

    A folder gets its new name at once or not at all, where a process that is killed between two of its files would
    leave it in two places.
    """

    @cache
    def whole(old: str, new: str) -> Renaming | None:
        files = tuple((path, to) for path, to in renames.items() if path.startswith(f"{old}/"))
        moves_as_it_is = all(to == f"{new}{path.removeprefix(old)}" for path, to in files)
        is_all = moves_as_it_is and {path for path, _ in files} == set(_paths_below(root, old))
        return Renaming(old, new, files) if is_all and not os.path.lexists(root / new) else None

    done: set[str] = set()
    for path, to in renames.items():
        if path not in done:
            found = next(filter(None, (whole(*folders) for folders in _folders(path, to))), None)
            one = found or Renaming(path, to, ((path, to),))
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
