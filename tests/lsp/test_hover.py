"""What is told of what is pointed at: as data, whatever an entry says."""

import re

import pytest
from builders import write_entry
from editors import Hand
from lsprotocol import types
from memories import NODE, ONE, RULE, THREADS

from mdmem.lsp.hover import hover
from mdmem.lsp.options import EditorSkills
from mdmem.model.finding import Finding, Place

NEW = "memory/nav/rules/new-rule.md"


def told(hand: Hand, text: str, path: str = NEW) -> str:
    """Return what is told at the bar in a text; the text is let go."""
    before, _, after = text.partition("|")
    session, buffer = hand.open(path, before + after)
    found = hover(session, buffer, types.HoverParams(hand.document(path), buffer.position_at(len(before))))
    hand.roots.close(hand.uri(path))
    return "" if found is None or not isinstance(found.contents, types.MarkupContent) else found.contents.value


def test_an_address_tells_its_entry_with_its_chain_and_reasons(reader: Hand) -> None:
    assert told(reader, "---\r\ntitle: 😀ü\r\nsee: [nav/architecture/one-|thread]\r\n---\r\n").splitlines() == [
        "```text",
        "decision · replaced",
        "Use one thread",
        "nav/architecture/one-thread",
        "",
        "> nav/architecture/one-thread (ended)",
        "  nav/architecture/threads (in force): two actions contend",
        "",
        "We decided.",
        "```",
    ]
    assert "decision · in force · nav team" in told(reader, "[see: nav/architecture/|threads]")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nsta|tus: active\n---\n", "status: where it stands; a draft binds nobody"),
        ("---\nignore: {local-|path: yes}\n---\n", "local-path (warning)"),
        ("---\nshared_wings: [ro|s]\n---\n", "shared wing ros · owners Ada\nWhat robots share"),
        ('---\napplies_to: ["src/n|av/**"]\n---\n', "2 files\nsrc/nav/node.py\nsrc/nav/plan.py"),
    ],
)
def test_other_things_tell_what_they_mean(reader: Hand, text: str, said: str) -> None:
    assert said in told(reader, text)


@pytest.mark.parametrize(
    "text", ["|", "pro|se", "---\nno|pe: x\n---\n", "[see: no/such/|entry]", "---\nignore: {no|pe: x}\n"]
)
def test_nothing_is_told_of_what_means_nothing(reader: Hand, text: str) -> None:
    assert told(reader, text) == ""


def test_a_place_beyond_the_text_is_its_end(reader: Hand) -> None:
    session, buffer = reader.page(THREADS)
    params = types.HoverParams(reader.document(THREADS), types.Position(9_999, 9_999))
    assert hover(session, buffer, params) is None


def test_what_a_hostile_entry_says_stays_within_the_fence(reader: Hand) -> None:
    lines = told(reader, "[see: ros/rules/|hostile]").splitlines()
    assert (lines[0], lines[-1]) == ("```text", "```")
    inner = "\n".join(lines[1:-1])
    assert "```" not in inner
    assert "\u202e" not in inner
    assert re.search(r"<[/!?A-Za-z]", inner) is None
    assert "command:rm" in inner, "it is shown, as text"


def test_an_editor_without_markdown_gets_no_fences(reader: Hand) -> None:
    session, _ = reader.page(THREADS)
    session.skills = EditorSkills(markdown=False)
    said = told(reader, "[see: nav/architecture/|threads]")
    session.skills = EditorSkills()
    assert said.startswith("decision · in force · nav team\nUse two threads\n")


def test_a_finding_tells_what_it_means(reader: Hand) -> None:
    session, _ = reader.open(RULE)
    session.findings = (Finding("vague-invariant", "x", Place("nav/rules/callbacks.md", 9, 1, 4)),)
    where = types.HoverParams(reader.document(RULE), types.Position(8, 2))
    found = hover(*reader.page(RULE), where)
    session.findings = ()
    reader.roots.close(reader.uri(RULE))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert "vague-invariant (" in found.contents.value


def test_code_tells_its_rules_on_the_first_line_and_the_entries_that_it_names(reader: Hand) -> None:
    both = "```text\ninvariant: Callbacks do not block\ndecision: Use two threads\n```"
    assert told(reader, "|x = 1\n", NODE) == both
    assert told(reader, "|print()\n", "src/ui.py") == ""
    assert (
        told(reader, "\nx = 1  # 😀 see memory/nav/rules/call|backs.md.\n", NODE).splitlines()[2]
        == "Callbacks do not block"
    )
    assert told(reader, "\nx = a/b/|c\n", NODE) == ""
    assert told(reader, "\n# nav/architecture/one-|thread\n", NODE).splitlines()[2] == "Use one thread"


def test_code_tells_how_many_rules_bind_whatever_the_file_is(hand: Hand) -> None:
    write_entry(hand.folder / "memory", "nav/rules/spin", type="invariant", title="Spin once", applies_to=["src/*.py"])
    assert told(hand, "|x = 1\n", "src/a.py") == "```text\ninvariant: Spin once\n+1 that always binds\n```"


def test_an_entry_that_cannot_be_read_says_so(reader: Hand) -> None:
    reader.open(ONE, "---\ntype: [\n---\n")
    assert "nav/architecture/one-thread cannot be read\nline 3: " in told(reader, "[see: nav/architecture/one|-thread]")
    reader.roots.close(reader.uri(ONE))
