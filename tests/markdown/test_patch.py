"""Test patches and scalars of front matter: only the wanted change, and texts that are read back the same."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from golden import GoldenCase, each_case, read_rows
from hypothesis import assume, given
from hypothesis import strategies as st

from mdmem.markdown import layout, patch
from mdmem.markdown.front_matter import scalar
from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.fields import LISTS
from mdmem.model.finding import Edit

PATH = "w/r/e.md"


def entry(front: str, *, body: str = "\nBody.\n") -> Document:
    """Return the document of a front matter, with its line breaks."""
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


def test_half_a_character_and_an_item_that_is_not_there_are_errors() -> None:
    with pytest.raises(UnpatchableError, match="half of a surrogate pair"):
        patch.set_fields(entry("type: note\n"), {"title": "\ud800"})
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
    with pytest.raises(ValueError, match="overlaps another edit, or reaches beyond the file"):
        layout.apply_edits(b"012345", [Edit(PATH, start, end, b"x") for start, end in spans])


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
TRICKY = st.text(st.sampled_from("aZ09 -:#'\"\\[]{},&*!|>%@`~?=_./\t\n\r\x00\x7f\x85\xa0\u2028\ufeff🙂é"), min_size=1)


@pytest.mark.parametrize(("text", "written"), [*read_rows("document/scalars.txt"), ("", '""')])
def test_scalar_is_quoted_only_where_it_must(text: str, written: str) -> None:
    assert scalar(text) == written


@given(TEXT | TRICKY)
def test_scalar_reads_back_here_and_for_another_reader(text: str) -> None:
    document = parse_document("w/r/e.md", f"---\ntype: note\ntitle: {scalar(text)}\n---\n\nbody\n".encode())
    assert (document.findings, document.fields) == ((), {"type": "note", "title": text})
    assert yaml.safe_load(f"title: {scalar(text)}\n") == {"title": text}


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


KEYS = ("type", "status", "created_at", "title", "owner", "version", "tags", "see", "reason", "x-a", "x-ü")
PLAIN = st.sampled_from(["a", "b c", "é 🙂", "it's", "a#b", "c:d", "2026-03-05", "1.10", "w/r/e-f", "~a", "-b", "no"])
TEXTS = PLAIN | st.text(st.sampled_from("ab #:,'\"\\[]{}&*!|>%@`-?=~é🙂\n\t\u2028\ufeff0"), max_size=8)
COMMENTS = st.sampled_from(
    ["", " # why", "  #", " # a: b, 'c' [", "\t# é"] if yaml.__with_libyaml__ else ["", " # why"]
)
ABOVE = st.lists(st.sampled_from(["", "# é: x", "# - a", "#"]), max_size=2)


@dataclass(frozen=True)
class Part:
    """The lines of one key, those above it included; `lines` are its own."""

    name: str
    above: tuple[str, ...]
    lines: tuple[str, ...]


@st.composite
def sources(draw: st.DrawFn) -> str:
    """Draw one value on one line."""
    text = draw(PLAIN)
    style = draw(st.sampled_from(["plain", "single", "double"]))
    if style == "single":
        return "'" + draw(st.sampled_from(["", text, "# x", "a: b, c", "''"])).replace("'", "''") + "'"
    return json.dumps(draw(st.sampled_from(["", text, "# x", "[a] \\ b", "a, b"]))) if style == "double" else text


@st.composite
def flows(draw: st.DrawFn, indent: str) -> tuple[str, ...]:
    """Draw a flow list on one line or several, with comments."""
    items = draw(st.lists(sources(), max_size=4))
    comma = "," if items and draw(st.booleans()) else ""
    if not items or draw(st.booleans()):
        blank = draw(st.sampled_from(["", " "]))
        return (f"[{blank}{draw(st.sampled_from([', ', ',  '])).join(items)}{comma}{blank}]",)
    lines = ["["]
    for number, item in enumerate(items):
        lines += [f"{indent}  {line}" for line in draw(ABOVE) if line]
        last = number == len(items) - 1
        lines.append(f"{indent}  {item}{comma if last else ','}{draw(COMMENTS)}")
    if draw(st.booleans()):
        return (*lines, f"{indent}  ]")
    lines[-1] = f"{indent}  {items[-1]}{comma}]"
    return tuple(lines)


@st.composite
def blocks(draw: st.DrawFn, indent: str) -> tuple[str, ...]:
    """Draw the lines of a block list, at the key's own column or behind it."""
    deeper = indent + draw(st.sampled_from(["", "  "]))
    lines: list[str] = []
    for item in draw(st.lists(sources(), min_size=1, max_size=4)):
        lines += [f"{deeper}{line}" if line else "" for line in draw(ABOVE)]
        form = draw(st.sampled_from(["line", "wide", "below", "literal"]))
        comment = draw(COMMENTS)
        lines += {
            "line": [f"{deeper}- {item}{comment}"],
            "wide": [f"{deeper}-   {item}{comment}"],
            "below": [f"{deeper}-{comment}", f"{deeper}   {item}"],
            "literal": [f"{deeper}- |", f"{deeper}  {item}"],
        }[form]
    return tuple(lines)


