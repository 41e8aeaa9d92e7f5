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
            changes += [] if _has_value(layout.fields, name, value) else [_field_change(layout, name, value)]
        elif value or value == "":
            source = new_source(name, value) if isinstance(value, str) else _flow_list([scalar(item) for item in value])
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
    wanted = [*map(_WantedItem, range(len(old))), *(_WantedItem(text=item) for item in new)]
    return _list_edits(document, layout, name, wanted)


def remove_item(document: Document, name: str, item: int) -> tuple[Edit, ...]:
    """Return the edits that remove an item of a list; without further items, the key is removed, too."""
    return replace_items(document, name, {item: None})


def replace_items(document: Document, name: str, texts: Mapping[int, str | None]) -> tuple[Edit, ...]:
    """Return the edits that change items of a list by index, or remove those with None.

    Raises LookupError for a missing list or item.
    """
    layout = layout_of(document)
    items, node = as_list(layout.fields[name]), layout.fields.nodes[name][1]
    wanted = {index: _WantedItem(index) for index in range(len(items))}
    for index, text in texts.items():
        if index not in wanted:
            raise IndexError(f"`{name}` has no item {index}")
        if text is None:
            del wanted[index]
        elif items[index] != text or not is_scalar(node.value[index] if is_sequence(node) else node):
            wanted[index] = _WantedItem(index, text)
    return _list_edits(document, layout, name, list(wanted.values()))


def rename_key(document: Document, old: str, new: str) -> tuple[Edit, ...]:
    """Return the edit that renames a key, if it is there; raises UnpatchableError if the document has the new name."""
    layout = layout_of(document)
    if old == new or old not in layout.fields:
        return ()
    if new in layout.fields:
        raise layout.refusal(f"has both `{old}` and `{new}`", "keep one of the two")
    key = layout.fields.nodes[old][0]
    change = _Change(key.start_mark.index, key.end_mark.index, restyled(new, key.style))
    meant = document.body, {new if name == old else name: value for name, value in layout.fields.items()}
    return _verified_edits(document, layout, [change], lambda after: (after.body, after.fields) == meant)


def replace_relations(document: Document, targets: Mapping[int, str]) -> tuple[Edit, ...]:
    """Return the edits that change the targets of relations, by index; raises LookupError for a missing relation."""
    layout = layout_of(document)
    node, meant = layout.fields.nodes[_RELATIONS][1], as_list(layout.fields[_RELATIONS]).copy()
    changes = []
    for index, to in targets.items():
        mapping = node.value[index] if is_sequence(node) else node
        value = next((value for key, value in mapping.value if key.value == _TO), None)
        if not is_scalar(value):
            raise layout.refusal(f"has no `{_TO}` in an item of `{_RELATIONS}`", "write it by hand")
        changes.append(_scalar_change(layout, value, to, name=_TO))
        meant[index] = {**meant[index], _TO: to}
    return _verified_edits(document, layout, changes, lambda after: verify(document, after, {_RELATIONS: meant}))


def add_relations(document: Document, relations: Sequence[Relation]) -> tuple[Edit, ...]:
    """Return the edits that append relations to the existing relations."""
    layout = layout_of(document)
    node = layout.fields.nodes[_RELATIONS][1] if _RELATIONS in layout.fields else None
    old, sources = as_list(layout.fields.get(_RELATIONS)), [relation_item(one) for one in relations]
    if is_sequence(node):
        wanted = [*map(_WantedItem, range(len(old))), *(_WantedItem(source=source) for source in sources)]
        change = _list_change(layout, _RELATIONS, wanted)
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


def _field_change(layout: Layout, name: str, value: Value) -> _Change:
    """Return the change that gives a key a new value in the style (quotes, list form) of the old value."""
    node, old = layout.fields.nodes[name][1], as_list(layout.fields[name])
    if not value and value != "":
        return _Change(*layout.lines(name), "")
    if isinstance(value, str) and is_scalar(node):
        return _scalar_change(layout, node, value, name=name)
    if any(not isinstance(item, str | None) for item in old):
        raise layout.refusal(f"has nested values in `{name}`", "change it by hand")
    if not isinstance(value, str) or name in LISTS:
        new = [value] if isinstance(value, str) else list(value or ())
        wanted: list[_WantedItem] = []
        # Equal items stay, and others are replaced in order. Without `autojunk`, many equal items would take n² steps.
        for tag, start, end, first, behind in SequenceMatcher(None, old, new).get_opcodes():
            for index, text in enumerate(new[first:behind], start):
                wanted.append(_WantedItem(index if index < end else None, None if tag == "equal" else text))
        return _list_change(layout, name, wanted)
    # A single value replaces a whole list.
    if is_sequence(node) and node.flow_style:
        return _Change(node.start_mark.index, node.end_mark.index, new_source(name, value), keeps=name)
    return _Change(layout.colon(name), content_end(layout.front, node), f" {new_source(name, value)}", keeps=name)


class _WantedItem(Struct, frozen=True):
    """One item of the wanted list: an old item by its index, an old item with a new text, or a new item."""

    index: int | None = None
    text: str | None = None
    source: str | None = None


def _list_edits(document: Document, layout: Layout, name: str, wanted: Sequence[_WantedItem]) -> tuple[Edit, ...]:
    old = as_list(layout.fields[name])
    meant = [old[one.index] if one.index is not None and one.text is None else one.text for one in wanted]
    change = _list_change(layout, name, wanted)
    return _verified_edits(document, layout, [change], lambda after: verify(document, after, {name: meant}))


