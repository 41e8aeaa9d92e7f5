"""Where what is named stands."""

from collections.abc import Iterable

import pytest
from editors import Hand
from lsprotocol import types
from memories import CLOCKS, NODE, ONE, RULE, THREADS

from mdmem.lsp.definition import definition, implementation, links

NEW = "memory/nav/rules/new-rule.md"


def uris(hand: Hand, found: Iterable[types.Location]) -> list[str]:
    return [one.uri.removeprefix(f"{hand.folder.as_uri()}/") for one in found]


def led(hand: Hand, text: str, path: str = NEW) -> list[str]:
    before, _, after = text.partition("|")
    session, buffer = hand.open(path, before + after)
    params = types.DefinitionParams(hand.document(path), buffer.position_at(len(before)))
    found = definition(session, buffer, params)
    hand.roots.close(hand.uri(path))
    return uris(hand, found)


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


def test_a_wing_with_settings_leads_to_them_too(hand: Hand) -> None:
    settings = hand.folder / "memory/mdmem.toml"
    settings.write_text("default_wing = 'nav'\n\n[wings.nav]\nignore = []\n", encoding="utf-8")
    session, buffer = hand.open(RULE, "---\nshared_wings: [nav]\n---\n")
    found = definition(session, buffer, types.DefinitionParams(hand.document(RULE), hand.at(RULE, "[na|v]")))
    assert uris(hand, found) == ["memory/nav/README.md", "memory/mdmem.toml"]
    assert found[1].range.start.line == 2


def test_the_implementation_is_the_head(reader: Hand) -> None:
    def heads(path: str, marked: str) -> list[str]:
        where = types.ImplementationParams(reader.document(path), reader.at(path, marked))
        return uris(reader, implementation(*reader.page(path), where))

    assert heads(THREADS, "supersedes: [nav/architecture/|one-thread]") == [THREADS]
    assert heads(ONE, "We deci|ded") == [THREADS], "what the file itself was replaced by"
    assert heads(THREADS, "nav/rules/callb|acks") == [RULE]


def test_links_of_a_text_and_of_code(reader: Hand) -> None:
    def found(path: str) -> list[tuple[str, str]]:
        session, buffer = reader.page(path)
        these = links(session, buffer, types.DocumentLinkParams(reader.document(path)))
        said = [buffer.text[buffer.offset_at(one.range.start) : buffer.offset_at(one.range.end)] for one in these]
        targets = [(one.target or "").removeprefix(f"{reader.folder.as_uri()}/") for one in these]
        return list(zip(said, targets, strict=True))

    assert found(THREADS) == [("nav/architecture/one-thread", ONE), ("nav/rules/callbacks", RULE), ("one-thread", ONE)]
    reader.open(NODE)
    assert found(NODE) == [("nav/architecture/threads", THREADS), ("nav/rules/callbacks", RULE)]
    reader.roots.close(reader.uri(NODE))
