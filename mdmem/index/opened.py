"""An index that is open for questions."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mdmem.index.damage import DamagedIndexError
from mdmem.index.manifest import Manifest, Stamp, load, stamp_of
from mdmem.index.postings import WhooshPostings


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A published state with its postings; `stamp` tells whether it is still the published one."""

    manifest: Manifest
    postings: WhooshPostings
    stamp: Stamp | None
    close: Callable[[], None]


def open_index(folder: Path) -> Opened | None:
    """Open the published state, none where there is no index, or raise `DamagedIndexError`.

    A writer may remove what was just read about, so that a failure is tried once more on whatever is published then.
    """
    try:
        return _open(folder)
    except DamagedIndexError:
        return _open(folder)


def _open(folder: Path) -> Opened | None:
    stamp = stamp_of(folder)
    manifest = load(folder)
    if manifest is None:
        return None
    # Imported here: a scan, and whoever asks for the index's state, must not pay for Whoosh.
    from mdmem.index.storage import OwnedStorage

    storage = OwnedStorage(folder / manifest.generation)
    try:
        return Opened(manifest, WhooshPostings(storage, manifest.segments), stamp, storage.release)
    except DamagedIndexError:
        storage.release()
        raise
