"""Find the front matter of a file, represent its fields with their places, and write text as YAML.

This module does not import PyYAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeGuard

from mdmem.model.finding import Finding, Place

if TYPE_CHECKING:
    import yaml

    Nodes = tuple[yaml.ScalarNode, yaml.Node]

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
FENCE = re.compile(r"^---\r?$", re.MULTILINE)
FENCE_LINE = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_VARIANT = re.compile(r"^(?:---[ \t]+|----+[ \t]*|\+\+\+[ \t]*|\.\.\.[ \t]*|- - -|–––|—)\r?$", re.MULTILINE)
_LFS_POINTER = "version https://git-lfs.github.com/spec/"
# Invisible blanks: carriage returns, zero-width spaces, no-break spaces, and a second byte order mark.
_UNSEEN = " \t\r\u00a0\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"


class FrontMatterError(ValueError):
    """The front matter has no exact fences or cannot be read with certainty. `findings` say why, without a path."""

    def __init__(self, *findings: Finding) -> None:
        """Store the findings, and use the first one as the message."""
        super().__init__(findings[0].message)
        self.findings = findings


class Fields(dict[str, Any]):
    """The parsed front matter: a mapping from key to text, list of text, nested values, or None for an empty value.

    `nodes` has the YAML nodes of each key and its value; positions in them count characters of the front matter.
    """

    def __init__(self, values: Mapping[str, Any], nodes: Mapping[str, Nodes], findings: Sequence[Finding] = ()) -> None:
        """Store the values, the nodes, and the faults."""
        super().__init__(values)
        self.nodes, self.findings = nodes, tuple(findings)

    def place(self, name: str, item: int | None = None, *, of_key: bool = False) -> Place:
        """Return the place of a value or item. An empty value is at its key, a missing key at the opening fence."""
        if name not in self:
            return Place("")
        key, value = self.nodes[name]
        node: Any = key if of_key or is_empty(value) else value
        if item is not None and node.id == "sequence" and item < len(node.value):
            node = node.value[item]
        return place_of(node)


def is_empty(node: Any) -> bool:
    """Return whether a YAML node is an empty value: nothing, or `~` or `null` without quotes."""
    return is_scalar(node) and not node.style and node.value in _NULLS


def is_scalar(node: Any) -> TypeGuard[yaml.ScalarNode]:
    """Return whether a YAML node is a single value (a scalar), which mdmem reads as text."""
    return getattr(node, "id", None) == "scalar"


def is_sequence(node: Any) -> TypeGuard[yaml.SequenceNode]:
    """Return whether a YAML node is a list."""
    return getattr(node, "id", None) == "sequence"


def as_list(value: Any) -> list[Any]:
    """Return the value of a list field as a list. A single value counts as a list of one, and None as an empty list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def place_of(node: yaml.Node) -> Place:
    """Return the place of a node in the file, without its path."""
    return Place("", *position_of(node))


def position_of(node: yaml.Node) -> tuple[int, int, int]:
    """Return the line, column and width of a node in the file. The width is 0 if the node ends on a later line."""
    start, end = node.start_mark, node.end_mark
    width = max(end.column - start.column, 0) if end.line == start.line else 0
    # Line 1 of the file is the opening fence.
    return start.line + 2, start.column + 1, width


def has_front_matter(text: str) -> bool:
    """Return whether a text begins with a line that is exactly `---`."""
    return FENCE_LINE.match(text) is not None


