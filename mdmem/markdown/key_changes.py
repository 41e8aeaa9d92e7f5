"""Changes of one value or list in a front matter, in the style in which it is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.markdown.fields import is_scalar, is_sequence
from mdmem.markdown.layout import KeyChange, Layout, content_end, is_typed
from mdmem.markdown.scalars import block_scalar, is_bare, restyled, scalar

if TYPE_CHECKING:
    import yaml

_QUOTES = ("'", '"')
_HEADER = re.compile(r"[|>][-+\d]*([^\r\n]*)(\r?\n)")
_LINE_REST = re.compile(r"[ \t]*(#[^\n]*)?\r?\n")
_COMMA = re.compile(r"(?:[ \t\r\n]|#[^\n]*\n)*,")


class Slot(NamedTuple):
    """One item of a list as it is wanted: the old item of that place, or a text, or a text in place of the old one."""

    old: int | None
    text: str | None = None


def slots_for(old: Sequence[Any], wanted: Sequence[str]) -> list[Slot]:
    """Return how one list becomes another: equal items stay, those between them are replaced in their order."""
    slots = []
    for tag, start, end, first, behind in SequenceMatcher(None, old, wanted, autojunk=False).get_opcodes():
        for place, text in enumerate(wanted[first:behind], start):
            slots.append(Slot(place if place < end else None, None if tag == "equal" else text))
    return slots


def change_items(layout: Layout, name: str, slots: Sequence[Slot]) -> list[KeyChange]:
    """Return the changes that make the items of a field those wanted; none left take the key's lines with them."""
    node = layout.fields.nodes(name)[1]
    if not slots:
        return [KeyChange(*layout.lines(name), "")]
    if not is_sequence(node):
        return _changed_single(layout, name, slots)
    replaced = [_replaced(layout, name, slot) for slot in slots if slot.old is not None and slot.text is not None]
    kept = {slot.old for slot in slots if slot.old is not None}
    after = layout.patched(replaced)
    refuse_lost_comments(layout, after, name)
    if len(kept) == len(slots) == len(node.value):
        return replaced
    for place in reversed(range(len(node.value))):
        if place not in kept:
            after = after.patched(_remove_item(after, name, place))
    for place, slot in enumerate(slots):
        if slot.old is None:
            source = _item_source(node.value, slot.text or "", in_flow=node.flow_style)
            after = after.patched(insert_item(after, name, place, source))
    gone = [item for place, item in enumerate(layout.fields[name]) if place not in kept]
    if any(slot.old is None and slot.text in gone for slot in slots):
        refuse_lost_comments(layout, after, name)
    return difference(layout, after, name)


def _changed_single(layout: Layout, name: str, slots: Sequence[Slot]) -> list[KeyChange]:
    """Change a plain value that stands for a list of one, or an empty one: several items make it a flow list."""
    node = layout.fields.nodes(name)[1]
    if not is_scalar(node):
        raise layout.refusal(f"has a mapping as its `{name}`", "change it by hand")
    if len(slots) == 1 and layout.fields[name] is not None:
        text = slots[0].text
        return [] if text is None else [change_scalar(layout, node, name=name, text=text)]
    texts = [node.value if slot.text is None else slot.text for slot in slots]
    source = joined([_item_source((node,), text, in_flow=True) for text in texts])
    start, end = node.start_mark.index, content_end(layout.front, node)
    if start == end:
        return [_fill(layout, end, source)]
    header = _HEADER.match(layout.front, start) if node.style in ("|", ">") else None
    return [KeyChange(start, end, source + (header[1] if header else ""))]


def difference(before: Layout, after: Layout, name: str) -> list[KeyChange]:
    """Return the change of the characters of one key that make one layout the other."""
    start, end = before.lines(name)
    old, new = before.front[start:end], after.front[start : len(after.front) - len(before.front) + end]
    limit = min(len(old), len(new))
    above = next((at for at in range(limit) if old[at] != new[at]), limit)
    below = next((at for at in range(limit - above) if old[-1 - at] != new[-1 - at]), limit - above)
    return [KeyChange(start + above, end - below, new[above : len(new) - below])]


def refuse_lost_comments(before: Layout, after: Layout, name: str) -> None:
    """Raise UnpatchableError where a key has fewer comments than before."""
    if Counter(before.comments(name)) - Counter(after.comments(name)):
        raise before.refusal(f"has a comment in `{name}` that would be lost", "change it by hand")


def fresh(name: str, text: str) -> str:
    """Return a value as it is written where none stood: dates and numbers bare in the fields that have them."""
    return text if is_typed(name) and is_bare(text) else scalar(text)


def joined(sources: Sequence[str]) -> str:
    """Return a new flow list of items that are written already."""
    return f"[{', '.join(sources)}]"


def change_scalar(layout: Layout, node: yaml.ScalarNode, *, name: str, text: str, in_flow: bool = False) -> KeyChange:
    """Return the change that puts a text in place of one scalar, in its style where that allows it."""
    front, start, end = layout.front, node.start_mark.index, content_end(layout.front, node)
    if start == end:
        return _fill(layout, end, fresh(name, text))
    header = _HEADER.match(front, start) if node.style in ("|", ">") else None
    if header is None:
        is_bare_here = is_typed(name) or (not node.style and is_bare(node.value))
        return KeyChange(start, end, restyled(text, node.style, is_typed=is_bare_here, in_flow=in_flow))
    indents = re.findall(r"^( *)[^ \r\n]", front[header.end() : end], re.MULTILINE)
    own = front[layout.line_start(start) : start]
    indent = min(indents, key=len) if indents else " " * (len(own) - len(own.lstrip(" -")) + 2)
    block = block_scalar(text, node.style or "|", tail=header[1], indent=indent, newline=header[2])
    return KeyChange(start, end, block or restyled(text, '"') + header[1])


