"""The index's pointer and table of documents, `index.json`: what makes a folder of files an index.

Columns by document number, which parse twice as fast as a record for each document; a number without a key is dead.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import compress, filterfalse
from operator import ne
from pathlib import Path
from types import TracebackType

from mdmem.digests import is_hex
from mdmem.disk import read_regular
from mdmem.entry.fields import VERSION
from mdmem.index import analysis
from mdmem.index.fields import SCORED
from mdmem.record import StoredRecord, from_json

FORMAT = 5
NAME = "index.json"
# For what the passage before has; no document has it.
_SAME = ""

Stamp = tuple[int, int, int]

# What these name is opened, so that it must not lead out of the index's folder.
_GENERATION, _DIGITS = "generation-", 16


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


class Manifest(StoredRecord, frozen=True, gc=True, dict=True):
    """One published state of the index.

    `generation` is its folder, `files` the size of each file there, and `segments` the name of each and how many
    documents it is to hold, in the order of their numbers.
    """

    generation: str
    files: Mapping[str, int]
    segments: Sequence[tuple[str, int]]
    keys: list[str | None]
    digests: list[str | None]
    lengths: Mapping[str, Sequence[int]]

    @cached_property
    def digest_of(self) -> dict[str, str]:
        """The digest of each document that the index holds."""
        pairs = zip(self.keys, self.digests, strict=True)
        return {key: digest for key, digest in pairs if key is not None and digest is not None}

    def is_of(self, live: Mapping[str, str]) -> bool:
        """Say whether each document that the index holds is among the live ones, in the same state.

        If so, their texts take the place of the equal ones here, which take as much memory again.
        """
        if self.keys == list(live):
            # Of one passage each, and in one order: nothing is looked up.
            self.keys[:] = live.keys()
            if self.digests != list(live.values()):
                return False
            self.digests[:] = live.values()
            return True
        digests = self._found_in(live)
        if digests != self.digests:
            return False
        known: dict[str | None, str] = dict(zip(live, live, strict=True))
        self.keys[:], self.digests[:] = map(known.get, self.keys), digests
        return True

    def stale(self, live: Mapping[str, str]) -> list[str]:
        """Return the live keys that the index lacks or holds in another state, sorted."""
        # Of thousands no step is Python's, and no table of them is made.
        if self.keys == list(live):
            return sorted(compress(live, map(ne, live.values(), self.digests)))
        unlike = set(compress(self.keys, map(ne, self._found_in(live), self.digests)))
        return sorted((live.keys() - set(self.keys)) | (live.keys() & unlike))

    def gone(self, live: Mapping[str, str]) -> list[str]:
        """Return the keys that the index holds and the tree does not, sorted."""
        gone = set(filterfalse(live.__contains__, self.keys))
        return sorted(key for key in gone if key is not None)

    def _found_in(self, live: Mapping[str, str]) -> list[str | None]:
        """Return the digest that each number's document has among the live ones; a dead number has neither."""
        find: Callable[[str | None], str | None] = live.get  # type: ignore[assignment]  # nothing has the key None
        return list(map(find, self.keys))


class _Stored(Manifest, frozen=True, gc=True, dict=True):
    """What the file holds: a state, and what it must have been made with to be read."""

    format: int
    fields: str
    analysis: int


def _versions() -> tuple[int, str, int]:
    return FORMAT, VERSION, analysis.VERSION


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
    stored = from_json(content, _Stored)
    if stored is None:
        raise DamagedIndexError("the index does not fit its table of documents")
    if (stored.format, stored.fields, stored.analysis) != _versions():
        raise DamagedIndexError("the index was made by another version")
    manifest = Manifest(
        generation=stored.generation,
        files=stored.files,
        segments=stored.segments,
        keys=_repeated(stored.keys),
        digests=_repeated(stored.digests),
        lengths=stored.lengths,
    )
    _check(folder, manifest)
    return manifest


def _repeated(column: list[str | None]) -> list[str | None]:
    """Return a column with the text of the passage before where a passage has the same."""
    if _SAME not in column:
        return column
    last: str | None = None
    return [last := text if text != _SAME else last for text in column]


def _unrepeated(column: Sequence[str | None]) -> list[str | None]:
    """Return a column as it is stored: a document has a dozen passages, all of one name."""
    before = (None, *column)
    return [_SAME if text is not None and text == last else text for text, last in zip(column, before, strict=False)]


def _check(folder: Path, manifest: Manifest) -> None:
    with reading():
        texts, numbers = [manifest.keys, manifest.digests], [manifest.lengths[name] for name in SCORED]
        # Whoever asks counts with these later.
        fits = all(min(column, default=0) >= 0 for column in numbers)
        fits &= {len(column) for column in (*texts, *numbers)} == {sum(count for _, count in manifest.segments)}
        fits &= all(is_hex(name, _DIGITS) and count >= 0 for name, count in manifest.segments)
        fits &= manifest.generation.startswith(_GENERATION)
        fits &= is_hex(manifest.generation.removeprefix(_GENERATION), _DIGITS)
        sizes = {name: os.stat(folder / manifest.generation / name).st_size for name in manifest.files}  # noqa: PTH116 - hot
        if not fits or sizes != manifest.files:
            raise DamagedIndexError("the index does not fit its table of documents")


def publish(folder: Path, manifest: Manifest) -> None:
    """Make a state the one that readers see, in one step that survives a crash."""
    import json

    versions = dict(zip(("format", "fields", "analysis"), _versions(), strict=True))
    columns = {"keys": _unrepeated(manifest.keys), "digests": _unrepeated(manifest.digests)}
    stated = {name: getattr(manifest, name) for name in Manifest.__struct_fields__}
    content = json.dumps(versions | stated | columns, separators=(",", ":"))
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
