"""The server as an editor meets it: a real process, driven by the protocol's own client."""

from datetime import date
from pathlib import Path

import pytest
from builders import TODAY, memory, write_entry
from editors import Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mdmem.lsp.roots import Roots
from mdmem.lsp.server import Server

RULE = "memory/nav/rules/callbacks.md"


def test_findings_follow_what_is_typed(editor: Editor) -> None:
    editor.open(RULE)
    assert editor.wait(lambda: editor.codes(RULE) == [])
    text = (editor.folder / RULE).read_text(encoding="utf-8")
    editor.change(RULE, text.replace("status: active", "status: actve"))
    assert editor.wait(lambda: editor.codes(RULE)) == ["unknown-status"]
    told = editor.client.diagnostics[editor.uri(RULE)][0]
    assert (told.range.start.line, told.range.start.character, told.range.end.character) == (2, 8, 13)
    editor.change(RULE, text, 3)
    assert editor.wait(lambda: editor.codes(RULE) == [])


def test_findings_of_other_open_files_follow_and_of_closed_ones_at_rest(editor: Editor) -> None:
    root = editor.folder / "memory"
    write_entry(root, "nav/later/first", title="First")
    for name in ("second", "third"):
        write_entry(root, f"nav/later/{name}", title=name, see=["nav/later/first"])
    first, second, third = (f"memory/nav/later/{name}.md" for name in ("first", "second", "third"))
    editor.open(first)
    editor.open(second)
    assert editor.wait(lambda: editor.codes(second) == [])
    text = (editor.folder / first).read_text(encoding="utf-8")
    ended = "status: deprecated\ndeprecated_at: 2026-03-06\nsuperseded_by: [nav/architecture/threads]"
    editor.change(first, text.replace("status: active", ended))
    assert editor.wait(lambda: editor.codes(second)) == ["link-to-superseded"]
    told = editor.client.diagnostics[editor.uri(second)][0]
    assert list(told.tags or ()) == [types.DiagnosticTag.Deprecated]
    assert editor.wait(lambda: editor.codes(third)) == ["link-to-superseded"], "once nothing changes any more"
    editor.change(first, text, 3)
    assert editor.wait(lambda: editor.codes(second) == [] and editor.codes(third) == [])


def test_a_file_outside_every_memory_is_met_with_silence(editor: Editor, tmp_path: Path) -> None:
    other = (tmp_path / "notes.md").as_uri()
    item = types.TextDocumentItem(other, "markdown", 1, "---\ntype: nonsense\n---\n")
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    never = types.VersionedTextDocumentIdentifier(7, editor.uri("memory/nav/rules/never.md"))
    whole = types.TextDocumentContentChangeWholeDocument("x")
    editor.client.text_document_did_change(types.DidChangeTextDocumentParams(never, [whole]))
    editor.client.cancel_request(types.CancelParams(id=12345))
    editor.open("memory/nav/architecture/threads.md")
    assert editor.wait(lambda: editor.codes("memory/nav/architecture/threads.md") is not None)
    assert other not in editor.client.diagnostics
    assert not editor.client.messages


def test_an_editor_that_asks_is_told_to_ask_again(tmp_path: Path) -> None:
    editor = Editor(memory(tmp_path.resolve()))
    asks = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
        text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    )
    editor.start(asks)

    def ask(known: str | None = None) -> types.DocumentDiagnosticReport:
        document = types.TextDocumentIdentifier(editor.uri(RULE))
        params = types.DocumentDiagnosticParams(document, previous_result_id=known)
        return editor.run(editor.client.text_document_diagnostic_async(params))

    editor.open(RULE)
    first = ask()
    assert isinstance(first, types.RelatedFullDocumentDiagnosticReport)
    assert not first.items
    assert isinstance(ask(first.result_id), types.RelatedUnchangedDocumentDiagnosticReport)
    editor.change(RULE, (editor.folder / RULE).read_text(encoding="utf-8").replace("active", "actve"))
    assert editor.wait(lambda: editor.client.diagnostic_refresh_count)
    again = ask(first.result_id)
    assert isinstance(again, types.RelatedFullDocumentDiagnosticReport)
    assert [one.code for one in again.items] == ["unknown-status"]
    assert editor.codes(RULE) is None, "what is asked for is not told, too"
    editor.stop()


def test_a_fault_of_ours_is_one_message(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    server, shown = Server(Roots(environment={}, today=lambda: 1 // 0)), []
    monkeypatch.setattr(server, "window_show_message", shown.append)
    monkeypatch.setattr(server.roots, "page", lambda uri: 1 // 0)
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier("file:///a.md"))
    assert [server.diagnostic(params).items for _ in range(2)] == [[], []]
    server.report_server_error(ValueError("no JSON"), JsonRpcException)
    assert [one.message.partition(";")[0] for one in shown] == [
        "mdmem failed at textDocument/diagnostic: ZeroDivisionError"
    ]
    assert len(caplog.records) == 2


def test_reading_a_large_memory_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.lsp.server._LARGE", 2)
    folder = memory(tmp_path.resolve())
    server, sent = Server(Roots(environment={}, today=lambda: date.fromisoformat(TODAY))), []
    window = types.WindowClientCapabilities(work_done_progress=True)
    monkeypatch.setattr(Server, "client_capabilities", types.ClientCapabilities(window=window))
    monkeypatch.setattr(server.protocol, "_send_data", lambda data: sent.append(data))
    monkeypatch.setattr(server.publisher, "changed", lambda session: None)
    for name in ("rules/callbacks", "architecture/threads"):
        file = folder / f"memory/nav/{name}.md"
        item = types.TextDocumentItem(file.as_uri(), "markdown", 1, file.read_text(encoding="utf-8"))
        server.did_open(types.DidOpenTextDocumentParams(item))
    kinds = [getattr(getattr(one.params, "value", None), "kind", "create") for one in sent]
    assert kinds == ["create", "begin", "end"], "once for each memory"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("mdmem.check", [5]), ("mdmem.why", [{}]), ("mdmem.show", ["m", [{"uri": 5}]]), ("mdmem.approve", [])],
)
def test_a_command_with_other_arguments_is_refused(command: str, arguments: list[object]) -> None:
    server = Server(Roots(environment={}, today=lambda: date.fromisoformat(TODAY)))
    with pytest.raises(JsonRpcException, match=f"`{command}` takes "):
        server.protocol.fm.commands[command](*arguments)
