"""Add mdmem's part to a client's configuration file, by insertions only, and check it by parsing the result.

As editors write it, JSON may contain comments and trailing commas.
"""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, reason_of
from mdmem.store.state.files import write_new, write_whole

# A string or comment without an end reaches to the end of the line or text, so that it is read only once.
_STRING = r'"(?:[^"\\\x00-\x1f]|\\.)*"?'
_STRING_OR_COMMENT = re.compile(rf"(?P<kept>{_STRING})|//[^\r\n]*|/\*.*?\*/|(?P<open>/\*.*)", re.DOTALL)
# A trailing comma: a comma after the last item of a list or object that is not empty.
_STRING_OR_TRAILING = re.compile(rf"{_STRING}|(?<![\[{{,:\s])(?P<gap>\s*),(?=\s*[\]}}])")
_VISIBLE = re.compile(r"\S")
_BOM = "\ufeff"


class InsertError(ValueError):
    """mdmem cannot insert its part into a configuration file. The message says why."""


def _parse_json(text: str) -> tuple[Any, str]:
    """Return the value of a JSON text, and the text with comments replaced by blanks. Raises InsertError."""

    def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = Counter(key for key, _ in pairs)
        if duplicate := next((key for key, number in keys.items() if number > 1), None):
            raise InsertError(f"it cannot be read as JSON: the key `{duplicate}` occurs twice; delete one")
        return dict(pairs)

    def refuse(name: str) -> None:
        raise InsertError(f"it cannot be read as JSON: `{name}` is not a JSON value")

    plain = _STRING_OR_COMMENT.sub(lambda one: one["kept"] or one["open"] or _VISIBLE.sub(" ", one[0]), text)
    strict = _STRING_OR_TRAILING.sub(lambda one: one[0] if one["gap"] is None else f"{one['gap']} ", plain)
    try:
        return json.loads(strict, object_pairs_hook=without_duplicates, parse_constant=refuse), plain
    except json.JSONDecodeError as error:
        raise InsertError(f"it cannot be read as JSON: line {error.lineno}: {error.msg.lower()}") from error
    except RecursionError as error:
        raise InsertError("its JSON is nested too deep to be read") from error


def _insert(text: str, path: tuple[str, ...], key: str | None, value: Any) -> str:
    """Return a text with a new member or item at the start of the object or array that has this path of keys.

    The first place that looks like the path counts. `add_to_json` checks the result.
    """
    plain = _parse_json(text)[1]
    at = plain.index("{") + 1
    for name in path:
        opened = re.compile(rf"{re.escape(json.dumps(name))}\s*:\s*[\[{{]").search(plain, at)
        if opened is None:
            raise InsertError(f"mdmem cannot find the place of the key `{name}`")
        at = opened.end()
    line = text[text.rfind("\n", 0, at) + 1 : at]
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    unit = found[1] if found is not None else "  "
    label = "" if key is None else f"{json.dumps(key)}: "
    dumped = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"\n{outer}{unit}")
    after = plain[at:].lstrip()
    end = "" if "\n" in plain[at : len(plain) - len(after)] else f"\n{outer}"
    end = end if after[0] in "}]" else ","
    return text[:at] + f"\n{outer}{unit}{label}{dumped}{end}".replace("\n", _newline(text)) + text[at:]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def append_piece(text: str, piece: str) -> str:
    """Return a text with a piece at its end, below a blank line and with the line endings of the text."""
    newline = _newline(text)
    if text.strip():
        text += newline if text.endswith("\n") else 2 * newline
    return text + piece.replace("\n", newline)


def add_to_json(
    content: bytes,
    section: str,
    wanted: Mapping[str, Any],
    *,
    is_listed: bool = False,
    defaults: Mapping[str, Any] | None = None,
) -> bytes:
    """Return a JSON file with the members `wanted` added to the object `section`; raises InsertError if that fails.

    With `is_listed`, each value is added to the list under its key. `defaults` are further keys that the file needs.
    """
    bom, text = _split_bom(content)
    before = read_object(content)
    present = _section(before, section)
    members, defaults = dict(wanted), defaults or {}
    for name, item in wanted.items() if is_listed else ():
        if not isinstance(present.get(name, []), list):
            raise InsertError(f"`{section}.{name}` is not a list")
        members[name] = [item, *present.get(name, [])]
    text = text if text.strip() else f"{text}{{}}\n"
    if section not in before:
        text = _insert(text, (), section, members)
    for name in reversed([*wanted]) if section in before else ():
        if name in present:
            text = _insert(text, (section, name), None, wanted[name])
        else:
            text = _insert(text, (section,), name, members[name])
    for key, value in defaults.items():
        text = text if key in before else _insert(text, (), key, value)
    if _parse_json(text)[0] != {**defaults, **before, section: {**present, **members}}:
        raise InsertError("mdmem cannot add its lines without a change to other lines")
    return (bom + text).encode()


