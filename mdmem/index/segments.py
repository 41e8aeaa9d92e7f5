"""Segments: parts of the index that are written in one go, a file each, in a format that a term costs two reads of.

First stand the postings of each term: a column of numbers and one of frequencies, as this machine has them in memory.
Nodes follow: sorted keys, each with where its bytes lie and their checksum. The keys of a leaf are fields with terms,
those of the root the first ones of the leaves; the last bytes tell where the root is.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from mdmem.index.manifest import DamagedIndexError

ENDING = ".segment"

# A leaf is read for each term that is asked for, the root once; what cites an entry is asked for by few terms.
_LEAF, _KEPT_LEAVES = 128, 64
_SMALL = {"B": 1 << 8, "H": 1 << 16}
# Where the root begins, the kinds of both columns, and how this machine orders bytes; a checksum of these and the root.
_FOOT = struct.Struct("<Qccc")
_CHECKSUM = struct.Struct("<I")
_ORDER = sys.byteorder[:1].encode()

Postings = tuple[Sequence[int], Sequence[int]]


class Pool:
    """Postings in memory, grouped by term: documents come in order, so that only terms need sorting."""

    def __init__(self) -> None:
        """Start without postings."""
        self._fields: dict[str, dict[str, array[int]]] = {}
        self._most = 0

    def add(self, number: int, field: str, counts: Mapping[str, int]) -> None:
        """Take in how often a field of a document holds each of its terms; documents come by number."""
        groups = self._fields.setdefault(field, {})
        self._most = max(self._most, *counts.values())
        for term, frequency in counts.items():
            group = groups.get(term)
            if group is None:
                group = groups[term] = array("I")
            # One array takes half of what two would: most terms are of one document.
            group.append(number)
            group.append(frequency)

    def add_term(self, field: str, term: str, postings: Iterable[tuple[int, int]]) -> None:
        """Take in the number of each document whose field holds a term, and how often; documents come by number."""
        group = self._fields.setdefault(field, {}).setdefault(term, array("I"))
        for number, frequency in postings:
            group.append(number)
            group.append(frequency)
            self._most = max(self._most, frequency)

    def write(self, folder: Path, count: int) -> str:
        """Write the postings, which are of so many documents, as a segment, and return its name."""
        name = os.urandom(8).hex()
        with (folder / file_of(name)).open("xb") as stream:
            writer = _Writer(stream, _kind(count), _kind(self._most + 1))
            for field, groups in sorted(self._fields.items()):
                for term in sorted(groups):
                    writer.add(_key(field, term), groups[term])
            writer.finish()
        return name


class Segment:
    """A segment that is open for reading; where its file is broken, anything may be raised."""

    def __init__(self, folder: Path, name: str, count: int) -> None:
        """Open its file, and take how many documents it is to hold."""
        self._count = count
        # Read, not mapped: a mapped file that somebody cuts short ends the process, a read one raises.
        with ExitStack() as opened:
            self._known: dict[int, _Node] = {}
            self._stream = opened.enter_context((folder / file_of(name)).open("rb", buffering=0))
            self._open()
            self.close = opened.pop_all().close

    def _open(self) -> None:
        end = self._stream.seek(0, os.SEEK_END) - _FOOT.size - _CHECKSUM.size
        start, numbers, frequencies, order = _FOOT.unpack(self._read(end, end + _FOOT.size))
        if order != _ORDER:
            raise DamagedIndexError("the index was written by another kind of machine")
        content = self._read(start, end + _FOOT.size + _CHECKSUM.size)
        (checksum,) = _CHECKSUM.unpack(content[-_CHECKSUM.size :])
        self._root = _Node.of(_checked(content[: -_CHECKSUM.size], checksum)[: -_FOOT.size])
        self._kinds = numbers.decode(), frequencies.decode()

    def postings(self, field: str, term: str) -> Postings | None:
        """Return the numbers of the documents whose field holds a term, and how often, none where none does."""
        key = _key(field, term)
        leaf = self._leaf(max(0, bisect_right(self._root.keys, key) - 1))
        at = bisect_left(leaf.keys, key)
        if at == len(leaf.keys) or leaf.keys[at] != key:
            return None
        return self._columns(_checked(self._read(leaf.edges[at], leaf.edges[at + 1]), leaf.checksums[at]))

    def lexicon(self, field: str, prefix: str) -> Iterator[str]:
        """Yield the field's terms that start with the prefix."""
        key = _key(field, prefix)
        for leaf in self._leaves(max(0, bisect_right(self._root.keys, key) - 1)):
            for held in leaf.keys[bisect_left(leaf.keys, key) :]:
                if not held.startswith(key):
                    return
                yield _named(held)[1]

    def contents(self) -> Iterator[tuple[str, str, Postings]]:
        """Yield every field with each of its terms and their postings."""
        for leaf in self._leaves(0):
            for key, start, end, checksum in zip(leaf.keys, leaf.edges, leaf.edges[1:], leaf.checksums, strict=False):
                yield *_named(key), self._columns(_checked(self._read(start, end), checksum))

    def _leaves(self, first: int) -> Iterator[_Node]:
        return map(self._leaf, range(first, len(self._root.keys)))

    def _leaf(self, at: int) -> _Node:
        root = self._root
        if not root.keys:
            return root
        found = self._known.get(at)
        if found is None:
            found = _Node.of(_checked(self._read(root.edges[at], root.edges[at + 1]), root.checksums[at]))
            if len(self._known) >= _KEPT_LEAVES:
                self._known.clear()
            self._known[at] = found
        return found

    def _columns(self, content: bytes) -> Postings:
        numbers, frequencies = (array(kind) for kind in self._kinds)
        held = len(content) // (numbers.itemsize + frequencies.itemsize)
        numbers.frombytes(content[: held * numbers.itemsize])
        frequencies.frombytes(content[held * numbers.itemsize :])
        # Not to meet in the midst of a score what it cannot count with.
        if len(frequencies) != held or (held and not (max(numbers) < self._count and min(frequencies) > 0)):
            raise DamagedIndexError("the index names documents that it does not hold")
        return numbers, frequencies

    def _read(self, start: int, end: int) -> bytes:
        self._stream.seek(start)
        content = self._stream.read(end - start)
        if len(content) != end - start:
            raise DamagedIndexError("a segment of the index is cut short")
        return content


