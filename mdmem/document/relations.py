"""A patch of one relation: the bytes of the address that it leads to."""

from __future__ import annotations

import yaml

from mdmem.document.edits import apply_edits, replace_span
from mdmem.document.items import change_scalar
from mdmem.document.layout import layout_of
from mdmem.document.parse import Document, parse_document
from mdmem.finding import Edit

_NAME, _KEY = "relations", "to"


def replace_relation(document: Document, item: int, to: str) -> tuple[Edit, ...]:
    """Return the edits that make one relation lead to another address.

    Proved as every patch of a front matter is; raises KeyError and IndexError for a relation that is not there.
    """
    layout = layout_of(document)
    node = layout.fields.nodes(_NAME)[1]
    mapping = node.value[item] if isinstance(node, yaml.SequenceNode) else node
    value = next((value for key, value in mapping.value if key.value == _KEY), None)
    if not isinstance(value, yaml.ScalarNode):
        raise layout.refusal(f"has no `{_KEY}` in an item of `{_NAME}`", "write it by hand")
    change = change_scalar(layout, value, name=_KEY, text=to)
    edits = replace_span(document, layout.offset + change.start, layout.offset + change.end, change.text)
    after = parse_document(document.path, apply_edits(document.data, edits))
    if after.body != document.body or after.fields != _meant(document, item, to):
        raise layout.refusal("would change in more than what was asked for", "write the change by hand")
    return edits


def _meant(document: Document, item: int, to: str) -> dict[str, object]:
    fields = dict(document.fields or {})
    value = fields[_NAME]
    if not isinstance(value, list):
        return fields | {_NAME: {**value, _KEY: to}}
    return fields | {_NAME: [*value[:item], {**value[item], _KEY: to}, *value[item + 1 :]]}
