"""Test hover texts, code lenses, definitions and references; texts of entries are shown as data."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from builders import commit_all, make_repository, make_root, write, write_entry
from editors import Hand
from lsprotocol import types
from memories import CLOCKS, DRAFT, NODE, ONE, RULE, THREADS

from mdmem.lsp.memory import Capabilities, capabilities_of
from mdmem.lsp.show import definition, hover, implementation, lenses, references

NEW = "memory/nav/rules/new-rule.md"


def hover_text(hand: Hand, text: str, path: str = NEW) -> str:
    """Return the hover text at the bar in a text."""
    found = hand.ask(hover, types.HoverParams, path, text)
    return "" if found is None or not isinstance(found.contents, types.MarkupContent) else found.contents.value


def test_hover_on_an_address_shows_the_entry_its_chain_and_reasons(reader: Hand) -> None:
    assert hover_text(reader, "---\r\ntitle: 😀ü\r\nsee: [nav/architecture/one-|thread]\r\n---\r\n").splitlines() == [
        "```text",
        "decision · superseded",
        "Use one thread",
        "nav/architecture/one-thread",
        "",
        "> nav/architecture/one-thread (superseded)",
        "  nav/architecture/threads (current): two actions contend",
        "",
        "We decided.",
        "```",
    ]
    assert "decision · current · nav team" in hover_text(reader, "[see: nav/architecture/|threads]")


FRONT = "---\ntype: decision\nstatus: active\ncreated_at: 2026-03-05\ntitle: T\n---\n\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nsta|tus: active\n---\n", "status: whether the entry applies; a draft has no effect yet"),
        ("---\nignore: {local-|path: yes}\n---\n", "local-path (warning)"),
    ],
)
def test_hover_on_keys_and_codes_explains_them(reader: Hand, text: str, said: str) -> None:
    assert said in hover_text(reader, text)


@pytest.mark.parametrize("text", ["We decided, |so.", "We decided `ros/rules/|clocks`."])
def test_hover_on_prose_and_code_and_beyond_the_text_is_empty(reader: Hand, text: str) -> None:
    assert hover_text(reader, FRONT + text) == ""
    params = types.HoverParams(reader.named(THREADS), types.Position(9_999, 9_999))
    assert hover(reader.document(THREADS), params) is None


def test_hostile_text_stays_within_the_fence(reader: Hand) -> None:
    lines = hover_text(reader, f"{FRONT}We do, for we tried. [see: ros/rules/|hostile]\n").splitlines()
    assert (lines[0], lines[-1]) == ("```text", "```")
    inner = "\n".join(lines[1:-1])
    assert ("```" in inner, "\u202e" in inner) == (False, False)
    assert re.search(r"<[/!?A-Za-z]", inner) is None
    assert "command:rm" in inner, "it is shown, as text"


def test_an_editor_without_markdown_gets_no_fences(reader: Hand) -> None:
    document = reader.document(THREADS)
    document.memory.capabilities = capabilities_of(types.ClientCapabilities())
    said = hover_text(reader, "[see: nav/architecture/|threads]")
    document.memory.capabilities = Capabilities()
    assert said.startswith("decision · current · nav team\nUse two threads\n")


def test_hover_on_code_shows_its_rules_and_mentioned_entries(reader: Hand) -> None:
    both = "```text\ninvariant: Callbacks do not block\ndecision: Use two threads\n```"
    assert hover_text(reader, "|x = 1\n", NODE) == both
    assert hover_text(reader, "|print()\n", "src/ui.py") == ""
    seen = hover_text(reader, "\nx = 1  # 😀 see memory/nav/rules/call|backs.md.\n", NODE).splitlines()
    assert seen[2] == "Callbacks do not block"
    assert hover_text(reader, "\nx = a/b/|c\n", NODE) == ""
    assert hover_text(reader, "\n# nav/architecture/one-|thread\n", NODE).splitlines()[2] == "Use one thread"


def test_hover_on_code_counts_the_rules_for_all_files(hand: Hand) -> None:
    write_entry(hand.folder / "memory", "nav/rules/spin", type="invariant", title="Spin once", applies_to=["src/*.py"])
    assert hover_text(hand, "|x = 1\n", "src/a.py") == "```text\ninvariant: Spin once\n+1 that applies everywhere\n```"


def test_hover_on_an_unreadable_entry_shows_the_error(reader: Hand) -> None:
    document = reader.open(ONE, "---\ntype: [\n---\n")
    said = hover_text(reader, "[see: nav/architecture/one|-thread]")
    assert "nav/architecture/one-thread cannot be parsed\nline 3: " in said
    assert lenses(document, types.CodeLensParams(reader.named(ONE))) == []
    reader.close(ONE)


def titles(hand: Hand, path: str) -> list[str]:
    hand.open(path)
    found = lenses(hand.document(path), types.CodeLensParams(hand.named(path)))
    hand.close(path)
    return [one.command.title for one in found if one.command is not None]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (THREADS, ["2 entries mention this", "applies to 2 files"]),
        (ONE, ["superseded by architecture/threads", "2 entries mention this"]),
        (DRAFT, []),
        (RULE, ["1 entry mentions this", "applies to 1 file"]),
        ("memory/nav/README.md", []),
        (NODE, ["1 invariant, 1 decision apply to this file"]),
        ("src/nav/plan.py", ["1 decision applies to this file"]),
        ("src/ui.py", []),
    ],
)
def test_lenses(reader: Hand, path: str, expected: list[str]) -> None:
    assert titles(reader, path) == expected


def test_files_beside_wings_at_the_top_of_a_repository_are_code(tmp_path: Path) -> None:
    folder = make_root(make_repository(tmp_path.resolve()))
    write(folder, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(folder, "nav/rules/docs", title="Plain words", applies_to=['"**/*.md"', "src"])
    write_entry(folder, "nav/rules/always", "Be kind.\n", type="invariant", title="Kind")
    write(folder, "src/a.py", "")
    write(folder, "docs/en/a.md", "# A\n")
    commit_all(folder)
    hand, both = Hand(folder), ["1 decision applies to this file, +1 that applies everywhere"]
    assert titles(hand, "src/a.py") == titles(hand, "docs/en/a.md") == both
    write(folder, "setup.py", "")
    assert titles(hand, "setup.py") == []
    assert titles(hand, "nav/rules/docs.md") == ["applies to 5 files"]


def uris(hand: Hand, found: Iterable[types.Location]) -> list[str]:
    return [one.uri.removeprefix(f"{hand.folder.as_uri()}/") for one in found]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("---\nsee: [nav/architecture/one-thr|ead]\n---\n", ONE),
        ("---\nsee: call|backs\n---\n", RULE),
        ("😀😀 [see: x/y/z, ros/rules/|clocks]", CLOCKS),
        ("[the clock](../../ros/rules/|clocks.md)", CLOCKS),
        *((text, "") for text in ("|", "[see: no/such/|entry]", "---\napplies_to: src/**|\n---\n")),
        ("`[see: ros/rules/|clocks]`", ""),
        ("# nav/architecture/thr|eads binds this: wörk 😀\n", THREADS),
        ("# memory/nav/rules/call|backs.md binds this\n", RULE),
    ],
)
def test_definition_of_an_address_is_its_file(reader: Hand, text: str, path: str) -> None:
    found = reader.ask(definition, types.DefinitionParams, NODE if text.startswith("#") else NEW, text)
    assert uris(reader, [found] if found else []) == ([path] if path else [])


def test_implementation_is_the_current_successor(reader: Hand) -> None:
    def heads(path: str, marked: str) -> list[str]:
        where = types.ImplementationParams(reader.named(path), reader.at(path, marked))
        return uris(reader, implementation(reader.document(path), where))

    assert heads(THREADS, "supersedes: [nav/architecture/|one-thread]") == [THREADS]
    assert heads(ONE, "We deci|ded") == [THREADS], "what the file itself was replaced by"
    assert heads(THREADS, "nav/rules/callb|acks") == [RULE]


def named(hand: Hand, path: str, marked: str, *, declared: bool = False) -> list[tuple[str, str]]:
    """Return the references to the entry at the bar, each with its file and its text."""
    document = hand.document(path)
    where = document.position_at(document.text.index(marked.replace("|", "")) + marked.index("|"))
    context = types.ReferenceContext(include_declaration=declared)
    found = references(document, types.ReferenceParams(context, hand.named(path), where))
    said = []
    for one, file in zip(found, uris(hand, found), strict=True):
        named_in = hand.document(file)
        start, end = named_in.offset_at(one.range.start), named_in.offset_at(one.range.end)
        said.append((file, named_in.text[start:end]))
    return said


def test_references_are_in_fields_and_texts(reader: Hand) -> None:
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


def test_references_change_with_the_unsaved_text(hand: Hand) -> None:
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