def _checked(content: bytes, checksum: int) -> bytes:
    if zlib.crc32(content) != checksum:
        raise DamagedIndexError("a part of the index is not as it was written")
    return content


def file_of(name: str) -> str:
    """Return the name of a segment's file."""
    return f"{name}{ENDING}"


def _kind(bound: int) -> str:
    """Return the kind of the smallest column for numbers below a bound."""
    return next((kind for kind, limit in _SMALL.items() if bound <= limit), "I")


def _key(field: str, term: str) -> bytes:
    return f"{field}\0{term}".encode("utf-8", "surrogatepass")


def _named(key: bytes) -> tuple[str, str]:
    field, _, term = key.decode("utf-8", "surrogatepass").partition("\0")
    return field, term


class _Node(Struct, frozen=True):
    """Sorted keys; the bytes of each lie between two edges."""

    keys: Sequence[bytes]
    edges: Sequence[int]
    checksums: Sequence[int]

    @classmethod
    def of(cls, content: bytes) -> _Node:
        view = memoryview(content)
        (count,) = view[:8].cast("Q")
        edges, checksums = 8 * (count + 2), 8 * (count + 2) + 4 * count
        # No term holds a blank.
        keys = content[checksums:].split(b"\n") if count else []
        if len(keys) != count:
            raise DamagedIndexError("a node of the index does not fit its keys")
        return cls(keys, view[8:edges].cast("Q").tolist(), view[edges:checksums].cast("I").tolist())


class _Run:
    """What is written one after the other, of which a node is to be made."""

    def __init__(self, start: int) -> None:
        self.keys: list[bytes] = []
        self.edges = array("Q", [start])
        self.checksums = array("I")

    def add(self, key: bytes, content: bytes) -> None:
        self.keys.append(key)
        self.edges.append(self.edges[-1] + len(content))
        self.checksums.append(zlib.crc32(content))

    def node(self) -> bytes:
        count = array("Q", [len(self.keys)])
        return b"".join((count, self.edges, self.checksums, b"\n".join(self.keys)))


class _Writer:
    """Writes a segment; keys come in order."""

    def __init__(self, stream: BinaryIO, numbers: str, frequencies: str) -> None:
        self._stream = stream
        self._kinds = numbers, frequencies
        self._pair = struct.Struct(f"={numbers}{frequencies}").pack
        self._run = _Run(0)
        self._leaves: list[tuple[bytes, bytes]] = []

    def add(self, key: bytes, group: array[int]) -> None:
        numbers, frequencies = self._kinds
        # Most terms are of one document, and cutting up arrays takes five times as long.
        is_single = len(group) == 2
        content = (
            self._pair(*group)
            if is_single
            else b"".join((array(numbers, group[0::2]), array(frequencies, group[1::2])))
        )
        self._stream.write(content)
        self._run.add(key, content)
        if len(self._run.keys) == _LEAF:
            self._cut()

    def _cut(self) -> None:
        self._leaves.append((self._run.keys[0], self._run.node()))
        self._run = _Run(self._run.edges[-1])

    def finish(self) -> None:
        if self._run.keys:
            self._cut()
        for key, leaf in self._leaves:
            self._stream.write(leaf)
            self._run.add(key, leaf)
        kinds = (kind.encode() for kind in self._kinds)
        last = self._run.node() + _FOOT.pack(self._run.edges[-1], *kinds, _ORDER)
        self._stream.write(last + _CHECKSUM.pack(zlib.crc32(last)))
