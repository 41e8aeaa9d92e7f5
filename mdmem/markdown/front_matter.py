"""Find the front matter of a file, and represent its fields with their places. This module does not import PyYAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from msgspec import Struct

if TYPE_CHECKING:
    import yaml

    Nodes = tuple[yaml.ScalarNode, yaml.Node]

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
FENCE = re.compile(r"^---\r?$", re.MULTILINE)
FENCE_LINE = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_VARIANT = re.compile(r"^(?:---[ \t]+|----+[ \t]*|\+\+\+[ \t]*|\.\.\.[ \t]*|- - -|–––|—)\r?$", re.MULTILINE)
_LFS_POINTER = "version https://git-lfs.github.com/spec/"
# Invisible blanks: zero-width spaces, no-break spaces, and a second byte order mark.
_UNSEEN = " \t\u00a0\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"


class Trouble(Struct, frozen=True):
    """A fault inside the front matter. Line and column count from 1, from the start of the front matter.

    `cause` tells the fix which kind of fault it is.
    """

    code: str
    message: str
    help: str
    line: int
    column: int
    width: int = 0
    cause: str = ""


class FrontMatterError(ValueError):
    """The values of a front matter are not certain. `troubles` are the faults that were found."""

    def __init__(self, troubles: tuple[Trouble, ...]) -> None:
        """Store the faults, and use the first fault as the message."""
        super().__init__(troubles[0].message)
        self.troubles = troubles


class FenceError(ValueError):
    """A fence is missing, not closed, or not exactly `---`. The attributes are the parts of a finding."""

    def __init__(self, code: str, message: str, help_: str, line: int = 1) -> None:
        """Store the parts of the finding."""
        super().__init__(message)
        self.code, self.help, self.line = code, help_, line


class Fields(dict[str, Any]):
    """The parsed front matter: a mapping from key to text, list of text, nested values, or None for an empty value.

    The object also knows the place of each key and value. `troubles` are faults that did not prevent parsing.
    """

    def __init__(self, values: Mapping[str, Any], nodes: Mapping[str, Nodes], troubles: Sequence[Trouble] = ()) -> None:
        """Store the values, the YAML nodes of each key and its value, and the faults."""
        super().__init__(values)
        self._nodes, self.troubles = nodes, tuple(troubles)

    def nodes(self, name: str) -> Nodes:
        """Return the YAML nodes of a key and its value. Their marks count characters of the front matter."""
        return self._nodes[name]

    def place(self, name: str, item: int | None = None, *, of_key: bool = False) -> tuple[int, int, int]:
        """Return line, column and width of a key, a value, or one item. Return (1, 1, 0) for a missing key."""
        if name not in self:
            return (1, 1, 0)
        key, value = self._nodes[name]
        node: Any = key if of_key or is_empty(value) else value
        if item is not None and node.id == "sequence" and item < len(node.value):
            node = node.value[item]
        return span_of(node)


def is_empty(node: Any) -> bool:
    """Return whether a node is empty or a word for an empty value, such as `null`."""
    return is_scalar(node) and not node.style and node.value in _NULLS


def is_scalar(node: Any) -> TypeGuard[yaml.ScalarNode]:
    """Return whether a YAML node is a text."""
    return getattr(node, "id", None) == "scalar"


def is_sequence(node: Any) -> TypeGuard[yaml.SequenceNode]:
    """Return whether a YAML node is a list."""
    return getattr(node, "id", None) == "sequence"


def span_of(node: yaml.Node) -> tuple[int, int, int]:
    """Return line, column and width of a node. The width is 0 if the node ends on a later line."""
    start, end = node.start_mark, node.end_mark
    width = end.column - start.column if end.line == start.line else 0
    return start.line + 1, start.column + 1, max(width, 0)


def has_front_matter(text: str) -> bool:
    """Return whether a text begins with a line that is exactly `---`."""
    return FENCE_LINE.match(text) is not None


def refuse_bad_fences(text: str) -> None:
    """Raise FenceError unless a text begins with a front matter between two lines that are exactly `---`."""
    start = FENCE_LINE.match(text)
    if start is None:
        raise _no_start(text)
    end = FENCE.search(text, start.end())
    # A variant of the fence before the first `---` was meant to close the front matter. The `---` is then a
    # horizontal rule in the body.
    variant = _VARIANT.search(text, start.end(), end.start() if end else len(text))
    if variant is not None:
        line = text.count("\n", 0, variant.start()) + 1
        message = f"the closing fence is `{variant[0].rstrip(chr(13))}`, not `---`"
        raise FenceError("fence-variant", message, "write exactly `---`", line)
    if end is None:
        help_ = "write `---` on a line of its own after the last key"
        raise FenceError("fence-unterminated", "the front matter is not closed", help_)


def body_of(content: bytes) -> str:
    """Return the body of an entry's file. If the file is no longer an entry, return its whole text."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        refuse_bad_fences(text)
    except FenceError:
        return text
    return FENCE_LINE.split(text, 2)[2]


def _no_start(text: str) -> FenceError:
    number, line = next(((at, one) for at, one in enumerate(text.split("\n"), 1) if one.strip()), (0, ""))
    line = line.rstrip("\r")
    exact = "write exactly `---`"
    if not number:
        return FenceError("empty-file", "the file is empty", "delete it, or write an entry with `mdmem new`")
    if line.startswith(_LFS_POINTER):
        help_ = "run `git lfs pull`, then keep the memory out of LFS with `git lfs untrack '*.md'`"
        return FenceError("git-lfs-pointer", "the file is a Git LFS pointer", help_, number)
    if line == "---":
        return FenceError("fence-variant", "blank lines come before the opening fence", "start the file with `---`")
    if _VARIANT.match(line):
        return FenceError("fence-variant", f"the opening fence is `{line}`, not `---`", exact, number)
    if line.strip(_UNSEEN) == "---":
        return FenceError("fence-variant", "invisible characters are next to the opening fence", exact, number)
    help_ = "start it with `---`, `type:`, `status:` and `created_at:`"
    return FenceError("front-matter-missing", "the file has no front matter", help_)
