"""What an entry is linked with, in both directions."""

from __future__ import annotations

from builders import entry_text
from trees import HeldTree

from mdmem.store.catalog.links import neighbours
from mdmem.store.catalog.load import load

ENDED = {"status": "deprecated", "superseded_by": ["app/a/new"]}


def near(name: str, body: str = "", /, **entries: dict[str, object]) -> list[tuple[str, str, str]]:
    """Return relationship, direction and entry-id of each neighbour of an entry in `app/a`, in order."""
    files = {f"app/a/{one}.md": entry_text(**stated).encode() for one, stated in entries.items()}
    found = neighbours(load(HeldTree(files)), f"app/a/{name}", body=body)
    return [(one.relationship, one.direction, one.entry.address.rsplit("/", 1)[-1]) for one in found]


def test_neighbours_come_from_both_ends_the_weightiest_first() -> None:
    entries: dict[str, dict[str, object]] = {
        "one": {"see": ["app/a/two"], "conflicts_with": ["app/a/three"]},
        "two": {"overrides": ["app/a/one"]},
        "three": {"produced": ["app/a/one"]},
    }
    assert near("one", **entries) == [
        ("conflicts_with", "outgoing", "three"),
        ("overrides", "incoming", "two"),
        ("produced", "incoming", "three"),
        ("see", "outgoing", "two"),
    ]
    assert near("two", **entries) == [("overrides", "outgoing", "one"), ("see", "incoming", "one")]


def test_either_end_of_a_supersession_tells_it_once_and_answers_for_the_old_entry() -> None:
    entries: dict[str, dict[str, object]] = {
        "reader": {"see": ["app/a/old"]},
        "new": {"supersedes": ["app/a/old"]},
        "old": ENDED,
    }
    assert near("old", **entries) == [("supersedes", "incoming", "new"), ("see", "incoming", "reader")]
    assert near("new", **entries) == [("supersedes", "outgoing", "old")]
    assert near("reader", **entries) == [("see", "outgoing", "new")]


def test_ended_neighbour_is_none() -> None:
    old: dict[str, object] = {"status": "deprecated", "deprecated_at": "2026-04-01", "deprecated_reason": "done"}
    assert near("reader", reader={"see": ["app/a/old", "app/a/gone", "app/a/reader"]}, old=old) == []


def test_relations_and_references_of_the_body_are_links() -> None:
    hub: dict[str, object] = {"type": "note", "label": "entity", "relations": "[{type: READS, to: app/a/two}]"}
    entries = {"one": {**hub, "entity": "one"}, "two": {}, "three": {}}
    body = "As [see: three] says, not as `[see: two]`.\n"
    assert near("one", body, **entries) == [("reads", "outgoing", "two"), ("see", "outgoing", "three")]
    assert near("two", **entries) == [("reads", "incoming", "one")]