def _list_change(layout: Layout, name: str, wanted: Sequence[_WantedItem]) -> _Change:
    """Return the change that replaces the items of a list by the wanted items, or removes the key if there are none."""
    node: Any = layout.fields.nodes[name][1]
    if not wanted:
        return _Change(*layout.lines(name), "")
    old = layout.fields[name]
    if is_scalar(node):
        texts = [node.value if one.text is None else one.text for one in wanted]
        if len(wanted) == 1 and old is not None:
            return _scalar_change(layout, node, texts[0], name=name)
        # Several items turn a single text or an empty value into a flow list.
        source = _flow_list([_item_source([node], text, in_flow=True) for text in texts])
        return _value_change(layout, node, source, name)
    if not is_sequence(node):
        raise layout.refusal(f"has a mapping as its `{name}`", "change it by hand")
    parts = _parse_flow(layout, node) if node.flow_style else _parse_block(layout, node)
    kept = {one.index for one in wanted}
    removed = [item for index, item in enumerate(old) if index not in kept]
    nodes = {item.value: item for item in reversed(node.value) if is_scalar(item)}
    at, items = 0, []
    for one in wanted:
        if one.index is None:
            known = [nodes[one.text]] if one.text in nodes else node.value[-1:]
            source = one.source or _item_source(known, one.text or "", in_flow=node.flow_style)
            items.append(replace(parts.template, source=source))
            continue
        # Comments above a removed item stay.
        above = "".join(one.above for one in parts.items[at : one.index])
        item, at = parts.items[one.index], one.index + 1
        if one.text is not None:
            item = _with_text(layout, name, one.index, one.text, item)
        items.append(replace(item, above=above + item.above))
    foot = "".join(one.above for one in parts.items[at:])
    is_moved = any(one.index is None and one.text in removed for one in wanted)
    # A removed line may lose its comment, unless the same item is added again at another place.
    keeps = None if removed and parts.has_lines and not is_moved else name
    return parts.change(layout.front, items, foot, keeps)


def _with_text(layout: Layout, name: str, index: int, text: str, item: _ItemSource) -> _ItemSource:
    """Return a list item with a new text, in the style of the old item."""
    if not isinstance(layout.fields[name][index], str | None):
        raise layout.refusal(f"has a nested value as an item of `{name}`", "change the item by hand")
    value: Any = layout.fields.nodes[name][1]
    node = value.value[index]
    if not is_scalar(node):
        if "#" in item.source:
            raise layout.comment_lost(name)
        return replace(item, source=scalar(text))
    source = _scalar_source(layout, node, text, name="", in_flow=value.flow_style)
    if not item.source and not item.lead.endswith(" "):
        source = f" {source}"
    return replace(item, source=source)


def _flow_list(sources: Sequence[str]) -> str:
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


class _ItemSource(Struct):
    """The source of one list item: the comment lines above it, the indentation and dash, and the rest of the line."""

    source: str = ""
    above: str = ""
    lead: str = ""
    rest: str = ""


class _ListSource(Struct):
    """A list split into its parts, with a template for new items. With `has_lines`, each item has its own lines."""

    start: int
    end: int
    items: list[_ItemSource]
    template: _ItemSource
    has_lines: bool = True
    head: str = ""
    comma: str = ""
    last_comma: str = ""
    foot: str = ""

    def change(self, front: str, items: Sequence[_ItemSource], below: str, keeps: str | None) -> _Change:
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
    items: list[_ItemSource] = []
    at, last_comma = head.end() if head else start, ""
    for first, behind in spans if head else ():
        above, line_end, lead = front[at:first].rpartition("\n")
        comma = _COMMA.match(front, behind, end - 1)
        rest = _LINE_REST.match(front, comma.end() if comma else behind, end - 1)
        if rest is None or lead.strip():
            break
        at, last_comma = rest.end(), "," if comma else ""
        items.append(_ItemSource(front[first:behind], above + line_end, lead, rest[0]))
    if head and len(items) == len(spans):
        template = _ItemSource(lead=items[-1].lead if items else "  ", rest=layout.line_break(head.end()))
        opening, foot = front[start : head.end()], front[at:end]
        return _ListSource(start, end, items, template, head=opening, comma=",", last_comma=last_comma, foot=foot)
    items = [_ItemSource(front[first:behind]) for first, behind in spans]
    opening, between, foot = "[", ", ", "]"
    if items and "\n" not in front[start:end]:
        # Keep the blanks of a list on one line.
        opening, foot = front[start : spans[0][0]], front[spans[-1][1] : end]
        between = front[spans[0][1] : spans[1][0]] if len(spans) > 1 else between
    return _ListSource(start, end, items, _ItemSource(), has_lines=False, head=opening, comma=between, foot=foot)


def _parse_block(layout: Layout, node: yaml.SequenceNode) -> _ListSource:
    front, column = layout.front, node.start_mark.column
    items: list[_ItemSource] = []
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
        items.append(_ItemSource(front[first:behind], above, front[line:first], front[behind:at]))
    lead = items[0].lead
    lead = lead if _DASH.fullmatch(lead) else f"{' ' * column}- "
    return _ListSource(start, at, items, _ItemSource(lead=lead, rest=layout.line_break(at)))
