"""What a front matter states, each value with its place; what is plain is read without YAML, as YAML would read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from mdmem.dataclass import dataclass

if TYPE_CHECKING:
    import re

    import yaml

    Nodes = tuple[yaml.ScalarNode, yaml.Node]

NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Fields(dict[str, Any]):
    """Keys to text, list of text, nested values, or None where a value is empty; knows the place of each."""

    def __init__(self, values: Mapping[str, Any], compose: Callable[[], Mapping[str, Nodes]]) -> None:
        """Take the values, and what tells the nodes of each key and its value once they are asked for."""
        super().__init__(values)
        self._compose = compose

    @cached_property
    def _nodes(self) -> Mapping[str, Nodes]:
        return self._compose()

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


# Of what YAML has, only this: one `key: value` a line, text plain or in quotes, lists of such text in one line or one
# item a line. A plain text holds nothing that could end it or be more than text; in quotes only they are escaped.
# No group of several is possessive: before 3.11.5, Python keeps what such a group took in a round that failed. What is
# given back here is followed by nothing that could go on, so that a line takes linear time all the same.
_QUOTED = r"""\"(?:[^"\\]++|\\["\\])*\"|'(?:[^']++|'')*'"""
_FIRST = r"""[^\s\-?:,\[\]{}#&*!|>'"%@`]"""
_TEXT = rf"{_QUOTED}|{_FIRST}(?:[^ :#]++|:(?! |\Z)|(?<! )#| ++(?!\Z))*"
_ITEM = rf"{_QUOTED}|{_FIRST}(?:[^ :#?,\[\]{{}}]++| ++(?![,\]]))*"
_LINE = re.compile(
    rf"(?P<key>[A-Za-z_][\w-]{{,60}}):(?: +(?:(?P<text>{_TEXT})|\[(?P<items>(?:(?:{_ITEM})(?:, *(?:{_ITEM}))*)?)\]))?"
    rf"|(?P<dash> *- +)(?P<item>{_TEXT})"
)
_ITEMS = re.compile(_ITEM)
_ESCAPED = re.compile(r"\\(.)")
_LIMIT = 4000


def plain_values(text: str) -> dict[str, Any] | None:
    """Return the keys and values of a front matter that is plain and without a fault; None where that is not certain.

    What it returns is what YAML reads, which takes twenty times as long and a third of a small question to import.
    """
    # A text that does not show may be a fault, or end a line.
    if len(text) > _LIMIT or not text.replace("\n", "").isprintable():
        return None
    values: dict[str, Any] = {}
    key, dash = "", ""
    for line in text.removesuffix("\n").split("\n"):
        found = _line(line)
        if found is None:
            return None
        kind, name, value = found
        if kind == "item":
            if not key or dash not in ("", name):
                return None
            dash = name
            values[key] = [*(values[key] or ()), value]
            continue
        if name in values:
            return None
        key, dash = (name, "") if kind == "key" else ("", "")
        values[name] = list(value) if kind == "items" else value
    return values


# The same few lines stand in many files.
@lru_cache(maxsize=1000)
def _line(written: str) -> tuple[str, str, Any] | None:
    """Return of which kind a line is, its key or its dash, and its value; None where it is not plain."""
    found = _LINE.fullmatch(written)
    if found is None:
        return None
    kind = found.lastgroup or ""
    value = tuple(_items(found["items"])) if kind == "items" else None if kind == "key" else _value(found[kind])
    return kind, found["dash"] or found["key"], value


def _value(text: str) -> str | None:
    return None if text in NULLS else _text(text)


def _text(written: str) -> str:
    """Return what a text says, be it in quotes or plain."""
    if written.startswith('"'):
        return _ESCAPED.sub(r"\1", written[1:-1]) if "\\" in written else written[1:-1]
    if written.startswith("'"):
        return written[1:-1].replace("''", "'")
    return written


def _items(text: str) -> list[str | None]:
    return [_value(item) for item in _ITEMS.findall(text)]


@dataclass(frozen=True, slots=True)
class PlainMark:
    """A place in a front matter, as YAML's marks have it."""

    line: int
    column: int
    index: int


@dataclass(frozen=True, slots=True)
class PlainNode:
    """A text or a list in one line, with what is asked of YAML's nodes."""

    id: str
    value: Any
    start_mark: PlainMark
    end_mark: PlainMark
    style: str = ""
    flow_style: bool | None = None


def plain_nodes(text: str) -> Mapping[str, Nodes] | None:
    """Return the nodes of a front matter that `plain_values` reads, as YAML composes them.

    None where a list stands in lines of its own: where it ends YAML tells.
    """
    lines: dict[str, tuple[PlainMark, re.Match[str]]] = {}
    start = 0
    for line, written in enumerate(text.removesuffix("\n").split("\n")):
        found = _LINE.fullmatch(written)
        if found is None or found["key"] is None:
            return None
        lines[found["key"]] = PlainMark(line, 0, start), found
        start += len(written) + 1
    return _PlainNodes(lines)


class _PlainNodes(Mapping[str, "Nodes"]):
    """The nodes of lines, made where they are asked for: mostly one is."""

    def __init__(self, lines: Mapping[str, tuple[PlainMark, re.Match[str]]]) -> None:
        self._lines = lines

    def __getitem__(self, name: str) -> Nodes:
        at, found = self._lines[name]
        written, kind = found.string, found.lastgroup
        value = _node(written, at, *(found.span("text") if kind == "text" else (found.end("key") + 1,) * 2))
        if kind == "items":
            first, last = found.span("items")
            items = [_node(written, at, *one.span()) for one in _ITEMS.finditer(written, first, last)]
            value = PlainNode("sequence", items, _moved(at, first - 1), _moved(at, last + 1), flow_style=True)
        # They have all that is asked of those of YAML.
        return cast("Nodes", (_node(written, at, *found.span("key")), value))

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def _node(line: str, at: PlainMark, start: int, end: int) -> PlainNode:
    written = line[start:end]
    style = written[0] if written[:1] in ("'", '"') else ""
    return PlainNode("scalar", _text(written), _moved(at, start), _moved(at, end), style)


def _moved(at: PlainMark, by: int) -> PlainMark:
    return PlainMark(at.line, at.column + by, at.index + by)