def refuse_bad_fences(text: str) -> None:
    """Raise FrontMatterError unless a text begins with a front matter between two lines that are exactly `---`."""
    start, exact, top = FENCE_LINE.match(text), "write exactly `---`", Place("")
    if start is None:
        number, line = next(((at, one) for at, one in enumerate(text.split("\n"), 1) if one.strip()), (0, ""))
        line, place = line.removesuffix("\r"), Place("", number)
        help_ = "start it with `---`, `type:`, `status:` and `created_at:`"
        found = Finding("front-matter-missing", "the file has no front matter", top, help_)
        if not number:
            found = Finding("empty-file", "the file is empty", top, "delete it, or write an entry with `mdmem new`")
        elif line.startswith(_LFS_POINTER):
            help_ = "run `git lfs pull`, then keep the memory out of LFS with `git lfs untrack '*.md'`"
            found = Finding("git-lfs-pointer", "the file is a Git LFS pointer", place, help_)
        elif line == "---":
            message, help_ = "blank lines come before the opening fence", "start the file with `---`"
            found = Finding("fence-variant", message, top, help_)
        elif _VARIANT.match(line):
            found = Finding("fence-variant", f"the opening fence is `{line}`, not `---`", place, exact)
        elif line.strip(_UNSEEN) == "---":
            found = Finding("fence-variant", "invisible characters are next to the opening fence", place, exact)
        raise FrontMatterError(found)
    end = FENCE.search(text, start.end())
    # A variant before the first `---` was meant to close the front matter; that `---` is then a rule in the body.
    variant = _VARIANT.search(text, start.end(), end.start() if end else len(text))
    if variant is not None:
        place = Place("", text.count("\n", 0, variant.start()) + 1)
        message = f"the closing fence is `{variant[0].rstrip(chr(13))}`, not `---`"
        raise FrontMatterError(Finding("fence-variant", message, place, exact))
    if end is None:
        help_ = "write `---` on a line of its own after the last key"
        raise FrontMatterError(Finding("fence-unterminated", "the front matter is not closed", top, help_))


def body_of(content: bytes) -> str:
    """Return the text below a file's front matter, or the whole text if the fences are not exact; never raises."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    with suppress(FrontMatterError):
        refuse_bad_fences(text)
        return FENCE_LINE.split(text, 2)[2]
    return text


_PLAIN_TEXT = re.compile(r"[^\W_][^\n:#\[\]{},&*!|'\"%`]*[^\s:#\[\]{},&*!|'\"%`]|[^\W_]", re.UNICODE)
# Other YAML 1.1 parsers read these words as booleans, numbers and so on. In quotes they are text for every parser.
_TYPED_TEXT = re.compile(
    r"(?i)(?:y|n|yes|no|on|off|true|false|null|~|[-+.]?[\d_.:e+-]+|0[box][\da-f_]+"
    r"|[-+]?\.(?:inf|nan)|\d{4}-\d\d?-\d\d?[t ]+\d\d?:.*)\Z"
)
# In a front matter these characters are allowed only as escapes.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Dates, date-times and numbers, which are written without quotes in fields of these kinds.
_BARE = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d[\d:.]*(?:[Zz]|[+-]\d\d:?\d\d)?)?|\d+(?:\.\d+)?")
# A value with one of these at its start, inside or at its end needs quotes.
_UNFIT = re.compile(r"""\A[-?:,\[\]{}#&*!|>'"%@`~=<\s]|:(?:\s|\Z)|\s#|\s\Z""")
_FLOW = re.compile(r"[,\[\]{}]")


def scalar(text: str) -> str:
    """Return a text as a YAML value, with quotes only if a YAML parser would otherwise misread the text."""
    if _PLAIN_TEXT.fullmatch(text) and not _TYPED_TEXT.fullmatch(text) and not _CONTROL.search(text):
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """Return a text as a YAML value in double quotes, on one line, with control characters escaped."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(text, ensure_ascii=False))


def in_quotes(value: str) -> str:
    """Return some YAML source in quotes, so that every character, including backslashes, is kept."""
    if '"' in value or "\\" in value:
        return "'" + value.replace("'", "''") + "'"
    return f'"{value}"'


def is_bare(text: str) -> bool:
    """Return whether a text looks like a date, a date-time or a number."""
    return _BARE.fullmatch(text) is not None


def restyled(text: str, style: str | None, *, is_typed: bool = False, in_flow: bool = False) -> str:
    """Return a text as YAML on one line, with the quotes of the old value (`style`) if they fit the text.

    With `is_typed`, dates and numbers get no quotes. With `in_flow`, the text is an item of a list in brackets.
    """
    if style == '"':
        return quoted(text)
    if style == "'":
        return quoted(text) if _CONTROL.search(text) else "'" + text.replace("'", "''") + "'"
    if is_typed and is_bare(text):
        return text
    unfit = not text or _UNFIT.search(text) or _CONTROL.search(text) or _TYPED_TEXT.fullmatch(text)
    return scalar(text) if unfit or (in_flow and _FLOW.search(text)) else text
