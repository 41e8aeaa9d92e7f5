"""Front matter from values: whatever text goes in is the text that is read, by us and by other readers of YAML."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.parse import parse_document
from mdmem.markdown.scalars import compose_entry, scalar

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
TRICKY = st.text(st.sampled_from("aZ09 -:#'\"\\[]{},&*!|>%@`~?=_./\t\n\r\x00\x7f\x85\xa0\u2028\ufeff🙂é"), min_size=1)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Use one executor", "Use one executor"),
        ("a: b", '"a: b"'),
        ("no", '"no"'),
        ("0012", '"0012"'),
        ("0x1F", '"0x1F"'),
        ("2026-03-05", '"2026-03-05"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("Größe 🙂", "Größe 🙂"),
        ("👩\u200d💻 at work", '"👩\u200d💻 at work"'),
        ("- a", '"- a"'),
        ("a\nb", '"a\\nb"'),
        ("a\u2028b", '"a\\u2028b"'),
        ("a\x7fb", '"a\\u007fb"'),
        ("", '""'),
    ],
)
def test_scalar_is_quoted_only_where_it_must(text: str, written: str) -> None:
    assert scalar(text) == written


@given(TEXT | TRICKY)
def test_scalar_reads_back(text: str) -> None:
    document = parse_document("w/r/e.md", compose_entry({"type": "note", "title": text}, "body").encode())
    assert document.findings == ()
    assert document.fields == {"type": "note", "title": text}


@given(TEXT | TRICKY)
def test_scalar_is_the_same_text_for_another_reader(text: str) -> None:
    assert yaml.safe_load(f"title: {scalar(text)}\n") == {"title": text}


def test_composed_entry_keeps_the_order_and_ends_with_one_newline() -> None:
    fields = {"type": "note", "created_at": "2026-03-05", "title": "a: b"}
    assert compose_entry(fields, "\n\nText.\n\n\n") == (
        '---\ntype: note\ncreated_at: 2026-03-05\ntitle: "a: b"\n---\n\nText.\n'
    )
