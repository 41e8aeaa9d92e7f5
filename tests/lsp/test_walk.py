"""A walk through a memory as an editor makes it, over the protocol: each kind of answer arrives as it is meant."""

from collections.abc import Iterator
from typing import Any

import pytest
from editors import Editor
from lsprotocol import types
from memories import NODE, ONE, RULE, THREADS, lived_in
from pygls.exceptions import JsonRpcException

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
    edits: list[types.ApplyWorkspaceEditParams] = []

    @client.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        edits.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
        asked.append(params)
        return (params.actions or ())[-1]

    def ask(answer: Any) -> Any:
        return walker.run(answer)

    found = ask(client.workspace_symbol_async(types.WorkspaceSymbolParams("two threads")))
    assert [one.location.uri for one in found] == [walker.uri(THREADS)], "nothing is open yet"
    walker.open(NODE, language="python")
    code = types.TextDocumentIdentifier(walker.uri(NODE))
    (lens,) = ask(client.text_document_code_lens_async(types.CodeLensParams(code)))
    command = lens.command
    ask(client.workspace_execute_command_async(types.ExecuteCommandParams(command.command, command.arguments)))
    walker.wait(lambda: client.shown_documents)
    assert asked[0].message == "1 invariant, 1 decision apply to this file"
    assert [one.uri for one in client.shown_documents] == [walker.uri(THREADS)]

    walker.open(ONE)
    ended = types.TextDocumentIdentifier(walker.uri(ONE))
    link = types.Position(6, 25)
    found = ask(client.text_document_definition_async(types.DefinitionParams(ended, link)))
    assert [one.uri for one in found] == [walker.uri(THREADS)]
    told = ask(client.text_document_hover_async(types.HoverParams(ended, link)))
    assert "decision · current · nav team" in told.contents.value
    walker.open("memory/nav/rules/new.md", "")
    new = types.TextDocumentIdentifier(walker.uri("memory/nav/rules/new.md"))
    offered = ask(client.text_document_completion_async(types.CompletionParams(new, types.Position(0, 0))))
    begun = "---\ntype: invariant\nstatus: draft\ncreated_at: 2026-11-21\ntitle: New\n"
    assert offered.items[0].text_edit.new_text.startswith(begun)
    asked.clear()
    ask(client.workspace_execute_command_async(types.ExecuteCommandParams("mdmem.why", [walker.uri(ONE)])))
    walker.wait(lambda: asked)
    assert [one.title for one in asked[0].actions or ()] == [
        "nav/architecture/one-thread (superseded)",
        "nav/architecture/threads (current): two actions contend",
    ]
    ask(client.workspace_execute_command_async(types.ExecuteCommandParams("mdmem.check", [])))
    assert walker.wait(lambda: client.messages)[0].message == "mdmem check: 1 error, 2 warnings"
    client.messages.clear()

    place = [walker.uri(NODE), "pattern", "nav/conventions", "Two is enough"]
    ask(client.workspace_execute_command_async(types.ExecuteCommandParams("mdmem.new", place)))
    created, written = walker.wait(lambda: edits)[0].edit.document_changes
    assert created.uri == written.text_document.uri == walker.uri("memory/nav/conventions/two-is-enough.md")
    assert written.edits[0].new_text.startswith("---\ntype: pattern\nstatus: draft\ncreated_at: 2026-11-21\n")
    walker.wait(lambda: client.shown_documents[-1].uri == created.uri)
    ask(client.workspace_execute_command_async(types.ExecuteCommandParams("mdmem.new", [*place[:2], "x/y", "No"])))
    assert "there is no wing `x`" in walker.wait(lambda: client.messages)[0].message
    client.messages.clear()

    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"mdmem": {"codeLens": False}}))
    rule = types.TextDocumentIdentifier(walker.uri(RULE))
    assert ask(client.text_document_code_lens_async(types.CodeLensParams(rule))) is None
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"mdmem": {"codeLens": True}}))
    assert ask(client.text_document_code_lens_async(types.CodeLensParams(rule)))
    assert client.messages == []


def test_commands_without_what_they_need_say_so(walker: Editor) -> None:
    client = walker.client
    arguments = {"mdmem.why": ["file:///nowhere/a.md"], "mdmem.show": ["nothing", []]}
    for name, given in arguments.items():
        walker.run(client.workspace_execute_command_async(types.ExecuteCommandParams(name, given)))
    assert walker.wait(lambda: client.messages)[-1].message == "this file belongs to no memory"
    client.messages.clear()
    for name, given in (("mdmem.check", [5]), ("mdmem.show", ["m"]), ("mdmem.approve", [])):
        with pytest.raises(JsonRpcException, match="Invalid Params"):
            walker.run(client.workspace_execute_command_async(types.ExecuteCommandParams(name, given)))
    assert client.messages == []
