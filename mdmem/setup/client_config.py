"""Add a piece to a client's configuration: only by insertions, and proved by reading the result.

JSON may have comments and trailing commas, as editors write it.
"""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.store.state import write_new, write_whole

# White space and comments between two tokens.
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[^\s,:\[\]{}\"/]+")
_INDENT = re.compile(r"[ \t]*")
# Deeper than any configuration, and far from Python's own limit.
_DEEPEST = 100
_BOM = "\ufeff"


class NotJsoncError(ValueError):
    """The text is not JSON, not even with comments and trailing commas."""


class MisfitError(ValueError):
    """The piece cannot be inserted. The message says why."""


class Node(Struct, frozen=True):
    """A value with the range of its characters.

    An object has `members`, an array and an object the range of the `last` item or member and the place of a comma
    after it.
    """

    value: Any
    start: int
    end: int
    members: Mapping[str, Node] | None = None
    last: tuple[int, int] | None = None
    comma: int | None = None


def parse(text: str) -> Node:
    """Return the value of a text; raises NotJsoncError, also for a key that occurs twice in an object."""
    node = _value(text, _skip(text, 0), 0)
    if _skip(text, node.end) != len(text):
        raise _wrong(text, node.end, "there is text after the end of the value")
    return node


def _skip(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found is not None else at


def _wrong(text: str, at: int, why: str) -> NotJsoncError:
    return NotJsoncError(f"line {text.count(chr(10), 0, at) + 1}: {why}")


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _wrong(text, at, "it is nested too deep")
    first = text[at : at + 1]
    return _container(text, at, depth) if first in ("{", "[") else _scalar(text, at)


def _scalar(text: str, at: int) -> Node:
    found = (_STRING if text.startswith('"', at) else _WORD).match(text, at)
    try:
        value = json.loads(found[0]) if found is not None else None
    except ValueError:
        found = None
    if found is None:
        raise _wrong(text, at, "no value can be read")
    return Node(value, at, found.end())


def _container(text: str, start: int, depth: int) -> Node:
    """Return an object or an array."""
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    members: dict[str, Node] = {}
    items: list[Any] = []
    last, comma = None, None
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        if last is not None and comma is None:
            raise _wrong(text, at, "a comma is missing")
        begin = at
        if is_object:
            if not text.startswith('"', at):
                raise _wrong(text, at, "a key in double quotes is missing")
            key = _scalar(text, at)
            colon = _skip(text, key.end)
            if text[colon : colon + 1] != ":":
                raise _wrong(text, colon, "a colon is missing")
            if key.value in members:
                raise _wrong(text, at, f"`{key.value}` occurs twice")
            item = members[key.value] = _value(text, _skip(text, colon + 1), depth + 1)
        else:
            item = _value(text, at, depth + 1)
            items.append(item.value)
        last = (begin, item.end)
        at, comma = _skip(text, item.end), None
        if text[at : at + 1] == ",":
            at, comma = _skip(text, at + 1), at
    if is_object:
        return Node({name: one.value for name, one in members.items()}, start, at + 1, members, last, comma)
    return Node(items, start, at + 1, None, last, comma)


def grow_json(content: bytes, holder: str, name: str, server: Mapping[str, Any]) -> bytes | None:
    """Return a JSON file with one more server in the object `holder`; None if it has a server of that name.

    Raises MisfitError if the file is no object, or has something else there.
    """
    bom, text = _split_bom(content)
    if not text.strip():
        return f"{bom}{text}{json.dumps({holder: {name: server}}, indent=2, ensure_ascii=False)}\n".encode()
    node = _parsed(text)
    held = _object_in(node, holder)
    if held is None:
        grown, wanted = _insert(text, node, holder, {name: server}), {**node.value, holder: {name: server}}
    elif name in held.value:
        return None
    else:
        grown = _insert(text, held, name, server)
        wanted = {**node.value, holder: {**held.value, name: server}}
    return _proved(bom, grown, wanted)


def grow_lists(content: bytes, holder: str, wanted: Mapping[str, Any], *, seed: Mapping[str, Any]) -> bytes:
    """Return a JSON file with one more item in each list of the object `holder`, by the name of the list.

    `seed` has the keys that the file needs, too. Raises MisfitError if the file has something else there.
    """
    bom, text = _split_bom(content)
    if not text.strip():
        made = {**seed, holder: {name: [item] for name, item in wanted.items()}}
        return f"{bom}{json.dumps(made, indent=2, ensure_ascii=False)}\n".encode()
    before = _parsed(text)
    held = _object_in(before, holder)
    lists = held.value if held is not None else {}
    for name in wanted:
        if not isinstance(lists.get(name, []), list):
            raise MisfitError(f"`{holder}.{name}` is no list")
    for key, value in seed.items():
        if key not in before.value:
            text = _insert(text, _parsed(text), key, value)
    for name, item in wanted.items():
        node = _parsed(text)
        held = _object_in(node, holder)
        if held is None or held.members is None:
            text = _insert(text, node, holder, {name: [item]})
        elif name in held.members:
            text = _insert(text, held.members[name], None, item)
        else:
            text = _insert(text, held, name, [item])
    after = {**lists, **{name: [*lists.get(name, []), item] for name, item in wanted.items()}}
    return _proved(bom, text, {**seed, **before.value, holder: after})


def grow_toml(content: bytes, holder: str, name: str, server: Mapping[str, Any]) -> bytes | None:
    """Return a TOML file with one more table `[holder.name]` at its end; None if it has that table.

    Raises MisfitError if no table can be added.
    """
    bom, text = _split_bom(content)
    before = _parsed_toml(text)
    held = before.get(holder, {})
    if not isinstance(held, dict):
        raise MisfitError(f"`{holder}` is no table")
    if name in held:
        return None
    newline = _newline(text)
    lines = [f"[{holder}.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in server.items())]
    gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
    grown = text + gap + newline.join([*lines, ""])
    try:
        after = _parsed_toml(grown)
    except MisfitError as error:
        raise MisfitError(f"no table can be added to `{holder}` in its form") from error
    if after != before | {holder: {**held, name: dict(server)}}:
        raise MisfitError("the result does not read as it should")
    return (bom + grown).encode()


def read_object(content: bytes) -> dict[str, Any]:
    """Return the object of a JSON file, empty for an empty file; raises MisfitError."""
    _, text = _split_bom(content)
    node = _parsed(text) if text.strip() else None
    if node is not None and node.members is None:
        raise MisfitError("it contains no object")
    return dict(node.value) if node is not None else {}


def read_table(content: bytes) -> dict[str, Any]:
    """Return the content of a TOML file; raises MisfitError."""
    return _parsed_toml(_split_bom(content)[1])


def _split_bom(content: bytes) -> tuple[str, str]:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise MisfitError("it is not in UTF-8") from error
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _parsed(text: str) -> Node:
    try:
        return parse(text)
    except NotJsoncError as error:
        raise MisfitError(f"it cannot be read as JSON: {error}") from error


def _parsed_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MisfitError(f"it cannot be read as TOML: {error}") from error


def _object_in(node: Node, holder: str) -> Node | None:
    """Return the object under a key, None without the key; raises MisfitError."""
    if node.members is None:
        raise MisfitError("it contains no object")
    found = node.members.get(holder)
    if found is not None and found.members is None:
        raise MisfitError(f"`{holder}` is no object")
    return found


def _proved(bom: str, grown: str, wanted: Mapping[str, Any]) -> bytes:
    if _parsed(grown).value != wanted:
        raise MisfitError("the result does not read as it should")
    return (bom + grown).encode()


def _insert(text: str, node: Node, key: str | None, value: Any) -> str:
    """Return a text with one more member or item at the end of an object or array, after the comments there."""
    label = "" if key is None else f"{json.dumps(key)}: "
    if node.last is not None and "\n" not in text[node.start + 1 : node.end - 1]:
        member, closing = f" {label}{json.dumps(value, ensure_ascii=False)}", ""
    else:
        brace = node.end - 1
        is_first_in_line = not text[text.rfind("\n", 0, brace) + 1 : brace].strip()
        outer = _indent_at(text, brace if is_first_in_line else node.start)
        first_indent = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
        unit = first_indent[1] if first_indent is not None else "  "
        indent = _indent_at(text, node.last[0]) if node.last is not None else outer + unit
        dumped = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"\n{indent}")
        member = f"\n{indent}{label}{dumped}".replace("\n", _newline(text))
        # A brace after the last member gets a line of its own.
        closing = "" if is_first_in_line else f"{_newline(text)}{outer}"
    if node.last is None:
        at = _end_of_comments(text, node.start + 1, node.end - 1)
        return f"{text[:at]}{member}{closing}{text[at:]}"
    end = node.last[1]
    at = _end_of_comments(text, node.comma + 1 if node.comma is not None else end, node.end - 1)
    # If the last member has a comma after it, so has the new one.
    comma, trailing = ("", ",") if node.comma is not None else (",", "")
    return f"{text[:end]}{comma}{text[end:at]}{member}{trailing}{closing}{text[at:]}"


def _end_of_comments(text: str, start: int, end: int) -> int:
    return max((found.end() for found in _COMMENT.finditer(text, start, end)), default=start)


def _indent_at(text: str, at: int) -> str:
    """Return the indentation of the line of a place."""
    found = _INDENT.match(text, text.rfind("\n", 0, at) + 1)
    return found[0] if found is not None else ""


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def content_to_grow(path: Path, base: Path) -> bytes | None:
    """Return the content of a file that may be changed, None if there is no file.

    Raises MisfitError for what is no file of the project, or is not writable.
    """
    target = path.resolve()
    if not target.is_relative_to(base.resolve()):
        linked = next(one for one in (path, *path.parents) if one.is_symlink())
        raise MisfitError(f"it is a link that leads out of the project, to {linked.readlink()}")
    if ".git" in map(str.casefold, target.relative_to(base.resolve()).parts):
        raise MisfitError("it is a link that leads into git's own folder")
    try:
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode):
            raise MisfitError("it is no file")
        if not mode & stat.S_IWUSR:
            raise MisfitError("it is read-only")
        return read_regular(target)
    except FileNotFoundError:
        if path.is_symlink():
            raise MisfitError("it is a link to a missing file") from None
        return None
    except OSError as error:
        raise MisfitError(f"it cannot be read: {_why(error)}") from error


def put(path: Path, content: bytes, *, is_new: bool) -> None:
    """Write a file of the project, or the target of a link; raises EnvironmentFaultError."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_new:
            write_new(target, content)
        else:
            write_whole(target, content)
    except OSError as error:
        raise EnvironmentFaultError(f"{path} cannot be written: {_why(error)}") from error


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
