"""The server as an editor meets it: a real process, driven by the protocol's own client."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from editors import Editor
from lsprotocol import types
from memories import NODE, ONE, RULE, THREADS, lived_in

from mdmem.lsp.memory import Memories
from mdmem.lsp.server import Server


def test_findings_follow_what_is_typed(editor: Editor) -> None:
    editor.open(RULE)
    assert editor.wait(lambda: editor.codes(RULE) == [])
    text = (editor.folder / RULE).read_text(encoding="utf-8")
    editor.change(RULE, text.replace("status: active", "status: actve"))
    assert editor.wait(lambda: editor.codes(RULE)) == ["invalid-value"]
    told = editor.client.diagnostics[editor.uri(RULE)][0]
    assert (told.range.start.line, told.range.start.character, told.range.end.character) == (2, 8, 13)
    editor.change(RULE, text, 3)
    assert editor.wait(lambda: editor.codes(RULE) == [])


def test_a_file_outside_every_memory_is_met_with_silence(editor: Editor, tmp_path: Path) -> None:
    other = (tmp_path / "notes.md").as_uri()
    item = types.TextDocumentItem(other, "markdown", 1, "---\ntype: nonsense\n---\n")
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    never = types.VersionedTextDocumentIdentifier(7, editor.uri("memory/nav/rules/never.md"))
    whole = types.TextDocumentContentChangeWholeDocument("x")
    editor.client.text_document_did_change(types.DidChangeTextDocumentParams(never, [whole]))
    editor.client.cancel_request(types.CancelParams(id=12345))
    top = types.TextDocumentIdentifier("file:///")
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(top))
    editor.open("memory/nav/architecture/threads.md")
    assert editor.wait(lambda: editor.codes("memory/nav/architecture/threads.md") is not None)
    assert other not in editor.client.diagnostics
    assert not editor.client.messages


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


# No snippets: what is offered is plain text.
_MARKDOWN = [types.MarkupKind.Markdown]


@pytest.fixture(scope="module")
def walker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    found = Editor(lived_in(tmp_path_factory.mktemp("walk").resolve()))
    window = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True))
    texts = types.TextDocumentClientCapabilities(hover=types.HoverClientCapabilities(content_format=_MARKDOWN))
    files = types.WorkspaceEditClientCapabilities(True, [types.ResourceOperationKind.Create])
    workspace = types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=files)
    found.start(types.ClientCapabilities(window=window, text_document=texts, workspace=workspace))
    yield found
    found.stop()


def test_a_walk_from_code_to_the_head_of_a_chain(walker: Editor) -> None:
    client, asked = walker.client, list[types.ShowMessageRequestParams]()

    @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
        asked.append(params)
        return (params.actions or ())[-1]

    def ask(answer: Any) -> Any:
        return walker.run(answer)

    walker.open(NODE, language="python")
    code = types.TextDocumentIdentifier(walker.uri(NODE))
    (lens,) = ask(client.text_document_code_lens_async(types.CodeLensParams(code)))
    command = lens.command
    ask(client.workspace_execute_command_async(types.ExecuteCommandParams(command.command, command.arguments)))
    walker.wait(lambda: client.shown_documents)
    assert asked[0].message == "1 invariant, 1 decision apply to this file"
    titles = [one.title for one in asked[0].actions or ()]
    assert titles == ["invariant: Callbacks do not block", "decision: Use two threads"]
    assert [one.uri for one in client.shown_documents] == [walker.uri(THREADS)]

    walker.open(ONE)
    ended = types.TextDocumentIdentifier(walker.uri(ONE))
    link = types.Position(6, 25)
    assert ask(client.text_document_definition_async(types.DefinitionParams(ended, link))).uri == walker.uri(THREADS)
    told = ask(client.text_document_hover_async(types.HoverParams(ended, link)))
    assert "decision · current · nav team" in told.contents.value
    walker.open("memory/nav/rules/new.md", "")
    new = types.TextDocumentIdentifier(walker.uri("memory/nav/rules/new.md"))
    offered = ask(client.text_document_completion_async(types.CompletionParams(new, types.Position(0, 0))))
    begun = "---\ntype: invariant\nstatus: draft\ncreated_at: 2026-11-21\ntitle: New\n"
    assert offered.items[0].text_edit.new_text.startswith(begun)
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"mdmem": {"codeLens": False}}))
    rule = types.TextDocumentIdentifier(walker.uri(RULE))
    assert ask(client.text_document_code_lens_async(types.CodeLensParams(rule))) is None
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"mdmem": {"codeLens": True}}))
    assert ask(client.text_document_code_lens_async(types.CodeLensParams(rule)))
    assert client.messages == []
