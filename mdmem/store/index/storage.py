"""Store Whoosh's files with a checksum each, so that damage is noticed, and load no pickles from them."""

from __future__ import annotations

import _codecs
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from pickle import Unpickler, UnpicklingError
from threading import Lock
from typing import Any
from zlib import crc32

from whoosh import columns
from whoosh.codec import whoosh3
from whoosh.filedb.filestore import FileStorage, RamStorage
from whoosh.filedb.structfile import StructFile

from mdmem.disk import read_regular

_SUM_BYTES = 4


class DamagedIndexError(Exception):
    """A file of the index is not as it was written."""


def checksum(name: str, content: bytes | memoryview) -> bytes:
    """Return the checksum of a file, which covers its name: a file in another's place is damage, too."""
    # A table is written under a temporary name.
    known = "toc" if ".toc" in name else name
    return crc32(content, crc32(known.encode())).to_bytes(4, "big")


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise UnpicklingError(f"the index names the encoding {encoding}")
    return _codecs.encode(text, "latin1")


# The names in Whoosh's own pickles. The second protocol writes bytes as a call of `_codecs.encode`.
_ALLOWED = {
    ("whoosh.codec.whoosh3", "W3Codec"): whoosh3.W3Codec,
    ("whoosh.codec.whoosh3", "W3Segment"): whoosh3.W3Segment,
    ("collections", "defaultdict"): defaultdict,
    ("builtins", "int"): int,
    ("builtins", "set"): set,
    ("__builtin__", "int"): int,
    ("__builtin__", "set"): set,
    ("_codecs", "encode"): _encode,
}


class _GuardedUnpickler(Unpickler):
    """An unpickler that looks up nothing beyond the allow-list."""

    def find_class(self, module: str, name: str, /) -> Any:
        if (module, name) not in _ALLOWED:
            raise UnpicklingError(f"the index names {module}.{name}")
        return _ALLOWED[module, name]


def _guarded_loads(content: bytes) -> Any:
    return _GuardedUnpickler(BytesIO(content)).load()


# Whoosh unpickles blocks of postings and stored values by these names, and offers no other way to replace them.
whoosh3.loads = columns.loads = _guarded_loads


class _GuardedFile(StructFile):  # type: ignore[misc]  # Whoosh has no types
    """A file that is read, with guarded pickles."""

    def read_pickle(self) -> Any:
        return _GuardedUnpickler(self.file).load()


class _SummedFile(StructFile):  # type: ignore[misc]
    """A file that is written; on closing its checksum is appended."""

    def close(self) -> None:
        self.file.flush()
        self.file.seek(0)
        self.file.write(checksum(Path(self.file.name).name, self.file.read()))
        super().close()


class MemoryStorage(RamStorage):  # type: ignore[misc]
    """Files in memory; Whoosh's own class puts temporary files in a shared folder on disk."""

    def temp_storage(self, name: str | None = None) -> MemoryStorage:  # noqa: ARG002  # Whoosh's name
        """Return a storage for temporary files."""
        return MemoryStorage()


class CheckedStorage(FileStorage):  # type: ignore[misc]
    """A folder whose files end in a checksum, so that a damaged one raises instead of giving wrong answers."""

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
        """Read a file whole: if a mapped file were cut short, reading it would end the process."""
        content = read_regular(self._path / name)
        body = memoryview(content)[:-_SUM_BYTES]
        if len(content) < _SUM_BYTES or checksum(name, body) != content[-_SUM_BYTES:]:
            # Not an OSError, which Whoosh would retry for half a second.
            raise DamagedIndexError(f"{name} is damaged")
        # The checksum stays at the end, where nothing reads it: to cut it off would copy the rest.
        return _GuardedFile(BytesIO(content), name=name)

    def file_length(self, name: str) -> int:
        """Return the length of a file without its checksum."""
        return (self._path / name).stat().st_size - _SUM_BYTES

    def temp_storage(self, name: str | None = None) -> MemoryStorage:  # noqa: ARG002  # Whoosh's name
        """Return a storage for temporary files."""
        return MemoryStorage()

    def lock(self, name: str) -> Any:  # noqa: ARG002  # Whoosh's name
        """Return a lock that is free: whoever writes has locked the whole folder before."""
        return Lock()

    def close_written(self) -> None:
        """Close the files that a failed writer left open."""
        for file in self._written:
            file.file.close()
        self._written.clear()
