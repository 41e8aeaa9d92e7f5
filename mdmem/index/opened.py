"""An index that is open for questions."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.index.damage import DamagedIndexError, reading
from mdmem.index.manifest import Manifest, Stamp, load, stamp_of
from mdmem.index.postings import WhooshPostings

if TYPE_CHECKING:
    from mdmem.index.storage import OwnedStorage


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
        return Opened(manifest, _postings(storage, len(manifest.keys)), stamp, storage.release)
    except DamagedIndexError:
        storage.release()
        raise


def _postings(storage: "OwnedStorage", documents: int) -> WhooshPostings:
    from whoosh.index import FileIndex

    with reading():
        reader = FileIndex(storage).reader()
        if reader.doc_count_all() != documents:
            raise DamagedIndexError("the index does not fit its table of documents")
        return WhooshPostings(reader)
