"""A text that an editor holds: its places, which count in characters, and the editor's, which count in UTF-16 units."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from lsprotocol import types
from msgspec import Struct
from msgspec.structs import replace

from mdmem.model.finding import Place

# Python's own lines end at six more characters.
_LINE_END = re.compile("\r\n|\n|\r")
_MARK = "\ufeff"


class Buffer(Struct, frozen=True, dict=True):
    """One file as an editor has it, at one version.

    `path` counts from the memory's root, None for a file beside it; `code` counts from the project's top, as the globs
    of entries do, None where no memory has to do with it. `kept` are the bytes of the file where the text is still the
    one that the file holds: an editor shows neither a byte order mark nor what is not UTF-8.
    """

    uri: str
    path: str | None
    text: str
    version: int | None = None
    code: str | None = None
    kept: bytes | None = None
    has_mark: bool = False

    @property
    def data(self) -> bytes:
        """Return the bytes that the editor would save."""
        if self.kept is not None:
            return self.kept
        text = f"{_MARK}{self.text}" if self.has_mark else self.text
        return text.encode("utf-8", "surrogatepass")

    @cached_property
    def _starts(self) -> list[int]:
        """Where the lines of the editor start."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @property
    def line_count(self) -> int:
        """Return the number of lines; a text that ends with a line end has an empty one after it."""
        return len(self._starts)

    def line(self, number: int) -> str:
        """Return a line, counted from 0, without what ends it; empty beyond the last."""
        if not 0 <= number < len(self._starts):
            return ""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : end].rstrip("\r\n")

    def offset_at(self, position: types.Position) -> int:
        """Return the character that a position means; one beyond its line or the text means their end."""
        if position.line >= len(self._starts):
            return len(self.text)
        line = self.line(position.line)
        return self._starts[position.line] + _characters(line, position.character)

    def position_at(self, offset: int) -> types.Position:
        """Return the position of a character."""
        offset = max(0, min(offset, len(self.text)))
        number = bisect_right(self._starts, offset) - 1
        return types.Position(number, _units(self.text[self._starts[number] : offset]))

    def range_of(self, start: int, end: int) -> types.Range:
        """Return the range between two characters."""
        return types.Range(self.position_at(start), self.position_at(end))

    def offset_of(self, place: Place) -> int:
        """Return the character at which a place starts; its lines end at line feeds alone."""
        start = self._feeds[min(place.line, len(self._feeds)) - 1]
        return min(start + place.column - 1, len(self.text))

    def range_at(self, place: Place) -> types.Range:
        """Return the range of a place; one without a width is its line from there on."""
        start = self.offset_of(place)
        end = start + place.width if place.width else self.text.find("\n", start)
        if not place.width and end > 0 and self.text[end - 1] == "\r":
            end -= 1
        return self.range_of(start, len(self.text) if end < 0 else max(start, end))

    @cached_property
    def _feeds(self) -> list[int]:
        """Where lines start that end at a line feed alone, as those of a place do."""
        if "\r" not in self.text:
            return self._starts
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def changed(self, changes: Sequence[types.TextDocumentContentChangeEvent], version: int | None) -> Buffer:
        """Return the buffer after the changes of a notification, each of which counts from the one before."""
        text = self.text
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                before = replace(self, text=text)
                start, end = before.offset_at(change.range.start), before.offset_at(change.range.end)
                text = text[:start] + change.text + text[max(start, end) :]
            else:
                text = change.text
        return replace(self, text=text, version=version, kept=None)


def over_file(buffer: Buffer, on_disk: bytes | None) -> Buffer:
    """Return the buffer of a text that an editor took from a file of some bytes, or wrote into it."""
    if on_disk is None:
        return replace(buffer, kept=None)
    read = on_disk.decode("utf-8", "replace")
    has_mark = read.startswith(_MARK) and not buffer.text.startswith(_MARK)
    is_same = _plain(read.removeprefix(_MARK)) == _plain(buffer.text.removeprefix(_MARK))
    return replace(buffer, kept=on_disk if is_same else None, has_mark=has_mark)


def _plain(text: str) -> str:
    return _LINE_END.sub("\n", text) if "\r" in text else text


def _units(text: str) -> int:
    """Return how many UTF-16 units a text takes."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _characters(line: str, units: int) -> int:
    """Return how many characters of a line so many UTF-16 units take; half of a pair counts as none."""
    if line.isascii():
        return min(units, len(line))
    count = 0
    for number, character in enumerate(line):
        count += 2 if character > "\uffff" else 1
        if count > units:
            return number
    return len(line)
