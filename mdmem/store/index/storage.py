"""A folder of Whoosh's files that trusts none of them: each is checked as it is read, and no pickle runs anything."""

from __future__ import annotations

import _codecs
import os
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from pickle import Unpickler, UnpicklingError
from typing import Any
from zlib import crc32

from whoosh import columns
from whoosh.codec import whoosh3
from whoosh.filedb.filestore import FileStorage, RamStorage
from whoosh.filedb.structfile import StructFile

from mdmem.disk import acquire, read_regular

_SUM_BYTES = 4


class DamagedIndexError(Exception):
    """A file of the index is not as it was written."""


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise UnpicklingError(f"the index names the encoding {encoding}")
    return _codecs.encode(text, "latin1")


# What Whoosh's own pickles name. `_codecs.encode` is how the second protocol writes bytes.
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
    """Looks up nothing beyond the allow-list."""

    def find_class(self, module: str, name: str, /) -> Any:
        """Return what an index may name, or raise `UnpicklingError`."""
        if (module, name) not in _ALLOWED:
            raise UnpicklingError(f"the index names {module}.{name}")
        return _ALLOWED[module, name]


def guarded_loads(content: bytes) -> Any:
    """Return what a pickle holds, or raise `UnpicklingError` where it names anything that an index has no use for."""
    return _GuardedUnpickler(BytesIO(content)).load()


# Whoosh unpickles blocks of postings and stored values by these names, and offers no other way to replace them.
whoosh3.loads = columns.loads = guarded_loads


class _CheckedFile(StructFile):  # type: ignore[misc]  # Whoosh states no types
    """A file that is read: its pickles are guarded."""

    def read_pickle(self) -> Any:
        """Return what the pickle that starts here holds."""
        return _GuardedUnpickler(self.file).load()


class _SummedFile(StructFile):  # type: ignore[misc]
    """A file that is written: its checksum follows its content."""

    def close(self) -> None:
        """Append the checksum and close the file."""
        self.file.flush()
        self.file.seek(0)
        found = crc32(self.file.read())
        self.file.write(found.to_bytes(_SUM_BYTES, "big"))
        super().close()


class _Lock:
    """A file that one process locks; Whoosh's own would wait for ever where a pipe stands in its place."""

    def __init__(self, path: Path) -> None:
        self._path, self._handle = path, -1

    def acquire(self, **_options: object) -> bool:
        """Lock the file, and say whether nobody else has."""
        # The file stays: whoever removed it would let two processes lock two files of one name.
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            acquire(handle)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def release(self) -> None:
        """Unlock the file."""
        os.close(self._handle)


class CheckedStorage(FileStorage):  # type: ignore[misc]
    """A folder whose files end in a checksum: a damaged one raises `DamagedIndexError` and gives no wrong answer."""

    def __init__(self, folder: Path) -> None:
        """Take the folder."""
        super().__init__(str(folder), supports_mmap=False)
        self._path = folder
        self._written: list[_SummedFile] = []

    def create_file(self, name: str, **_options: Any) -> Any:
        """Open a file for writing."""
        self._written.append(_SummedFile((self._path / name).open("w+b"), name=name))
        return self._written[-1]

    def temp_storage(self, name: str | None = None) -> MemoryStorage:  # noqa: ARG002  # Whoosh's name
        """Return a storage for files that are soon gone."""
        return MemoryStorage()

    def release(self) -> None:
        """Close what a writer that failed half-way left open."""
        for file in self._written:
            file.file.close()
        self._written.clear()

    def open_file(self, name: str, **_options: Any) -> Any:
        """Read a file whole: a mapped one that somebody cuts short would end the process."""
        content = read_regular(self._path / name)
        body = memoryview(content)[:-_SUM_BYTES]
        if len(content) < _SUM_BYTES or crc32(body) != int.from_bytes(content[-_SUM_BYTES:], "big"):
            # No OSError: Whoosh would try again for half a second.
            raise DamagedIndexError(f"{name} is damaged")
        # The checksum stays at the end, where nothing reads it: to cut it off would copy the rest.
        return _CheckedFile(BytesIO(content), name=name)

    def file_length(self, name: str) -> int:
        """Return how long a file is without its checksum."""
        return (self._path / name).stat().st_size - _SUM_BYTES

    def lock(self, name: str) -> _Lock:
        """Return the lock of a name."""
        return _Lock(self._path / name)


class MemoryStorage(RamStorage):  # type: ignore[misc]
    """Files in memory; Whoosh's own put what it works with in a folder of one name for everybody."""

    def temp_storage(self, name: str | None = None) -> MemoryStorage:  # noqa: ARG002  # Whoosh's name
        """Return a storage for files that are soon gone."""
        return MemoryStorage()
