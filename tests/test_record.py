"""Records in files: what one version wrote it reads back; what is torn, foreign or older is none."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zlib import crc32

import pytest

from mdmem.record import StoredRecord, pack, unpack


class Point(StoredRecord, frozen=True):
    name: str
    height: int | None = None


Rows = dict[str, tuple[Point, ...]]
ROWS = {"one": (Point("a"), Point("b", 3)), "none": ()}
PACKED = pack("1", ROWS)


def stored(content: bytes) -> bytes:
    return b"mdmem 1 %d %08x\n" % (len(content), crc32(content)) + content


def test_what_was_packed_is_read_back() -> None:
    assert unpack(PACKED, "1", Rows) == ROWS


@pytest.mark.parametrize(
    "content",
    [
        b"",
        PACKED[:-1],
        PACKED[:20],
        PACKED + b"\0",
        PACKED.replace(b"b", b"c"),
        b'{"version":"1"}',
        pack("2", ROWS),
        pack("1", {"one": 3}),
        stored(b"\x81\xa1\xff\x90"),
        stored(b"\x81\xa1a\xdd\xff\xff\xff\xff"),
    ],
    ids=["none", "short", "cut", "long", "other", "json", "older", "kind", "no-utf8", "huge"],
)
def test_what_is_torn_foreign_or_older_is_none(content: bytes) -> None:
    assert unpack(content, "1", Rows) is None


def test_record_with_other_values_leaves_the_first_as_it_was() -> None:
    first = Point("a", 1)
    assert (first.with_changes(height=2), first) == (Point("a", 2), Point("a", 1))
    with pytest.raises(AttributeError):
        first.height = 3  # type: ignore[misc]


@pytest.mark.parametrize("value", ["\udc80", 2**64, datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))])
def test_what_no_file_can_hold_is_left_out(value: object) -> None:
    assert unpack(pack("1", {**ROWS, "odd": value}), "1", Rows) == ROWS
