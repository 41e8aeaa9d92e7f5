"""An index on disk: generations that never change once published, one writer, and one open for questions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from mdmem.disk import acquire
from mdmem.index.corpus import Corpus
from mdmem.index.manifest import DamagedIndexError, Manifest, Stamp, load, stamp_of, sync
from mdmem.index.postings import StoredPostings
from mdmem.index.protocol import IndexBusyError

_PREFIX = "generation-"


@contextmanager
def new_generation(folder: Path) -> Iterator[Path]:
    """Make an empty generation, which is removed again where writing it fails."""
    import shutil

    path = folder / f"{_PREFIX}{os.urandom(8).hex()}"
    path.mkdir()
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, path, ignore_errors=True)
        yield path
        undo.pop_all()


def link_files(source: Path, target: Path, names: Iterable[str]) -> None:
    """Give a generation files of another; they are never written again, so that both may share them."""
    import shutil

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
        # A pointer that outlives a power cut must not point at empty files.
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
            sizes[file.name] = os.fstat(stream.fileno()).st_size
    sync(path)
    return sizes


def sweep(folder: Path, *, keep: str | None) -> None:
    """Remove every generation but one; where the platform keeps files in use, they go the next time."""
    import shutil

    for path in folder.glob(f"{_PREFIX}*"):
        if path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def bytes_in(folder: Path) -> int:
    """Return the size of everything in an index's folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that a file stands for, or raise `IndexBusyError`."""
    # The file stays: whoever removed it would let two processes lock two files of one name.
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            acquire(handle)
        except OSError as error:
            raise IndexBusyError("the index is being written") from error
        yield
    finally:
        os.close(handle)


class OpenIndex(Struct, frozen=True, eq=False, dict=True):
    """A published state with its postings; `stamp` tells whether it is still the published one."""

    manifest: Manifest
    postings: StoredPostings
    stamp: Stamp | None

    def close(self) -> None:
        """Let go of the files."""
        self.postings.close()

    @cached_property
    def corpus(self) -> Corpus:
        """The documents as they were published."""
        return Corpus(self.manifest.keys, self.manifest.lengths, (self.postings,))


def open_index(folder: Path) -> OpenIndex | None:
    """Open the published state, none where there is no index, or raise `DamagedIndexError`.

    A writer may remove what was just read about, so that a failure is tried once more on whatever is published then.
    """
    try:
        return _open(folder)
    except DamagedIndexError:
        return _open(folder)


def _open(folder: Path) -> OpenIndex | None:
    stamp = stamp_of(folder)
    manifest = load(folder)
    if manifest is None:
        return None
    postings = StoredPostings(folder / manifest.generation, manifest.segments)
    return OpenIndex(manifest, postings, stamp)
