"""Bringing the index on disk up to date, under the lock, in one step for those who read it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from mdmem.disk import make_folder
from mdmem.index.manifest import NAME, DamagedIndexError, Manifest, Stamp, load, publish, reading, stamp_of
from mdmem.index.protocol import IndexBusyError, IndexDocument, IndexWriteError, Progress, Read, RefreshResult
from mdmem.index.store import locked, sweep

LOCK = "lock"

_REBUILD_SHARE = 0.5
"""Past this share of changed documents, writing all of them takes no longer than writing those and merging."""


class RefreshRequest(Struct, frozen=True):
    """What the index is to hold, and how to come by it."""

    live: Mapping[str, str]
    read: Read
    progress: Progress | None = None

    def documents(self, keys: Sequence[str]) -> Iterator[IndexDocument]:
        """Yield the documents of these keys, telling how many are done."""
        for done, document in enumerate(self.read(keys), start=1):
            yield document
            if self.progress is not None:
                self.progress(done, len(keys))


def refresh(folder: Path, wanted: RefreshRequest, *, rebuild: bool) -> RefreshResult:
    """Make the index on disk hold what is wanted, or raise `IndexBusyError` or `IndexWriteError`."""
    try:
        make_folder(folder)
        with locked(folder / LOCK):
            old = None if rebuild else _published(folder)
            # A writer that was killed left its generation behind; one that fails later must find the room.
            sweep(folder, keep=old.generation if old else None)
            return _refresh(folder, old, wanted)
    except OSError as error:
        raise IndexWriteError(f"the index cannot be written: {error.strerror or error}") from error


def withdraw(folder: Path, stamp: Stamp | None) -> None:
    """Make a damaged index no index, so that whoever writes next builds it anew; a newer one stays."""
    with suppress(OSError, IndexBusyError), locked(folder / LOCK):
        if stamp_of(folder) == stamp:
            (folder / NAME).unlink()


def _published(folder: Path) -> Manifest | None:
    try:
        return load(folder)
    except DamagedIndexError:
        return None


def _refresh(folder: Path, old: Manifest | None, wanted: RefreshRequest) -> RefreshResult:
    stale, gone = (sorted(wanted.live), []) if old is None else (old.stale(wanted.live), old.gone(wanted.live))
    if old is not None and not stale and not gone:
        return RefreshResult(len(old.digest_of), 0, 0, rebuilt=False)
    manifest = None if old is None else _changed(folder, old, stale, gone, wanted)
    # Also where the old state turned out to be broken inside.
    rebuilt = manifest is None
    if manifest is None:
        # Imported here: whoever finds the index fresh writes nothing.
        from mdmem.index.writer import rebuild

        manifest = rebuild(folder, sorted(wanted.live), wanted.read, wanted.progress)
    publish(folder, manifest)
    sweep(folder, keep=manifest.generation)
    added = sum(key in manifest.digest_of for key in stale)
    return RefreshResult(len(manifest.digest_of), added, len(gone), rebuilt=rebuilt)


def _changed(
    folder: Path, old: Manifest, stale: Sequence[str], gone: Sequence[str], wanted: RefreshRequest
) -> Manifest | None:
    """Return the old state with the changes, none where it should be written anew instead."""
    if len(stale) > _REBUILD_SHARE * len(wanted.live):
        return None
    dropped = frozenset(stale).union(gone)
    # Read before the old one is: what fails inside is then the old index, and not whoever reads.
    documents = list(wanted.documents(stale)) if stale else []
    if not documents:
        return _without(old, dropped)
    from mdmem.index.writer import extend

    try:
        with reading():
            return extend(folder, old, dropped, documents)
    except DamagedIndexError:
        return None


def _without(old: Manifest, dropped: frozenset[str]) -> Manifest:
    # The files stay as they are: a number without a key is dead, whatever a segment has for it.
    keys = [None if key in dropped else key for key in old.keys]
    digests = [None if key is None else digest for key, digest in zip(keys, old.digests, strict=True)]
    lengths = {
        name: [0 if key is None else length for key, length in zip(keys, column, strict=True)]
        for name, column in old.lengths.items()
    }
    return old.with_changes(keys=keys, digests=digests, lengths=lengths)
