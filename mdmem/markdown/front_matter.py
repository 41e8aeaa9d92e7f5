"""Find the front matter of a file, and represent its fields with their places; PyYAML is not imported here."""

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
# Blanks that no editor shows: of zero width, no-break, and a second byte order mark.
_UNSEEN = " \t\u00a0\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"


class Trouble(Struct, frozen=True):
    """A fault inside the front matter; line and column count from 1 within it, and `cause` is for its fix."""

    code: str
    message: str
    help: str
    line: int
    column: int
    width: int = 0
    cause: str = ""


class FrontMatterError(ValueError):
    """A front matter whose values are not certain; `troubles` are its faults."""

    def __init__(self, troubles: tuple[Trouble, ...]) -> None:
        """Keep the faults; the first is the message."""
        super().__init__(troubles[0].message)
        self.troubles = troubles


class FenceError(ValueError):
    """The fence is missing, not closed, or no exact `---`; the error has the parts of a finding."""

    def __init__(self, code: str, message: str, help_: str, line: int = 1) -> None:
        """Keep the parts of the finding."""
        super().__init__(message)
        self.code, self.help, self.line = code, help_, line


class Fields(dict[str, Any]):
    """Keys to text, list of text, nested values, or None for an empty value, with the place of each.

    `troubles` are faults that leave every value readable.
    """

    def __init__(self, values: Mapping[str, Any], nodes: Mapping[str, Nodes], troubles: Sequence[Trouble] = ()) -> None:
        """Take the values, the nodes of each key and its value, and the faults."""
        super().__init__(values)
        self._nodes, self.troubles = nodes, tuple(troubles)

    def nodes(self, name: str) -> Nodes:
        """Return the nodes of a key and of its value; their marks count characters of the front matter."""
        return self._nodes[name]

    def place(self, name: str, item: int | None = None, *, of_key: bool = False) -> tuple[int, int, int]:
        """Return line, column and width of a key, its value, or one item; (1, 1, 0) for a key that is absent."""
        if name not in self:
            return (1, 1, 0)
        key, value = self._nodes[name]
        node: Any = key if of_key or is_empty(value) else value
        if item is not None and node.id == "sequence" and item < len(node.value):
            node = node.value[item]
        return span_of(node)


def is_empty(node: Any) -> bool:
    """Return whether a node is an empty value or a word for one."""
    return is_scalar(node) and not node.style and node.value in _NULLS


def is_scalar(node: Any) -> TypeGuard[yaml.ScalarNode]:
    """Return whether a node is a text."""
    return getattr(node, "id", None) == "scalar"


def is_sequence(node: Any) -> TypeGuard[yaml.SequenceNode]:
    """Return whether a node is a list."""
    return getattr(node, "id", None) == "sequence"


def span_of(node: yaml.Node) -> tuple[int, int, int]:
    """Return line, column and width of a node; the width of a node that does not end in its line is 0."""
    start, end = node.start_mark, node.end_mark
    width = end.column - start.column if end.line == start.line else 0
    return start.line + 1, start.column + 1, max(width, 0)


def has_front_matter(text: str) -> bool:
    """Return whether a text begins with an exact fence."""
    return FENCE_LINE.match(text) is not None


def refuse_bad_fences(text: str) -> None:
    """Raise FenceError unless a text begins with front matter between two exact fences."""
    start = FENCE_LINE.match(text)
    if start is None:
        raise _no_start(text)
    end = FENCE.search(text, start.end())
    # A variant before the exact fence closes the front matter; the exact one is then a rule in the body.
    variant = _VARIANT.search(text, start.end(), end.start() if end else len(text))
    if variant is not None:
        line = text.count("\n", 0, variant.start()) + 1
        message = f"the closing fence is `{variant[0].rstrip(chr(13))}`, not `---`"
        raise FenceError("fence-variant", message, "write exactly `---`", line)
    if end is None:
        help_ = "write `---` on a line of its own after the last key"
        raise FenceError("fence-unterminated", "the front matter is not closed", help_)


def body_of(content: bytes) -> str:
    """Return the body of an entry's file, or the whole text of a file that is not an entry any more."""
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
