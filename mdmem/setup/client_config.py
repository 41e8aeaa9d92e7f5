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
from mdmem.store.state.files import write_new, write_whole

_STRING = r'"(?:[^"\\\x00-\x1f]|\\.)*"'
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|{_COMMENT.pattern}", re.DOTALL)
# A comma after the last item, before which there is one.
_STRING_OR_TRAILING = re.compile(rf"{_STRING}|(?<![\[{{,:\s])(?P<gap>\s*),(?=\s*[\]}}])")
_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\]:,]|[^\s{{}}\[\]:,\"]+")
_VISIBLE = re.compile(r"\S")
_INDENT = re.compile(r"[ \t]*")
_BOM = "\ufeff"


class MisfitError(ValueError):
    """The piece cannot be inserted. The message says why."""


class _Container(Struct):
    """The range of an object or an array in a text, that of its last item, and the place of a comma after it."""

    path: tuple[str, ...]
    start: int
    end: int = -1
    item: int | None = None
    last: tuple[int, int] | None = None
    comma: int | None = None


def _parsed(text: str) -> tuple[Any, str]:
    """Return the value of a text, and the text with blanks for comments; raises MisfitError."""
    plain = _STRING_OR_COMMENT.sub(lambda one: one[0] if one[0][0] == '"' else _VISIBLE.sub(" ", one[0]), text)
    try:
        strict = _STRING_OR_TRAILING.sub(lambda one: one[0] if one["gap"] is None else f"{one['gap']} ", plain)
        return json.loads(strict, object_pairs_hook=_object, parse_constant=_no_value), plain
    except json.JSONDecodeError as error:
        raise MisfitError(f"it cannot be read as JSON: line {error.lineno}: {error.msg.lower()}") from error
    except RecursionError as error:
        raise MisfitError("it cannot be read as JSON: it is nested too deep") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise MisfitError(f"it cannot be read as JSON: `{key}` occurs twice")
        found[key] = value
    return found


def _no_value(name: str) -> Any:
    raise MisfitError(f"it cannot be read as JSON: `{name}` is not a value")


def _containers(plain: str) -> dict[tuple[str, ...], _Container]:
    """Return the objects and arrays of a valid text without comments, by the keys that lead there."""
    found: dict[tuple[str, ...], _Container] = {}
    outer: list[_Container] = []
    key = ""
    for token in _TOKEN.finditer(plain):
        text, start, end = token[0], token.start(), token.end()
        current = outer[-1] if outer else None
        if text == ":":
            continue
        if text == "," and current is not None:
            current.comma, current.item = start, None
            continue
        if text in ("}", "]"):
            closed = outer.pop()
            closed.end = end
            found[closed.path] = closed
            current = outer[-1] if outer else None
        elif current is not None and current.item is None:
            current.item, current.comma = start, None
            key = json.loads(text) if plain[current.start] == "{" else ""
        if text in ("{", "["):
            outer.append(_Container((*current.path, key) if current is not None else (), start))
        elif current is not None and current.item is not None:
            current.last = (current.item, end)
    return found


def _insert(text: str, path: tuple[str, ...], key: str | None, value: Any) -> str:
    """Return a text with one more member or item at the end of an object or array, after the comments there."""
    one = _containers(_parsed(text)[1])[path]
    label = "" if key is None else f"{json.dumps(key)}: "
    brace = one.end - 1
    if one.last is not None and "\n" not in text[one.start + 1 : brace]:
        member, closing = f" {label}{json.dumps(value, ensure_ascii=False)}", ""
    else:
        is_first_in_line = not text[text.rfind("\n", 0, brace) + 1 : brace].strip()
        outer = _indent_at(text, brace if is_first_in_line else one.start)
        first_indent = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
        unit = first_indent[1] if first_indent is not None else "  "
        indent = _indent_at(text, one.last[0]) if one.last is not None else outer + unit
        dumped = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"\n{indent}")
        member = f"\n{indent}{label}{dumped}".replace("\n", _newline(text))
        # A brace after the last member gets a line of its own.
        closing = "" if is_first_in_line else f"{_newline(text)}{outer}"
    if one.last is None:
        at = _end_of_comments(text, one.start + 1, brace)
        return f"{text[:at]}{member}{closing}{text[at:]}"
    end = one.last[1]
    at = _end_of_comments(text, one.comma + 1 if one.comma is not None else end, brace)
    # If the last member has a comma after it, so has the new one.
    comma, trailing = ("", ",") if one.comma is not None else (",", "")
    return f"{text[:end]}{comma}{text[end:at]}{member}{trailing}{closing}{text[at:]}"


