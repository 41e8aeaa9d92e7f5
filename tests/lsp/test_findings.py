"""Test open documents: positions, tokens and bytes, the findings of `mdmem check`, and fixes as actions."""

from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import TODAY, commit_all, environment, merge_conflict, run_here, write, write_entry
from editors import Hand, applied
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.types import Position, PositionEncodingKind, PublishDiagnosticsParams, Range
from memories import RULE, THREADS
from msgspec.structs import replace
from pygls.workspace import PositionCodec
from test_cases import CASES, facts_of, settings_of

from mdmem.checks.case import Case
from mdmem.checks.engine import run_checks
from mdmem.lsp.edit import edit_of, text_edits_to
from mdmem.lsp.memory import SETTINGS_CODE, Capabilities, Document, OpenMemory
from mdmem.lsp.server import Server
from mdmem.lsp.tokens import parse_text
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Kind
from mdmem.model.fields import FIELDS
from mdmem.model.finding import Place
from mdmem.store.workspace.location import located
from mdmem.write.fix import plan_fix


def codes(hand: Hand, path: str = RULE) -> list[str]:
    document = hand.document(path)
    return [one.code for one in document.memory.findings if one.place.path == document.path]


def places(hand: Hand) -> list[tuple[str, str]]:
    return [(one.place.path, one.code) for one in hand.document(RULE).memory.findings]


def test_open_document_replaces_its_file_even_if_it_cannot_be_parsed(hand: Hand) -> None:
    memory = hand.open(RULE).memory
    document = hand.type(RULE, "do not block", "never block")
    assert memory.catalog.entries["nav/rules/callbacks"].title == "Callbacks never block"
    assert document.version == 2
    hand.type(RULE, "---\n\n", "")
    assert list(memory.catalog.broken) == ["nav/rules/callbacks.md"]
    hand.close(RULE)
    assert memory.catalog.entries["nav/rules/callbacks"].title == "Callbacks do not block"


def test_code_belongs_to_the_memory_of_its_project_and_other_files_to_none(hand: Hand) -> None:
    document = hand.open("src/nav.py", "print()\n")
    assert (document.memory.location.root.name, document.path, document.code_path) == ("memory", None, "src/nav.py")
    # A URI may contain the name of this machine.
    assert hand.memories.document(hand.uri(RULE).replace("file://", "file://localhost")) is not None
    here, other = hand.uri("memory/nav"), (hand.folder.parent / "other.md").as_uri()
    others = (other, "untitled:Untitled-1", "file://[/x.md", f"file:///{'a' * 300}/x.md", "file://else/x.md")
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


