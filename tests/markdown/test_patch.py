"""Patches and scalars of front matter: the bytes before and after, and text that reads back as it was."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from golden import GoldenCase, each_case
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown import layout, patch
from mdmem.markdown.front_matter import compose_entry, scalar
from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.finding import Edit

PATH = "w/r/e.md"


def entry(front: str, *, body: str = "\nBody.\n") -> Document:
    """Return the document of a front matter, its line breaks as they are."""
    line_break = "\r\n" if "\r\n" in front else "\n"
    return parse_document(PATH, f"---{line_break}{front}---{line_break}{body}".encode())


def front_after(document: Document, edits: tuple[Edit, ...]) -> str:
    """Return the front matter of the patched document."""
    text = layout.apply_edits(document.data, edits).decode()
    start = text.index("\n") + 1
    return text[start : text.rindex("---", 0, len(text) - len(document.body))]


OPERATIONS: dict[str, Callable[..., tuple[Edit, ...]]] = {
    "set_fields": patch.set_fields,
    "add_items": patch.add_items,
    "replace_item": lambda document, name, item, text: patch.replace_items(document, name, {item: text}),
    "remove_item": patch.remove_item,
    "rename_key": patch.rename_key,
}
# What an operation did, it does not do again.
REPEATABLE = ("set_fields", "add_items", "replace_item")


def outcome(front: str, operation: str, arguments: list[Any]) -> tuple[str, tuple[str, ...]]:
    """Return the front matter that an operation leads to, and what is said where nothing changes."""
    document = entry(front)
    try:
        edits = OPERATIONS[operation](document, *arguments)
    except UnpatchableError as refusal:
        return front, (str(refusal),)
    return front_after(document, edits), () if edits else ("no edit",)


@each_case("document/patch.txt")
def test_patch_changes_these_bytes(loader: str, case: GoldenCase) -> None:
    operation, _, arguments = case.action.partition(" ")
    assert outcome(case.before, operation, json.loads(f"[{arguments}]")) == (case.after, case.says)
    if operation in REPEATABLE and case.after != case.before:
        assert outcome(case.after, operation, json.loads(f"[{arguments}]")) == (case.after, ("no edit",))


@pytest.mark.parametrize("data", [b"", b"# Only a heading\n", b"---\ntitle: a\n", b"---\ntitle: \xff\n---\n"])
def test_patch_is_refused_when_there_is_no_front_matter(data: bytes) -> None:
    with pytest.raises(UnpatchableError, match="mdmem check"):
        patch.set_fields(parse_document(PATH, data), {"title": "b"})


def test_patch_is_refused_when_the_text_is_half_a_character() -> None:
    with pytest.raises(UnpatchableError, match="half of a surrogate pair"):
        patch.set_fields(entry("type: note\n"), {"title": "\ud800"})


def test_item_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError, match="no item 1"):
        patch.remove_item(entry("tags: [a]\n"), "tags", 1)
    with pytest.raises(KeyError):
        patch.remove_item(entry("tags: [a]\n"), "see", 0)


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_mark_and_ending_of_the_file_stay(mark: str, ending: str) -> None:
    data = f"{mark}---\r\ntitle: ü # é\r\n---\r\n\r\nBödy{ending}".encode()
    edits = patch.set_fields(parse_document(PATH, data), {"title": "ñ", "tags": ["a"]})
    after = f"{mark}---\r\ntitle: ñ # é\r\ntags: [a]\r\n---\r\n\r\nBödy{ending}".encode()
    assert layout.apply_edits(data, edits) == after


def test_body_is_replaced_with_its_own_line_breaks() -> None:
    data = "\ufeff---\r\ntype: note\r\n---\r\nsée [[a]]\r\n".encode()
    edits = layout.replace_in_body(parse_document(PATH, data), 4, 5, "w/r/é\nand")
    assert layout.apply_edits(data, edits) == "\ufeff---\r\ntype: note\r\n---\r\nsée w/r/é\r\nand\r\n".encode()


def test_edits_are_applied_in_their_order() -> None:
    edits = [Edit(PATH, 4, 6, b"-"), Edit(PATH, 2, 2, b"A"), Edit(PATH, 2, 2, b"B"), Edit(PATH, 6, 6, b"C")]
    assert layout.apply_edits(b"012345", [*edits, Edit(PATH, 2, 3, b"")]) == b"01AB3-C"


@pytest.mark.parametrize(
    "spans", [((0, 2), (1, 3)), ((0, 2), (1, 1)), ((0, 2), (0, 2)), ((2, 7),), ((2, 1),), ((-1, 1),)]
)
def test_edits_are_refused_when_they_overlap_or_leave_the_file(spans: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ValueError, match="overlaps another, or leaves the file"):
        layout.apply_edits(b"012345", [Edit(PATH, start, end, b"x") for start, end in spans])


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


@pytest.mark.parametrize(
    ("after", "is_proved"),
    [
        (entry("type: note\ntitle: b\n"), True),
        (entry("title: 'b'\ntype: note\n"), True),
        (entry("type: note\ntitle: c\n"), False),
        (entry("type: decision\ntitle: b\n"), False),
        (entry("type: note\ntitle: b\nx-a: b\n"), False),
        (entry("type: note\ntitle: b\n", body="\nOther.\n"), False),
        (entry("type: note\ntitle: b: c\n"), False),
    ],
)
def test_verify_proves_the_fields_named_and_nothing_else(after: Document, is_proved: bool) -> None:
    assert patch.verify(entry("type: note\ntitle: a\n"), after, {"title": "b"}) is is_proved


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="the loader in Python refuses a tab before a comment")
def test_set_fields_keeps_a_tab_behind_the_colon() -> None:
    document = entry("title:\ta\t# why\n")
    assert front_after(document, patch.set_fields(document, {"title": "b"})) == "title:\tb\t# why\n"
