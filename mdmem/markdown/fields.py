"""What a front matter states, each value with its place."""

from __future__ import annotations

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
