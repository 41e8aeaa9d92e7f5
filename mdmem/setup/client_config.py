"""One server added to a client's configuration: insertions only, and proved by reading the result anew.

JSON with comments and trailing commas, as editors write it: every value with the place where it stands.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
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


_BOM = "\ufeff"


class MisfitError(ValueError):
    """The piece cannot be added by mere insertion; the sentence says why."""


def grow_json(content: bytes, holder: str, name: str, server: Mapping[str, Any]) -> bytes | None:
    """Return a file of JSON, comments and trailing commas allowed, with one more server in the object `holder`.

    None where it holds such a server already. Raises MisfitError where the file is none, or holds something else there.
    """
    text = _decoded(content)
    if not text.strip(_BOM + " \t\r\n"):
        made = json.dumps({holder: {name: server}}, indent=2, ensure_ascii=False)
        return f"{text}{made}\n".encode()
    start = len(_BOM) if text.startswith(_BOM) else 0
    node = _parsed(text[start:])
    held = _held(node, holder)
    if held is not None and name in held.value:
        return None
    key, value = (name, server) if held is not None else (holder, {name: server})
    grown = _insert(text[start:], held or node, key, value)
    wanted = node.value | {holder: {**(held.value if held is not None else {}), name: server}}
    if _parsed(grown).value != wanted:
        raise MisfitError("the result does not read as it should")
    return (text[:start] + grown).encode()


def grow_lists(content: bytes, holder: str, wanted: Mapping[str, Any], *, seed: Mapping[str, Any]) -> bytes:
    """Return a file of JSON with one more item in each of the lists that the object `holder` is to have, by name.

    `seed` is what the file needs besides, where it lacks it. Raises MisfitError where the file is none, or holds
    something else there.
    """
    text = _decoded(content)
    start = len(_BOM) if text.startswith(_BOM) else 0
    if not text[start:].strip():
        made = {**seed, holder: {name: [item] for name, item in wanted.items()}}
        return f"{text[:start]}{json.dumps(made, indent=2, ensure_ascii=False)}\n".encode()
    grown, before = text[start:], _parsed(text[start:])
    held = _held(before, holder)
    lists = held.value if held is not None else {}
    for name in wanted:
        if not isinstance(lists.get(name, []), list):
            raise MisfitError(f"`{holder}.{name}` is no list")
    for key, value in seed.items():
        if key not in before.value:
            grown = _insert(grown, _parsed(grown), key, value)
    for name, item in wanted.items():
        grown = _with_item(grown, holder, name, item)
    after = {**lists, **{name: [*lists.get(name, []), item] for name, item in wanted.items()}}
    if _parsed(grown).value != {**seed, **before.value, holder: after}:
        raise MisfitError("the result does not read as it should")
    return (text[:start] + grown).encode()


def _with_item(text: str, holder: str, name: str, item: Any) -> str:
    node = _parsed(text)
    held = _held(node, holder)
    if held is None:
        return _insert(text, node, holder, {name: [item]})
    found = next((member.value for member in held.members or () if member.key == name), None)
    return _insert(text, held, name, [item]) if found is None else _insert(text, found, None, item)


def read_object(content: bytes) -> dict[str, Any]:
    """Return what a file of JSON holds, empty for an empty one; raises MisfitError where that is no object."""
    text = _decoded(content).removeprefix(_BOM)
    node = _parsed(text) if text.strip() else None
    if node is not None and node.members is None:
        raise MisfitError("it holds no object")
    return dict(node.value) if node is not None else {}


def read_table(content: bytes) -> dict[str, Any]:
    """Return what a file of TOML holds; raises MisfitError where it is none."""
    return _toml(_decoded(content))


def grow_toml(content: bytes, holder: str, name: str, server: Mapping[str, Any]) -> bytes | None:
    """Return a file of TOML with one more table `[holder.name]` at its end; raises MisfitError where it takes none."""
    text = _decoded(content)
    before = _toml(text)
    held = before.get(holder, {})
    if not isinstance(held, dict):
        raise MisfitError(f"`{holder}` is no table")
    if name in held:
        return None
    newline = _newline(text)
    lines = [f"[{holder}.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in server.items())]
    gap = "" if not text.strip(_BOM + " \t\r\n") else newline if text.endswith("\n") else 2 * newline
    grown = text + gap + newline.join([*lines, ""])
    try:
        after = _toml(grown)
    except MisfitError as error:
        raise MisfitError(f"`{holder}` is written in a form that no table can be added to") from error
    if after != before | {holder: {**held, name: dict(server)}}:
        raise MisfitError("the result does not read as it should")
    return grown.encode()


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise MisfitError("it is not in UTF-8") from error


def _parsed(text: str) -> Node:
    try:
        return parse(text)
    except NotJsoncError as error:
        raise MisfitError(f"it cannot be read as JSON: {error}") from error


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except (ValueError, RecursionError) as error:
        raise MisfitError(f"it cannot be read as TOML: {error}") from error


def _held(node: Node, holder: str) -> Node | None:
    """Return the object that holds the servers, None where there is none yet; raises MisfitError."""
    if node.members is None:
        raise MisfitError("it holds no object")
    found = next((member.value for member in node.members if member.key == holder), None)
    if found is not None and found.members is None:
        raise MisfitError(f"`{holder}` is no object")
    return found


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _insert(text: str, node: Node, key: str | None, value: Any) -> str:
    """Return the text with one more member, or item, at the end, behind what is said about the one before."""
    label = "" if key is None else f"{json.dumps(key)}: "
    inside = text[node.start + 1 : node.end - 1]
    if node.spans and "\n" not in inside:
        member = f"{label}{json.dumps(value, ensure_ascii=False)}"
        return _placed(text, node, f" {member}")
    is_closed_apart = _stands_first(text, node.end - 1)
    outer = _indent_at(text, node.end - 1 if is_closed_apart else node.start)
    unit = _unit(text)
    indent = _indent_at(text, node.spans[-1][0]) if node.spans else outer + unit
    dumped = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"\n{indent}")
    member = f"\n{indent}{label}{dumped}"
    # A brace that stands behind the last member in its line gets a line of its own.
    closing = "" if is_closed_apart else f"\n{outer}"
    return _placed(text, node, member.replace("\n", _newline(text)), closing.replace("\n", _newline(text)))


def _placed(text: str, node: Node, member: str, closing: str = "") -> str:
    """Return the text with a member or an item in its place, and a comma before it where one is missing.

    Where the last one has a comma behind it, so has the new one.
    """
    if not node.spans:
        at = end_of_gap_before(text, node.start + 1, node.end - 1)
        return f"{text[:at]}{member}{closing}{text[at:]}"
    last = node.spans[-1][1]
    after = node.comma + 1 if node.comma is not None else last
    at = end_of_gap_before(text, after, node.end - 1)
    comma, trailing = ("", ",") if node.comma is not None else (",", "")
    return f"{text[:last]}{comma}{text[last:at]}{member}{trailing}{closing}{text[at:]}"


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _indent_at(text: str, at: int) -> str:
    """Return the white space that the line of a place begins with."""
    found = re.compile(r"[ \t]*").match(text, _line_start(text, at))
    return found[0] if found is not None else ""


def _stands_first(text: str, at: int) -> bool:
    return not text[_line_start(text, at) : at].strip()


def _unit(text: str) -> str:
    """Return what one level is indented by: the first indentation that there is, else two blanks."""
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    return found[1] if found is not None else "  "
