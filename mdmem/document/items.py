"""Lists: items put in, taken out and replaced, in the style of the list and of the items that stay."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from mdmem.document.flow import flow_list, joined, narrowed
from mdmem.document.layout import Change, Layout, content_end, is_typed
from mdmem.document.writing import block_scalar, is_bare, restyled, scalar

_QUOTES = ("'", '"')
_HEADER = re.compile(r"[|>][-+0-9]*")


@dataclass(frozen=True, slots=True)
class Slot:
    """One item of the list that is wanted: an old one as it was, an old one with a new text, or a new one."""

    old: int | None
    text: str | None = None


def slots_for(old: Sequence[Any], wanted: Sequence[str]) -> tuple[Slot, ...]:
    """Return how one list becomes another: equal items stay, those between them are replaced in their order."""
    slots: list[Slot] = []
    passed: list[int] = []
    at = 0
    for place, item in enumerate(old):
        if item not in wanted[at:]:
            passed.append(place)
            continue
        found = wanted.index(item, at)
        slots += (*_between(passed, wanted[at:found]), Slot(place))
        passed, at = [], found + 1
    return (*slots, *_between(passed, wanted[at:]))


def change_items(layout: Layout, name: str, slots: Sequence[Slot]) -> tuple[Change, ...]:
    """Return the changes that make the items of a field those wanted; none left take the key's lines with them."""
    value = layout.fields.nodes(name)[1]
    if not slots:
        return (Change(*layout.lines(name), ""),)
    if not isinstance(value, yaml.SequenceNode):
        return _change_single(layout, name, slots)
    _refuse_nested(layout, name, slots)
    if value.flow_style:
        return _change_flow(layout, value, slots)
    return tuple(_change_block(layout, value, slots))


def change_scalar(layout: Layout, node: yaml.ScalarNode, *, name: str, text: str) -> Change:
    """Return the change that puts a text in place of one scalar, in its style where that can hold it."""
    start, end = node.start_mark.index, content_end(layout.front, node)
    if start == end:
        return fill(layout, end, fresh(name, text))
    if node.style in ("|", ">"):
        block = _block(layout, node, text)
        return Change(start, end, block) if block else _in_line(layout, node, restyled(text, '"'))
    is_bare_here = is_typed(name) or (not node.style and is_bare(node.value))
    return Change(start, end, restyled(text, node.style, is_typed=is_bare_here))


def fresh(name: str, text: str) -> str:
    """Return a value as it is written where none stood: dates and numbers bare in the fields that hold them."""
    return text if is_typed(name) and is_bare(text) else scalar(text)


def fill(layout: Layout, at: int, source: str) -> Change:
    """Return the change that writes a value where there is none, behind a colon or a dash."""
    end = layout.line_end(at)
    rest = layout.front[at:end]
    if rest and not rest.strip():
        return Change(end, end, source)
    return Change(at, at, f" {source}")


def _between(passed: list[int], texts: Sequence[str]) -> Iterator[Slot]:
    for order, text in enumerate(texts):
        yield Slot(passed[order] if order < len(passed) else None, text)


def _refuse_nested(layout: Layout, name: str, slots: Sequence[Slot]) -> None:
    replaced = [layout.fields[name][slot.old] for slot in slots if slot.old is not None and slot.text is not None]
    if not all(isinstance(item, str | None) for item in replaced):
        raise layout.refusal(f"has a nested value as an item of `{name}`", "change the item by hand")


def _change_single(layout: Layout, name: str, slots: Sequence[Slot]) -> tuple[Change, ...]:
    """Change a plain value that stands for a list of one, or an empty one: several items make it a flow list."""
    node = layout.fields.nodes(name)[1]
    if not isinstance(node, yaml.ScalarNode):
        raise layout.refusal(f"has a mapping as its `{name}`", "change it by hand")
    if len(slots) == 1 and layout.fields[name] is not None:
        text = slots[0].text
        return () if text is None else (change_scalar(layout, node, name=name, text=text),)
    source = joined([_source(slot, (node,), in_flow=True) for slot in slots])
    if node.start_mark.index == node.end_mark.index:
        return (fill(layout, node.end_mark.index, source),)
    return (_in_line(layout, node, source),)


def _in_line(layout: Layout, node: yaml.ScalarNode, source: str) -> Change:
    """Put a source of one line in place of a scalar; the comment of a block's header stays in its line."""
    return Change(node.start_mark.index, content_end(layout.front, node), source + _tail(layout, node))


