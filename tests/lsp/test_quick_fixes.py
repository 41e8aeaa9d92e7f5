"""Fixes as actions of an editor: the engine's own, in the editor's columns, with no other byte changed."""

from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import TODAY, commit_all, environment, run_here, write, write_entry
from editors import Hand, applied
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from memories import RULE
from msgspec.structs import replace
from pygls.workspace import PositionCodec
from test_cases import CASES, facts_of, settings_of

from mdmem.checks.case import Case
from mdmem.checks.engine import run_checks
from mdmem.lsp.edit import edit_of, text_edits_to
from mdmem.lsp.memory import Abilities, Document, OpenMemory
from mdmem.store.workspace.location import located
from mdmem.write.fix import plan_fix

OTHER = "memory/nav/rules/other.md"
FIX_ALL = "source.fixAll.mdmem"
# No editor shows the mark, or lets it be taken away by an edit.
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
def test_marks_and_ends_of_lines_that_an_editor_keeps_for_itself(on_disk: bytes, shown: str, expected: str) -> None:
    document = text_of(shown).compared_with(on_disk)
    assert document.data == on_disk
    assert replace(document, text=expected, saved=None).data.count(b"\xef\xbb\xbf") == on_disk.count(b"\xef\xbb\xbf")
    assert applied(shown, text_edits_to(document, on_disk.replace(b"1", b"2"))) == expected


@given(st.text("a\r\n😀\u2028", max_size=12), st.text("a\r\n😀\u2028", max_size=12))
@settings(max_examples=100, deadline=None)
def test_edits_lead_from_any_text_to_any_other(before: str, after: str) -> None:
    edits = text_edits_to(text_of(before), after.encode())
    assert applied(before, edits) == after


def text_of(text: str) -> Document:
    return Document(SimpleNamespace(codec=PositionCodec()), "file:///a.md", "a.md", text)  # type: ignore[arg-type]


def test_a_safe_fix_is_preferred_and_one_that_decides_is_not(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_one_fix_mends_the_other_end_in_a_file_that_is_not_open(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
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
    hand.memories.abilities = Abilities(versioned_edits=False)
    hand.open(RULE)
    hand.type(RULE, "status: active", "status: actve")
    (offered,) = hand.actions(RULE, only=FIX_ALL)
    assert offered.edit is not None
    (edits,) = (offered.edit.changes or {}).values()
    assert [(one.new_text, one.range.start.line) for one in edits] == [("status: active\n", 2)]


def test_code_has_no_action(hand: Hand) -> None:
    write(hand.folder, "src/a.py", "# nav/rules/callbacks\n")
    hand.open("src/a.py")
    assert hand.actions("src/a.py") == []
