"""Test completions, and the server as pygls calls it: commands, settings, other files and bugs."""

import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from editors import Hand
from lsprotocol import types
from memories import NODE, RULE, THREADS

from mdmem.checks.run import CheckRequest, check
from mdmem.lsp.completion import complete
from mdmem.lsp.memory import Memories
from mdmem.lsp.server import Server, show

NEW = "memory/nav/rules/new-rule.md"
FRONT = "---\ntype: decision\nstatus: active\ncreated_at: 2026-03-05\n{}\n---\n\nWe do.\n"


def offered(hand: Hand, text: str, path: str = NEW) -> Sequence[types.CompletionItem]:
    """Return the completions at the bar in a text."""
    found = hand.ask(complete, types.CompletionParams, path, text)
    return [] if found is None else sorted(found.items, key=lambda item: item.sort_text or "")


def labels(hand: Hand, text: str, path: str = NEW) -> list[str]:
    return [item.label for item in offered(hand, text, path)]


def taken(hand: Hand, text: str, label: str) -> str:
    """Return a text after one of the completions was chosen."""
    item = next(item for item in offered(hand, text) if item.label == label)
    whole = text.replace("|", "")
    document = hand.open(NEW, whole)
    hand.close(NEW)
    assert isinstance(item.text_edit, types.TextEdit)
    where = item.text_edit.range
    start, end = document.offset_at(where.start), document.offset_at(where.end)
    assert (item.filter_text or item.label).find(whole[start : text.index("|")]) >= 0, "a client would leave it out"
    return whole[:start] + item.text_edit.new_text + whole[end:]


def test_keys_are_offered_by_need_unless_they_exist(reader: Hand) -> None:
    found = labels(reader, "---\ntype: pattern\nsta|\n---\n")
    assert found[:4] == ["status", "created_at", "trigger", "repeatable_steps"]
    assert {"type", "objective", "kind"}.isdisjoint(found)
    assert taken(reader, "---\ntype: pattern\nsta|\n---\n", "status") == ("---\ntype: pattern\nstatus: \n---\n")
    assert taken(reader, "---\r\nta|: [a]\r\n---\r\n", "tags") == "---\r\ntags: [a]\r\n---\r\n"
    assert labels(reader, "---\n|", "memory/nav/README.md")[:3] == ["applies_to", "kind", "project_id"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("status: dr|", ["draft", "active", "under_review", "deprecated"]),
        ("deprecated_at: |", ["2026-11-21"]),
        ("expires_at: |", ["2027-02-19"]),
        ("owner: |", ["Ada", "nav team"]),
        ("tags: [|]", ["threads"]),
        ("title: |", []),
    ],
)
def test_values(reader: Hand, line: str, expected: list[str]) -> None:
    assert labels(reader, FRONT.format(line)) == expected
    # A space is added after the colon.
    assert "\nowner: Ada\n" in taken(reader, FRONT.format("owner:|"), "Ada")


def test_current_addresses_come_first_and_those_of_other_projects_are_omitted(reader: Hand) -> None:
    found = labels(reader, FRONT.format("see: [|]"))
    assert found[0] == "nav/rules/callbacks", "what lies in the same room"
    assert found[-2:] == ["nav/architecture/three-threads", "nav/architecture/one-thread"], "a draft, then what ended"
    assert "ros/rules/clocks" in found
    assert not any(one.startswith("shop/") for one in found)
    assert "ros/rules/clocks" not in labels(reader, FRONT.format("see: [ros/rules/clocks, |]")), "it is there already"
    item = offered(reader, FRONT.format("see: [|]"))[-1]
    assert (item.tags, item.detail) == ([types.CompletionItemTag.Deprecated], "decision · Use one thread · superseded")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("see: [ros/rules/clocks, nav/arch|]", "nav/architecture/threads"),
        ("see:\n  - thre|", "nav/architecture/threads"),
        ("see: use tw|", "nav/architecture/threads"),
        ("reason: x\n---\n\nÜ😀 [see: thr|\n", "nav/architecture/threads"),
        ("reason: x\n---\n\n[[cloc|]]", "ros/rules/clocks"),
    ],
)
def test_addresses_in_fields_and_in_the_text(reader: Hand, text: str, label: str) -> None:
    assert label in labels(reader, FRONT.format(text))
    begun = re.split(r"[\s\[,]", text.partition("|")[0])[-1]
    assert f"{label}{text.partition('|')[2]}" in taken(reader, FRONT.format(text), label)
    assert begun == "tw" or f"{begun}{label}" not in taken(reader, FRONT.format(text), label)


