"""Names in one folder that some file system takes for one."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.paths import files_and_folders
from mdmem.store.tree import TreeFile


class NameCollision(Struct, frozen=True):
    """Two files or folders, and the first file at or below each."""

    first: str
    second: str
    first_path: str
    second_path: str


def composed(name: str) -> str:
    """Return a name in Unicode's composed form, NFC."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def name_collisions(case: Case, fold: Callable[[str], str]) -> list[NameCollision]:
    """Return the pairs whose names fold to one, in order of their paths.

    The tree and the index are each looked at alone: a file renamed on disk stands in both, under two names.
    """
    listed = (*case.catalog.files, *case.catalog.others)
    on_disk = {file.path for file in listed}
    in_index = set(_in_index(case, listed, fold))
    apart = in_index if in_index != on_disk else ()
    return list(dict.fromkeys([*_pairs(on_disk, fold), *_pairs(apart, fold)]))


def _in_index(case: Case, listed: Iterable[TreeFile], fold: Callable[[str], str]) -> Iterator[str]:
    """Yield what only the index knows on a disk that folds names; nothing where git lists the tree itself."""
    if case.facts is None or all(file.digest for file in listed):
        return
    wings = {fold(name) for name in case.catalog.wings}
    # At the repository's top the index holds all of its code besides.
    for path in case.facts.tracked:
        if fold(path.split("/", 1)[0]) in wings:
            yield path


def _pairs(paths: Iterable[str], fold: Callable[[str], str]) -> Iterator[NameCollision]:
    below = files_and_folders(paths)
    # Whole paths that differ when they are folded have no parts that are alike.
    if len(set(map(fold, below))) == len(below):
        return
    seen: dict[str, str] = {}
    for place, path in below.items():
        folder, _, name = place.rpartition("/")
        first = seen.setdefault(f"{folder}/{fold(name)}", place)
        if first != place:
            yield NameCollision(first, place, below[first], path)
