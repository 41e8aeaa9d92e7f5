"""Findings of open documents: those that `mdmem check` has once they are saved."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from builders import TODAY, commit_all, merge_conflict, run_here, write, write_entry
from editors import Hand
from lsprotocol.types import PublishDiagnosticsParams

from mdmem.lsp.memory import SETTINGS_CODE
from mdmem.lsp.server import Publisher

RULE = "memory/nav/rules/callbacks.md"
THREADS = "memory/nav/architecture/threads.md"


def codes(hand: Hand, path: str = RULE) -> list[str]:
    """Return the codes of the findings in a file."""
    document = hand.document(path)
    return [one.code for one in document.memory.findings if one.place.path == document.path]


def places(hand: Hand) -> list[tuple[str, str]]:
    """Return the path and code of each finding."""
    return [(one.place.path, one.code) for one in hand.document(RULE).memory.findings]


def test_an_open_document_counts_in_place_of_its_file(hand: Hand) -> None:
    memory = hand.open(RULE).memory
    document = hand.type(RULE, "do not block", "never block")
    assert memory.catalog.entries["nav/rules/callbacks"].title == "Callbacks never block"
    assert document.version == 2
    hand.close(RULE)
    assert memory.catalog.entries["nav/rules/callbacks"].title == "Callbacks do not block"


def test_a_document_that_cannot_be_parsed_is_a_broken_file(hand: Hand) -> None:
    hand.open(RULE)
    memory = hand.type(RULE, "---\n\n", "").memory
    assert list(memory.catalog.broken) == ["nav/rules/callbacks.md"]
    hand.type(RULE, "A callback", "---\n\nA callback")
    assert "nav/rules/callbacks" in memory.catalog.entries


def test_code_of_the_project_belongs_to_the_memory_and_other_files_to_none(hand: Hand) -> None:
    document = hand.open("src/nav.py", "print()\n")
    assert (document.memory.location.root.name, document.path, document.code_path) == ("memory", None, "src/nav.py")
    assert hand.memories.document((hand.folder.parent / "other.md").as_uri()) is None


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "file://[/x.md",
        "file:///{}/x.md".format("a" * 300),
        "{here}/a%00.md",
        "{here}/a\ud800.md",
        "file://else/x.md",
    ],
    ids=["untitled", "no host", "long folder", "zero byte", "half a pair", "another host"],
)
def test_a_uri_that_names_no_file_belongs_to_no_memory(hand: Hand, uri: str) -> None:
    named = uri.replace("{here}", hand.uri("memory/nav"))
    assert hand.memories.document(named) is None
    assert hand.memories.update(named) is None


def test_this_machine_may_be_named_in_a_uri(hand: Hand) -> None:
    assert hand.memories.document(hand.uri(RULE).replace("file://", "file://localhost")) is not None


def test_an_edit_is_found_in_other_files_and_an_undo_clears_both(hand: Hand) -> None:
    write_entry(hand.folder / "memory", "nav/rules/other", see=["nav/rules/callbacks"], title="Other")
    hand.open(RULE)
    assert places(hand) == []
    hand.type(RULE, "status: active", "status: deprecated\nsuperseded_by: [nav/architecture/threads]")
    found = places(hand)
    assert ("nav/rules/other.md", "link-to-superseded") in found
    assert ("nav/rules/callbacks.md", "supersession-one-sided") in found
    hand.type(RULE, "status: deprecated\nsuperseded_by: [nav/architecture/threads]", "status: active")
    assert places(hand) == []


def test_what_is_found_is_what_the_command_finds_after_saving(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    hand.open(RULE)
    document = hand.type(RULE, "status: active", "status: actve\nsee: [nav/nowhere/at-all]")
    (found,) = document.memory.findings
    (hand.folder / RULE).write_bytes(document.data)
    ran = run_here(capsys, "check", "--format", "github", cwd=hand.folder)
    assert f"line={found.place.line},col={found.place.column}" in ran.out


def test_files_that_change_on_disk_count(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    # The repository was copied a moment ago, and no clock can tell that nothing changed since.
    monkeypatch.setattr("mdmem.store.git.discovery.RACY_NS", 0)
    memory = hand.open(RULE).memory
    assert memory.findings == ()
    assert not memory.refresh()
    write_entry(hand.folder / "memory", "nav/architecture/threads", type="decison")
    assert memory.refresh()
    assert places(hand) == [("nav/architecture/threads.md", "invalid-value")]
    write_entry(hand.folder / "memory", "nav/architecture/new", status="actve")
    (hand.folder / THREADS).unlink()
    assert memory.refresh()
    assert places(hand) == [("nav/architecture/new.md", "invalid-value")]


def test_a_day_that_passes_counts(hand: Hand) -> None:
    write_entry(hand.folder / "memory", "nav/rules/short", type="invariant", expires_at=TODAY)
    memory = hand.open(RULE).memory
    before = places(hand)
    memory.today = lambda: date.fromisoformat(TODAY) + timedelta(1)
    assert memory.refresh()
    assert [path for path, code in places(hand) if (path, code) not in before] == ["nav/rules/short.md"]


def test_settings_that_cannot_be_parsed_are_the_finding(hand: Hand) -> None:
    hand.open("memory/mdmem.toml", "[check\n")
    assert places(hand) == [("mdmem.toml", SETTINGS_CODE)]
    hand.type("memory/mdmem.toml", "[check", '[check]\nignore = ["missing-field"]')
    assert places(hand) == []


def test_what_is_no_text_or_too_much_of_it_is_a_finding(hand: Hand) -> None:
    write(hand.folder, RULE, b"---\ntype: decision\n\x00\xff\xfe\n---\n")
    hand.open(RULE)
    assert codes(hand) == ["not-text"]
    hand.close(RULE)
    hand.open(RULE, "---\n" + f"x: {'😀 ein Wört ' * 40}\n" * 9_000)
    assert codes(hand) == ["file-too-large"]
    hand.type(RULE, "x: 😀 ein", "y")
    assert codes(hand) == ["file-too-large"]


def test_a_merge_in_progress_is_told(hand: Hand) -> None:
    text = (hand.folder / RULE).read_text(encoding="utf-8")
    merge_conflict(hand.folder, RULE, text.replace("stops", "halts"), text.replace("stops", "waits"))
    hand.open(RULE)
    assert codes(hand) == ["merge-marker"]


def test_nearest_memory_of_two_is_meant(hand: Hand) -> None:
    write(hand.folder, "sub/notes/mdmem.toml", "")
    write(hand.folder, "sub/notes/own/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(hand.folder / "sub/notes", "own/rules/a", status="actve")
    commit_all(hand.folder)
    assert hand.open(RULE).memory is not hand.open("sub/notes/own/rules/a.md").memory
    assert codes(hand, "sub/notes/own/rules/a.md") == ["invalid-value"]
    assert codes(hand) == []


def test_a_memory_that_goes_away_is_let_go_and_one_that_comes_is_found(hand: Hand) -> None:
    memory = hand.open(RULE).memory
    away = hand.folder / "memory/mdmem.toml"
    away.rename(hand.folder / "gone.toml")
    assert hand.memories.locate_again() == [memory]
    assert hand.memories.document(hand.uri(RULE)) is None
    (hand.folder / "gone.toml").rename(away)
    assert hand.memories.locate_again() == []
    assert hand.document(RULE).memory is not memory
    assert codes(hand) == []


def test_only_diagnostics_that_changed_are_published(hand: Hand, tmp_path: Path) -> None:
    write_entry(hand.folder / "memory", "nav/rules/closed", title="Closed", status="actve")
    memory = hand.open(RULE).memory
    hand.type(RULE, "active", "actve")
    published: list[PublishDiagnosticsParams] = []
    publisher = Publisher(published.append, lambda _, work: work())

    def newly() -> dict[str, int]:
        publisher.publish(memory)
        found = {one.uri: len(one.diagnostics) for one in published}
        published.clear()
        return found

    closed = hand.uri("memory/nav/rules/closed.md")
    assert newly() == {hand.uri(RULE): 1, closed: 1}
    assert newly() == {}
    hand.type(RULE, "actve", "active")
    assert newly() == {hand.uri(RULE): 0}
    write_entry(hand.folder / "memory", "nav/rules/closed", title="Closed")
    assert newly() == {closed: 0}
    (hand.folder / "memory").rename(hand.folder / "moved")
    assert newly() == {hand.uri(RULE): 0}
