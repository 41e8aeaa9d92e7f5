"""The server as pygls calls it: who is answered, what is shown, and faults. The real editors' tests start a process."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from editors import Hand
from lsprotocol import types
from memories import NODE, RULE, THREADS

from mdmem.lsp.memory import Memories
from mdmem.lsp.server import Server, show

Ask = Callable[..., Any]


@pytest.fixture
def server(reader: Hand) -> Server:
    """The server of an editor that can open files, beside the reader's open documents."""
    found = Server(reader.memories)
    window = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True))
    found.protocol.client_capabilities = types.ClientCapabilities(window=window)
    return found


@pytest.fixture
def ask(server: Server) -> Ask:
    """Return what answers a request or takes a notification."""
    return lambda method, params: server.protocol.fm.features[method](params)


def test_a_click_on_the_rules_of_code_lets_the_user_choose_one(
    server: Server, ask: Ask, reader: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, opened, told = list[types.ShowMessageRequestParams](), list[str](), list[types.ShowMessageParams]()

    def choose(params: types.ShowMessageRequestParams, then: Callable[[Any], None]) -> None:
        asked.append(params)
        then((params.actions or ())[-1])

    monkeypatch.setattr(server, "window_show_message_request", choose)
    monkeypatch.setattr(server, "window_show_document", lambda params, **_: opened.append(params.uri))
    monkeypatch.setattr(server, "window_show_message", told.append)
    reader.open(NODE)
    (lens,) = ask(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensParams(reader.named(NODE)))
    show(server, *lens.command.arguments)
    assert asked[0].message == "1 invariant, 1 decision apply to this file"
    titles = ["invariant: Callbacks do not block", "decision: Use two threads"]
    assert ([one.title for one in asked[0].actions or ()], opened) == (titles, [reader.uri(THREADS)])
    # An editor that cannot open files is told the names.
    server.protocol.client_capabilities = types.ClientCapabilities()
    show(server, *lens.command.arguments)
    assert [one.message for one in told] == [f"{asked[0].message}: {'; '.join(titles)}"]
    reader.close(NODE)


def test_settings_turn_lenses_and_code_off_and_on(ask: Ask, reader: Hand) -> None:
    def lenses(path: str, **flags: bool) -> bool:
        reader.open(path)
        ask(types.WORKSPACE_DID_CHANGE_CONFIGURATION, types.DidChangeConfigurationParams({"mdmem": flags}))
        found = ask(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensParams(reader.named(path)))
        reader.close(path)
        return bool(found)

    assert [lenses(RULE, codeLens=one) for one in (False, True)] == [False, True]
    assert [lenses(NODE, inCode=one) for one in (False, True)] == [False, True]
    assert lenses(RULE, inCode=False)


def test_a_file_outside_every_memory_is_met_with_silence(ask: Ask, tmp_path: Path) -> None:
    item = types.TextDocumentItem((tmp_path / "notes.md").as_uri(), "markdown", 1, "---\ntype: nonsense\n---\n")
    ask(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
    document = types.TextDocumentIdentifier(item.uri)
    assert ask(types.TEXT_DOCUMENT_HOVER, types.HoverParams(document, types.Position(0, 0))) is None
    for uri in (item.uri, "file:///"):
        ask(types.TEXT_DOCUMENT_DID_CLOSE, types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))


def test_a_fault_of_ours_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    server, shown = Server(Memories(environment={}, today=lambda: 1 // 0)), []
    logged: list[logging.LogRecord] = []
    monkeypatch.setattr(logging.Logger, "handle", lambda _, record: logged.append(record))
    monkeypatch.setattr(server, "window_show_message", shown.append)
    monkeypatch.setattr(server.memories, "document", lambda uri: 1 // 0)
    monkeypatch.setattr(server.memories, "close", lambda uri: 1 // 0)
    document = types.TextDocumentIdentifier("file:///a.md")
    hover = server.protocol.fm.features[types.TEXT_DOCUMENT_HOVER]
    close = server.protocol.fm.features[types.TEXT_DOCUMENT_DID_CLOSE]
    assert hover(types.HoverParams(document, types.Position(0, 0))) is None
    assert close(types.DidCloseTextDocumentParams(document)) is None
    assert [one.message.partition(";")[0] for one in shown] == ["mdmem failed at textDocument/hover: ZeroDivisionError"]
    assert [one.getMessage() for one in logged] == ["textDocument/hover failed", "textDocument/didClose failed"]
