"""Patches of relations: the bytes of the address that one leads to, and those of more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdmem.document.fields import is_scalar, is_sequence
from mdmem.document.layout import Layout, apply_edits, layout_of, replace_span
from mdmem.document.lists import change_scalar
from mdmem.document.parse import Document, parse_document
from mdmem.document.scalars import scalar
from mdmem.entry.model import Relation
from mdmem.finding import Edit

_NAME, _KEY = "relations", "to"


def replace_relations(document: Document, targets: Mapping[int, str]) -> tuple[Edit, ...]:
    """Return the edits that make relations lead to other addresses, by their places.

    Proved as every patch of a front matter is; raises KeyError and IndexError for a relation that is not there.
    """
    layout = layout_of(document)
    node = layout.fields.nodes(_NAME)[1]
    edits: list[Edit] = []
    for item, to in targets.items():
        mapping = node.value[item] if is_sequence(node) else node
        value = next((value for key, value in mapping.value if key.value == _KEY), None)
        if not is_scalar(value):
            raise layout.refusal(f"has no `{_KEY}` in an item of `{_NAME}`", "write it by hand")
        change = change_scalar(layout, value, name=_KEY, text=to)
        edits += replace_span(document, layout.offset + change.start, layout.offset + change.end, change.text)
    after = parse_document(document.path, apply_edits(document.data, edits))
    if after.body != document.body or after.fields != _meant(document, targets):
        raise layout.refusal("would change in more than what was asked for", "write the change by hand")
    return tuple(edits)


def _meant(document: Document, targets: Mapping[int, str]) -> dict[str, object]:
    fields = dict(document.fields or {})
    value = fields[_NAME]
    items = list(value) if isinstance(value, list) else [value]
    for item, to in targets.items():
        items[item] = {**items[item], _KEY: to}
    return fields | {_NAME: items if isinstance(value, list) else items[0]}


def add_relations(document: Document, relations: Sequence[Relation]) -> tuple[Edit, ...]:
    """Return the edits that put relations behind those that are there, in the style of the last one.

    Proved as every patch of a front matter is.
    """
    layout = layout_of(document)
    at, text = _more(layout, relations)
    edits = replace_span(document, layout.offset + at, layout.offset + at, text)
    after = parse_document(document.path, apply_edits(document.data, edits))
    known = layout.fields.get(_NAME) or []
    meant = [*(known if isinstance(known, list) else [known]), *({"type": one.type, _KEY: one.to} for one in relations)]
    if after.body != document.body or after.fields != dict(layout.fields) | {_NAME: meant}:
        raise layout.refusal("would change in more than what was asked for", "write the relations by hand")
    return edits


def relation_item(relation: Relation) -> str:
    """Return a relation as an item of a list."""
    return f"{{type: {scalar(relation.type)}, {_KEY}: {scalar(relation.to)}}}"


def _more(layout: Layout, relations: Sequence[Relation]) -> tuple[int, str]:
    node = layout.fields.nodes(_NAME)[1] if _NAME in layout.fields else None
    items = node.value if is_sequence(node) else []
    at = layout.gap(_NAME) if node is None else layout.lines(_NAME)[1]
    if items and is_sequence(node) and node.flow_style:
        return items[-1].end_mark.index, "".join(f", {relation_item(one)}" for one in relations)
    key, lead = "" if node is not None else f"{layout.indent()}{_NAME}:\n", f"{layout.indent()}  - "
    if items:
        last = items[-1].start_mark.index
        lead = layout.front[layout.line_start(last) : last]
    return at, (key + "".join(f"{lead}{relation_item(one)}\n" for one in relations)).replace(
        "\n", layout.line_break(at)
    )
