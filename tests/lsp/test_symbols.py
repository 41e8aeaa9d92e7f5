"""The outline of a file, all entries by title or address, what folds, and what a selection grows to."""

from editors import Hand
from lsprotocol import types
from memories import THREADS

from mdmem.lsp.navigate import document_symbols, folds, workspace_symbols

NEW = "memory/nav/rules/new-rule.md"
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
        ("One", None, 9, 17),
        ("Two", None, 13, 17),
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


def test_front_matter_fields_and_sections_fold(reader: Hand) -> None:
    document = reader.open(NEW, TEXT)
    found = folds(document, types.FoldingRangeParams(reader.named(NEW)))
    reader.close(NEW)
    assert [(one.start_line, one.end_line) for one in found] == [(0, 7), (5, 6), (9, 17), (13, 17)]
