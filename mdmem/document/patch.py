"""Byte-local patches of front matter: the bytes of the keys that change, and nothing else.

Every patch is proved before it is returned: the patched bytes are parsed, the meant fields differ, the others and the
body do not. What cannot be proved raises UnpatchableError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mdmem.document.fields import Fields, is_scalar, is_sequence
from mdmem.document.layout import (
    KeyChange,
    Layout,
    UnpatchableError,
    apply_edits,
    content_end,
    layout_of,
    rank_of,
    replace_in_body,
    replace_span,
)
from mdmem.document.lists import Slot, change_items, change_scalar, fresh, joined, slots_for
from mdmem.document.parse import Document, parse_document
from mdmem.document.scalars import restyled, scalar
from mdmem.entry.fields import LISTS
from mdmem.finding import Edit

if TYPE_CHECKING:
    import yaml

__all__ = [
    "UnpatchableError",
    "add_items",
    "apply_edits",
    "remove_item",
    "rename_key",
    "replace_in_body",
    "replace_item",
    "replace_items",
    "replace_span",
    "set_fields",
    "verify",
]
Value = str | Sequence[str] | None


def set_fields(document: Document, values: Mapping[str, Value]) -> tuple[Edit, ...]:
    """Return the edits that give fields their values: a text, a list, or None for no such key.

    What means the value already is not touched; an empty list removes the key. A new key stands in the order of the
    schema's table relative to the keys that are there. Edits are sorted by their place.
    """
    layout = layout_of(document)
    changes = [
        change
        for name, value in values.items()
        if name in layout.fields and not _means(layout.fields, name, value)
        for change in _changed(layout, name, value)
    ]
    added = [name for name, value in values.items() if name not in layout.fields and (value or value == "")]
    changes += [_added(layout, name, values[name]) for name in sorted(added, key=rank_of)]
    return _proved(document, layout, changes, lambda after: verify(document, after, values))


def add_items(document: Document, name: str, items: Sequence[str]) -> tuple[Edit, ...]:
    """Return the edits that put items at the end of a list; one that is there already is not added again."""
    layout = layout_of(document)
    old = _items(layout.fields.get(name))
    new = [item for item in dict.fromkeys(items) if item not in old]
    if name not in layout.fields:
        return set_fields(document, {name: new})
    if not new:
        return ()
    slots = (*(Slot(place) for place in range(len(old))), *(Slot(None, item) for item in new))
    return _proved_items(document, layout, name, slots)


def remove_item(document: Document, name: str, item: int) -> tuple[Edit, ...]:
    """Return the edits that take one item out of a list; the last one takes the key with it.

    Raises KeyError and IndexError for what is not there.
    """
    layout = layout_of(document)
    places = range(len(_items(layout.fields[name])))
    if item not in places:
        raise IndexError(f"`{name}` has no item {item}")
    slots = tuple(Slot(place) for place in places if place != item)
    return _proved_items(document, layout, name, slots)


def replace_item(document: Document, name: str, item: int, text: str) -> tuple[Edit, ...]:
    """Return the edits that give one item of a list another text; a wiki link that reads as it becomes plain text.

    Raises KeyError and IndexError for what is not there.
    """
    return replace_items(document, name, {item: text})


def replace_items(document: Document, name: str, texts: Mapping[int, str]) -> tuple[Edit, ...]:
    """Return the edits that give items of a list other texts, by their places, as `replace_item` does one."""
    layout = layout_of(document)
    items, node = _items(layout.fields[name]), layout.fields.nodes(name)[1]
    missing = [item for item in texts if not 0 <= item < len(items)]
    if missing:
        raise IndexError(f"`{name}` has no item {missing[0]}")
    changed = {
        item: text
        for item, text in texts.items()
        if items[item] != text or not is_scalar(node.value[item] if is_sequence(node) else node)
    }
    slots = tuple(Slot(place, changed.get(place)) for place in range(len(items)))
    return _proved_items(document, layout, name, slots) if changed else ()


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


def verify(before: Document, after: Document, values: Mapping[str, Value]) -> bool:
    """Say whether a document loads, means the values, and differs in nothing else from what it was."""
    if before.fields is None or after.fields is None or before.body != after.body:
        return False
    others = [
        {name: value for name, value in fields.items() if name not in values}
        for fields in (before.fields, after.fields)
    ]
    return others[0] == others[1] and all(_means(after.fields, name, value) for name, value in values.items())


def _means(fields: Fields, name: str, value: Value) -> bool:
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


def _changed(layout: Layout, name: str, value: Value) -> tuple[KeyChange, ...]:
    node = layout.fields.nodes(name)[1]
    if not value and value != "":
        return change_items(layout, name, ())
    if isinstance(value, str) and is_scalar(node):
        return (change_scalar(layout, node, name=name, text=value),)
    current = _items(layout.fields[name])
    if any(not isinstance(item, str | None) for item in current):
        raise layout.refusal(f"has nested values in `{name}`", "change it by hand")
    if isinstance(value, str) and name not in LISTS:
        return (_to_scalar(layout, node, name, value),)
    wanted = [value] if isinstance(value, str) else list(value or ())
    return change_items(layout, name, slots_for(current, wanted))


def _to_scalar(layout: Layout, node: yaml.Node, name: str, text: str) -> KeyChange:
    """Put one value in place of a whole list."""
    if is_sequence(node) and node.flow_style:
        return KeyChange(node.start_mark.index, node.end_mark.index, fresh(name, text))
    return KeyChange(layout.colon(name), content_end(layout.front, node), f" {fresh(name, text)}")


def _added(layout: Layout, name: str, value: Value) -> KeyChange:
    at = layout.gap(name)
    source = fresh(name, value) if isinstance(value, str) else joined([scalar(item) for item in value or ()])
    return KeyChange(at, at, f"{layout.indent()}{scalar(name)}: {source}{layout.line_break(at)}")


def _proved_items(document: Document, layout: Layout, name: str, slots: Sequence[Slot]) -> tuple[Edit, ...]:
    old = _items(layout.fields.get(name))
    meant: list[Any] = [old[slot.old] if slot.old is not None and slot.text is None else slot.text for slot in slots]
    changes = change_items(layout, name, slots)
    return _proved(document, layout, changes, lambda after: verify(document, after, {name: meant}))


def _proved(
    document: Document, layout: Layout, changes: Sequence[KeyChange], is_meant: Callable[[Document], bool]
) -> tuple[Edit, ...]:
    """Return the edits of changes whose outcome is the meant one; raises UnpatchableError for any other."""
    at = layout.offset
    edits = [
        edit for change in changes for edit in replace_span(document, at + change.start, at + change.end, change.text)
    ]
    if not edits:
        return ()
    edits.sort(key=lambda edit: (edit.start, edit.end))
    try:
        patched = apply_edits(document.data, edits)
    except ValueError:
        patched = b""
    if not is_meant(parse_document(document.path, patched)):
        raise layout.refusal("would change in more than what was asked for", "write the change by hand")
    return tuple(edits)