def _tail(layout: Layout, node: yaml.ScalarNode) -> str:
    """Return what follows the signs of a block scalar's header on their line."""
    start = node.start_mark.index
    found = _HEADER.match(layout.front, start) if node.style in ("|", ">") else None
    return layout.front[found.end() : layout.line_end(start)] if found else ""


def _block(layout: Layout, node: yaml.ScalarNode, text: str) -> str | None:
    start = node.start_mark.index
    end, first = content_end(layout.front, node), layout.next_line(start)
    lines = layout.front[first:end].split("\n") if first < end else []
    indents = [line[: len(line) - len(line.lstrip(" "))] for line in lines if line.strip()]
    own = layout.front[layout.line_start(start) : start]
    indent = min(indents, key=len) if indents else " " * (len(own) - len(own.lstrip(" -")) + 2)
    line_break = "\r\n" if layout.front.endswith("\r\n", 0, first) else "\n"
    return block_scalar(text, node.style or "|", tail=_tail(layout, node), indent=indent, newline=line_break)


def _source(slot: Slot, nodes: Sequence[yaml.Node], *, in_flow: bool) -> str:
    """Return an item as it is written: a known text keeps its quotes, a new one takes those of the last."""
    texts = [node.value if isinstance(node, yaml.ScalarNode) else None for node in nodes]
    is_known = slot.old is not None or slot.text in texts
    place = slot.old if slot.old is not None else texts.index(slot.text) if is_known else -1
    model = nodes[place] if nodes else None
    text = (texts[place] if slot.text is None else slot.text) or ""
    style = getattr(model, "style", None)
    if not is_known and style not in _QUOTES:
        return scalar(text)
    is_bare_here = not style and is_bare(texts[place] or "")
    return restyled(text, style if style in _QUOTES else None, in_flow=in_flow, is_typed=is_bare_here)


def _change_flow(layout: Layout, node: yaml.SequenceNode, slots: Sequence[Slot]) -> tuple[Change, ...]:
    flow = flow_list(layout.front, node)
    old, line_break = flow.source(), layout.line_break(layout.next_line(node.start_mark.index))
    kept = {slot.old for slot in slots}
    for place in reversed(range(len(flow.cells))):
        if place not in kept:
            flow.remove(place)
    for place, slot in enumerate(slots):
        if slot.old is None:
            flow.insert(place, _source(slot, node.value, in_flow=True), line_break)
        elif slot.text is not None:
            flow.cells[place].source = _source(slot, node.value, in_flow=True)
    start, end, text = narrowed(old, flow.source())
    return (Change(node.start_mark.index + start, node.start_mark.index + end, text),) if start < end or text else ()


def _change_block(layout: Layout, node: yaml.SequenceNode, slots: Sequence[Slot]) -> Iterator[Change]:
    dashes = [_dash(layout, item, node.start_mark.column) for item in node.value]
    kept = {slot.old for slot in slots}
    for place, item in enumerate(node.value):
        if place not in kept:
            yield Change(layout.line_start(dashes[place]), _behind(layout, item, dashes[place]), "")
    at = layout.line_start(dashes[0])
    for slot in slots:
        if slot.old is None:
            yield Change(at, at, _new_line(layout, slot, node, dashes[0]))
            continue
        item = node.value[slot.old]
        at = _behind(layout, item, dashes[slot.old])
        if slot.text is not None:
            yield _replaced(layout, item, slot.text)


def _replaced(layout: Layout, item: yaml.Node, text: str) -> Change:
    if isinstance(item, yaml.ScalarNode):
        return change_scalar(layout, item, name="", text=text)
    return Change(item.start_mark.index, content_end(layout.front, item), scalar(text))


def _dash(layout: Layout, item: yaml.Node, column: int) -> int:
    """Return where the dash of an item stands: on its line, or above it where the item starts on a later one."""
    start = layout.line_start(item.start_mark.index)
    while layout.front[start + column : start + column + 1] != "-" or start + column >= item.start_mark.index:
        start = layout.line_start(start - 1)
    return start + column


def _behind(layout: Layout, item: yaml.Node, dash: int) -> int:
    return layout.next_line(max(content_end(layout.front, item), dash))


def _new_line(layout: Layout, slot: Slot, node: yaml.SequenceNode, dash: int) -> str:
    first = node.value[0].start_mark.index
    blanks = layout.front[dash + 1 : first]
    gap = blanks if blanks and not blanks.strip(" \t") else " "
    indent = layout.front[layout.line_start(dash) : dash]
    return f"{indent}-{gap}{_source(slot, node.value, in_flow=False)}{layout.line_break(dash)}"
