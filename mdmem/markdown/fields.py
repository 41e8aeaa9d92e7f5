"""Split front matter from the body, and read and write its plain fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from msgspec import Struct

if TYPE_CHECKING:
    import yaml

    Nodes = tuple[yaml.ScalarNode, yaml.Node]

NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Trouble(Struct, frozen=True):
    """A fault inside the front matter; line and column count from 1 within it."""

    code: str
    message: str
    help: str
    line: int
    column: int
    width: int = 0


class FrontMatterError(ValueError):
    """A front matter whose values cannot be told for certain; `troubles` are its faults."""

    def __init__(self, troubles: tuple[Trouble, ...]) -> None:
        """Keep the faults; the first is the message."""
        super().__init__(troubles[0].message)
        self.troubles = troubles


class Fields(dict[str, Any]):
    """Keys to text, list of text, nested values, or None where a value is empty, with the place of each.

    `troubles` are faults that keep no value from being read.
    """

    def __init__(self, values: Mapping[str, Any], nodes: Mapping[str, Nodes], troubles: Sequence[Trouble] = ()) -> None:
        """Take the values, the nodes of each key and its value, and the faults."""
        super().__init__(values)
        self._nodes, self.troubles = nodes, tuple(troubles)

    def nodes(self, name: str) -> Nodes:
        """Return the nodes of a key and of its value: their marks count characters of the front matter."""
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
    """Say whether a node is a value that says nothing."""
    return is_scalar(node) and not node.style and node.value in NULLS


def is_scalar(node: Any) -> TypeGuard[yaml.ScalarNode]:
    """Say whether a node is a text."""
    return getattr(node, "id", None) == "scalar"


def is_collection(node: Any) -> TypeGuard[yaml.CollectionNode]:
    """Say whether a node holds others."""
    return getattr(node, "id", None) in ("sequence", "mapping")


def is_sequence(node: Any) -> TypeGuard[yaml.SequenceNode]:
    """Say whether a node is a list."""
    return getattr(node, "id", None) == "sequence"


def span_of(node: yaml.Node) -> tuple[int, int, int]:
    """Return line, column and width of a node, which is of width 0 where it does not end in its line."""
    start, end = node.start_mark, node.end_mark
    width = end.column - start.column if end.line == start.line else 0
    return start.line + 1, start.column + 1, max(width, 0)


FENCE = re.compile(r"^---\r?$", re.MULTILINE)
# A fence with the end of its line.
FENCE_LINE = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_FRONT = re.compile(r"---\r?(?:\n|\Z)")
_VARIANT = re.compile(r"^(?:---[ \t]+|----+[ \t]*|\+\+\+[ \t]*|\.\.\.[ \t]*|- - -|–––|—)\r?$", re.MULTILINE)
_LFS_POINTER = "version https://git-lfs.github.com/spec/"
# Blanks that no editor shows: of zero width, no-break, and a second byte order mark.
_UNSEEN = " \t\u00a0\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"


class FenceError(ValueError):
    """The fence is missing, unclosed, or no exact `---`; knows code, line and help."""

    def __init__(self, code: str, message: str, help_: str, line: int = 1) -> None:
        """Keep the parts of the finding."""
        super().__init__(message)
        self.code, self.help, self.line = code, help_, line


def has_front_matter(text: str) -> bool:
    """Say whether a text begins with an exact fence."""
    return _FRONT.match(text) is not None


def refuse_bad_fences(text: str) -> None:
    """Raise FenceError unless a text begins with front matter between two exact fences."""
    start = _FRONT.match(text)
    if start is None:
        raise _no_start(text)
    end = FENCE.search(text, start.end())
    if end is None:
        raise _no_end(text, start.end())
    _refuse_variant(text, start.end(), end.start())


def body_of(content: bytes) -> str:
    """Return the body of a file that is known to be an entry; the whole text where it is one no more."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        refuse_bad_fences(text)
    except FenceError:
        return text
    return FENCE_LINE.split(text, 2)[2]


def _no_start(text: str) -> FenceError:
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return FenceError("empty-file", "the file is empty", "delete it, or write an entry with `mdmem new`")
    line = lines[first].rstrip("\r")
    if line.startswith(_LFS_POINTER):
        help_ = "run `git lfs pull`, then keep the memory out of LFS with `git lfs untrack '*.md'`"
        return FenceError("git-lfs-pointer", "a Git LFS pointer stands in place of the text", help_, first + 1)
    if first > 0 and line == "---":
        return FenceError("fence-variant", "blank lines stand before the opening fence", "start the file with `---`", 1)
    if _VARIANT.match(line):
        return FenceError(
            "fence-variant", f"the opening fence is `{line}`, not `---`", "write exactly `---`", first + 1
        )
    if line.strip(_UNSEEN) == "---":
        message = "invisible characters stand beside the opening fence"
        return FenceError("fence-variant", message, "write exactly `---`", first + 1)
    return FenceError(
        "front-matter-missing",
        "the file has no front matter",
        "start it with `---`, `type:`, `status:` and `created_at:`",
    )


