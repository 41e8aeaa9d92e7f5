"""Byte-local patches of front matter: the bytes of the keys that change, and nothing else.

Each patch is proved before it is returned: the patched bytes are parsed, the changed fields mean what was asked for,
the others and the body are as they were. Anything else raises UnpatchableError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mdmem.markdown.fields import Fields, is_scalar, is_sequence
from mdmem.markdown.key_changes import (
    Slot,
    change_items,
    change_scalar,
    difference,
    fresh,
    insert_item,
    joined,
    refuse_lost_comments,
    slots_for,
)
from mdmem.markdown.layout import KeyChange, Layout, apply_edits, content_end, layout_of, rank_of, replace_span
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.scalars import restyled, scalar
from mdmem.model.entry import Relation
from mdmem.model.fields import LISTS
from mdmem.model.finding import Edit

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
