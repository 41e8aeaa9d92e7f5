"""An index that is open for questions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmem.index.damage import DamagedIndexError, reading
from mdmem.index.manifest import Manifest, Stamp, load, stamp_of
from mdmem.index.postings import WhooshPostings


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A published state with its postings; `stamp` tells whether it is still the published one."""

    manifest: Manifest
    postings: WhooshPostings
    stamp: Stamp | None
    _reader: Any

    def close(self) -> None:
        """Let go of the files."""
        self._reader.close()


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
    with reading():
        # Imported here: a fallback to a scan, and `state`, must not cost Whoosh's import.
        from whoosh.filedb.filestore import FileStorage
        from whoosh.index import FileIndex

        reader = FileIndex(FileStorage(str(folder / manifest.generation), readonly=True)).reader()
        count = reader.doc_count_all()
        if count != len(manifest.keys):
            reader.close()
            raise DamagedIndexError("the index does not fit its table of documents")
        return Opened(manifest, WhooshPostings(reader), stamp, reader)
