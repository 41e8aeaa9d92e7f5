"""A document cut into pieces that give the same bytes when they are put together again: one for each key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import yaml

from mdmem.document.layout import Layout, content_end, layout_of
from mdmem.document.parse import Document
from mdmem.document.split import split_text

_COMMENT = re.compile(r"(?:^|[ \t])#[ \t]*([^\r\n]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """One key as it is written: what stands above it, its own lines, what it means, and the comments in its lines."""

    name: str
    above: str
    lines: str
    value: Any
    comments: frozenset[str]
    items: tuple[str, ...] | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """Return everything that goes where the key goes."""
        return self.above + self.lines


@dataclass(frozen=True, slots=True)
class Parts:
    """A document in the order in which it is written; `tail` stands between the last key and the closing fence."""

    document: Document
    opening: str
    keys: Mapping[str, Part]
    tail: str
    closing: str
    body: str


def parts_of(document: Document) -> Parts:
    """Return the parts of a document; raises UnpatchableError where its keys do not stand on lines of their own."""
    layout = layout_of(document)
    front, body = split_text(document.text)
    keys, end = {}, 0
    for name in layout.fields:
        start, behind = layout.lines(name)
        keys[name] = _part(layout, name, front[end:start])
        end = behind
    closing = document.text[layout.offset + len(front) : len(document.text) - len(body)]
    return Parts(document, f"---{layout.opening}", keys, front[end:], closing, body)


def part_of(document: Document, name: str) -> Part | None:
    """Return one key of a document, with nothing above it."""
    layout = layout_of(document)
    return _part(layout, name, "") if name in layout.fields else None


def _part(layout: Layout, name: str, above: str) -> Part:
    start, end = layout.lines(name)
    comments = frozenset(_comments(layout, name, start, end))
    return Part(name, above, layout.front[start:end], layout.fields[name], comments, _items(layout, name, end))


def _items(layout: Layout, name: str, end: int) -> tuple[str, ...] | None:
    """Return the source of a block list: the key's own line, then the lines of each item, comments above included."""
    node = layout.fields.nodes(name)[1]
    if not isinstance(node, yaml.SequenceNode) or node.flow_style or None in layout.fields[name]:
        return None
    first = layout.next_line(layout.colon(name))
    ends = [layout.next_line(content_end(layout.front, item)) for item in node.value]
    places = [layout.line_start(layout.fields.nodes(name)[0].start_mark.index), first, *ends]
    is_sound = places == sorted(set(places)) and ends[-1] == end
    return tuple(layout.front[a:b] for a, b in pairwise(places)) if is_sound else None


def _comments(layout: Layout, name: str, start: int, end: int) -> Iterator[str]:
    """Yield the comments in the lines of a key: a `#` inside a value is none."""
    at = start
    for first, behind in sorted(_values(layout, name)):
        yield from _found(layout.front[at:first])
        at = max(at, behind)
    yield from _found(layout.front[at:end])


def _found(between: str) -> Iterator[str]:
    yield from (found[1].rstrip() for found in _COMMENT.finditer(between))


def _values(layout: Layout, name: str) -> Iterator[tuple[int, int]]:
    todo: list[yaml.Node] = [*layout.fields.nodes(name)]
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.CollectionNode):
            todo += [one for item in node.value for one in (item if isinstance(item, tuple) else (item,))]
            continue
        start, end = node.start_mark.index, content_end(layout.front, node)
        # A comment behind the signs of a block scalar stands in the scalar's own marks.
        is_block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
        yield (min(layout.next_line(start), end), end) if is_block else (start, end)
