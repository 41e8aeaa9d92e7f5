"""JSON with comments and trailing commas, as editors write it: every value with the place where it stands."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

# What stands between two tokens: white space and comments.
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[^\s,:\[\]{}\"/]+")
# Deeper than anybody nests a configuration, and far from Python's own limit.
_DEEPEST = 100


class NotJsoncError(ValueError):
    """The text is no JSON, not even with comments and trailing commas."""


class Member(Struct, frozen=True):
    """One member of an object: where its key begins, and its value."""

    key: str
    start: int
    value: Node


class Node(Struct, frozen=True):
    """One value and the half-open range of its characters; `members` are None for what is no object.

    `items` are the values of an array, None for what is none. `comma` is where a comma after the last member or item
    stands, None where there is none.
    """

    value: Any
    start: int
    end: int
    members: tuple[Member, ...] | None = None
    comma: int | None = None
    items: tuple[Node, ...] | None = None

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Return the range of each member, key and value, or of each item."""
        if self.members is not None:
            return tuple((one.start, one.value.end) for one in self.members)
        return tuple((one.start, one.end) for one in self.items or ())


def parse(text: str) -> Node:
    """Return the value of a text; raises NotJsoncError, also for a key that stands twice in one object."""
    reader = _Reader(text)
    node = reader.value(_skip(text, 0), 0)
    if _skip(text, node.end) != len(text):
        raise NotJsoncError(f"something follows the end of the value in line {line_of(text, node.end)}")
    return node


def end_of_gap_before(text: str, start: int, end: int) -> int:
    """Return where the last comment between two places ends, the first place where there is none."""
    comments = [found.end() for found in _COMMENT.finditer(text, start, end)]
    return comments[-1] if comments else start


def line_of(text: str, at: int) -> int:
    """Return the number of the line that a place is in, from 1."""
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found is not None else at


class _Reader:
    """Reads one text by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, at: int, depth: int) -> Node:
        first = self._text[at : at + 1]
        if depth > _DEEPEST:
            raise self._wrong(at, "it is nested too deep")
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first == '"':
            return self._scalar(_STRING, at)
        return self._scalar(_WORD, at)

    def _scalar(self, form: re.Pattern[str], at: int) -> Node:
        found = form.match(self._text, at)
        try:
            value = json.loads(found[0]) if found is not None else None
        except ValueError:
            found = None
        if found is None:
            raise self._wrong(at, "no value can be read")
        return Node(value, at, found.end())

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        values: dict[str, Any] = {}
        at, comma = _skip(self._text, start + 1), None
        while self._text[at : at + 1] != "}":
            if members and comma is None:
                raise self._wrong(at, "a comma is missing")
            member = self._member(at, depth)
            if member.key in values:
                raise self._wrong(at, f"`{member.key}` stands twice")
            members.append(member)
            values[member.key] = member.value.value
            at, comma = self._after(member.value.end)
        return Node(values, start, at + 1, tuple(members), comma)

    def _member(self, at: int, depth: int) -> Member:
        if self._text[at : at + 1] != '"':
            raise self._wrong(at, "a key in double quotes is missing")
        key = self._scalar(_STRING, at)
        colon = _skip(self._text, key.end)
        if self._text[colon : colon + 1] != ":":
            raise self._wrong(colon, "a colon is missing")
        return Member(key.value, at, self.value(_skip(self._text, colon + 1), depth + 1))

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at, comma = _skip(self._text, start + 1), None
        while self._text[at : at + 1] != "]":
            if items and comma is None:
                raise self._wrong(at, "a comma is missing")
            item = self.value(at, depth + 1)
            items.append(item)
            at, comma = self._after(item.end)
        return Node([one.value for one in items], start, at + 1, comma=comma, items=tuple(items))

    def _after(self, end: int) -> tuple[int, int | None]:
        """Return where the next token stands, and where the comma before it, if there is one."""
        at = _skip(self._text, end)
        if self._text[at : at + 1] != ",":
            return at, None
        return _skip(self._text, at + 1), at

    def _wrong(self, at: int, why: str) -> NotJsoncError:
        return NotJsoncError(f"line {line_of(self._text, at)}: {why}")