def add_to_toml(content: bytes, section: str, wanted: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return a TOML file with a new table `[section.name]` at its end for each item of `wanted`.

    Raises InsertError if they cannot be added.
    """
    bom, text = _split_bom(content)
    before = read_toml(content)
    present = _section(before, section)
    lines = []
    for name, table in wanted.items():
        lines += [f"[{section}.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items()), ""]
    extended = (bom + append_piece(text, "\n".join(lines))).encode()
    try:
        after = read_toml(extended)
    except InsertError as error:
        raise InsertError(f"`{section}` is an inline table; first rewrite it as a table `[{section}]`") from error
    if after != before | {section: {**present, **wanted}}:
        raise InsertError("mdmem cannot add its lines without a change to other lines")
    return extended


def read_object(content: bytes) -> dict[str, Any]:
    """Return the object in a JSON file, empty for an empty file. Raises InsertError if the JSON is not an object."""
    _, text = _split_bom(content)
    value = _parse_json(text)[0] if text.strip() else {}
    if not isinstance(value, dict):
        raise InsertError("it contains no object")
    return value


def read_toml(content: bytes) -> dict[str, Any]:
    """Return the tables of a TOML file. Raises InsertError if it cannot be parsed."""
    _, text = _split_bom(content)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InsertError(f"it cannot be read as TOML: {error}") from error


def decode_utf8(content: bytes) -> str:
    """Return the text of a file. Raises InsertError if it is not in UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InsertError("it is not in UTF-8") from error


def _split_bom(content: bytes) -> tuple[str, str]:
    text = decode_utf8(content)
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _section(value: Mapping[str, Any], section: str) -> dict[str, Any]:
    """Return the object under a key, or an empty one if the key is missing. Raises InsertError."""
    found = value.get(section, {})
    if not isinstance(found, dict):
        raise InsertError(f"`{section}` is not an object")
    return found


def read_to_extend(path: Path, base: Path) -> bytes | None:
    """Return the content of a file that mdmem may change, None if there is no file; raises InsertError for others."""
    target = path.resolve()
    if not target.is_relative_to(base.resolve()):
        linked = next(one for one in (path, *path.parents) if one.is_symlink())
        raise InsertError(f"it is a link that leads out of the project, to {linked.readlink()}")
    if ".git" in map(str.casefold, target.relative_to(base.resolve()).parts):
        raise InsertError("it is a link that leads into git's own folder")
    try:
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode):
            raise InsertError("it is not a file")
        if not mode & stat.S_IWUSR:
            raise InsertError("it is read-only")
        return read_regular(target)
    except FileNotFoundError:
        if path.is_symlink():
            raise InsertError("it is a link to a missing file") from None
        return None
    except OSError as error:
        raise InsertError(f"it cannot be read: {reason_of(error)}") from error


def write_project_file(path: Path, content: bytes, *, is_new: bool) -> None:
    """Write a file of the project, or the target of a link; raises EnvironmentFaultError if that fails."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_new:
            write_new(target, content)
        else:
            write_whole(target, content)
    except OSError as error:
        raise EnvironmentFaultError(f"{path} cannot be written: {reason_of(error)}") from error


def add_piece(base: Path, name: str, done: str, piece: str, extend: Callable[[bytes], bytes | str]) -> str:
    """Add `piece` to the file `name`, and return a sentence for the user: what was done, or why nothing was added.

    `extend` returns the new content of the file, or this sentence.
    """
    try:
        before = read_to_extend(base / name, base)
        extended = extend(before or b"")
        if isinstance(extended, str):
            return extended
        write_project_file(base / name, extended, is_new=before is None)
    except (InsertError, EnvironmentFaultError) as error:
        return f"{name} was not changed: {error}; add this to the file:\n{piece}"
    return f"wrote {name}" if before is None else done
