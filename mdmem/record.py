"""Frozen records that a cache keeps by the ten thousand, and the bytes of a file that they are packed into."""

from __future__ import annotations

from typing import Any, Self, TypeVar
from zlib import crc32

from msgspec import DecodeError, Struct
from msgspec.msgpack import decode, encode
from msgspec.structs import replace

_Kind = TypeVar("_Kind")
UNPACKABLE = (UnicodeEncodeError, OverflowError)


class StoredRecord(Struct, frozen=True, gc=False, omit_defaults=True):
    """A frozen value that is stored; it never refers to itself, so the garbage collector need not track it."""

    def with_changes(self, **changes: Any) -> Self:
        """Return the same record with other values in some fields."""
        return replace(self, **changes)


def pack(version: str, value: object) -> bytes:
    """Return a value as the bytes of a file; raises UNPACKABLE for text without UTF-8 or a number that is too large."""
    return b"".join(packed_parts(version, value))


def packed_parts(version: str, value: object) -> tuple[bytes, bytes]:
    """Return the head and the content of a packed file; joining them would take their memory twice."""
    content = encode(value)
    return _head(version, content), content


def is_packable(value: object) -> bool:
    """Return whether `pack` can write a value."""
    try:
        encode(value)
    except UNPACKABLE:
        return False
    return True


def unpack(content: bytes, version: str, kind: type[_Kind]) -> _Kind | None:
    """Return the value that `pack` wrote under this version; None for a torn, foreign or older file."""
    # A view, since a copy would take the memory of tens of megabytes twice.
    packed = memoryview(content)[content.find(b"\n") + 1 :]
    if not content.startswith(_head(version, packed)):
        return None
    try:
        return decode(packed, type=kind)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _head(version: str, content: bytes | memoryview) -> bytes:
    return b"mdmem %s %d %08x\n" % (version.encode(), len(content), crc32(content))
