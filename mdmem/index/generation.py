"""Generations: folders of Whoosh files that are written aside and never changed once they are published."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mdmem.index.manifest import sync

_PREFIX = "generation-"


@contextmanager
def new_generation(folder: Path) -> Iterator[Path]:
    """Make an empty generation, which is removed again where writing it fails."""
    path = folder / f"{_PREFIX}{os.urandom(8).hex()}"
    path.mkdir()
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, path, ignore_errors=True)
        yield path
        undo.pop_all()


def link_files(source: Path, target: Path, names: Iterable[str]) -> None:
    """Give a generation files of another; they are never written again, so that both may share them."""
    for name in names:
        # Not every file system links, and none links across devices.
        try:
            os.link(source / name, target / name)
        except OSError:
            shutil.copy2(source / name, target / name)


def seal(path: Path) -> dict[str, int]:
    """Write a generation through to the disk and return the size of each of its files."""
    sizes = {}
    for file in sorted(path.iterdir()):
        # Whoosh does not sync, and a pointer that outlives a power cut must not point at empty files.
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
            sizes[file.name] = os.fstat(stream.fileno()).st_size
    sync(path)
    return sizes


def sweep(folder: Path, *, keep: str | None) -> None:
    """Remove every generation but one; where the platform keeps files in use, they go the next time."""
    for path in folder.glob(f"{_PREFIX}*"):
        if path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def bytes_in(folder: Path) -> int:
    """Return the size of everything in an index's folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