def _end_of_comments(text: str, start: int, end: int) -> int:
    return max((found.end() for found in _COMMENT.finditer(text, start, end)), default=start)


def _indent_at(text: str, at: int) -> str:
    """Return the indentation of the line of a place."""
    found = _INDENT.match(text, text.rfind("\n", 0, at) + 1)
    return found[0] if found is not None else ""


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def grow_json(content: bytes, holder: str, name: str, server: Mapping[str, Any]) -> bytes | None:
    """Return a JSON file with one more server in the object `holder`; None if it has a server of that name.

    Raises MisfitError if the file is not an object, or has something else there.
    """
    before = read_object(content)
    held = _held(before, holder)
    if name in held:
        return None
    bom, text = _split_bom(content)
    wanted = {**before, holder: {**held, name: server}}
    if not text.strip():
        text += f"{json.dumps(wanted, indent=2, ensure_ascii=False)}\n"
    elif holder in before:
        text = _insert(text, (holder,), name, server)
    else:
        text = _insert(text, (), holder, {name: server})
    return _proved(bom, text, wanted)


def grow_lists(content: bytes, holder: str, wanted: Mapping[str, Any], *, seed: Mapping[str, Any]) -> bytes:
    """Return a JSON file with one more item in each list of the object `holder`, by the name of the list.

    `seed` has the keys that the file needs, too. Raises MisfitError if the file has something else there.
    """
    before = read_object(content)
    lists = _held(before, holder)
    for name in wanted:
        if not isinstance(lists.get(name, []), list):
            raise MisfitError(f"`{holder}.{name}` is no list")
    grown = {**lists, **{name: [*lists.get(name, []), item] for name, item in wanted.items()}}
    after = {**seed, **before, holder: grown}
    bom, text = _split_bom(content)
    if not text.strip():
        return _proved(bom, f"{text}{json.dumps(after, indent=2, ensure_ascii=False)}\n", after)
    for key, value in seed.items():
        if key not in before:
            text = _insert(text, (), key, value)
    has_holder = holder in before
    for name, item in wanted.items():
        if not has_holder:
            text, has_holder = _insert(text, (), holder, {name: [item]}), True
        elif name in lists:
            text = _insert(text, (holder, name), None, item)
        else:
            text = _insert(text, (holder,), name, [item])
    return _proved(bom, text, after)


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
    value = _parsed(text)[0] if text.strip() else {}
    if not isinstance(value, dict):
        raise MisfitError("it contains no object")
    return value


def read_table(content: bytes) -> dict[str, Any]:
    """Return the content of a TOML file; raises MisfitError."""
    return _parsed_toml(_split_bom(content)[1])


def _split_bom(content: bytes) -> tuple[str, str]:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise MisfitError("it is not in UTF-8") from error
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _parsed_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MisfitError(f"it cannot be read as TOML: {error}") from error


def _held(value: Mapping[str, Any], holder: str) -> dict[str, Any]:
    """Return the object under a key, empty without the key; raises MisfitError."""
    held = value.get(holder, {})
    if not isinstance(held, dict):
        raise MisfitError(f"`{holder}` is no object")
    return held


def _proved(bom: str, text: str, wanted: Mapping[str, Any]) -> bytes:
    if _parsed(text)[0] != wanted:
        raise MisfitError("the result does not read as it should")
    return (bom + text).encode()


def content_to_grow(path: Path, base: Path) -> bytes | None:
    """Return the content of a file that may be changed, None if there is not a file.

    Raises MisfitError for what is not a file of the project, or is not writable.
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
            raise MisfitError("it is not a file")
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
