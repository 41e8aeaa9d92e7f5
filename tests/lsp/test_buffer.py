"""Texts of editors: their columns count UTF-16 units, those of findings characters."""

from lsprotocol.types import Position, Range, TextDocumentContentChangePartial, TextDocumentContentChangeWholeDocument

from mdmem.lsp.buffer import Buffer, over_file
from mdmem.model.finding import Place


def buffer(text: str) -> Buffer:
    return Buffer("file:///a", "a.md", text)


def test_columns_beyond_an_emoji_count_twice() -> None:
    found = buffer("x: 😀ü end\n")
    assert found.position_at(4) == Position(0, 5)
    assert found.offset_at(Position(0, 5)) == 4
    assert found.offset_at(Position(0, 4)) == 3, "half of a pair is its start"
    assert found.range_at(Place("a.md", 1, 7, 3)) == Range(Position(0, 7), Position(0, 10))


def test_a_place_without_a_width_is_the_rest_of_its_line() -> None:
    assert buffer("ab\r\ncd\r\n").range_at(Place("a.md", 2, 1)) == Range(Position(1, 0), Position(1, 2))
    assert buffer("").range_at(Place("a.md", 1, 1)) == Range(Position(0, 0), Position(0, 0))
    assert buffer("ab").range_at(Place("a.md", 9, 9)) == Range(Position(0, 2), Position(0, 2))


def test_lines_end_where_an_editor_ends_them() -> None:
    found = buffer("a\u2028b\fc\rd\r\ne\n")
    assert [found.line(number) for number in range(found.line_count)] == ["a\u2028b\fc", "d", "e", ""]
    # A place counts line feeds alone.
    assert found.range_at(Place("a.md", 1, 7, 1)).start == Position(1, 0)
    assert found.range_at(Place("a.md", 2, 2, 1)).start == Position(2, 1)


def test_changes_count_from_the_one_before() -> None:
    first = TextDocumentContentChangePartial(Range(Position(0, 0), Position(0, 2)), "😀\n")
    second = TextDocumentContentChangePartial(Range(Position(0, 2), Position(1, 0)), "")
    found = buffer("ab c").changed([first, second], 7)
    assert (found.text, found.version) == ("😀 c", 7)
    assert found.changed([TextDocumentContentChangeWholeDocument("new")], 8).text == "new"


def test_a_text_as_it_was_read_has_the_bytes_of_its_file() -> None:
    on_disk = b"\xef\xbb\xbfa\r\nb\xff\n"
    found = over_file(buffer("a\nb\ufffd\n"), on_disk)
    assert found.data == on_disk
    assert found.changed([TextDocumentContentChangeWholeDocument("c")], 2).data == b"\xef\xbb\xbfc"
