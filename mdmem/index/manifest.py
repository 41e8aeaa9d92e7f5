"""The index's pointer and table of documents, `index.json`: what makes a folder of files an index.

Columns by document number, which parse twice as fast as a record for each document; a number without a key is dead.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from types import TracebackType

from mdmem.disk import read_regular
from mdmem.entry.fields import VERSION
from mdmem.index import analysis
from mdmem.index.terms import SCORED

FORMAT = 4
NAME = "index.json"

Stamp = tuple[int, int, int]

# What these name is opened, so that it must not lead out of the index's folder.
_GENERATION = re.compile(r"generation-[0-9a-f]{16}")
_SEGMENT = re.compile(r"[0-9a-f]{16}")


class DamagedIndexError(Exception):
    """The index cannot be read; a scan still answers, and the next writer builds it anew."""


class reading:  # noqa: N801 - read as a word in a `with` statement
    """Turns any failure inside into `DamagedIndexError`.

    A torn file makes whoever reads it fail with whatever unpacking runs into.
    """

    def __enter__(self) -> None:
        """Start to read."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Raise what is ours, from what was a reader's."""
        if isinstance(error, Exception) and not isinstance(error, DamagedIndexError):
            raise DamagedIndexError(f"the index is damaged: {type(error).__name__}: {error}") from error


@dataclass(frozen=True)
class Manifest:
    """One published state of the index.

    `generation` is its folder, `files` the size of each file there, and `segments` the name of each and how many
    documents it is to hold, in the order of their numbers.
    """

    generation: str
    files: Mapping[str, int]
    segments: Sequence[tuple[str, int]]
    keys: Sequence[str | None]
    digests: Sequence[str | None]
    lengths: Mapping[str, Sequence[int]]

    @cached_property
    def digest_of(self) -> dict[str, str]:
        """The digest of each document that the index holds."""
        pairs = zip(self.keys, self.digests, strict=True)
        return {key: digest for key, digest in pairs if key is not None and digest is not None}

    def stale(self, live: Mapping[str, str]) -> list[str]:
        """Return the live keys that the index lacks or holds in another state, sorted."""
        held = self.digest_of
        # Comparing two dictionaries takes a tenth of the loop, and an unchanged tree is the common case.
        return [] if held == live else sorted(key for key, digest in live.items() if held.get(key) != digest)

    def gone(self, live: Mapping[str, str]) -> list[str]:
        """Return the keys that the index holds and the tree does not, sorted."""
        return sorted(self.digest_of.keys() - live.keys())


def versions() -> dict[str, object]:
    """Return what an index must have been made with to be read."""
    return {"format": FORMAT, "fields": VERSION, "analysis": analysis.VERSION}


def stamp_of(folder: Path) -> Stamp | None:
    """Return what changes with every publication, none where nothing is published."""
    try:
        found = os.stat(folder / NAME)  # noqa: PTH116 - asked before each question
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def load(folder: Path) -> Manifest | None:
    """Return the published state, none where there is no index, or raise `DamagedIndexError`."""
    try:
        content = read_regular(folder / NAME)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedIndexError(f"the index cannot be read: {error.strerror}") from error
    with reading():
        stored = json.loads(content)
        if {name: stored.pop(name) for name in versions()} != versions():
            raise DamagedIndexError("the index was made by another version")
        manifest = Manifest(**stored | {"segments": [(name, count) for name, count in stored["segments"]]})
    _check(folder, manifest)
    return manifest


def _check(folder: Path, manifest: Manifest) -> None:
    with reading():
        texts, numbers = [manifest.keys, manifest.digests], [manifest.lengths[name] for name in SCORED]
        # Whoever asks counts with these later, where nothing would tell a number from a list.
        fits = all(set(map(type, column)) <= {str, type(None)} for column in texts)
        fits &= all(set(map(type, column)) <= {int} and min(column, default=0) >= 0 for column in numbers)
        fits &= {len(column) for column in texts + numbers} == {sum(count for _, count in manifest.segments)}
        fits &= all(_SEGMENT.fullmatch(name) and type(count) is int and count >= 0 for name, count in manifest.segments)
        fits &= _GENERATION.fullmatch(manifest.generation) is not None
        sizes = {name: os.stat(folder / manifest.generation / name).st_size for name in manifest.files}  # noqa: PTH116 - hot
        if not fits or sizes != manifest.files:
            raise DamagedIndexError("the index does not fit its table of documents")


def publish(folder: Path, manifest: Manifest) -> None:
    """Make a state the one that readers see, in one step that survives a crash."""
    content = json.dumps(
        versions() | {each.name: getattr(manifest, each.name) for each in fields(manifest)}, separators=(",", ":")
    )
    draft = folder / f"{NAME}.new"
    with draft.open("w", encoding="ascii") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(folder / NAME)
    sync(folder)


def sync(folder: Path) -> None:
    """Write a folder's names through to the disk, where the platform can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
