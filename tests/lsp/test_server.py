"""The server as an editor meets it: a real process, driven by the protocol's own client."""

import io
import json
import logging
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import sleep

import pytest
from builders import TODAY, memory, write_entry
from editors import Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mdmem.lsp.handshake import framed
from mdmem.lsp.roots import Roots
from mdmem.lsp.server import EditorStream, Server, log_handler

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


def test_a_fault_of_ours_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    server, shown = Server(Roots(environment={}, today=lambda: 1 // 0)), []
    logged: list[logging.LogRecord] = []
    monkeypatch.setattr(logging.Logger, "handle", lambda _, record: logged.append(record))
    monkeypatch.setattr(server, "window_show_message", shown.append)
    monkeypatch.setattr(server.roots, "page", lambda uri: 1 // 0)
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier("file:///a.md"))
    assert [server.diagnostic(params).items for _ in range(2)] == [[], []]
    server.report_server_error(ValueError("no JSON"), JsonRpcException)
    assert [one.message.partition(";")[0] for one in shown] == [
        "mdmem failed at textDocument/diagnostic: ZeroDivisionError"
    ]
    assert len(logged) == 2


def test_a_notification_that_fails_is_named_in_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    server, shown = Server(Roots(environment={}, today=lambda: 1 // 0)), []
    monkeypatch.setattr(server, "window_show_message", shown.append)
    monkeypatch.setattr(server.roots, "close", lambda uri: 1 // 0)
    gone = {"method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///a.md"}}}
    server.protocol.handle_message({"jsonrpc": "2.0", **gone})
    assert [one.message.partition(";")[0] for one in shown] == ["mdmem failed at did_close: ZeroDivisionError"]


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


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("textDocument/hover", {"position": {"line": -1, "character": 0}}, -32602),
        ("textDocument/hover", {"position": {"line": 2**70, "character": 0}}, -32602),
        ("textDocument/hover", {}, -32602),
        ("textDocument/completion", {"position": {"line": 0, "character": 0}, "context": {}}, -32602),
    ],
    ids=["negative", "too large", "missing", "half a context"],
)
def test_a_malformed_request_is_refused_by_its_number(
    monkeypatch: pytest.MonkeyPatch, method: str, params: dict[str, object], code: int
) -> None:
    given = {"textDocument": {"uri": "file:///a.md", "nested": {"jsonrpc": "2.0", "id": 1}}, **params}
    assert answers_to(monkeypatch, {"id": 7, "method": method, "params": given}) == [(7, code)]


def test_requests_after_shutdown_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    leave = {"id": 1, "method": "shutdown"}
    late = {"id": 2, "method": "textDocument/hover", "params": {}}
    told = {"method": "textDocument/didOpen", "params": {}}
    assert answers_to(monkeypatch, leave, late, told) == [(1, None), (2, -32600)]


def test_a_request_that_waits_can_be_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    server, sent = Server(Roots(environment={}, today=lambda: date.fromisoformat(TODAY))), []
    monkeypatch.setattr(server.protocol, "_send_data", sent.append)
    asked = {"position": {"line": 0, "character": 0}, "textDocument": {"uri": "file:///a.md"}}
    first, *more = (
        framed({"jsonrpc": "2.0", **message})
        for message in (
            {"id": 1, "method": "textDocument/hover", "params": asked},
            {"id": 2, "method": "textDocument/hover", "params": asked},
            {"method": "$/cancelRequest", "params": {"id": 2}},
            {"method": "$/cancelRequest", "params": {"id": 99}},
            {"id": 2, "method": "textDocument/hover", "params": asked},
        )
    )
    source = io.BytesIO(b"".join(more))
    incoming = EditorStream(first, source, server.cancelled)
    monkeypatch.setattr(server.roots, "page", lambda uri: until(lambda: source.tell() == len(b"".join(more))))
    server.start_io(incoming, io.BytesIO())
    assert [(one.id, one.error.code if hasattr(one, "error") else None) for one in sent] == [
        (1, None),
        (2, -32800),
        (2, None),
    ]
    assert not server.cancelled


def until(is_so: Callable[[], bool]) -> None:
    """Wait for another thread."""
    for _ in range(1000):
        if is_so():
            return
        sleep(0.005)


def answers_to(monkeypatch: pytest.MonkeyPatch, *messages: dict[str, object]) -> list[tuple[int, int | None]]:
    """Return the number of each answer to some messages, with the code of a refusal."""
    server, sent = Server(Roots(environment={}, today=lambda: date.fromisoformat(TODAY))), []
    monkeypatch.setattr(server.protocol, "_send_data", sent.append)
    for message in messages:
        text = json.dumps({"jsonrpc": "2.0", **message})
        server.protocol.handle_message(json.loads(text, object_hook=server.protocol.structure_message))
    return [(one.id, one.error.code if hasattr(one, "error") else None) for one in sent]


def test_a_refusal_is_one_line_of_the_log(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever else the process has served left a handler that writes to a stream of its own, perhaps a closed one.
    monkeypatch.setattr(logging.root, "handlers", [log_handler()])
    log = logging.getLogger("pygls.test")
    log.error("unread\n%s", "its trace")
    for error in (JsonRpcException("taken\nalready"), ZeroDivisionError()):
        try:
            raise error
        except Exception:
            log.exception("refused")
    unread, refused, fault, *story = capsys.readouterr().err.splitlines()
    assert (unread, refused) == ("pygls.test: unread", "pygls.test: refused: taken already")
    assert fault == "pygls.test: refused"
    assert story[-1] == "ZeroDivisionError"
