"""What is plain is read without YAML exactly as with it, and what is not is left to YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from mdmem.document.fields import is_scalar, plain_nodes, plain_values
from mdmem.document.parse import parse_document
from mdmem.document.yaml_loader import read_fields
from mdmem.entry.fields import FIELDS

# Whatever means something to YAML somewhere, beside what means nothing to it.
SIGNS = [*":#-?,[]{}&*!|>'\"%@`\\~=< \t\r\u00a0\u0085\u2028\ufeff", ": ", " #", "- ", "---"]
WORDS = ["note", "null", "~", "no", "0012", "12:30", "2026-03-05", "app/rules/one", "src/**", "é 🙂 b", "a  b", "x#y"]
TEXT = st.lists(st.sampled_from([*WORDS, *WORDS, *SIGNS]), min_size=1, max_size=3).map("".join)
VALUE = st.one_of(st.sampled_from(WORDS), TEXT, st.builds("{0}{1}{0}".format, st.sampled_from("'\""), TEXT))
FLOW = st.builds("[{}]".format, st.builds(str.join, st.sampled_from([", ", ","]), st.lists(VALUE, max_size=3)))
KEYS = ["type", "tags", "see", "x-a", "created_at", "owner", "null", "a b", "ü"]
PAIR = st.builds("{}:{}".format, st.sampled_from(KEYS), st.one_of(VALUE, FLOW).map(" {}".format) | st.just(""))
ITEMS = st.builds(
    lambda key, dash, items: "\n".join([f"{key}:", *(f"{dash}- {item}" for item in items)]),
    st.sampled_from(KEYS),
    st.sampled_from(["", "  "]),
    st.lists(VALUE, max_size=3),
)
LINES = st.lists(st.one_of(PAIR, ITEMS), max_size=3) | st.lists(st.one_of(PAIR, ITEMS, TEXT), max_size=5)
FRONT = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(FRONT)
def test_what_is_plain_is_what_yaml_reads(front: str) -> None:
    values = plain_values(front)
    event("plain" if values is not None else "left to YAML")
    if values is not None:
        fields, troubles = read_fields(front)
        assert (troubles, list((fields or {}).items())) == ((), list(values.items()))
        nodes = plain_nodes(front)
        assert fields is None or nodes is None or _told(nodes) == _told({name: fields.nodes(name) for name in fields})


def _told(node: Any) -> object:
    """Return what is asked of a node, and of those in it."""
    if isinstance(node, Mapping):
        return {name: [*map(_told, pair)] for name, pair in node.items()}
    marks = [(mark.line, mark.column, mark.index) for mark in (node.start_mark, node.end_mark)]
    if is_scalar(node):
        return marks, node.value, node.style or ""
    return marks, [*map(_told, node.value)], node.flow_style


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_fields_as_they_are_written_are_plain(field) -> None:  # type: ignore[no-untyped-def]
    is_nested = field.name in ("ignore", "relations")
    assert (plain_values(f"{field.example}\n") is None) is is_nested


@pytest.mark.parametrize(
    ("front", "values"),
    [
        ("type: note\ntags:\n- a\n- b: c\n", None),
        ("title: 'it''s'\n", {"title": "it's"}),
        ('title: "a \\"b\\" \\\\ c: d #e"\n', {"title": 'a "b" \\ c: d #e'}),
        (
            "tags:\n  - a\n  - null\n  - NULL\n  - nUll\nowner: Null\n",
            {"tags": ["a", None, None, "nUll"], "owner": None},
        ),
        ('tags: [a b, "c, d",e]\nsee: []\n', {"tags": ["a b", "c, d", "e"], "see": []}),
        ("url: http://x/y#z\n", {"url": "http://x/y#z"}),
    ],
)
def test_plain_values(front: str, values: dict[str, object] | None) -> None:
    assert plain_values(front) == values
    assert values is None or read_fields(front) == (values, ())


def test_place_of_what_was_read_without_yaml_is_yaml_s() -> None:
    front = 'type: note\ntitle: "Größe 🙂"\ntags:\n  - a\n  - bcd\nowner:\n'
    fields, composed = parse_document("w/r/e.md", f"---\n{front}---\n".encode()).fields, read_fields(front)[0]
    assert plain_values(front) is not None
    assert fields is not None
    assert composed is not None
    asked = [(name, item) for name in (*composed, "gone") for item in (None, 1)]
    assert [fields.place(*one) for one in asked] == [composed.place(*one) for one in asked]
    assert fields.place("tags", 1) == (5, 5, 3)
