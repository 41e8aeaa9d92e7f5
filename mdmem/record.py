"""Frozen records: the base class of those that caches store, their checked file format, groups, and JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Any, TypeVar
from zlib import crc32

from msgspec import DecodeError, Struct
from msgspec.msgpack import decode, encode

_Kind = TypeVar("_Kind")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class StoredRecord(Struct, frozen=True, gc=False, omit_defaults=True):
    """A frozen record that a cache stores; it never refers to itself, so the garbage collector need not track it."""


def pack(version: str, values: Mapping[str, object]) -> bytes:
    """Return values as the bytes of a file, with a version and a checksum.

    Values that cannot be encoded are left out, such as file names that are not UTF-8.
    """
    content = _encoded(values)
    if content is None:
        content = encode({key: value for key, value in values.items() if _encoded({key: value}) is not None})
    return _head(version, content) + content


def _encoded(value: object) -> bytes | None:
    # UTF-8 cannot encode some file names, and an integer may be too large.
    with suppress(UnicodeEncodeError, OverflowError):
        return encode(value)
    return None


def unpack(content: bytes, version: str, kind: type[_Kind]) -> _Kind | None:
    """Return the value that `pack` packed under this version as a `kind`.

    None for a damaged file, another version, or values that are not a `kind`.
    """
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


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Return the values of each key, in the order of the pairs."""
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def record_json(record: object, *names: str, **paths: str) -> dict[str, Any]:
    """Return attributes of a record as JSON values; the last part of a name is the key: `title` for `entry.title`.

    A keyword argument gives another key: `path="place.path"`. Tuples become lists.
    """
    found = (*((name.rpartition(".")[2], name) for name in names), *paths.items())
    values = {name: attrgetter(path)(record) for name, path in found}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