def test_findings_are_those_of_the_command_after_saving(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    hand.open(RULE)
    document = hand.type(RULE, "status: active", "status: actve\nsee: [nav/nowhere/at-all]")
    (found,) = document.memory.findings
    (hand.folder / RULE).write_bytes(document.data)
    ran = run_here(capsys, "check", "--format", "github", cwd=hand.folder)
    assert f"line={found.place.line},col={found.place.column}" in ran.out


def test_changes_on_disk_and_a_new_day_are_noticed(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
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
    write_entry(hand.folder / "memory", "nav/rules/short", type="invariant", expires_at=TODAY)
    assert memory.refresh()
    before = places(hand)
    assert ("nav/architecture/new.md", "invalid-value") in before
    assert THREADS.removeprefix("memory/") not in dict(before)
    memory.today = lambda: date.fromisoformat(TODAY) + timedelta(1)
    assert memory.refresh()
    assert [path for path, code in places(hand) if (path, code) not in before] == ["nav/rules/short.md"]


def test_settings_that_cannot_be_parsed_are_the_finding(hand: Hand) -> None:
    hand.open("memory/mdmem.toml", "[check\n")
    assert places(hand) == [("mdmem.toml", SETTINGS_CODE)]
    hand.type("memory/mdmem.toml", "[check", '[check]\nignore = ["missing-field"]')
    assert places(hand) == []


def test_merge_in_progress_is_a_finding(hand: Hand) -> None:
    text = (hand.folder / RULE).read_text(encoding="utf-8")
    merge_conflict(hand.folder, RULE, text.replace("stops", "halts"), text.replace("stops", "waits"))
    hand.open(RULE)
    assert codes(hand) == ["merge-marker"]


def test_binary_or_very_large_file_is_a_finding(hand: Hand) -> None:
    write(hand.folder, RULE, b"---\ntype: decision\n\x00\xff\xfe\n---\n")
    hand.open(RULE)
    assert codes(hand) == ["not-text"]
    hand.close(RULE)
    hand.open(RULE, "---\n" + f"x: {'😀 ein Wört ' * 40}\n" * 9_000)
    assert codes(hand) == ["file-too-large"]
    hand.type(RULE, "x: 😀 ein", "y")
    assert codes(hand) == ["file-too-large"]


def test_file_belongs_to_the_nearest_memory(hand: Hand) -> None:
    write(hand.folder, "sub/notes/mdmem.toml", "")
    write(hand.folder, "sub/notes/own/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(hand.folder / "sub/notes", "own/rules/a", status="actve")
    commit_all(hand.folder)
    assert hand.open(RULE).memory is not hand.open("sub/notes/own/rules/a.md").memory
    assert codes(hand, "sub/notes/own/rules/a.md") == ["invalid-value"]
    assert codes(hand) == []


def test_deleted_memory_is_forgotten_and_a_new_one_found(hand: Hand) -> None:
    memory = hand.open(RULE).memory
    away = hand.folder / "memory/mdmem.toml"
    away.rename(hand.folder / "gone.toml")
    assert hand.memories.relocate() == [memory]
    assert hand.memories.document(hand.uri(RULE)) is None
    (hand.folder / "gone.toml").rename(away)
    assert hand.memories.relocate() == []
    assert hand.document(RULE).memory is not memory
    assert codes(hand) == []


def test_only_diagnostics_that_changed_are_published(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(hand.folder / "memory", "nav/rules/closed", title="Closed", status="actve")
    memory = hand.open(RULE).memory
    hand.type(RULE, "active", "actve")
    published: list[PublishDiagnosticsParams] = []
    server = Server(hand.memories)
    monkeypatch.setattr(server, "text_document_publish_diagnostics", published.append)

    def newly() -> dict[str, int]:
        server.publish(memory)
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


def test_place_without_a_width_is_the_rest_of_its_line() -> None:
    assert document("ab\r\ncd\r\n").range_of_place(Place("a.md", 2, 1)) == Range(Position(1, 0), Position(1, 2))
    assert document("").range_of_place(Place("a.md", 1, 1)) == Range(Position(0, 0), Position(0, 0))
    assert document("ab").range_of_place(Place("a.md", 9, 9)) == Range(Position(0, 2), Position(0, 2))
    assert [document("ab 😀\ncd").offset_at(one) for one in (Position(0, 99), Position(9, 9))] == [4, 7]


def test_lines_end_where_an_editor_ends_them() -> None:
    found = document("a\u2028b\fc\rd\r\ne\n")
    assert [found.line(number) for number in range(4)] == ["a\u2028b\fc", "d", "e", ""]
    # Lines of a place end only at line feeds.
    assert found.range_of_place(Place("a.md", 1, 7, 1)).start == Position(1, 0)
    assert found.range_of_place(Place("a.md", 2, 2, 1)).start == Position(2, 1)


EXAMPLES = Path(__file__).parents[2] / "example-wings"
_LISTS = {field.name for field in FIELDS if field.kind in (Kind.LINKS, Kind.GLOBS, Kind.WINGS, Kind.TEXTS)}


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
    found = parse_text(text).tokens
    assert "; ".join(f"{token.kind.value} {token.key}={token.text}" for token in found) == expected


OTHER = "memory/nav/rules/other.md"
FIX_ALL = "source.fixAll.mdmem"
# No editor shows the mark or lets an edit remove it.
UNSEEN = "utf8-bom"


def quick_fixes(hand: Hand, path: str, line: int) -> dict[str, types.CodeAction]:
    return {one.title: one for one in hand.actions(path, line, only="quickfix")}


@pytest.mark.parametrize("code", sorted({path.parent.parent.name for path in CASES.glob("*/*/fixed.diff")} - {UNSEEN}))
def test_each_fix_of_the_golden_cases_is_the_same_in_an_editor(code: str, tmp_path: Path) -> None:
    made = 0
    for folder in (path.parent for path in CASES.glob(f"{code}/*/fixed.diff")):
        root = folder / "root"
        said = environment(XDG_CACHE_HOME=str(tmp_path))
        memory = OpenMemory(located(root, "a test"), said, lambda: date.fromisoformat(TODAY))
        tree = memory.workspace.tree
        case = Case(memory.workspace.whole_catalog, settings_of(root), date.fromisoformat(TODAY), facts_of(folder))
        for finding in run_checks(case, [code]):
            changes = plan_fix(tree, finding).changes if finding.fix is not None else ()
            edit = edit_of(memory, changes)
            texts = {one.text_document.uri: one.edits for one in _documents(edit)}
            for change in changes:
                document = memory.document(change.path)
                assert document is not None
                after = applied(document.text, texts.get(document.uri, ()))
                assert replace(document, text=after, saved=None).data == change.after
                made += 1
    assert made


def _documents(edit: types.WorkspaceEdit | None) -> list:
    changed = edit.document_changes if edit is not None else ()
    return [one for one in changed or () if isinstance(one, types.TextDocumentEdit)]


@pytest.mark.parametrize(
    ("on_disk", "shown", "expected"),
    [
        (b"\xef\xbb\xbfa: 1\n", "a: 1\n", "a: 2\n"),
        (b"a: 1\r\nb\r\n", "a: 1\nb\n", "a: 2\nb\n"),
        (b"a: 1\nb\n", "a: 1\r\nb\r\n", "a: 2\r\nb\r\n"),
        ("😀: 1\r\n\u2028ä\n".encode(), "😀: 1\r\n\u2028ä\n", "😀: 2\r\n\u2028ä\n"),
    ],
)
def test_byte_order_mark_and_line_ends_survive_an_editor_that_hides_them(
    on_disk: bytes, shown: str, expected: str
) -> None:
    found = document(shown).compared_with(on_disk)
    assert found.data == on_disk
    assert replace(found, text=expected, saved=None).data.count(b"\xef\xbb\xbf") == on_disk.count(b"\xef\xbb\xbf")
    assert applied(shown, text_edits_to(found, on_disk.replace(b"1", b"2"))) == expected


@given(st.text("a\r\n😀\u2028", max_size=12), st.text("a\r\n😀\u2028", max_size=12))
@settings(max_examples=100, deadline=None)
def test_edits_lead_from_any_text_to_any_other(before: str, after: str) -> None:
    edits = text_edits_to(document(before), after.encode())
    assert applied(before, edits) == after


def test_only_a_safe_fix_is_preferred(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    write_entry(hand.folder / "memory", "nav/rules/other", title="Other", see=["nav/rules/other"], reason="r")
    commit_all(hand.folder)
    hand.open(OTHER)
    ended = "status: deprecated\ndeprecated_at: 2026-03-06\nsuperseded_by: [nav/architecture/threads]"
    hand.type(OTHER, "status: active", ended)
    (decides,) = quick_fixes(hand, OTHER, 4).values()
    assert decides.title.startswith("Add `supersedes` to `nav/architecture/threads.md`")
    assert not decides.is_preferred
    (safe,) = quick_fixes(hand, OTHER, 7).values()
    assert (safe.title, safe.is_preferred) == ("Remove it from `see`", True)
    hand.apply(decides.edit)
    (safe,) = quick_fixes(hand, OTHER, 7).values()
    hand.apply(safe.edit)
    hand.save()
    assert run_here(capsys, "check", cwd=hand.folder).code == 0
    assert not hand.actions(OTHER, 4, only="quickfix")


def test_fix_changes_a_file_that_is_not_open(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    write_entry(hand.folder / "memory", "nav/rules/other", title="Wörter 😀", type="invariant")
    commit_all(hand.folder)
    hand.open(RULE)
    hand.type(RULE, "status: active", 'status: active\nsupersedes: [nav/rules/other]\nreason: "it is shorter"')
    (fix,) = quick_fixes(hand, RULE, 3).values()
    assert [one.text_document.uri for one in _documents(fix.edit)] == [hand.uri(OTHER)]
    hand.apply(fix.edit)
    hand.save()
    assert "superseded_by: [nav/rules/callbacks]" in (hand.folder / OTHER).read_text(encoding="utf-8")
    assert run_here(capsys, "check", cwd=hand.folder).code == 0


def test_all_safe_fixes_of_a_file_are_one_action(hand: Hand) -> None:
    text = "---\r\ntype: Decision\r\nstatus: actve\r\ncreated_at: 2026-03-05\r\ntitle: Ümläute 😀\r\n"
    write(hand.folder, OTHER, f"{text}see: [nav/rules/other]\r\n---\r\n\r\nWe decided 😀.\r\n\r\nRationale: tried.")
    hand.open(OTHER)
    (offered,) = hand.actions(OTHER, only="source")
    assert offered.kind == FIX_ALL
    hand.apply(offered.edit)
    hand.save()
    mended = (hand.folder / OTHER).read_bytes().decode()
    head = text.replace("Decision", "decision").replace("actve", "active")
    assert mended == f"{head}---\r\n\r\nWe decided 😀.\r\n\r\nRationale: tried.\r\n"
    assert not hand.actions(OTHER, only=FIX_ALL)
    document = hand.document(OTHER)
    assert document.memory.findings == ()


def test_an_editor_without_versions_gets_plain_edits(hand: Hand) -> None:
    hand.memories.capabilities = Capabilities(versioned_edits=False)
    hand.open(RULE)
    hand.type(RULE, "status: active", "status: actve")
    (offered,) = hand.actions(RULE, only=FIX_ALL)
    assert offered.edit is not None
    (edits,) = (offered.edit.changes or {}).values()
    assert [(one.new_text, one.range.start.line) for one in edits] == [("status: active\n", 2)]
