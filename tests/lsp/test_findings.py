"""Open documents: their positions, tokens and bytes, and the findings that `mdmem check` has once they are saved."""

from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import TODAY, commit_all, merge_conflict, run_here, write, write_entry
from editors import Hand
from lsprotocol.types import Position, PositionEncodingKind, PublishDiagnosticsParams, Range
from memories import RULE, THREADS
from pygls.workspace import PositionCodec

from mdmem.lsp.memory import SETTINGS_CODE, Document
from mdmem.lsp.server import Publisher
from mdmem.lsp.tokens import TokenKind, parse_text
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Kind
from mdmem.model.fields import FIELDS
from mdmem.model.finding import Place


def codes(hand: Hand, path: str = RULE) -> list[str]:
    """Return the codes of the findings in a file."""
    document = hand.document(path)
    return [one.code for one in document.memory.findings if one.place.path == document.path]


def places(hand: Hand) -> list[tuple[str, str]]:
    """Return the path and code of each finding."""
    return [(one.place.path, one.code) for one in hand.document(RULE).memory.findings]


def test_an_open_document_counts_in_place_of_its_file_also_if_it_cannot_be_parsed(hand: Hand) -> None:
    memory = hand.open(RULE).memory
    document = hand.type(RULE, "do not block", "never block")
    assert memory.catalog.entries["nav/rules/callbacks"].title == "Callbacks never block"
    assert document.version == 2
    hand.type(RULE, "---\n\n", "")
    assert list(memory.catalog.broken) == ["nav/rules/callbacks.md"]
    hand.close(RULE)
    assert memory.catalog.entries["nav/rules/callbacks"].title == "Callbacks do not block"


def test_code_of_the_project_belongs_to_the_memory_and_other_files_to_none(hand: Hand) -> None:
    document = hand.open("src/nav.py", "print()\n")
    assert (document.memory.location.root.name, document.path, document.code_path) == ("memory", None, "src/nav.py")
    assert hand.memories.document((hand.folder.parent / "other.md").as_uri()) is None
    # This machine may be named in a URI.
    assert hand.memories.document(hand.uri(RULE).replace("file://", "file://localhost")) is not None


def test_a_uri_that_names_no_file_belongs_to_no_memory(hand: Hand) -> None:
    here = hand.uri("memory/nav")
    others = ("untitled:Untitled-1", "file://[/x.md", f"file:///{'a' * 300}/x.md", "file://else/x.md")
    for named in (*others, f"{here}/a%00.md", f"{here}/a\ud800.md"):
        assert hand.memories.document(named) is None, named
        assert hand.memories.update(named) is None, named


def test_an_edit_is_found_in_other_files_and_an_undo_clears_both(hand: Hand) -> None:
    write_entry(hand.folder / "memory", "nav/rules/other", see=["nav/rules/callbacks"], title="Other")
    hand.open(RULE)
    assert places(hand) == []
    hand.type(RULE, "status: active", "status: deprecated\nsuperseded_by: [nav/architecture/threads]")
    found = places(hand)
    assert ("nav/rules/other.md", "link-to-superseded") in found
    assert ("nav/rules/callbacks.md", "supersession-one-sided") in found
    hand.type(RULE, "status: deprecated\nsuperseded_by: [nav/architecture/threads]", "status: active")
    assert places(hand) == []


