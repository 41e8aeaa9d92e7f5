"""The base class of the frozen records that caches store, and the checked file format that they are packed into."""

from __future__ import annotations

from typing import Any, Self, TypeVar
from zlib import crc32

from msgspec import DecodeError, Struct
from msgspec.msgpack import decode, encode
from msgspec.structs import replace

_Kind = TypeVar("_Kind")
# The errors of text that UTF-8 cannot encode, and of an integer that is too large.
UNPACKABLE = (UnicodeEncodeError, OverflowError)


class StoredRecord(Struct, frozen=True, gc=False, omit_defaults=True):
    """A frozen record that a cache stores.

    A record never refers to itself, so the garbage collector need not track it. A cache may have tens of thousands of
    records.
    """

    def with_changes(self, **changes: Any) -> Self:
        """Return a copy of the record with other values in some fields."""
        return replace(self, **changes)


def pack(version: str, value: object) -> bytes:
    """Return a value as the bytes of a file, with a version and a checksum; raises one of the errors in UNPACKABLE."""
    return b"".join(packed_parts(version, value))


def packed_parts(version: str, value: object) -> tuple[bytes, bytes]:
    """Return the header and the content of a packed file separately, since joining them would copy a large content."""
    content = encode(value)
    return _head(version, content), content


def is_packable(value: object) -> bool:
    """Return whether `pack` accepts a value."""
    try:
        encode(value)
    except UNPACKABLE:
        return False
    return True


def unpack(content: bytes, version: str, kind: type[_Kind]) -> _Kind | None:
    """Return the value that `pack` packed under this version; None for a damaged file or another version."""
    # A memoryview, since a copy would need tens of megabytes more.
    packed = memoryview(content)[content.find(b"\n") + 1 :]
    if not content.startswith(_head(version, packed)):
        return None
    try:
        return decode(packed, type=kind)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _head(version: str, content: bytes | memoryview) -> bytes:
    return b"mdmem %s %d %08x\n" % (version.encode(), len(content), crc32(content))