@st.composite
def values(draw: st.DrawFn, head: str, indent: str) -> tuple[str, ...]:
    """Draw the lines of one key with a value of any form."""
    gap, comment = draw(st.sampled_from([" ", "   "])), draw(COMMENTS)
    forms = ["line", "line", "line", "below", "folded", "literal", "empty", "flow", "block", "nested"]
    form = draw(st.sampled_from(forms))
    if form == "line":
        return (f"{head}{gap}{draw(sources())}{comment}",)
    if form == "below":
        return (f"{head}{comment}", f"{indent}  {draw(sources())}")
    if form == "folded":
        return (f"{head}{gap}a", f"{indent}  b c{comment}")
    if form == "literal":
        mark = draw(st.sampled_from(["|", ">", "|-", ">-", "|+", "|2"]))
        blank = draw(st.sampled_from([(), ("",)]))
        return (f"{head}{gap}{mark}{comment}", f"{indent}  a # no comment", *blank, f"{indent}  b")
    if form == "empty":
        return (f"{head}{draw(st.sampled_from(['', '  ', ' ~', ' null']))}{comment}",)
    if form == "flow":
        first, *rest = draw(flows(indent))
        lines = [f"{head}{gap}{first}", *rest]
        return (*lines[:-1], lines[-1] + comment)
    if form == "block":
        return (f"{head}{comment}", *draw(blocks(indent)))
    return (f"{head}{comment}", f"{indent}  k: v # c", f"{indent}  l: [m, n]")


@dataclass(frozen=True)
class Drawn:
    """A document and the parts it was made of."""

    document: Document
    parts: tuple[Part, ...]

    def spans(self, name: str) -> list[tuple[int, int]]:
        """Return the first byte of a key's own lines and the one behind them."""
        data = self.document.data
        line_break = b"\r\n" if b"---\r\n" in data[:8] else b"\n"
        at = data.index(line_break) + len(line_break)
        for part in self.parts:
            start = at + sum(len(line.encode()) + len(line_break) for line in part.above)
            end = at = start + sum(len(line.encode()) + len(line_break) for line in part.lines)
            # Blank lines below a block scalar that keeps them are its own.
            while "|+" in part.lines[0] and data.startswith(line_break, end):
                end += len(line_break)
            if part.name == name:
                return [(start, end)]
        return []


@st.composite
def documents(draw: st.DrawFn) -> Drawn:
    """Draw a document that can be read: keys in any order, with comments, in every style."""
    indent = draw(st.sampled_from(["", "", " "]))
    parts = []
    for name in draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=6)):
        key = draw(st.sampled_from([name, name, f'"{name}"', f"'{name}'", f"{name} "]))
        parts.append(Part(name, tuple(draw(ABOVE)), draw(values(f"{indent}{key}:", indent))))
    end = draw(ABOVE)
    line_break = draw(st.sampled_from(["\n", "\r\n"]))
    body = draw(st.sampled_from(["", "\n", "\nBödy.\n", "Body", "\n# a\n\n---\ntitle: a\n"]))
    lines = ["---", *(line for part in parts for line in (*part.above, *part.lines)), *end, "---"]
    last = line_break if body or draw(st.booleans()) else ""
    text = draw(st.sampled_from(["", "\ufeff"])) + line_break.join(lines) + last + body.replace("\n", line_break)
    document = parse_document(PATH, text.encode())
    assume(document.fields is not None)
    return Drawn(document, tuple(parts))


