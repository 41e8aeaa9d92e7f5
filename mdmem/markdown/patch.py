"""Change single keys of a front matter without touching any other byte.

Each patch is proved before it is returned: the patched bytes are parsed, the changed fields mean what was asked for,
the others and the body are as they were. Anything else raises UnpatchableError.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.markdown.fields import Fields, block_scalar, is_bare, is_scalar, is_sequence, restyled, scalar
from mdmem.markdown.layout import (
    KeyChange,
    Layout,
    apply_edits,
    content_end,
    is_typed,
    layout_of,
    rank_of,
    replace_span,
)
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.entry import Relation
from mdmem.model.fields import LISTS
from mdmem.model.finding import Edit

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


Value = str | Sequence[str] | None
_RELATIONS, _TO = "relations", "to"


def set_fields(document: Document, values: Mapping[str, Value]) -> tuple[Edit, ...]:
    """Return the edits that give fields their values: a text, a list, or None to remove the key.

    A field that has its value already is not touched; an empty list removes the key. A new key goes where the order of
    the schema's table puts it among the keys that are there. Edits are sorted by their place.
    """
    layout = layout_of(document)
    changes: list[KeyChange] = []
    for name, value in sorted(values.items(), key=lambda pair: rank_of(pair[0])):
        if name in layout.fields:
            changes += [] if _means(layout.fields, name, value) else _changed(layout, name, value)
        elif value or value == "":
            source = fresh(name, value) if isinstance(value, str) else joined([scalar(item) for item in value])
            at = layout.gap(name)
            changes.append(KeyChange(at, at, f"{layout.indent()}{scalar(name)}: {source}{layout.line_break(at)}"))
    return _proved(document, layout, changes, lambda after: verify(document, after, values))


def add_items(document: Document, name: str, items: Sequence[str]) -> tuple[Edit, ...]:
    """Return the edits that put items at the end of a list; one that is there already is not added again."""
    layout = layout_of(document)
    old = _items(layout.fields.get(name))
    new = [item for item in dict.fromkeys(items) if item not in old]
    if name not in layout.fields:
        return set_fields(document, {name: new})
    return _with_items(document, layout, name, [*map(Slot, range(len(old))), *(Slot(None, item) for item in new)])


def remove_item(document: Document, name: str, item: int) -> tuple[Edit, ...]:
    """Return the edits that take one item out of a list; the last one takes the key with it.

    Raises KeyError and IndexError for a field or item that is not there.
    """
    layout = layout_of(document)
    places = range(len(_items(layout.fields[name])))
    if item not in places:
        raise IndexError(f"`{name}` has no item {item}")
    return _with_items(document, layout, name, [Slot(place) for place in places if place != item])


def replace_item(document: Document, name: str, item: int, text: str) -> tuple[Edit, ...]:
    """Return the edits that give one item of a list another text; a wiki link with that text becomes plain text.

    Raises KeyError and IndexError for a field or item that is not there.
    """
    return replace_items(document, name, {item: text})


def replace_items(document: Document, name: str, texts: Mapping[int, str]) -> tuple[Edit, ...]:
    """Return the edits that give items of a list other texts, by their places, as `replace_item` does one."""
    layout = layout_of(document)
    items, node = _items(layout.fields[name]), layout.fields.nodes(name)[1]
    missing = [item for item in texts if not 0 <= item < len(items)]
    if missing:
        raise IndexError(f"`{name}` has no item {missing[0]}")
    slots = [Slot(place) for place in range(len(items))]
    for place, text in texts.items():
        if items[place] != text or not is_scalar(node.value[place] if is_sequence(node) else node):
            slots[place] = Slot(place, text)
    return _with_items(document, layout, name, slots)


def rename_key(document: Document, old: str, new: str) -> tuple[Edit, ...]:
    """Return the edit that gives a key another name; none where it is absent, or has that name."""
    layout = layout_of(document)
    if old == new or old not in layout.fields:
        return ()
    if new in layout.fields:
        raise layout.refusal(f"has both `{old}` and `{new}`", "keep one of the two")
    key = layout.fields.nodes(old)[0]
    change = KeyChange(key.start_mark.index, key.end_mark.index, restyled(new, key.style))
    meant = {new if name == old else name: value for name, value in layout.fields.items()}
    return _proved(document, layout, [change], lambda after: after.body == document.body and after.fields == meant)


def replace_relations(document: Document, targets: Mapping[int, str]) -> tuple[Edit, ...]:
    """Return the edits that make relations lead to other addresses, by their places.

    Raises KeyError and IndexError for a relation that is not there.
    """
    layout = layout_of(document)
    node, meant = layout.fields.nodes(_RELATIONS)[1], _items(layout.fields[_RELATIONS]).copy()
    changes = []
    for place, to in targets.items():
        mapping = node.value[place] if is_sequence(node) else node
        value = next((value for key, value in mapping.value if key.value == _TO), None)
        if not is_scalar(value):
            raise layout.refusal(f"has no `{_TO}` in an item of `{_RELATIONS}`", "write it by hand")
        changes.append(change_scalar(layout, value, name=_TO, text=to))
        meant[place] = {**meant[place], _TO: to}
    return _proved(document, layout, changes, lambda after: verify(document, after, {_RELATIONS: meant}))


def add_relations(document: Document, relations: Sequence[Relation]) -> tuple[Edit, ...]:
    """Return the edits that put relations behind those that are there, in the style of the last one."""
    layout = layout_of(document)
    old = _items(layout.fields.get(_RELATIONS))
    sources = [relation_item(one) for one in relations]
    node = layout.fields.nodes(_RELATIONS)[1] if _RELATIONS in layout.fields else None
    if is_sequence(node):
        after = layout
        for place, source in enumerate(sources, len(old)):
            after = after.patched(insert_item(after, _RELATIONS, place, source))
        changes = difference(layout, after, _RELATIONS)
    else:
        at = layout.gap(_RELATIONS) if node is None else layout.lines(_RELATIONS)[1]
        lines = [f"{_RELATIONS}:"] if node is None else []
        lines += [f"  - {source}" for source in sources]
        changes = [KeyChange(at, at, "".join(f"{layout.indent()}{line}{layout.line_break(at)}" for line in lines))]
    meant = [*old, *({"type": one.type, _TO: one.to} for one in relations)]
    return _proved(document, layout, changes, lambda after: verify(document, after, {_RELATIONS: meant}))


def relation_item(relation: Relation) -> str:
    """Return a relation as an item of a list."""
    return f"{{type: {scalar(relation.type)}, {_TO}: {scalar(relation.to)}}}"


def verify(before: Document, after: Document, values: Mapping[str, Any]) -> bool:
    """Say whether a document loads, means the values, and differs in nothing else from what it was."""
    if before.fields is None or after.fields is None or before.body != after.body:
        return False
    if {**before.fields, **values} != {**after.fields, **values}:
        return False
    return all(_means(after.fields, name, value) for name, value in values.items())


def _proved(
    document: Document, layout: Layout, changes: Sequence[KeyChange], is_meant: Callable[[Document], bool]
) -> tuple[Edit, ...]:
    """Return the edits of changes that lead to the meant document; raises UnpatchableError for any other."""
    at = layout.offset
    edits = [edit for start, end, text in changes for edit in replace_span(document, at + start, at + end, text)]
    if not edits:
        return ()
    edits.sort(key=lambda edit: (edit.start, edit.end))
    try:
        patched = apply_edits(document.data, edits)
    except ValueError:
        patched = b""
    if not is_meant(parse_document(document.path, patched)):
        raise layout.too_wide()
    return tuple(edits)


def _with_items(document: Document, layout: Layout, name: str, slots: Sequence[Slot]) -> tuple[Edit, ...]:
    old = _items(layout.fields.get(name))
    meant: list[Any] = [old[slot.old] if slot.old is not None and slot.text is None else slot.text for slot in slots]
    changes = change_items(layout, name, slots)
    return _proved(document, layout, changes, lambda after: verify(document, after, {name: meant}))


def _means(fields: Fields, name: str, value: Any) -> bool:
    """Say whether a field has a value; in a list field one text is a list of one, and a block scalar ends as it may."""
    current = fields.get(name)
    if value is None or name not in fields:
        return name not in fields and not value and value != ""
    if not isinstance(value, str):
        return _items(current) == list(value)
    if current == f"{value}\n":
        return getattr(fields.nodes(name)[1], "style", None) in ("|", ">")
    return current == value or (name in LISTS and current == [value])


def _items(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _changed(layout: Layout, name: str, value: Value) -> list[KeyChange]:
    """Return the changes that give a key another value, in the style of the old one."""
    node = layout.fields.nodes(name)[1]
    if not value and value != "":
        return change_items(layout, name, ())
    if isinstance(value, str) and is_scalar(node):
        return [change_scalar(layout, node, name=name, text=value)]
    current = _items(layout.fields[name])
    if any(not isinstance(item, str | None) for item in current):
        raise layout.refusal(f"has nested values in `{name}`", "change it by hand")
    if not isinstance(value, str) or name in LISTS:
        return change_items(layout, name, slots_for(current, [value] if isinstance(value, str) else list(value or ())))
    # One value in place of a whole list.
    if is_sequence(node) and node.flow_style:
        change = KeyChange(node.start_mark.index, node.end_mark.index, fresh(name, value))
    else:
        change = KeyChange(layout.colon(name), content_end(layout.front, node), f" {fresh(name, value)}")
    refuse_lost_comments(layout, layout.patched([change]), name)
    return [change]
