"""Positions of a document, which count in the editor's units, and the bytes that saving it writes."""

from types import SimpleNamespace

import pytest
from lsprotocol.types import Position, PositionEncodingKind, Range
from pygls.workspace import PositionCodec

from mdmem.lsp.memory import Document
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
