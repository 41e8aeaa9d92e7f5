"""What people do to entries by the names of commands: the editor carries an edit out, or is told why there is none."""

from typing import Any

import pytest
from builders import write_entry
from editors import Hand
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mdmem.lsp import commands
from mdmem.lsp.memory import Abilities
from mdmem.lsp.server import Server

THREADS = "memory/nav/architecture/threads.md"
RULE = "memory/nav/rules/callbacks.md"
DRAFT = "memory/nav/architecture/two.md"


@pytest.fixture
def server(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server of the editor in this process, which carries out what it is sent; `said` are its messages."""
    found = Server(hand.memories)

    def apply(params: types.ApplyWorkspaceEditParams, done: Any) -> None:
        hand.apply(params.edit)
        done(types.ApplyWorkspaceEditResult(applied=True))

    monkeypatch.setattr(found, "workspace_apply_edit", apply)
    monkeypatch.setattr(found, "said", [], raising=False)
    monkeypatch.setattr(found, "window_show_message", lambda params: found.said.append(params.message))
    hand.open(THREADS)
    hand.open(RULE)
    return found


def test_a_reason_that_was_asked_for_stands_in_both_ends(hand: Hand, server: Any) -> None:
    write_entry(hand.folder / "memory", "nav/architecture/one", title="One", see=["nav/architecture/threads"])
    commands.supersede(server, hand.uri(THREADS), "nav/architecture/one", "it is enough")
    assert "reason: it is enough\n" in hand.document("memory/nav/architecture/one.md").text
    assert "superseded_by: [nav/architecture/one]\n" in hand.document(THREADS).text
    assert server.said == []


def test_one_is_superseded_by_a_draft_of_a_title(hand: Hand, server: Any) -> None:
    commands.supersede(server, hand.uri(THREADS), "Two", "three were too many")
    assert "title: Two\n" in hand.document(DRAFT).text
    assert server.said == [
        "nav/architecture/threads stays as it is until `mdmem approve nav/architecture/two`",
    ]
    commands.approve(server, hand.uri(DRAFT))
    assert server.said[1].startswith("nav/architecture/two cannot be active yet: the template's `<State")


def test_what_is_no_entry_is_said_to_be_none(hand: Hand, server: Any) -> None:
    commands.verify(server, hand.uri("memory/nav/README.md"))
    commands.verify(server, "file:///nowhere/a.md")
    assert server.said == ["`nav/README.md` is not an entry that can be parsed", "this file belongs to no memory"]


def test_an_editor_that_carries_no_edit_out_is_told_so(hand: Hand, server: Any) -> None:
    hand.document(RULE).memory.abilities = Abilities(applies_edits=False)
    commands.verify(server, hand.uri(RULE))
    assert server.said == ["this editor applies no edits of a command; use the command line"]


def test_what_cannot_be_is_refused_to_who_asked_and_is_no_fault(hand: Hand, server: Any) -> None:
    params = types.RenameParams(hand.named(RULE), types.Position(0, 1), "architecture/threads")
    with pytest.raises(JsonRpcException, match="exists already"):
        server.protocol.fm.features[types.TEXT_DOCUMENT_RENAME](params)
    assert server.said == []
