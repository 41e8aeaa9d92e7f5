"""Positions of a document in the units of an editor, the bytes that saving it writes, and the tokens of its text."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from lsprotocol.types import Position, PositionEncodingKind, Range
from pygls.workspace import PositionCodec

from mdmem.lsp.memory import Document
from mdmem.lsp.tokens import TokenKind, parse_text
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Kind
from mdmem.model.fields import FIELDS
from mdmem.model.finding import Place


def document(text: str, encoding: PositionEncodingKind = PositionEncodingKind.Utf16) -> Document:
    memory = SimpleNamespace(codec=PositionCodec(encoding))
    return Document(memory, "file:///a.md", "a.md", text)  # type: ignore[arg-type]


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 7), ("utf-16", 5), ("utf-32", 4)])
def test_columns_count_in_the_units_that_the_editor_chose(encoding: str, column: int) -> None:
    found = document("x: 😀ü end\n", PositionEncodingKind(encoding))
    assert found.position_at(4) == Position(0, column)
    assert found.offset_at(Position(0, column)) == 4


def test_a_place_without_a_width_is_the_rest_of_its_line() -> None:
    assert document("ab\r\ncd\r\n").range_of_place(Place("a.md", 2, 1)) == Range(Position(1, 0), Position(1, 2))
    assert document("").range_of_place(Place("a.md", 1, 1)) == Range(Position(0, 0), Position(0, 0))
    assert document("ab").range_of_place(Place("a.md", 9, 9)) == Range(Position(0, 2), Position(0, 2))


def test_lines_end_where_an_editor_ends_them() -> None:
    found = document("a\u2028b\fc\rd\r\ne\n")
    assert [found.line(number) for number in range(found.line_count)] == ["a\u2028b\fc", "d", "e", ""]
    # The lines of a place end at line feeds alone.
    assert found.range_of_place(Place("a.md", 1, 7, 1)).start == Position(1, 0)
    assert found.range_of_place(Place("a.md", 2, 2, 1)).start == Position(2, 1)


def test_a_position_beyond_the_text_is_its_end() -> None:
    found = document("ab 😀\ncd")
    assert [found.offset_at(Position(0, 99)), found.offset_at(Position(9, 9))] == [4, 7]


EXAMPLES = Path(__file__).parents[2] / "example-wings"
_LISTS = {field.name for field in FIELDS if field.kind in (Kind.LINKS, Kind.GLOBS, Kind.NAMES, Kind.TEXTS)}


def tokens(text: str) -> str:
    return "; ".join(f"{token.kind.value} {token.key}={token.text}" for token in parse_text(text).tokens)


def test_lists_are_read_as_the_parser_reads_them() -> None:
    read = 0
    for path in sorted(EXAMPLES.glob("*/*/*.md")):
        document = parse_document("a/b/c.md", path.read_bytes())
        for field in parse_text(document.text).fields:
            if field.key.text in _LISTS:
                value = (document.fields or {})[field.key.text]
                stated = value if isinstance(value, list) else [value]
                assert [item.text for item in field.items] == stated, f"{path}: {field.key.text}"
                read += 1
    assert read > 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nsta\nsee: [a/b/c, 'd/e/f'\n", "key see=see; address see=a/b/c; address see=d/e/f"),
        ("---\r\nsee:\r\n  - a/b/c # why\r\n---\r\n", "key see=see; address see=a/b/c"),
        (
            "---\nrelations: [{type: part-of, to: a/b/c}]\n---\n",
            "key relations=relations; address relations=a/b/c",
        ),
        ("---\nignore:\n  local-path: it is meant\n---\n", "key ignore=ignore; code ignore=local-path"),
        ('---\ntitle: "A # b"  # c\n---\n', "key title=title; value title=A # b"),
        (
            "\ufeff---\nreason: >-\n  see: no\n  key\n---\n[[x/y/z]]",
            "key reason=reason; value reason=>-\n  see: no\n  key; address =x/y/z",
        ),
        ("no entry [see: a/b/c]", "address =a/b/c"),
        ("", ""),
        ("---", ""),
    ],
)
def test_broken_and_odd_texts_are_parsed(text: str, expected: str) -> None:
    assert tokens(text) == expected


def test_the_offsets_of_a_token_are_those_of_its_text() -> None:
    text = '---\ntitle: Ü😀\nsee: ["a/b/c"]\n---\n\n😀 [see: ä/b/c] `[see: x/y/z]`\n'
    assert all(text[token.start : token.end] == token.text for token in parse_text(text).tokens)
    found = parse_text(text).token_at(text.index("a/b/c") + 5)
    assert found is not None
    assert found.kind is TokenKind.ADDRESS
