"""What an entry is linked with, in both directions."""

from pathlib import Path

from builders import make_root, open_root, write_entry

from mdmem.store.catalog.links import neighbours


def near(root: Path, address: str, body: str = "") -> list[tuple[str, str, str]]:
    """Return relationship, direction and entry-id of each neighbour, in order."""
    found = neighbours(open_root(root).catalog, address, body=body)
    return [(one.relationship, one.direction, one.entry.address.rsplit("/", 1)[-1]) for one in found]


def test_neighbours_come_from_both_ends_the_weightiest_first(tmp_path: Path) -> None:
    root = make_root(tmp_path / "memory")
    write_entry(root, "app/a/one", see=["app/a/two"], conflicts_with=["app/a/three"])
    write_entry(root, "app/a/two", overrides=["app/a/one"])
    write_entry(root, "app/a/three", produced=["app/a/one"])
    assert near(root, "app/a/one") == [
        ("conflicts_with", "outgoing", "three"),
        ("overrides", "incoming", "two"),
        ("produced", "incoming", "three"),
        ("see", "outgoing", "two"),
    ]
    assert near(root, "app/a/two") == [("overrides", "outgoing", "one"), ("see", "incoming", "one")]


def test_either_end_of_a_supersession_tells_it_once(tmp_path: Path) -> None:
    root = make_root(tmp_path / "memory")
    write_entry(root, "app/a/new", supersedes=["app/a/old"])
    write_entry(root, "app/a/old", status="deprecated", superseded_by=["app/a/new"])
    assert near(root, "app/a/new") == [("supersedes", "outgoing", "old")]
    assert near(root, "app/a/old") == [("supersedes", "incoming", "new")]


def test_superseded_neighbour_is_answered_for_by_its_head(tmp_path: Path) -> None:
    root = make_root(tmp_path / "memory")
    write_entry(root, "app/a/reader", see=["app/a/old"])
    write_entry(root, "app/a/new", supersedes=["app/a/old"])
    write_entry(root, "app/a/old", status="deprecated", superseded_by=["app/a/new"])
    assert near(root, "app/a/reader") == [("see", "outgoing", "new")]


def test_ended_neighbour_is_none(tmp_path: Path) -> None:
    root = make_root(tmp_path / "memory")
    write_entry(root, "app/a/reader", see=["app/a/old", "app/a/gone", "app/a/reader"])
    write_entry(root, "app/a/old", status="deprecated", deprecated_at="2026-04-01", deprecated_reason="done")
    assert near(root, "app/a/reader") == []


def test_relations_and_references_of_the_body_are_links(tmp_path: Path) -> None:
    root = make_root(tmp_path / "memory")
    write_entry(
        root, "app/a/one", type="note", label="entity", entity="one", relations="[{type: READS, to: app/a/two}]"
    )
    write_entry(root, "app/a/two")
    write_entry(root, "app/a/three")
    body = "As [see: three] says, not as `[see: two]`.\n"
    assert near(root, "app/a/one", body) == [("reads", "outgoing", "two"), ("see", "outgoing", "three")]
    assert near(root, "app/a/two") == [("reads", "incoming", "one")]
