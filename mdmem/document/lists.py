"""Lists in block and flow style: items put in, taken out and replaced, in the style of the list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.document.fields import is_scalar, is_sequence
from mdmem.document.layout import KeyChange, Layout, content_end, is_typed
from mdmem.document.scalars import block_scalar, is_bare, restyled, scalar

if TYPE_CHECKING:
    import yaml

_LINE_REST = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n")
_COMMA = re.compile(r"(?:[ \t\r\n]|#[^\n]*\n)*,")


class _Cell(Struct):
    """One item: what stands before it, its source, what stands before its comma and, to the line's end, behind it."""

    lead: str
    source: str
    gap: str = ""
    trail: str = ""


class FlowList(Struct):
    """The source of a flow list; `head` and `tail` are what stands behind and before its brackets."""

    head: str
    cells: list[_Cell]
    tail: str
    has_last_comma: bool

    def source(self) -> str:
        """Return the list as it is written."""
        parts = ["[", self.head]
        for place, cell in enumerate(self.cells, 1):
            comma = "," if place < len(self.cells) or self.has_last_comma else ""
            parts += [cell.lead, cell.source, cell.gap, comma, cell.trail]
        return "".join((*parts, self.tail, "]"))

    def remove(self, place: int) -> None:
        """Take an item out; of comments, only one that ends its line alone goes with it."""
        starts_line = self._starts_line(place)
        cell = self.cells.pop(place)
        if not starts_line and cell.trail:
            self._trail(place, cell.trail)
        elif starts_line and cell.trail:
            self._lead(place, cell.lead[: cell.lead.rfind("\n") + 1])
        elif place < len(self.cells):
            self.cells[place].lead = cell.lead
        elif starts_line:
            self._close_up(cell.lead[: cell.lead.rfind("\n") + 1])
        self.has_last_comma = self.has_last_comma and bool(self.cells)

    def insert(self, place: int, source: str, line_break: str) -> None:
        """Put an item in, on a line of its own where the others stand so."""
        if not self.cells:
            new = self._only(source, line_break)
        elif place == len(self.cells):
            new = self._last(source, line_break)
        elif self._starts_line(place):
            new = _Cell(_indent(self.cells[place].lead), source, trail=line_break)
        else:
            new = _Cell(self.cells[place].lead, source)
            if not place:
                self.cells[0].lead = " "
        self.cells.insert(place, new)

    def _starts_line(self, place: int) -> bool:
        before = self.cells[place - 1].trail if place else self.head
        return before.endswith("\n")

    def _trail(self, place: int, trail: str) -> None:
        if place:
            self.cells[place - 1].trail = trail
        else:
            self.head = trail

    def _lead(self, place: int, comments: str) -> None:
        if place < len(self.cells):
            self.cells[place].lead = comments + self.cells[place].lead
        else:
            self.tail = comments + self.tail

    def _close_up(self, comments: str) -> None:
        """Let the bracket close the line before, as it closed that of the last item, unless a comment ends it."""
        if comments or not self.cells or self.cells[-1].trail.strip():
            self.tail = comments + self.tail
        else:
            self.cells[-1].trail = ""

    def _only(self, source: str, line_break: str) -> _Cell:
        if self.head:
            return _Cell("  ", source, trail=line_break)
        self.tail = self.tail if self.tail.strip() else ""
        return _Cell("", source)

    def _last(self, source: str, line_break: str) -> _Cell:
        last, starts_line = self.cells[-1], self._starts_line(len(self.cells) - 1)
        if not last.trail and not starts_line:
            return _Cell(last.lead if len(self.cells) > 1 else " ", source)
        if last.trail and (starts_line or last.trail.strip()):
            return _Cell(_indent(last.lead) if starts_line else "  ", source, trail=line_break)
        trail, last.trail = last.trail, ""
        return _Cell(" ", source, trail=trail)


def flow_list(front: str, node: yaml.SequenceNode) -> FlowList:
    """Return the parts of a flow list."""
    start, end = node.start_mark.index + 1, node.end_mark.index - 1
    head = _line_rest(front, start, end)
    at, cells, comma = start + len(head), [], None
    for item in node.value:
        first, behind = item.start_mark.index, item.end_mark.index
        comma = _COMMA.match(front, behind, end)
        gap = front[behind : comma.end() - 1] if comma else ""
        trail = _line_rest(front, comma.end() if comma else behind, end)
        cells.append(_Cell(front[at:first], front[first:behind], gap, trail))
        at = (comma.end() if comma else behind) + len(trail)
    return FlowList(head, cells, front[at:end], has_last_comma=comma is not None)


def narrowed(old: str, new: str) -> tuple[int, int, str]:
    """Return the part of a text that differs from another: its start and end, and what takes its place."""
    limit = min(len(old), len(new))
    start = next((at for at in range(limit) if old[at] != new[at]), limit)
    same = next((at for at in range(limit - start) if old[-1 - at] != new[-1 - at]), limit - start)
    return start, len(old) - same, new[start : len(new) - same]


def joined(sources: Sequence[str]) -> str:
    """Return a new flow list of items that are written already."""
    return f"[{', '.join(sources)}]"


def _line_rest(front: str, start: int, end: int) -> str:
    found = _LINE_REST.match(front, start, end)
    return found.group() if found else ""


def _indent(lead: str) -> str:
    return lead[lead.rfind("\n") + 1 :]


