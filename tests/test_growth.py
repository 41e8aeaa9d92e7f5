"""Test that a command works once for each entry or finding, and not for each pair of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import entry_text, make_root, memory, open_root, run_here, write, write_entry

from mdmem.ask import excerpt
from mdmem.change.history import why
from mdmem.checks import case
from mdmem.checks.run import CheckRequest, check
from mdmem.markdown import patch
from mdmem.model import lineage
from mdmem.model.finding import Place


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[object]:
    """Return a list that grows with each call of a function."""
    calls: list[object] = []
    inner: Callable[..., object] = getattr(module, name)

    def call(*arguments: object, **named: object) -> object:
        calls.append(arguments)
        return inner(*arguments, **named)

    monkeypatch.setattr(module, name, call)
    return calls


def test_file_of_many_findings_is_read_once_to_show_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(tmp_path)
    write(root, "a/README.md", "---\nkind: project\n---\n")
    write(root, "a/b/c.md", entry_text("one\n" * 100, title="T"))
    workspace = open_root(root)
    calls = counted(monkeypatch, type(workspace), "bytes_of")
    shown = [workspace.line_of(Place("a/b/c.md", line)) for line in range(1, 50)]
    assert (shown[0], len(calls)) == ("---", 1)


def test_who_claims_an_entry_of_a_chain_is_asked_once_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(tmp_path)
    for number in range(10):
        ended = {"status": "deprecated", "superseded_by": f"app/rules/e{number + 1}"}
        write(root, f"app/rules/e{number}.md", entry_text(**ended))
    write(root, "app/rules/e10.md", entry_text(supersedes=[f"app/rules/e{number}" for number in range(10)]))
    calls = counted(monkeypatch, lineage.Lineage, "claimants_of")
    told = why(open_root(root), "app/rules/e10")
    assert [one.entry.address[-2:] for one in told.chain] == [f"e{number}" for number in range(10)] + ["10"]
    assert told.chain[-1].claims == tuple(f"app/rules/e{number}" for number in range(9))
    assert len(calls) == 11


def test_links_that_are_not_tracked_ask_git_for_its_paths_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = memory(tmp_path) / "memory"
    for number in range(5):
        write_entry(root, f"nav/notes/e{number}", title=f"Number {number}")
    write_entry(root, "nav/rules/callbacks", title="Callbacks", see=[f"nav/notes/e{number}" for number in range(5)])
    calls = counted(monkeypatch, case, "list_staged")
    found = check(open_root(root), CheckRequest(select=("link-not-tracked",))).findings
    assert [one.help for one in found] == [
        f"run `git add -- memory/nav/notes/e{number}.md` at the repository's top" for number in range(5)
    ]
    assert len(calls) == 1


def test_links_that_are_numbers_are_compared_with_all_entries_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/0004-rest-api")
    write_entry(root, "nav/rules/callbacks", see=[f"ADR-{number}" for number in range(90, 95)])
    calls = counted(monkeypatch, case, "by_number")
    found = check(open_root(root), CheckRequest(select=("dangling-link",))).findings
    assert (len(found), len(calls)) == (5, 1)


def test_links_of_one_file_are_rewritten_at_once_by_a_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_root(tmp_path)
    names = [f"app/rules/e{number:02}" for number in range(20)]
    for name in names:
        write_entry(root, name, title=name)
    links = "".join(f"  - {name}  # why\n" for name in names)
    relations = "".join(f"  - {{type: USES, to: {name}}}\n" for name in names)
    head = "---\ntype: note\nstatus: active\ncreated_at: 2026-01-01\nlabel: entity\nentity: Hub\n"
    hub = f"{head}conflicts_with: [{', '.join(names)}]\nsee:\n{links}relations:\n{relations}---\n\nIt says.\n"
    file = write(root, "app/hubs/hub.md", hub)
    proofs = counted(monkeypatch, patch, "parse_document")
    assert run_here(capsys, "mv", "app/rules/", "app/laws/", cwd=root).code == 0
    assert file.read_text() == hub.replace("app/rules/", "app/laws/")
    assert len(proofs) == 3


@pytest.mark.parametrize("text", ["We keep ADR-0007. ", "| ADR-0007 "])
def test_paragraph_that_mentions_an_entry_often_is_read_once(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_root(tmp_path)
    write_entry(root, "app/rules/adr-0007", "Orders are sent twice.\n", title="Orders")
    write_entry(root, "app/rules/adr-0009", f"{text * 300}\n", title="Later")
    calls = counted(monkeypatch, excerpt, "sentences_in")
    shown = run_here(capsys, "retrieve", "orders", cwd=root).out
    assert "mentioned by app/rules/adr-0009" in shown
    assert len(calls) < 50
