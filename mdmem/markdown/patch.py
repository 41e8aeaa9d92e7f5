"""Change single keys of a front matter without touching any other byte.

Each patch is verified before it is returned. The patched bytes are parsed. The changed fields must have the requested
values, and the other fields and the body must be unchanged. Otherwise UnpatchableError is raised.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from mdmem.markdown.front_matter import Fields, as_list, is_bare, is_scalar, is_sequence, restyled, scalar
from mdmem.markdown.layout import Layout, apply_edits, content_end, is_typed, layout_of, rank_of, replace_span
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.entry import Relation
from mdmem.model.fields import LISTS
from mdmem.model.finding import Edit

if TYPE_CHECKING:
    import yaml

Value = str | Sequence[str] | None

_QUOTES = ("'", '"')
_BLOCK_HEADER = re.compile(r"[|>][-+\d]*([^\r\n]*)")
_LINE_REST = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n")
_COMMA = re.compile(r"[ \t]*,")
_LAST_BLANKS = re.compile(r"[ \t]+(?=\r?\n)")
_DASH = re.compile(r" *-[ \t]+")
_RELATIONS, _TO = "relations", "to"


class _Change(NamedTuple):
    """A range of characters in the front matter to replace. `keeps` is a key whose comments must all stay."""

    start: int
    end: int
    text: str
    keeps: str | None = None


def set_fields(document: Document, values: Mapping[str, Value]) -> tuple[Edit, ...]:
    """Return the edits that set fields to new values: a text, a list, or None (or an empty list) to remove the key.

    A field that has its value already is not touched. A new key is inserted by the order of the fields.
    """
    layout = layout_of(document)
    changes = []
    for name, value in sorted(values.items(), key=lambda pair: rank_of(pair[0])):
        if name in layout.fields:
            changes += [] if _has_value(layout.fields, name, value) else [_changed(layout, name, value)]
        elif value or value == "":
            source = new_source(name, value) if isinstance(value, str) else _flow([scalar(item) for item in value])
            at = layout.insert_offset(name)
            line = f"{layout.indent()}{scalar(name)}: {source}{layout.line_break(at)}"
            changes.append(_Change(at, at, line))
    return _verified_edits(document, layout, changes, lambda after: verify(document, after, values))


def add_items(document: Document, name: str, items: Sequence[str]) -> tuple[Edit, ...]:
    """Return the edits that append items to a list. Items that the list has already are not added again."""
    layout = layout_of(document)
    old = as_list(layout.fields.get(name))
    new = [item for item in dict.fromkeys(items) if item not in old]
    if name not in layout.fields:
        return set_fields(document, {name: new})
    return _with_slots(document, layout, name, [*map(_Slot, range(len(old))), *(_Slot(None, item) for item in new)])


def remove_item(document: Document, name: str, item: int) -> tuple[Edit, ...]:
    """Return the edits that remove an item of a list; without further items, the key is removed, too."""
    return replace_items(document, name, {item: None})


def replace_items(document: Document, name: str, texts: Mapping[int, str | None]) -> tuple[Edit, ...]:
    """Return the edits that change items of a list by index, or remove those with None.

    Raises LookupError for a missing list or item.
    """
    layout = layout_of(document)
    items, node = as_list(layout.fields[name]), layout.fields.nodes[name][1]
    slots = {place: _Slot(place) for place in range(len(items))}
    for place, text in texts.items():
        if place not in slots:
            raise IndexError(f"`{name}` has no item {place}")
        if text is None:
            del slots[place]
        elif items[place] != text or not is_scalar(node.value[place] if is_sequence(node) else node):
            slots[place] = _Slot(place, text)
    return _with_slots(document, layout, name, list(slots.values()))


def rename_key(document: Document, old: str, new: str) -> tuple[Edit, ...]:
    """Return the edit that renames a key, if it is there; raises UnpatchableError if the document has the new name."""
    layout = layout_of(document)
    if old == new or old not in layout.fields:
        return ()
    if new in layout.fields:
        raise layout.refusal(f"has both `{old}` and `{new}`", "keep one of the two")
    key = layout.fields.nodes[old][0]
    change = _Change(key.start_mark.index, key.end_mark.index, restyled(new, key.style))
    meant = {new if name == old else name: value for name, value in layout.fields.items()}
    return _verified_edits(
        document, layout, [change], lambda after: (after.body, after.fields) == (document.body, meant)
    )


def replace_relations(document: Document, targets: Mapping[int, str]) -> tuple[Edit, ...]:
    """Return the edits that change the targets of relations, by index; raises LookupError for a missing relation."""
    layout = layout_of(document)
    node, meant = layout.fields.nodes[_RELATIONS][1], as_list(layout.fields[_RELATIONS]).copy()
    changes = []
    for place, to in targets.items():
        mapping = node.value[place] if is_sequence(node) else node
        value = next((value for key, value in mapping.value if key.value == _TO), None)
        if not is_scalar(value):
            raise layout.refusal(f"has no `{_TO}` in an item of `{_RELATIONS}`", "write it by hand")
        changes.append(_scalar_change(layout, value, to, name=_TO))
        meant[place] = {**meant[place], _TO: to}
    return _verified_edits(document, layout, changes, lambda after: verify(document, after, {_RELATIONS: meant}))


def add_relations(document: Document, relations: Sequence[Relation]) -> tuple[Edit, ...]:
    """Return the edits that append relations to the existing relations."""
    layout = layout_of(document)
    node = layout.fields.nodes[_RELATIONS][1] if _RELATIONS in layout.fields else None
    old, sources = as_list(layout.fields.get(_RELATIONS)), [relation_item(one) for one in relations]
    if is_sequence(node):
        slots = [*map(_Slot, range(len(old))), *(_Slot(None, source=source) for source in sources)]
        change = _changed_list(layout, _RELATIONS, slots)
    else:
        at = layout.insert_offset(_RELATIONS) if node is None else layout.lines(_RELATIONS)[1]
        lines = [f"{_RELATIONS}:"] if node is None else []
        lines += [f"  - {source}" for source in sources]
        change = _Change(at, at, "".join(f"{layout.indent()}{line}{layout.line_break(at)}" for line in lines))
    meant = [*old, *({"type": one.type, _TO: one.to} for one in relations)]
    return _verified_edits(document, layout, [change], lambda after: verify(document, after, {_RELATIONS: meant}))


def relation_item(relation: Relation) -> str:
    """Return the YAML source of a relation as an item of `relations`: `{type: …, to: …}`."""
    return f"{{type: {scalar(relation.type)}, {_TO}: {scalar(relation.to)}}}"


def new_source(name: str, text: str) -> str:
    """Return the YAML source of a new value for a field: dates and numbers plain, texts quoted where YAML needs it."""
    return text if is_typed(name) and is_bare(text) else scalar(text)


def verify(before: Document, after: Document, values: Mapping[str, Any]) -> bool:
    """Return whether `after` parses, has the given values, and is otherwise the same as `before`."""
    if before.fields is None or after.fields is None or before.body != after.body:
        return False
    if {**before.fields, **values} != {**after.fields, **values}:
        return False
    return all(_has_value(after.fields, name, value) for name, value in values.items())


def _verified_edits(
    document: Document, layout: Layout, changes: Sequence[_Change], is_meant: Callable[[Document], bool]
) -> tuple[Edit, ...]:
    """Return the edits for some changes. Raises UnpatchableError if `is_meant` is false for the patched document."""
    at = layout.offset
    edits = [edit for one in changes for edit in replace_span(document, at + one.start, at + one.end, one.text)]
    if not edits:
        return ()
    edits.sort(key=lambda edit: (edit.start, edit.end))
    after = None
    # Edits that overlap are a ValueError.
    with suppress(ValueError):
        after = parse_document(document.path, apply_edits(document.data, edits))
    if after is None or not is_meant(after):
        raise layout.refusal("would change in more places than asked", "write the change by hand")
    for name in filter(None, (one.keeps for one in changes)):
        if Counter(layout.comments(name)) - Counter(layout_of(after).comments(name)):
            raise layout.comment_lost(name)
    return tuple(edits)


def _has_value(fields: Fields, name: str, value: Any) -> bool:
    """Return whether a field has a value. A text is a list of one, and a block scalar may end with a line break."""
    current = fields.get(name)
    if value is None or name not in fields:
        return name not in fields and not value and value != ""
    if not isinstance(value, str):
        return as_list(current) == list(value)
    if current == f"{value}\n":
        return getattr(fields.nodes[name][1], "style", None) in ("|", ">")
    return current == value or (name in LISTS and current == [value])


def _changed(layout: Layout, name: str, value: Value) -> _Change:
    """Return the change that gives a key a new value in the style (quotes, list form) of the old value."""
    node, old = layout.fields.nodes[name][1], as_list(layout.fields[name])
    if not value and value != "":
        return _Change(*layout.lines(name), "")
    if isinstance(value, str) and is_scalar(node):
        return _scalar_change(layout, node, value, name=name)
    if any(not isinstance(item, str | None) for item in old):
        raise layout.refusal(f"has nested values in `{name}`", "change it by hand")
    if not isinstance(value, str) or name in LISTS:
        wanted = [value] if isinstance(value, str) else list(value or ())
        slots: list[_Slot] = []
        # Equal items stay, and others are replaced in order. Without `autojunk`, many equal items would take n² steps.
        for tag, start, end, first, behind in SequenceMatcher(None, old, wanted).get_opcodes():
            for place, text in enumerate(wanted[first:behind], start):
                slots.append(_Slot(place if place < end else None, None if tag == "equal" else text))
        return _changed_list(layout, name, slots)
    # A single value replaces a whole list.
    if is_sequence(node) and node.flow_style:
        return _Change(node.start_mark.index, node.end_mark.index, new_source(name, value), keeps=name)
    return _Change(layout.colon(name), content_end(layout.front, node), f" {new_source(name, value)}", keeps=name)


class _Slot(NamedTuple):
    """One item of the wanted list: an old item by its index, an old item with a new text, or a new item."""

    old: int | None
    text: str | None = None
    source: str | None = None


def _with_slots(document: Document, layout: Layout, name: str, slots: Sequence[_Slot]) -> tuple[Edit, ...]:
    old = as_list(layout.fields[name])
    meant = [old[slot.old] if slot.old is not None and slot.text is None else slot.text for slot in slots]
    change = _changed_list(layout, name, slots)
    return _verified_edits(document, layout, [change], lambda after: verify(document, after, {name: meant}))


def _changed_list(layout: Layout, name: str, slots: Sequence[_Slot]) -> _Change:
    """Return the change that replaces the items of a list by the wanted items, or removes the key if there are none."""
    node: Any = layout.fields.nodes[name][1]
    if not slots:
        return _Change(*layout.lines(name), "")
    old = layout.fields[name]
    if is_scalar(node):
        texts = [node.value if slot.text is None else slot.text for slot in slots]
        if len(slots) == 1 and old is not None:
            return _scalar_change(layout, node, texts[0], name=name)
        # Several items turn a single text or an empty value into a flow list.
        return _value_change(layout, node, _flow([_item_source([node], text, in_flow=True) for text in texts]), name)
    if not is_sequence(node):
        raise layout.refusal(f"has a mapping as its `{name}`", "change it by hand")
    parts = _parse_flow(layout, node) if node.flow_style else _parse_block(layout, node)
    kept = {slot.old for slot in slots}
    removed = [item for place, item in enumerate(old) if place not in kept]
    texts_removed = {item for item in removed if isinstance(item, str)}
    nodes = {item.value: item for item in reversed(node.value) if is_scalar(item)}
    at, items = 0, []
    for slot in slots:
        if slot.old is None:
            known = [nodes[slot.text]] if slot.text in nodes else node.value[-1:]
            source = slot.source or _item_source(known, slot.text or "", in_flow=node.flow_style)
            items.append(replace(parts.new, source=source))
            continue
        # Comments above a removed item stay.
        above = "".join(one.above for one in parts.items[at : slot.old])
        item, at = parts.items[slot.old], slot.old + 1
        if slot.text is not None:
            item = _replaced(layout, name, slot.old, slot.text, item)
        items.append(replace(item, above=above + item.above))
    foot = "".join(one.above for one in parts.items[at:])
    is_moved = any(slot.old is None and slot.text in texts_removed for slot in slots)
    # A removed line may lose its comment, unless the same item is added again at another place.
    keeps = None if removed and parts.by_line and not is_moved else name
    return parts.change(layout.front, items, foot, keeps)


def _replaced(layout: Layout, name: str, place: int, text: str, item: _Item) -> _Item:
    """Return a list item with a new text, in the style of the old item."""
    if not isinstance(layout.fields[name][place], str | None):
        raise layout.refusal(f"has a nested value as an item of `{name}`", "change the item by hand")
    value: Any = layout.fields.nodes[name][1]
    node = value.value[place]
    if not is_scalar(node):
        if "#" in item.source:
            raise layout.comment_lost(name)
        return replace(item, source=scalar(text))
    source = _scalar_source(layout, node, text, name="", in_flow=value.flow_style)
    if not item.source and not item.lead.endswith(" "):
        source = f" {source}"
    return replace(item, source=source)


def _flow(sources: Sequence[str]) -> str:
    return f"[{', '.join(sources)}]"


def _scalar_change(layout: Layout, node: yaml.ScalarNode, text: str, *, name: str) -> _Change:
    return _value_change(layout, node, _scalar_source(layout, node, text, name=name))


def _value_change(layout: Layout, node: yaml.ScalarNode, source: str, keeps: str | None = None) -> _Change:
    """Return the change that replaces a value. An empty value is just after the colon."""
    start, end = node.start_mark.index, content_end(layout.front, node)
    if node.style in ("|", ">") and (header := _BLOCK_HEADER.match(layout.front, start)):
        # Keep the comment on the header line of a block scalar that is replaced.
        return _Change(start, end, source + header[1], keeps)
    if start < end:
        return _Change(start, end, source, keeps)
    # Write the value after the blanks, since otherwise they would end the line.
    if blanks := _LAST_BLANKS.match(layout.front, end):
        return _Change(blanks.end(), blanks.end(), source, keeps)
    return _Change(end, end, f" {source}", keeps)


def _scalar_source(layout: Layout, node: yaml.ScalarNode, text: str, *, name: str, in_flow: bool = False) -> str:
    """Return the source for a text in the style of an old scalar. A block scalar becomes one line in quotes."""
    if node.start_mark.index == content_end(layout.front, node):
        return new_source(name, text)
    if node.style in ("|", ">"):
        return restyled(text, '"')
    is_bare_here = is_typed(name) or (not node.style and is_bare(node.value))
    return restyled(text, node.style, is_typed=is_bare_here, in_flow=in_flow)


def _item_source(nodes: Sequence[yaml.Node], text: str, *, in_flow: bool) -> str:
    """Return the source of a list item: with its old quotes, or for a new text those of the last item."""
    known = next((node for node in nodes if is_scalar(node) and node.value == text), None)
    model = known or (nodes[-1] if nodes else None)
    style = model.style if is_scalar(model) and model.style in _QUOTES else None
    if known is None and style is None:
        return scalar(text)
    return restyled(text, style, in_flow=in_flow, is_typed=known is not None and is_bare(text))


class _Item(Struct):
    """The source of one list item: the comment lines above it, the indentation and dash, and the rest of the line."""

    source: str
    above: str = ""
    lead: str = ""
    rest: str = ""


class _ListSource(Struct):
    """A list split into its parts; `new` is a template for new items, `by_line` means that each has its own lines."""

    start: int
    end: int
    items: list[_Item]
    new: _Item
    by_line: bool = True
    head: str = ""
    comma: str = ""
    last_comma: str = ""
    foot: str = ""

    def change(self, front: str, items: Sequence[_Item], below: str, keeps: str | None) -> _Change:
        """Return the change to other items, with `below` as the comment lines after them."""
        commas = [*[self.comma] * (len(items) - 1), self.last_comma]
        pairs = zip(items, commas, strict=True)
        lines = (f"{one.above}{one.lead}{one.source}{comma}{one.rest}" for one, comma in pairs)
        old, new = front[self.start : self.end], "".join((self.head, *lines, below, self.foot))
        # Leave out the characters at both ends that are the same before and after.
        limit = min(len(old), len(new))
        first = next((at for at in range(limit) if old[at] != new[at]), limit)
        last = next((at for at in range(limit - first) if old[-1 - at] != new[-1 - at]), limit - first)
        return _Change(self.start + first, self.end - last, new[first : len(new) - last], keeps)


def _parse_flow(layout: Layout, node: yaml.SequenceNode) -> _ListSource:
    """Split a flow list. With an item on each line it keeps its lines, else several lines become one line."""
    front, start, end = layout.front, node.start_mark.index, node.end_mark.index
    spans = [(item.start_mark.index, content_end(front, item)) for item in node.value]
    head = _LINE_REST.match(front, start + 1, end - 1)
    items: list[_Item] = []
    at, last_comma = head.end() if head else start, ""
    for first, behind in spans if head else ():
        above, line_end, lead = front[at:first].rpartition("\n")
        comma = _COMMA.match(front, behind, end - 1)
        rest = _LINE_REST.match(front, comma.end() if comma else behind, end - 1)
        if rest is None or lead.strip():
            break
        at, last_comma = rest.end(), "," if comma else ""
        items.append(_Item(front[first:behind], above + line_end, lead, rest[0]))
    if head and len(items) == len(spans):
        new = _Item("", "", items[-1].lead if items else "  ", layout.line_break(head.end()))
        opening, foot = front[start : head.end()], front[at:end]
        return _ListSource(start, end, items, new, head=opening, comma=",", last_comma=last_comma, foot=foot)
    items = [_Item(front[first:behind]) for first, behind in spans]
    if not items or "\n" in front[start:end]:
        return _ListSource(start, end, items, _Item(""), by_line=False, head="[", comma=", ", foot="]")
    between = front[spans[0][1] : spans[1][0]] if len(spans) > 1 else ", "
    opening, foot = front[start : spans[0][0]], front[spans[-1][1] : end]
    return _ListSource(start, end, items, _Item(""), by_line=False, head=opening, comma=between, foot=foot)


def _parse_block(layout: Layout, node: yaml.SequenceNode) -> _ListSource:
    front, column = layout.front, node.start_mark.column
    items: list[_Item] = []
    start = at = -1
    for item in node.value:
        first, behind = item.start_mark.index, content_end(front, item)
        line = layout.line_start(first)
        # The dash may be alone on a line above the item.
        while front[line + column : line + column + 1] != "-" or line + column >= first:
            line = layout.line_start(line - 1)
        above = front[at:line] if items else ""
        start = start if items else line
        at = layout.next_line(max(behind, line + column))
        items.append(_Item(front[first:behind], above, front[line:first], front[behind:at]))
    lead = items[0].lead
    new = _Item("", "", lead if _DASH.fullmatch(lead) else f"{' ' * column}- ", layout.line_break(at))
    return _ListSource(start, at, items, new)