_QUOTES = ("'", '"')
_HEADER = re.compile(r"[|>][-+0-9]*")


class Slot(Struct, frozen=True):
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


def change_items(layout: Layout, name: str, slots: Sequence[Slot]) -> tuple[KeyChange, ...]:
    """Return the changes that make the items of a field those wanted; none left take the key's lines with them."""
    value = layout.fields.nodes(name)[1]
    if not slots:
        return (KeyChange(*layout.lines(name), ""),)
    if not is_sequence(value):
        return _change_single(layout, name, slots)
    _refuse_nested(layout, name, slots)
    if value.flow_style:
        return _change_flow(layout, value, slots)
    return tuple(_change_block(layout, value, slots))


def change_scalar(layout: Layout, node: yaml.ScalarNode, *, name: str, text: str) -> KeyChange:
    """Return the change that puts a text in place of one scalar, in its style where that can hold it."""
    start, end = node.start_mark.index, content_end(layout.front, node)
    if start == end:
        return fill(layout, end, fresh(name, text))
    if node.style in ("|", ">"):
        block = _block(layout, node, text)
        return KeyChange(start, end, block) if block else _in_line(layout, node, restyled(text, '"'))
    is_bare_here = is_typed(name) or (not node.style and is_bare(node.value))
    return KeyChange(start, end, restyled(text, node.style, is_typed=is_bare_here))


def fresh(name: str, text: str) -> str:
    """Return a value as it is written where none stood: dates and numbers bare in the fields that hold them."""
    return text if is_typed(name) and is_bare(text) else scalar(text)


def fill(layout: Layout, at: int, source: str) -> KeyChange:
    """Return the change that writes a value where there is none, behind a colon or a dash."""
    end = layout.line_end(at)
    rest = layout.front[at:end]
    if rest and not rest.strip():
        return KeyChange(end, end, source)
    return KeyChange(at, at, f" {source}")


def _between(passed: list[int], texts: Sequence[str]) -> Iterator[Slot]:
    for order, text in enumerate(texts):
        yield Slot(passed[order] if order < len(passed) else None, text)


def _refuse_nested(layout: Layout, name: str, slots: Sequence[Slot]) -> None:
    replaced = [layout.fields[name][slot.old] for slot in slots if slot.old is not None and slot.text is not None]
    if not all(isinstance(item, str | None) for item in replaced):
        raise layout.refusal(f"has a nested value as an item of `{name}`", "change the item by hand")


def _change_single(layout: Layout, name: str, slots: Sequence[Slot]) -> tuple[KeyChange, ...]:
    """Change a plain value that stands for a list of one, or an empty one: several items make it a flow list."""
    node = layout.fields.nodes(name)[1]
    if not is_scalar(node):
        raise layout.refusal(f"has a mapping as its `{name}`", "change it by hand")
    if len(slots) == 1 and layout.fields[name] is not None:
        text = slots[0].text
        return () if text is None else (change_scalar(layout, node, name=name, text=text),)
    source = joined([_source(slot, (node,), in_flow=True) for slot in slots])
    if node.start_mark.index == node.end_mark.index:
        return (fill(layout, node.end_mark.index, source),)
    return (_in_line(layout, node, source),)


def _in_line(layout: Layout, node: yaml.ScalarNode, source: str) -> KeyChange:
    """Put a source of one line in place of a scalar; the comment of a block's header stays in its line."""
    return KeyChange(node.start_mark.index, content_end(layout.front, node), source + _tail(layout, node))


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
    texts = [node.value if is_scalar(node) else None for node in nodes]
    is_known = slot.old is not None or slot.text in texts
    place = slot.old if slot.old is not None else texts.index(slot.text) if is_known else -1
    model = nodes[place] if nodes else None
    text = (texts[place] if slot.text is None else slot.text) or ""
    style = getattr(model, "style", None)
    if not is_known and style not in _QUOTES:
        return scalar(text)
    is_bare_here = not style and is_bare(texts[place] or "")
    return restyled(text, style if style in _QUOTES else None, in_flow=in_flow, is_typed=is_bare_here)


def _change_flow(layout: Layout, node: yaml.SequenceNode, slots: Sequence[Slot]) -> tuple[KeyChange, ...]:
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
    return (KeyChange(node.start_mark.index + start, node.start_mark.index + end, text),) if start < end or text else ()


def _change_block(layout: Layout, node: yaml.SequenceNode, slots: Sequence[Slot]) -> Iterator[KeyChange]:
    dashes = [_dash(layout, item, node.start_mark.column) for item in node.value]
    kept = {slot.old for slot in slots}
    for place, item in enumerate(node.value):
        if place not in kept:
            yield KeyChange(layout.line_start(dashes[place]), _behind(layout, item, dashes[place]), "")
    at = layout.line_start(dashes[0])
    for slot in slots:
        if slot.old is None:
            yield KeyChange(at, at, _new_line(layout, slot, node, dashes[0]))
            continue
        item = node.value[slot.old]
        at = _behind(layout, item, dashes[slot.old])
        if slot.text is not None:
            yield _replaced(layout, item, slot.text)


def _replaced(layout: Layout, item: yaml.Node, text: str) -> KeyChange:
    if is_scalar(item):
        return change_scalar(layout, item, name="", text=text)
    return KeyChange(item.start_mark.index, content_end(layout.front, item), scalar(text))


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
