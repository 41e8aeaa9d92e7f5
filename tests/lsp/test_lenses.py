"""The lines above an entry and above code, and the editor's settings for them."""

from pathlib import Path

import pytest
from builders import commit_all, make_repository, make_root, write, write_entry
from editors import Hand
from lsprotocol import types
from memories import DRAFT, NODE, ONE, RULE, THREADS

from mdmem.lsp.server import Options, options_from
from mdmem.lsp.show import lenses


def said(hand: Hand, path: str) -> list[str]:
    hand.open(path)
    found = lenses(hand.document(path), types.CodeLensParams(hand.named(path)))
    hand.close(path)
    return [one.command.title for one in found if one.command is not None]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (THREADS, ["2 entries mention this", "applies to 2 files"]),
        (ONE, ["superseded by architecture/threads", "2 entries mention this"]),
        (DRAFT, []),
        (RULE, ["1 entry mentions this", "applies to 1 file"]),
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
        == ["1 decision applies to this file, +1 that applies everywhere"]
    )
    write(folder, "setup.py", "")
    assert said(hand, "setup.py") == []
    assert said(hand, "nav/rules/docs.md") == ["applies to 5 files"]


def test_a_click_on_a_lens_leads_to_what_it_speaks_of(reader: Hand) -> None:
    document = reader.open(NODE)
    (lens,) = lenses(document, types.CodeLensParams(reader.named(NODE)))
    reader.close(NODE)
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
    document = reader.open(RULE, "---\nstatus: [\n---\n")
    assert lenses(document, types.CodeLensParams(reader.named(RULE))) == []
    reader.close(RULE)


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
