"""What stands above an entry and above code, and behind links and globs; and the editor's settings for it."""

from pathlib import Path

import pytest
from builders import commit_all, make_repository, make_root, write, write_entry
from editors import Hand
from lsprotocol import types
from memories import DRAFT, NODE, ONE, RULE, THREADS

from mdmem.lsp.hints import hints
from mdmem.lsp.lenses import lenses
from mdmem.lsp.options import Options, options_from


def said(hand: Hand, path: str) -> list[str]:
    hand.open(path)
    found = lenses(*hand.page(path), types.CodeLensParams(hand.document(path)))
    hand.roots.close(hand.uri(path))
    return [one.command.title for one in found if one.command is not None]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (THREADS, ["1 draft to supersede this", "2 entries name this", "binds 2 files"]),
        (ONE, ["superseded by architecture/threads", "2 entries name this"]),
        (DRAFT, ["draft for architecture/threads"]),
        (RULE, ["1 entry names this", "binds 1 file", "not reviewed for 1055 days"]),
        ("memory/nav/README.md", []),
        (NODE, ["1 invariant, 1 decision apply to this file"]),
        ("src/nav/plan.py", ["1 decision applies to this file"]),
        ("src/ui.py", []),
    ],
)
def test_lenses(reader: Hand, path: str, expected: list[str]) -> None:
    assert said(reader, path) == expected


def test_code_beside_wings_at_the_top_of_a_repository_is_code(tmp_path: Path) -> None:
    folder = make_root(make_repository(tmp_path.resolve()))
    write(folder, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(folder, "nav/rules/docs", title="Plain words", applies_to=['"**/*.md"', "src"])
    write_entry(folder, "nav/rules/always", "Be kind.\n", type="invariant", title="Kind")
    write(folder, "src/a.py", "")
    write(folder, "docs/en/a.md", "# A\n")
    commit_all(folder)
    hand = Hand(folder)
    assert (
        said(hand, "src/a.py")
        == said(hand, "docs/en/a.md")
        == ["1 decision applies to this file, +1 that always binds"]
    )
    write(folder, "setup.py", "")
    assert said(hand, "setup.py") == []
    assert said(hand, "nav/rules/docs.md") == ["binds 5 files"]


def test_a_click_on_a_lens_leads_to_what_it_speaks_of(reader: Hand) -> None:
    session, buffer = reader.open(NODE)
    (lens,) = lenses(session, buffer, types.CodeLensParams(reader.document(NODE)))
    reader.roots.close(reader.uri(NODE))
    assert lens.command is not None
    assert lens.command.command == "mdmem.show"
    assert lens.command.arguments == [
        "1 invariant, 1 decision apply to this file",
        [
            {"title": "invariant: Callbacks do not block", "uri": reader.uri(RULE)},
            {"title": "decision: Use two threads", "uri": reader.uri(THREADS)},
        ],
    ]


def test_a_text_that_cannot_be_read_has_no_lens(reader: Hand) -> None:
    session, buffer = reader.open(RULE, "---\nstatus: [\n---\n")
    assert lenses(session, buffer, types.CodeLensParams(reader.document(RULE))) == []
    reader.roots.close(reader.uri(RULE))


def test_hints_behind_links_and_globs(reader: Hand) -> None:
    text = (
        "---\napplies_to: ['src/nav/**', src/ui.py]\nsee: [\"nav/architecture/one-thread\"]\n"
        "supersedes: nav/architecture/one-thread\n---\n\n😀 [see: three-threads, threads]\n"
    )
    path = "memory/nav/architecture/new.md"
    session, buffer = reader.open(path, text)
    whole = types.InlayHintParams(reader.document(path), buffer.range_of(0, len(text)))
    found = [
        (text[: buffer.offset_at(one.position)].splitlines()[-1], one.label) for one in hints(session, buffer, whole)
    ]
    part = types.InlayHintParams(reader.document(path), buffer.range_of(0, 10))
    assert hints(session, buffer, part) == []
    reader.roots.close(reader.uri(path))
    assert found == [
        ("applies_to: ['src/nav/**'", "2 files"),
        ("applies_to: ['src/nav/**', src/ui.py", "1 file"),
        ('see: ["nav/architecture/one-thread"', "→ architecture/threads"),
        ("😀 [see: three-threads", "draft"),
    ]


@pytest.mark.parametrize(
    ("stated", "options"),
    [
        ({"mdmem": {"codeLens": False}}, Options(code_lens=False)),
        ({"inCode": False, "other": 1}, Options(in_code=False)),
        ({"mdmem": {"codeLens": "no"}}, Options()),
        ({"mdmem": None}, Options()),
        (None, Options()),
        ([1], Options()),
    ],
)
def test_settings_of_the_editor(stated: object, options: Options) -> None:
    assert options_from(stated, Options()) == options


def test_settings_switch_lenses_and_all_that_is_said_in_code_off() -> None:
    lens, hover = "textDocument/codeLens", "textDocument/hover"
    without_lens, without_code = Options(code_lens=False), Options(in_code=False)
    assert [without_lens.lets(lens, in_code=False), without_lens.lets(hover, in_code=True)] == [False, True]
    assert [without_code.lets(hover, in_code=True), without_code.lets(lens, in_code=False)] == [False, True]
