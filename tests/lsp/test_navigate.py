"""Go to the definition of a name, find its references, and list what a file and a memory hold."""

from collections.abc import Iterable

import pytest
from editors import Hand
from lsprotocol import types
from memories import CLOCKS, DRAFT, NODE, ONE, RULE, THREADS

from mdmem.lsp.show import definition, document_symbols, implementation, links, references, workspace_symbols

NEW = "memory/nav/rules/new-rule.md"


def uris(hand: Hand, found: Iterable[types.Location]) -> list[str]:
    return [one.uri.removeprefix(f"{hand.folder.as_uri()}/") for one in found]


def led(hand: Hand, text: str, path: str = NEW) -> list[str]:
    return uris(hand, hand.ask(definition, types.DefinitionParams, path, text))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("---\nsee: [nav/architecture/one-thr|ead]\n---\n", ONE),
        ("---\nsee: call|backs\n---\n", RULE),
        ("😀😀 [see: x/y/z, ros/rules/|clocks]", CLOCKS),
        ("[the clock](../../ros/rules/|clocks.md)", CLOCKS),
        ("---\nshared_wings: |ros\n---\n", "memory/ros/README.md"),
        ("---\napplies_to: src/nav/node|.py\n---\n", NODE),
    ],
)
def test_a_name_leads_to_its_file(reader: Hand, text: str, path: str) -> None:
    assert led(reader, text) == [path]


@pytest.mark.parametrize(
    "text", ["|", "[see: no/such/|entry]", "---\napplies_to: src/**|\n---\n", "`[see: ros/rules/|clocks]`"]
)
def test_what_names_nothing_leads_nowhere(reader: Hand, text: str) -> None:
    assert led(reader, text) == []


def test_the_implementation_is_the_head(reader: Hand) -> None:
    def heads(path: str, marked: str) -> list[str]:
        where = types.ImplementationParams(reader.named(path), reader.at(path, marked))
        return uris(reader, implementation(reader.document(path), where))

    assert heads(THREADS, "supersedes: [nav/architecture/|one-thread]") == [THREADS]
    assert heads(ONE, "We deci|ded") == [THREADS], "what the file itself was replaced by"
    assert heads(THREADS, "nav/rules/callb|acks") == [RULE]


def test_links_of_a_text_and_of_code(reader: Hand) -> None:
    def found(path: str) -> list[tuple[str, str]]:
        document = reader.document(path)
        these = links(document, types.DocumentLinkParams(reader.named(path)))
        said = [document.text[document.offset_at(one.range.start) : document.offset_at(one.range.end)] for one in these]
        targets = [(one.target or "").removeprefix(f"{reader.folder.as_uri()}/") for one in these]
        return list(zip(said, targets, strict=True))

    assert found(THREADS) == [("nav/architecture/one-thread", ONE), ("nav/rules/callbacks", RULE), ("one-thread", ONE)]
    reader.open(NODE)
    assert found(NODE) == [("nav/architecture/threads", THREADS), ("nav/rules/callbacks", RULE)]
    reader.close(NODE)


def named(hand: Hand, path: str, marked: str, *, declared: bool = False) -> list[tuple[str, str]]:
    """Return the places that name what stands at a bar: the file, and what is written there."""
    document = hand.document(path)
    where = document.position_at(document.text.index(marked.replace("|", "")) + marked.index("|"))
    context = types.ReferenceContext(include_declaration=declared)
    found = references(document, types.ReferenceParams(context, hand.named(path), where))
    return [_said(hand, one) for one in found]


def _said(hand: Hand, found: types.Location) -> tuple[str, str]:
    path = found.uri.removeprefix(f"{hand.folder.as_uri()}/")
    document = hand.document(path)
    return path, document.text[document.offset_at(found.range.start) : document.offset_at(found.range.end)]


def test_references_stand_in_fields_and_in_texts(reader: Hand) -> None:
    assert named(reader, ONE, "We deci|ded") == [
        (THREADS, "nav/architecture/one-thread"),
        (THREADS, "one-thread"),
        (DRAFT, "nav/architecture/one-thread"),
    ]
    assert named(reader, THREADS, "nav/rules/call|backs", declared=True) == [
        (RULE, ""),
        (THREADS, "nav/rules/callbacks"),
    ]
    assert named(reader, THREADS, "Navi|gation") == [
        (ONE, "nav/architecture/threads"),
        (DRAFT, "nav/architecture/threads"),
    ]


def test_references_follow_what_is_typed(hand: Hand) -> None:
    assert named(hand, RULE, "A call|back must") == []
    threads = "memory/nav/architecture/threads.md"
    hand.open(threads)
    hand.type(
        threads, "two threads.\n", "two threads. [[nav/rules/callbacks|so]] 😀 [see: callbacks, nav/rules/callbacks]\n"
    )
    assert named(hand, RULE, "A call|back must") == [(threads, "nav/rules/callbacks")] * 2, "`callbacks` lies elsewhere"
    hand.type(threads, "[[nav/rules/callbacks|so]]", "")
    assert len(named(hand, RULE, "A call|back must")) == 1
    hand.close(threads)
    assert named(hand, RULE, "A call|back must") == []


TEXT = (
    "---\r\ntype: decision\r\nstatus: active\r\ncreated_at: 2026-03-05\r\ntitle: Ü😀\r\n"
    "see:\r\n  - ros/rules/clocks\r\n---\r\n\r\n# One\r\n\r\nText [see: ros/rules/clocks].\r\n\r\n"
    "## Two\r\n\r\n```\r\n# no heading\r\n```\r\n\r\n# Three\r\n"
)


def test_the_outline_has_fields_and_headings(reader: Hand) -> None:
    document = reader.open(NEW, TEXT)
    found = document_symbols(document, types.DocumentSymbolParams(reader.named(NEW)))
    reader.close(NEW)
    assert found is not None
    (entry,) = found
    assert (entry.name, entry.detail, entry.kind) == ("Ü😀", "decision", types.SymbolKind.Interface)
    parts = [(one.name, one.detail, one.range.start.line, one.range.end.line) for one in entry.children or ()]
    assert parts[4:] == [
        ("see", "ros/rules/clocks", 5, 6),
        ("One", None, 9, 9),
        ("Two", None, 13, 13),
        ("Three", None, 19, 19),
    ]


def test_every_entry_is_found_by_title_or_address(reader: Hand) -> None:
    reader.document(THREADS)

    def found(query: str) -> list[tuple[str, str | None, bool]]:
        these = workspace_symbols(reader.memories, types.WorkspaceSymbolParams(query))
        return [(one.name, one.container_name, one.tags is not None) for one in these]

    assert found("USE thread") == [
        ("Use two threads", "nav/architecture/threads", False),
        ("Use three threads", "nav/architecture/three-threads", False),
        ("Use one thread", "nav/architecture/one-thread", True),
    ]
    assert found("ros/rules/cl") == [("One clock in a graph", "ros/rules/clocks", False)]
    assert found("no such thing") == []


def test_entries_are_found_before_any_file_is_open(hand: Hand) -> None:
    found = workspace_symbols(hand.memories, types.WorkspaceSymbolParams("threads"))
    assert found == []
    for uri in (hand.folder.as_uri(), "untitled:x", "file:///no/such/folder"):
        hand.memories.workspace.add_folder(types.WorkspaceFolder(uri, "folder"))
    assert [one.name for one in workspace_symbols(hand.memories, types.WorkspaceSymbolParams("threads"))] == [
        "Use two threads"
    ]
