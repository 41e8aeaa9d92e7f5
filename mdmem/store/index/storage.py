"""Store Whoosh's files with checksums, so that damage is noticed, and never load arbitrary pickles from them."""

from __future__ import annotations

import pickle
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any
from zlib import crc32

from whoosh import columns
from whoosh.codec import whoosh3
from whoosh.filedb.filestore import FileStorage, RamStorage
from whoosh.filedb.structfile import BufferFile, StructFile

from mdmem.disk import read_regular

_SUM_BYTES = 4


class DamagedIndexError(Exception):
    """The content of an index file differs from what was written."""


def checksum(name: str, content: bytes | memoryview) -> bytes:
    """Return the checksum of a file's name and content; it includes the name, so that exchanged files are noticed."""
    # The table of contents is written under a temporary name.
    known = "toc" if ".toc" in name else name
    return crc32(content, crc32(known.encode())).to_bytes(4, "big")


# The only names that Whoosh's own pickles contain.
_ALLOWED = {
    ("whoosh.codec.whoosh3", "W3Codec"): whoosh3.W3Codec,
    ("whoosh.codec.whoosh3", "W3Segment"): whoosh3.W3Segment,
    ("collections", "defaultdict"): defaultdict,
    ("builtins", "int"): int,
    ("builtins", "set"): set,
}


class _GuardedUnpickler(pickle.Unpickler):
    """An unpickler that refuses every name that is not in `_ALLOWED`."""

    def find_class(self, module: str, name: str, /) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"the index names {module}.{name}")
        return _ALLOWED[module, name]


# Replace the functions with which Whoosh unpickles postings and stored values. Whoosh has no setting for this.
whoosh3.loads = columns.loads = lambda content: _GuardedUnpickler(BytesIO(content)).load()
# Whoosh's protocol, 2, stores bytes as a function call, which needs twice the space and a third name in the allow-list.
whoosh3.dumps = lambda value, _protocol: pickle.dumps(value, 5)


class _GuardedFile(BufferFile):  # type: ignore[misc]  # Whoosh has no types
    """A file for reading, whose pickles are loaded with the guarded unpickler."""

    def read_pickle(self) -> Any:
        return _GuardedUnpickler(self.file).load()


class _SummedFile(StructFile):  # type: ignore[misc]
    """A file for writing, to which `close` appends the checksum."""

    def close(self) -> None:
        self.file.flush()
        self.file.seek(0)
        self.file.write(checksum(Path(self.file.name).name, self.file.read()))
        super().close()


class MemoryStorage(RamStorage):  # type: ignore[misc]
    """Files in memory; Whoosh's own class would put its temporary files in a shared folder on disk."""

    def temp_storage(self, name: str | None = None) -> MemoryStorage:  # noqa: ARG002  # Whoosh's name
        """Return a storage for temporary files."""
        return MemoryStorage()


class CheckedStorage(FileStorage):  # type: ignore[misc]
    """A folder of files that end with a checksum, so that a damaged file raises DamagedIndexError."""

    def __init__(self, folder: Path) -> None:
        """Take the folder."""
        super().__init__(str(folder), supports_mmap=False)
        self._path = folder
        self._written: list[_SummedFile] = []

    def create_file(self, name: str, **_options: Any) -> Any:
        """Open a file for writing."""
        self._written.append(_SummedFile((self._path / name).open("w+b"), name=name))
        return self._written[-1]

    def open_file(self, name: str, **_options: Any) -> Any:
        """Return a file whose checksum was checked, for reading; raises DamagedIndexError."""
        # Memory-mapping is not used, since a truncated file would crash the process.
        content = read_regular(self._path / name)
        body = memoryview(content)[:-_SUM_BYTES]
        if len(content) < _SUM_BYTES or checksum(name, body) != content[-_SUM_BYTES:]:
            # This error is no OSError, because Whoosh would retry after an OSError for half a second.
            raise DamagedIndexError(f"{name} is damaged")
        # Leave the checksum at the end, since nothing reads it and removing it would copy the content.
        return _GuardedFile(content, name=name)

    def file_length(self, name: str) -> int:
        """Return the length of a file in bytes, without its checksum."""
        return (self._path / name).stat().st_size - _SUM_BYTES

    def temp_storage(self, name: str | None = None) -> MemoryStorage:  # noqa: ARG002  # Whoosh's name
        """Return a storage for temporary files."""
        return MemoryStorage()

    def lock(self, name: str) -> Any:  # noqa: ARG002  # Whoosh's name
        """Return a lock that is always free, since the writer has already locked the whole folder."""
        return Lock()

    def close_written(self) -> None:
        """Close the files that a failed write left open."""
        for file in self._written:
            file.file.close()
        self._written.clear()