def patched(document: Document, edits: tuple[Edit, ...]) -> Document:
    after = parse_document(PATH, layout.apply_edits(document.data, edits))
    assert after.fields is not None
    assert after.body == document.body
    return after


def texts_of(document: Document, name: str) -> list[Any]:
    assert document.fields is not None
    value = document.fields.get(name)
    return [] if value is None else value if isinstance(value, list) else [value]


def assert_edits_lie_in_the_lines(drawn: Drawn, name: str, edits: tuple[Edit, ...]) -> None:
    spans = drawn.spans(name)
    for edit in edits:
        if not spans:
            assert edit.start == edit.end
            assert edit.content.endswith(b"\n")
        assert all(start <= edit.start <= edit.end <= end for start, end in spans)


def edits_of(drawn: Drawn, make: Callable[[], tuple[Edit, ...]]) -> tuple[Edit, ...] | None:
    """Return the edits of a patch, or None if it is refused because a comment would be lost."""
    try:
        return make()
    except UnpatchableError as refusal:
        said = str(refusal)
    assert "has a comment in" in said
    assert b"#" in drawn.document.data
    return None


def others(document: Document, name: str) -> dict[str, Any]:
    return {key: value for key, value in (document.fields or {}).items() if key != name}


LIST_KEYS = st.sampled_from(sorted(LISTS & set(KEYS)))


@given(
    documents(), st.tuples(st.sampled_from(KEYS), TEXTS) | st.tuples(LIST_KEYS, st.lists(TEXTS, min_size=1, max_size=4))
)
def test_value_that_is_set_is_the_only_change(drawn: Drawn, change: tuple[str, str | list[str]]) -> None:
    document, (name, value) = drawn.document, change
    assume(not isinstance((document.fields or {}).get(name), dict))
    assume(all(item is None or isinstance(item, str) for item in texts_of(document, name)))
    edits = edits_of(drawn, lambda: patch.set_fields(document, {name: value}))
    if edits is None:
        return
    after = patched(document, edits)
    found = texts_of(after, name)
    assert found == ([value] if isinstance(value, str) else value) or (not edits and found == [f"{value}\n"])
    assert others(after, name) == others(document, name)
    assert_edits_lie_in_the_lines(drawn, name, edits)
    assert patch.set_fields(after, {name: value}) == ()


@given(documents(), st.sampled_from(KEYS))
def test_key_that_is_removed_takes_its_own_lines(drawn: Drawn, name: str) -> None:
    document = drawn.document
    try:
        edits = patch.set_fields(document, {name: None})
    except UnpatchableError:
        # A block scalar above would take the comment or the blank line below the key.
        above = next(part for part, own in zip(drawn.parts, drawn.parts[1:], strict=False) if own.name == name)
        assert any(mark in line for line in above.lines for mark in "|>")
        return
    after = patched(document, edits)
    assert after.fields == others(document, name)
    assert [(edit.start, edit.end) for edit in edits] == drawn.spans(name)
    assert patch.set_fields(after, {name: None}) == ()


@given(documents(), st.data(), TEXTS)
def test_item_that_is_added_removed_or_replaced_is_the_only_change(
    drawn: Drawn, data: st.DataObject, text: str
) -> None:
    document = drawn.document
    lists = [name for name, value in (document.fields or {}).items() if isinstance(value, list) and value]
    assume(lists)
    name = data.draw(st.sampled_from(lists))
    old = texts_of(document, name)
    item = data.draw(st.integers(0, len(old) - 1))
    changes: list[tuple[Callable[[], tuple[Edit, ...]], list[Any]]] = [
        (lambda: patch.remove_item(document, name, item), [*old[:item], *old[item + 1 :]]),
        (lambda: patch.replace_items(document, name, {item: text}), [*old[:item], text, *old[item + 1 :]]),
    ]
    if text not in old:
        changes.append((lambda: patch.add_items(document, name, [text]), [*old, text]))
    for make, meant in changes:
        edits = edits_of(drawn, make)
        if edits is not None:
            assert_edits_lie_in_the_lines(drawn, name, edits)
            after = patched(document, edits)
            assert texts_of(after, name) == meant
            assert others(after, name) == others(document, name)
