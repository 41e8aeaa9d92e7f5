"""A memory with texts that nobody saved yet."""

import pytest
from editors import Hand

RULE = "memory/nav/rules/callbacks.md"


def test_an_open_text_counts_in_place_of_its_file(hand: Hand) -> None:
    session, _ = hand.open(RULE)
    assert session.catalog.entries["nav/rules/callbacks"].title == "Callbacks do not block"
    session, buffer = hand.type(RULE, "do not block", "never block")
    assert session.catalog.entries["nav/rules/callbacks"].title == "Callbacks never block"
    assert buffer.version == 2
    hand.roots.close(hand.uri(RULE))
    assert session.catalog.entries["nav/rules/callbacks"].title == "Callbacks do not block"


@pytest.mark.parametrize("first", [False, True], ids=["the second is closed", "the first is closed"])
def test_a_file_that_is_open_by_two_names_stays_open(hand: Hand, *, first: bool) -> None:
    session, buffer = hand.open(RULE)
    names = [hand.uri(RULE), hand.uri(RULE).replace("callbacks", "%63allbacks")]
    typed = buffer.text.replace("do not block", "never block")
    for name in names:
        hand.roots.open(name, typed)
    hand.roots.close(names[not first])
    assert session.catalog.entries["nav/rules/callbacks"].title == "Callbacks never block"
    hand.roots.close(names[first])
    assert session.catalog.entries["nav/rules/callbacks"].title == "Callbacks do not block"


def test_an_open_text_that_cannot_be_read_is_a_broken_file(hand: Hand) -> None:
    hand.open(RULE)
    session, _ = hand.type(RULE, "---\n\n", "")
    assert list(session.catalog.broken) == ["nav/rules/callbacks.md"]
    session, _ = hand.type(RULE, "A callback", "---\n\nA callback")
    assert "nav/rules/callbacks" in session.catalog.entries


def test_code_of_the_project_belongs_to_the_memory_and_other_files_to_none(hand: Hand) -> None:
    session, buffer = hand.open("src/nav.py", "print()\n")
    assert (session.location.root.name, buffer.path, buffer.code) == ("memory", None, "src/nav.py")
    assert hand.roots.open((hand.folder.parent / "other.md").as_uri(), "---\n") is None
    assert hand.roots.open("untitled:Untitled-1", "---\n") is None


@pytest.mark.parametrize(
    "uri",
    ["file://[/x.md", "file:///{}/x.md".format("a" * 300), "{here}/a%00.md", "{here}/a\ud800.md", "file://else/x.md"],
    ids=["no host", "long folder", "zero byte", "half a pair", "another host"],
)
def test_a_uri_that_names_no_file_belongs_to_no_memory(hand: Hand, uri: str) -> None:
    named = uri.replace("{here}", hand.uri("memory/nav"))
    assert hand.roots.page(named) is None
    assert hand.roots.open(named, "---\n") is None


def test_this_machine_may_be_named_in_a_uri(hand: Hand) -> None:
    assert hand.roots.page(hand.uri(RULE).replace("file://", "file://localhost")) is not None