def _fill(layout: Layout, at: int, source: str) -> KeyChange:
    """Return the change that writes a value where there is none, behind a colon or a dash."""
    rest = layout.front[at : layout.next_line(at)].rstrip("\r\n")
    if rest and not rest.strip():
        return KeyChange(at + len(rest), at + len(rest), source)
    return KeyChange(at, at, f" {source}")


def _item_source(nodes: Sequence[yaml.Node], text: str, *, in_flow: bool) -> str:
    """Return an item as it is written: a known text keeps its quotes, a new one takes those of the last."""
    known = next((node for node in nodes if is_scalar(node) and node.value == text), None)
    model = known or (nodes[-1] if nodes else None)
    style = model.style if is_scalar(model) and model.style in _QUOTES else None
    if known is None and style is None:
        return scalar(text)
    return restyled(text, style, in_flow=in_flow, is_typed=known is not None and is_bare(text))


def _replaced(layout: Layout, name: str, slot: Slot) -> KeyChange:
    if not isinstance(layout.fields[name][slot.old], str | None):
        raise layout.refusal(f"has a nested value as an item of `{name}`", "change the item by hand")
    node: Any = layout.fields.nodes(name)[1]
    item, text = node.value[slot.old], slot.text or ""
    if is_scalar(item):
        return change_scalar(layout, item, name="", text=text, in_flow=node.flow_style)
    return KeyChange(item.start_mark.index, content_end(layout.front, item), scalar(text))


def _remove_item(layout: Layout, name: str, place: int) -> Iterator[KeyChange]:
    """Yield the changes that take one of several items out; of comments, only one on its own line goes with it."""
    node: Any = layout.fields.nodes(name)[1]
    if not node.flow_style:
        yield KeyChange(*_item_lines(layout, node, place), "")
        return
    front, (start, end), close = layout.front, _span(node.value[place]), node.end_mark.index - 1
    comma = _COMMA.match(front, end, close)
    if comma and "#" in comma[0]:
        raise layout.refusal(f"has a comment between an item of `{name}` and its comma", "remove the item by hand")
    behind = comma.end() if comma else end
    line, rest = layout.line_start(start), _LINE_REST.match(front, behind)
    starts_line = not front[line:start].strip()
    cut = start, behind + len(front[behind:close]) - len(front[behind:close].lstrip(" \t"))
    if starts_line and rest:
        cut = line, rest.end()
    elif comma and (rest or not front[behind:close].strip()):
        cut = len(front[:start].rstrip(" \t")), behind
    if not comma:
        # The last item: the comma before it goes, but not a comment between the two.
        before = _COMMA.match(front, _span(node.value[place - 1])[1])
        last_comma = before.end() - 1 if before else start
        if "#" not in front[last_comma:start] and not (starts_line and rest):
            yield KeyChange(last_comma, end, "")
            return
        yield KeyChange(last_comma, last_comma + 1, "")
        cut = (line, end) if not rest else cut
    yield KeyChange(*cut, "")


def insert_item(layout: Layout, name: str, place: int, source: str) -> Iterator[KeyChange]:
    """Yield the changes that put an item before the one of a place, or behind the last."""
    node: Any = layout.fields.nodes(name)[1]
    if not node.flow_style:
        yield _new_line(layout, node, place, source)
        return
    front, items, close = layout.front, node.value, node.end_mark.index - 1
    line_break = layout.line_break(layout.next_line(node.start_mark.index))
    start, end = _span(items[min(place, len(items) - 1)]) if items else (node.start_mark.index + 1, close)
    line = layout.line_start(start)
    indent = front[line:start]
    if not items:
        head = _LINE_REST.match(front, start, close)
        at = head.end() if head else start
        yield KeyChange(at, at, f"  {source}{line_break}") if head else KeyChange(start, close, source)
    elif place < len(items):
        yield KeyChange(start, start, f"{source},{line_break}{indent}" if not indent.strip() else f"{source}, ")
    else:
        comma = _COMMA.match(front, end, close)
        rest = _LINE_REST.match(front, comma.end() if comma else end, close)
        if rest and (not indent.strip() or rest[1]):
            if not comma:
                yield KeyChange(end, end, ",")
            indent = "  " if indent.strip() else indent
            yield KeyChange(rest.end(), rest.end(), f"{indent}{source}{',' if comma else ''}{line_break}")
        else:
            gap = front[_span(items[-2])[1] : start] if len(items) > 1 else ""
            yield KeyChange(end, end, (gap if gap and not gap.strip(", \t") else ", ") + source)


def _new_line(layout: Layout, node: yaml.SequenceNode, place: int, source: str) -> KeyChange:
    """Return the change that gives a block list one more line, in the form of its first."""
    first, _ = _item_lines(layout, node, 0)
    at = _item_lines(layout, node, place - 1)[1] if place else first
    lead = layout.front[first : _span(node.value[0])[0]]
    if "\n" in lead or not re.fullmatch(r" *-[ \t]+", lead):
        lead = f"{' ' * node.start_mark.column}- "
    return KeyChange(at, at, f"{lead}{source}{layout.line_break(first)}")


def _item_lines(layout: Layout, node: yaml.SequenceNode, place: int) -> tuple[int, int]:
    """Return the first character of the lines of an item, its dash included, and the one behind them."""
    item, column = node.value[place], node.start_mark.column
    start = layout.line_start(item.start_mark.index)
    while layout.front[start + column : start + column + 1] != "-" or start + column >= item.start_mark.index:
        start = layout.line_start(start - 1)
    return start, layout.next_line(max(content_end(layout.front, item), start + column))


def _span(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.index, node.end_mark.index