def _no_end(text: str, after: int) -> FenceError:
    variant = _VARIANT.search(text, after)
    if variant is None:
        return FenceError(
            "fence-unterminated",
            "the front matter is not closed",
            "write `---` on a line of its own after the last key",
        )
    return _bad_end(text, variant)


def _refuse_variant(text: str, start: int, end: int) -> None:
    """Refuse a front matter that an almost-fence closes before the exact one: that one is a rule in the body."""
    if text.find("\n---", start, end) < 0 and text.find("\n...", start, end) < 0:
        return
    variant = _VARIANT.search(text, start, end)
    if variant is not None:
        raise _bad_end(text, variant)


def _bad_end(text: str, variant: re.Match[str]) -> FenceError:
    found, line = variant.group().rstrip("\r"), text.count("\n", 0, variant.start()) + 1
    return FenceError("fence-variant", f"the closing fence is `{found}`, not `---`", "write exactly `---`", line)


_PLAIN = re.compile(r"[^\W_][^\n:#\[\]{},&*!|'\"%`]*[^\s:#\[\]{},&*!|'\"%`]|[^\W_]", re.UNICODE)
# YAML 1.1 readers other than ours give these words another type; quotes keep them text for everybody.
_TYPED = re.compile(
    r"(?i)(?:y|n|yes|no|on|off|true|false|null|~|[-+.]?[\d_.:e+-]+|0[box][\da-f_]+"
    r"|[-+]?\.(?:inf|nan)|\d{4}-\d\d?-\d\d?[t ]+\d\d?:.*)\Z"
)
# A front matter may not hold these as they are, only as escapes.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# A day, a moment or a number: where a field holds such values, they are written bare.
_BARE = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d[\d:.]*(?:[Zz]|[+-]\d\d:?\d\d)?)?|\d+(?:\.\d+)?")
# What a value without quotes cannot begin with, hold or end with.
_UNFIT = re.compile(r"""\A[-?:,\[\]{}#&*!|>'"%@`~=<\s]|:(?:\s|\Z)|\s#|\s\Z""")
_FLOW = re.compile(r"[,\[\]{}]")


def scalar(text: str) -> str:
    """Return a text as a YAML value that every reader takes for that text."""
    if _PLAIN.fullmatch(text) and not _TYPED.fullmatch(text) and not _CONTROL.search(text):
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """Return a text in double quotes, on one line."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(text, ensure_ascii=False))


def in_quotes(value: str) -> str:
    """Return what stands on a line in quotes that keep every character."""
    if '"' in value or "\\" in value:
        return "'" + value.replace("'", "''") + "'"
    return f'"{value}"'


def is_bare(text: str) -> bool:
    """Say whether a text looks like a day, a moment or a number."""
    return _BARE.fullmatch(text) is not None


def restyled(text: str, style: str | None, *, is_typed: bool = False, in_flow: bool = False) -> str:
    """Return a text on one line in the style of another value, or in quotes where that style cannot hold it.

    `style` is the node's: a quote, or None for a plain value; a typed field keeps its dates and numbers bare.
    """
    if style == '"':
        return quoted(text)
    if style == "'":
        return quoted(text) if _CONTROL.search(text) else "'" + text.replace("'", "''") + "'"
    if is_typed and is_bare(text):
        return text
    unfit = not text or _UNFIT.search(text) or _CONTROL.search(text) or _TYPED.fullmatch(text)
    if unfit or (in_flow and _FLOW.search(text)):
        return scalar(text)
    return text


def block_scalar(text: str, style: str, *, tail: str, indent: str, newline: str) -> str | None:
    """Return a text as a block scalar without its last line break; None where it cannot be one.

    `style` is `|` or `>`, `tail` what follows on the header's line. Only one line is folded; more become literal.
    """
    lines = text.split("\n")
    chomping = "" if lines[-1] == "" else "-"
    if not chomping:
        lines.pop()
    if not text.strip() or text[0].isspace() or lines[-1] == "" or any(_CONTROL.search(line) for line in lines):
        return None
    folds = style == ">" and len(lines) == 1 and not text.endswith((" ", " \n"))
    header = (">" if folds else "|") + chomping + tail
    return newline.join([header, *(indent + line if line else "" for line in lines)])


def compose_entry(fields: dict[str, str], body: str) -> str:
    """Return a whole entry: the fields in the order given, then the body with one final newline."""
    lines = [f"{key}: {value if key.endswith('_at') else scalar(value)}" for key, value in fields.items()]
    return "\n".join(["---", *lines, "---", "", body.strip("\n"), ""])