def test_filled_in_template_has_no_finding(reader: Hand) -> None:
    found = offered(reader, "|")
    assert [one.label for one in found] == ["invariant", "decision", "pattern", "note"], "the room holds invariants"
    assert labels(reader, "|", "memory/nav/sessions/x.md")[0] == "invariant"
    assert labels(reader, "|", "memory/nav/conventions/x.md")[0] == "pattern", "what the settings' rooms are for"
    for item in found:
        text = filled(item)
        document = reader.open(NEW, text)
        codes = {one.code for one in check(document.memory.workspace, CheckRequest()).findings if one.place.path in NEW}
        reader.close(NEW)
        assert codes == set(), text
    # The template replaces the typed word.
    text = taken(reader, "dec|\n", "decision")
    assert (text.startswith("---\ntype: decision\n"), text.endswith("turned down.>}\n")) == (True, True)
    assert labels(reader, "two words|\n") == []


def filled(item: types.CompletionItem) -> str:
    """Return a filled-in snippet, with words in place of the placeholders."""
    assert isinstance(item.text_edit, types.TextEdit)
    words = "A callback must return within 10 ms, because the robot stops otherwise"
    return re.sub(r"\$\{\d:([^}]*)\}", lambda found: words if "<" in found[1] else found[1], item.text_edit.new_text)


def test_nothing_is_offered_in_prose_and_in_code(reader: Hand) -> None:
    assert labels(reader, FRONT.format("reason: x") + "see nav|") == []
    assert labels(reader, "see: [nav|", "src/ui.py") == []


Ask = Callable[..., Any]


@pytest.fixture
def server(reader: Hand) -> Server:
    """The server of an editor that can open files, with the reader's documents."""
    found = Server(reader.memories)
    window = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True))
    found.protocol.client_capabilities = types.ClientCapabilities(window=window)
    return found


@pytest.fixture
def ask(server: Server) -> Ask:
    """Return a function that sends a request or notification to the server."""
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
    # An editor that cannot open files shows the names.
    server.protocol.client_capabilities = types.ClientCapabilities()
    show(server, *lens.command.arguments)
    assert [one.message for one in told] == [f"{asked[0].message}: {'; '.join(titles)}"]
    reader.close(NODE)


def test_settings_turn_lenses_and_code_off_and_on(ask: Ask, reader: Hand) -> None:
    def lenses(path: str, **flags: bool) -> bool:
        reader.open(path)
        for odd in ({"mdmem": flags}, {"mdmem": {"codeLens": "no"}}, {"mdmem": None}, {"other": False}, None, [1]):
            ask(types.WORKSPACE_DID_CHANGE_CONFIGURATION, types.DidChangeConfigurationParams(odd))
        found = ask(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensParams(reader.named(path)))
        reader.close(path)
        return bool(found)

    assert [lenses(RULE, codeLens=one) for one in (False, True)] == [False, True]
    assert [lenses(NODE, inCode=one) for one in (False, True)] == [False, True]
    assert lenses(RULE, inCode=False)
    # Some editors send no section.
    ask(types.WORKSPACE_DID_CHANGE_CONFIGURATION, types.DidChangeConfigurationParams({"inCode": True}))
    assert lenses(NODE)


def test_file_outside_every_memory_gets_no_answer(ask: Ask, tmp_path: Path) -> None:
    item = types.TextDocumentItem((tmp_path / "notes.md").as_uri(), "markdown", 1, "---\ntype: nonsense\n---\n")
    ask(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
    document = types.TextDocumentIdentifier(item.uri)
    assert ask(types.TEXT_DOCUMENT_HOVER, types.HoverParams(document, types.Position(0, 0))) is None
    for uri in (item.uri, "file:///"):
        ask(types.TEXT_DOCUMENT_DID_CLOSE, types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))


def test_bug_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
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