def test_what_is_found_is_what_the_command_finds_after_saving(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    hand.open(RULE)
    document = hand.type(RULE, "status: active", "status: actve\nsee: [nav/nowhere/at-all]")
    (found,) = document.memory.findings
    (hand.folder / RULE).write_bytes(document.data)
    ran = run_here(capsys, "check", "--format", "github", cwd=hand.folder)
    assert f"line={found.place.line},col={found.place.column}" in ran.out


def test_files_that_change_on_disk_count(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    # The repository was copied a moment ago, and no clock can tell that nothing changed since.
    monkeypatch.setattr("mdmem.store.git.process.RACY_NS", 0)
    memory = hand.open(RULE).memory
    assert memory.findings == ()
    assert not memory.refresh()
    write_entry(hand.folder / "memory", "nav/architecture/threads", type="decison")
    assert memory.refresh()
    assert places(hand) == [("nav/architecture/threads.md", "invalid-value")]
    write_entry(hand.folder / "memory", "nav/architecture/new", status="actve")
    (hand.folder / THREADS).unlink()
    assert memory.refresh()
    assert places(hand) == [("nav/architecture/new.md", "invalid-value")]


def test_a_day_that_passes_counts(hand: Hand) -> None:
    write_entry(hand.folder / "memory", "nav/rules/short", type="invariant", expires_at=TODAY)
    memory = hand.open(RULE).memory
    before = places(hand)
    memory.today = lambda: date.fromisoformat(TODAY) + timedelta(1)
    assert memory.refresh()
    assert [path for path, code in places(hand) if (path, code) not in before] == ["nav/rules/short.md"]


def test_settings_that_cannot_be_parsed_are_the_finding(hand: Hand) -> None:
    hand.open("memory/mdmem.toml", "[check\n")
    assert places(hand) == [("mdmem.toml", SETTINGS_CODE)]
    hand.type("memory/mdmem.toml", "[check", '[check]\nignore = ["missing-field"]')
    assert places(hand) == []


def test_what_is_no_text_or_too_much_of_it_is_a_finding(hand: Hand) -> None:
    write(hand.folder, RULE, b"---\ntype: decision\n\x00\xff\xfe\n---\n")
    hand.open(RULE)
    assert codes(hand) == ["not-text"]
    hand.close(RULE)
    hand.open(RULE, "---\n" + f"x: {'😀 ein Wört ' * 40}\n" * 9_000)
    assert codes(hand) == ["file-too-large"]
    hand.type(RULE, "x: 😀 ein", "y")
    assert codes(hand) == ["file-too-large"]


def test_a_merge_in_progress_is_told(hand: Hand) -> None:
    text = (hand.folder / RULE).read_text(encoding="utf-8")
    merge_conflict(hand.folder, RULE, text.replace("stops", "halts"), text.replace("stops", "waits"))
    hand.open(RULE)
    assert codes(hand) == ["merge-marker"]


def test_nearest_memory_of_two_is_meant(hand: Hand) -> None:
    write(hand.folder, "sub/notes/mdmem.toml", "")
    write(hand.folder, "sub/notes/own/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(hand.folder / "sub/notes", "own/rules/a", status="actve")
    commit_all(hand.folder)
    assert hand.open(RULE).memory is not hand.open("sub/notes/own/rules/a.md").memory
    assert codes(hand, "sub/notes/own/rules/a.md") == ["invalid-value"]
    assert codes(hand) == []


def test_a_memory_that_goes_away_is_let_go_and_one_that_comes_is_found(hand: Hand) -> None:
    memory = hand.open(RULE).memory
    away = hand.folder / "memory/mdmem.toml"
    away.rename(hand.folder / "gone.toml")
    assert hand.memories.locate_again() == [memory]
    assert hand.memories.document(hand.uri(RULE)) is None
    (hand.folder / "gone.toml").rename(away)
    assert hand.memories.locate_again() == []
    assert hand.document(RULE).memory is not memory
    assert codes(hand) == []


def test_only_diagnostics_that_changed_are_published(hand: Hand, tmp_path: Path) -> None:
    write_entry(hand.folder / "memory", "nav/rules/closed", title="Closed", status="actve")
    memory = hand.open(RULE).memory
    hand.type(RULE, "active", "actve")
    published: list[PublishDiagnosticsParams] = []
    publisher = Publisher(published.append, lambda _, work: work())

    def newly() -> dict[str, int]:
        publisher.publish(memory)
        found = {one.uri: len(one.diagnostics) for one in published}
        published.clear()
        return found

    closed = hand.uri("memory/nav/rules/closed.md")
    assert newly() == {hand.uri(RULE): 1, closed: 1}
    assert newly() == {}
    hand.type(RULE, "actve", "active")
    assert newly() == {hand.uri(RULE): 0}
    write_entry(hand.folder / "memory", "nav/rules/closed", title="Closed")
    assert newly() == {closed: 0}
    (hand.folder / "memory").rename(hand.folder / "moved")
    assert newly() == {hand.uri(RULE): 0}


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
_LISTS = {field.name for field in FIELDS if field.kind in (Kind.LINKS, Kind.GLOBS, Kind.WINGS, Kind.TEXTS)}


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
        ("---\nrelations: [{type: part-of, to: a/b/c}]\n---\n", "key relations=relations; address relations=a/b/c"),
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
