"""What is offered at a place: keys, values, days, owners, addresses, whole entries."""

import re
from collections.abc import Sequence

import pytest
from editors import Hand
from lsprotocol import types

from mdmem.checks.run import CheckRequest, check
from mdmem.lsp.completion import complete

NEW = "memory/nav/rules/new-rule.md"
FRONT = "---\ntype: decision\nstatus: active\ncreated_at: 2026-03-05\n{}\n---\n\nWe do.\n"


def offered(hand: Hand, text: str, path: str = NEW) -> Sequence[types.CompletionItem]:
    """Return what is offered at the bar in a text."""
    found = hand.ask(complete, types.CompletionParams, path, text)
    return [] if found is None else sorted(found.items, key=lambda item: item.sort_text or "")


def labels(hand: Hand, text: str, path: str = NEW) -> list[str]:
    return [item.label for item in offered(hand, text, path)]


def taken(hand: Hand, text: str, label: str) -> str:
    """Return a text once one of the offers was taken."""
    item = next(item for item in offered(hand, text) if item.label == label)
    whole = text.replace("|", "")
    document = hand.open(NEW, whole)
    hand.close(NEW)
    assert isinstance(item.text_edit, types.TextEdit)
    where = item.text_edit.range
    start, end = document.offset_at(where.start), document.offset_at(where.end)
    assert (item.filter_text or item.label).find(whole[start : text.index("|")]) >= 0, "a client would leave it out"
    return whole[:start] + item.text_edit.new_text + whole[end:]


def test_keys_that_are_missing_come_first_and_those_that_are_there_not_at_all(reader: Hand) -> None:
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
    # A value is parted from its colon.
    assert "\nowner: Ada\n" in taken(reader, FRONT.format("owner:|"), "Ada")


def test_addresses_that_are_in_force_come_first_and_other_projects_not_at_all(reader: Hand) -> None:
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


def test_an_entry_in_an_empty_file_leaves_no_finding_once_it_is_filled_in(reader: Hand) -> None:
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


def test_an_entry_takes_the_place_of_the_word_that_was_begun(reader: Hand) -> None:
    text = taken(reader, "dec|\n", "decision")
    assert text.startswith("---\ntype: decision\n")
    assert text.endswith("turned down.>}\n")
    assert labels(reader, "two words|\n") == []


def filled(item: types.CompletionItem) -> str:
    """Return what a person makes of a snippet: words in place of what is in angles."""
    assert isinstance(item.text_edit, types.TextEdit)
    words = "A callback must return within 10 ms, because the robot stops otherwise"
    return re.sub(r"\$\{\d:([^}]*)\}", lambda found: words if "<" in found[1] else found[1], item.text_edit.new_text)


def test_nothing_is_offered_in_prose_and_in_code(reader: Hand) -> None:
    assert labels(reader, FRONT.format("reason: x") + "see nav|") == []
    assert labels(reader, "see: [nav|", "src/ui.py") == []
