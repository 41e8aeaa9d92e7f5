"""Patches of any front matter: exactly the change, every other byte the same, twice as good as once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from mdmem.markdown import layout, patch
from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.fields import LISTS
from mdmem.model.finding import Edit

PATH = "w/r/e.md"
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


def double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@st.composite
def sources(draw: st.DrawFn) -> str:
    """Draw one value on one line."""
    text = draw(PLAIN)
    style = draw(st.sampled_from(["plain", "single", "double"]))
    if style == "single":
        return "'" + draw(st.sampled_from(["", text, "# x", "a: b, c", "''"])).replace("'", "''") + "'"
    if style == "double":
        return double(draw(st.sampled_from(["", text, "# x", "[a] \\ b", "a, b"])))
    return text


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
    form = draw(
        st.sampled_from(["line", "line", "line", "below", "folded", "literal", "empty", "flow", "block", "nested"])
    )
    if form == "line":
        return (f"{head}{gap}{draw(sources())}{comment}",)
    if form == "below":
        return (f"{head}{comment}", f"{indent}  {draw(sources())}")
    if form == "folded":
        return (f"{head}{gap}a", f"{indent}  b c{comment}")
    if form == "literal":
        mark = draw(st.sampled_from(["|", ">", "|-", ">-", "|+", "|2"]))
        return (
            f"{head}{gap}{mark}{comment}",
            f"{indent}  a # no comment",
            *draw(st.sampled_from([(), ("",)])),
            f"{indent}  b",
        )
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
        line_break = (
            b"\r\n" if self.document.data[:8].endswith(b"\r\n") or b"---\r\n" in self.document.data[:9] else b"\n"
        )
        at = self.document.data.index(line_break) + len(line_break)
        for part in self.parts:
            at += sum(len(line.encode()) + len(line_break) for line in part.above)
            end = at + sum(len(line.encode()) + len(line_break) for line in part.lines)
            # Blank lines below a block scalar that keeps them are its own.
            while "|+" in part.lines[0] and self.document.data.startswith(line_break, end):
                end += len(line_break)
            if part.name == name:
                return [(at, end)]
            at += sum(len(line.encode()) + len(line_break) for line in part.lines)
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


def is_flat(document: Document, name: str) -> bool:
    return all(item is None or isinstance(item, str) for item in texts_of(document, name))


def assert_edits_lie_in_the_lines(drawn: Drawn, name: str, edits: tuple[Edit, ...]) -> None:
    spans = drawn.spans(name)
    for edit in edits:
        if not spans:
            assert edit.start == edit.end
            assert edit.content.endswith(b"\n")
        assert all(start <= edit.start <= edit.end <= end for start, end in spans)


def edits_of(drawn: Drawn, make: Callable[[], tuple[Edit, ...]]) -> tuple[Edit, ...] | None:
    """Return the edits of a patch, or None where it is refused because a comment would be lost."""
    try:
        return make()
    except UnpatchableError as refusal:
        assert_comment_would_be_lost(drawn, refusal)
        return None


def assert_comment_would_be_lost(drawn: Drawn, refusal: UnpatchableError) -> None:
    assert "has a comment in" in str(refusal)
    assert b"#" in drawn.document.data


def others(document: Document, name: str) -> dict[str, Any]:
    return {key: value for key, value in (document.fields or {}).items() if key != name}


LIST_KEYS = st.sampled_from(sorted(LISTS & set(KEYS)))


@given(
    documents(), st.tuples(st.sampled_from(KEYS), TEXTS) | st.tuples(LIST_KEYS, st.lists(TEXTS, min_size=1, max_size=4))
)
def test_value_that_is_set_is_the_only_change(drawn: Drawn, change: tuple[str, str | list[str]]) -> None:
    document, (name, value) = drawn.document, change
    assume(not isinstance((document.fields or {}).get(name), dict) and is_flat(document, name))
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


@given(documents(), st.dictionaries(st.sampled_from(KEYS), TEXTS | st.none(), max_size=4))
def test_several_fields_change_at_once(drawn: Drawn, values: dict[str, str | None]) -> None:
    document = drawn.document
    assume(all(not isinstance((document.fields or {}).get(name), dict) and is_flat(document, name) for name in values))
    try:
        edits = patch.set_fields(document, values)
    except UnpatchableError as refusal:
        if None not in values.values():
            assert_comment_would_be_lost(drawn, refusal)
        return
    after = patched(document, edits)
    assert patch.verify(document, after, values)
    assert patch.set_fields(after, values) == ()


@given(documents(), LIST_KEYS, TEXTS)
def test_item_that_is_added_and_removed_leaves_the_meaning(drawn: Drawn, name: str, text: str) -> None:
    document = drawn.document
    old = texts_of(document, name)
    assume(text not in old and not any(isinstance(item, dict) for item in old))
    edits = edits_of(drawn, lambda: patch.add_items(document, name, [text]))
    if edits is None:
        return
    assert_edits_lie_in_the_lines(drawn, name, edits)
    added = patched(document, edits)
    assert texts_of(added, name) == [*old, text]
    assert patch.add_items(added, name, [text]) == ()
    removed = patched(added, patch.remove_item(added, name, len(old)))
    assert texts_of(removed, name) == old
    assert others(removed, name) == others(document, name)


@given(documents(), st.data())
def test_item_that_is_removed_or_replaced_is_the_only_change(drawn: Drawn, data: st.DataObject) -> None:
    document = drawn.document
    lists = [name for name, value in (document.fields or {}).items() if isinstance(value, list) and len(value) > 1]
    assume(lists)
    name = data.draw(st.sampled_from(lists))
    old = texts_of(document, name)
    item, text = data.draw(st.integers(0, len(old) - 1)), data.draw(TEXTS)
    removal = edits_of(drawn, lambda: patch.remove_item(document, name, item))
    replacement = edits_of(drawn, lambda: patch.replace_items(document, name, {item: text}))
    if removal is None or replacement is None:
        return
    assert_edits_lie_in_the_lines(drawn, name, removal)
    after = patched(document, removal)
    assert texts_of(after, name) == [*old[:item], *old[item + 1 :]]
    assert_edits_lie_in_the_lines(drawn, name, replacement)
    assert texts_of(patched(document, replacement), name) == [*old[:item], text, *old[item + 1 :]]


@given(documents(), st.data(), TEXTS)
def test_key_that_is_renamed_keeps_its_value(drawn: Drawn, data: st.DataObject, text: str) -> None:
    document = drawn.document
    assume(document.fields and text not in document.fields)
    name = data.draw(st.sampled_from(sorted(document.fields or {})))
    after = patched(document, patch.rename_key(document, name, text))
    assert list((after.fields or {}).items()) == [
        (text if key == name else key, value) for key, value in (document.fields or {}).items()
    ]


@given(st.binary(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.binary(max_size=3))))
def test_bytes_outside_the_edits_stay(data: bytes, drawn: list[tuple[int, int, bytes]]) -> None:
    edits = [Edit(PATH, start, start + width, content) for start, width, content in drawn]
    try:
        after = layout.apply_edits(data, edits)
    except ValueError:
        return
    assert len(after) == len(data) + sum(len(edit.content) - (edit.end - edit.start) for edit in edits)
    first = min((edit.start for edit in edits), default=len(data))
    last = max((edit.end for edit in edits), default=0)
    assert after.startswith(data[:first])
    assert after.endswith(data[last:])
