"""Values that a cache holds by the ten thousand: frozen records, and the form in which a file keeps them."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, Self, TypeVar
from zlib import crc32

from msgspec import DecodeError, Struct, convert
from msgspec import Raw as Raw
from msgspec.json import decode
from msgspec.msgpack import Decoder, encode
from msgspec.structs import force_setattr, replace

_Kind = TypeVar("_Kind")
UNPACKABLE = (UnicodeEncodeError, OverflowError)
# To make one takes longer than to read a small file with it.
_DECODERS: dict[Any, Decoder[Any]] = {}


class StoredRecord(Struct, frozen=True, gc=False, omit_defaults=True):
    """A frozen value that is made, and read from a file, in a tenth of the time that a dataclass takes.

    It never leads back to itself, so that the collector of garbage need not look at it.
    """

    def with_changes(self, **changes: Any) -> Self:
        """Return the same with other values in some fields."""
        return replace(self, **changes)


def read_texts(records: Sequence[StoredRecord], names: Sequence[str], read: Callable[[str], object]) -> None:
    """Put what texts mean into the place of those that some fields of records hold, which nobody else has seen yet."""
    for name in names:
        held = list(map(attrgetter(name), records))
        known = {text: read(text) for text in set(held) if text.__class__ is str}
        if known:
            # Of thousands no step is Python's.
            deque(map(force_setattr, records, repeat(name), map(known.get, held, held)), maxlen=0)


def pack(version: str, value: object) -> bytes:
    """Return a value as the bytes of a file; raises UNPACKABLE where a text has no UTF-8, or a number is too large."""
    return b"".join(packed_parts(version, value))


def packed_parts(version: str, value: object) -> tuple[bytes, bytes]:
    """Return the bytes of a file as `pack` does, the long part by itself: to join them takes its memory once more."""
    content = encode(value)
    return b"%s %d %08x\n" % (_head(version), len(content), crc32(content)), content


def as_raw(value: object) -> Raw:
    """Return a part of a value that is packed by itself, so that the whole need not be held twice."""
    return Raw(encode(value))


def is_packable(value: object) -> bool:
    """Say whether `pack` can write a value."""
    try:
        encode(value)
    except UNPACKABLE:
        return False
    return True


def unpack(content: bytes, version: str, kind: type[_Kind]) -> _Kind | None:
    """Return what `pack` made of a value of a kind under this version; None for what is torn, foreign or older."""
    # Not cut off: tens of megabytes would be held twice.
    packed = memoryview(content)[content.find(b"\n") + 1 :]
    if not content.startswith(b"%s %d %08x\n" % (_head(version), len(packed), crc32(packed))):
        return None
    return unpack_one(packed, kind)


def unpack_one(packed: bytes | memoryview | Raw, kind: type[_Kind]) -> _Kind | None:
    """Return a value of a kind out of what was unpacked as `Raw`; None where it is another."""
    try:
        decoder: Decoder[_Kind] = _DECODERS.get(kind) or _DECODERS.setdefault(kind, Decoder(kind))
        return decoder.decode(packed)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None


def from_json(content: bytes, kind: type[_Kind]) -> _Kind | None:
    """Return the value of a kind that a JSON text is; None where it is another, or none."""
    try:
        return decode(content, type=kind)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # The name of a file need not be UTF-8, and this takes what stands for such bytes.
        return convert(json.loads(content), kind)
    except (ValueError, RecursionError):
        return None


def _head(version: str) -> bytes:
    return f"mdmem {version}".encode()
