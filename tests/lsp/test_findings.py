"""Findings of open texts: those that `mdmem check` has once they are saved."""

import weakref
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import TODAY, commit_all, merge_conflict, run_here, write, write_entry
from editors import Hand
from lsprotocol.types import PublishDiagnosticsParams

from mdmem.lsp.findings import SETTINGS_CODE, SessionFindings
from mdmem.lsp.publisher import Publisher

RULE = "memory/nav/rules/callbacks.md"
THREADS = "memory/nav/architecture/threads.md"


def codes(hand: Hand, path: str = RULE) -> list[str]:
    """Return the codes of what is found in a file, by a look of its own at the whole memory."""
    session, buffer = hand.page(path)
    return [one.code for one in SessionFindings(session).now() if one.place.path == buffer.path]


def test_an_edit_is_found_in_other_files_and_an_undo_clears_both(hand: Hand) -> None:
    write_entry(hand.folder / "memory", "nav/rules/other", see=["nav/rules/callbacks"], title="Other")
    session, _ = hand.open(RULE)
    found = SessionFindings(session)
    assert found.now() == ()
    hand.type(RULE, "status: active", "status: deprecated\nsuperseded_by: [nav/architecture/threads]")
    told = {(one.place.path, one.code) for one in found.now()}
    assert ("nav/rules/other.md", "link-to-superseded") in told
    assert ("nav/rules/callbacks.md", "supersession-one-sided") in told
    hand.type(RULE, "status: deprecated\nsuperseded_by: [nav/architecture/threads]", "status: active")
    assert found.now() == ()


def test_what_is_found_is_what_the_command_finds_after_saving(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    session, _ = hand.open(RULE)
    found = SessionFindings(session)
    found.now()
    _, buffer = hand.type(RULE, "status: active", "status: actve\nsee: [nav/nowhere/at-all]")
    told = [f"{one.place.path}:{one.place.line}:{one.place.column}" for one in found.now()]
    (hand.folder / RULE).write_bytes(buffer.data)
    ran = run_here(capsys, "check", "--format", "github", cwd=hand.folder)
    assert len(told) == 1
    assert f"line={told[0].split(':')[1]},col={told[0].split(':')[2]}" in ran.out


def test_no_git_process_runs_while_one_types(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = hand.open(RULE)
    found = SessionFindings(session)
    found.now()

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError(arguments)

    monkeypatch.setattr("subprocess.run", refuse)
    monkeypatch.setattr("subprocess.Popen", refuse)
    hand.type(RULE, "robot stops", "robot halts")
    assert found.now() == ()


def test_files_that_change_on_disk_count(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    # The repository was copied a moment ago, and no clock can tell that nothing changed since.
    monkeypatch.setattr("mdmem.store.git.discovery.RACY_NS", 0)
    session, _ = hand.open(RULE)
    found = SessionFindings(session)
    found.now()
    assert not session.look()
    write_entry(hand.folder / "memory", "nav/architecture/threads", type="decison")
    assert session.look()
    assert [(one.place.path, one.code) for one in found.now()] == [("nav/architecture/threads.md", "unknown-type")]
    write_entry(hand.folder / "memory", "nav/architecture/new", status="actve")
    (hand.folder / THREADS).unlink()
    assert session.look()
    assert [(one.place.path, one.code) for one in found.now()] == [("nav/architecture/new.md", "unknown-status")]


def test_a_day_that_passes_counts(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.store.git.discovery.RACY_NS", 0)
    write_entry(hand.folder / "memory", "nav/rules/short", type="invariant", expires_at=TODAY)
    session, _ = hand.open(RULE)
    found = SessionFindings(session)
    before = found.now()
    session.today = lambda: date.fromisoformat(TODAY) + timedelta(1)
    assert session.look()
    assert session.workspace.today == session.disk.today == session.today()
    assert [one.place.path for one in found.now() if one not in before] == ["nav/rules/short.md"]


def test_settings_that_cannot_be_read_are_the_finding(hand: Hand) -> None:
    session, _ = hand.open("memory/mdmem.toml", "[check\n")
    found = SessionFindings(session)
    assert [(one.place.path, one.code) for one in found.now()] == [("mdmem.toml", SETTINGS_CODE)]
    hand.type("memory/mdmem.toml", "[check", '[check]\nignore = ["missing-field"]')
    assert found.now() == ()


def test_what_is_no_text_or_too_much_of_it_is_a_finding(hand: Hand) -> None:
    binary = b"---\ntype: decision\n\x00\xff\xfe\n---\n"
    write(hand.folder, RULE, binary)
    hand.open(RULE)
    assert codes(hand) == ["not-utf8"]
    hand.roots.close(hand.uri(RULE))
    hand.open(RULE, "---\n" + f"x: {'😀 ein Wört ' * 40}\n" * 9_000)
    assert codes(hand) == ["file-too-large"]
    hand.type(RULE, "x: 😀 ein", "y")
    assert codes(hand) == ["file-too-large"]


def test_a_merge_in_progress_is_told(hand: Hand) -> None:
    text = (hand.folder / RULE).read_text(encoding="utf-8")
    merge_conflict(hand.folder, RULE, text.replace("stops", "halts"), text.replace("stops", "waits"))
    hand.open(RULE)
    assert codes(hand) == ["merge-marker"]


def test_two_hundred_open_files_are_looked_at_together(hand: Hand) -> None:
    for number in range(200):
        write_entry(hand.folder / "memory", f"nav/many/entry-{number}")
        hand.open(f"memory/nav/many/entry-{number}.md")
        session, _ = hand.type(f"memory/nav/many/entry-{number}.md", "active", "actve")
    assert [one.code for one in SessionFindings(session).now()] == ["unknown-status"] * 200


def test_nearest_memory_of_two_is_meant(hand: Hand) -> None:
    write(hand.folder, "sub/notes/mdmem.toml", "")
    write(hand.folder, "sub/notes/own/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(hand.folder / "sub/notes", "own/rules/a", status="actve")
    commit_all(hand.folder)
    first, _ = hand.open(RULE)
    second, _ = hand.open("sub/notes/own/rules/a.md")
    assert first is not second
    assert codes(hand, "sub/notes/own/rules/a.md") == ["unknown-status"]
    assert codes(hand) == []


def test_a_memory_that_goes_away_says_nothing_and_one_that_comes_is_found(hand: Hand, tmp_path: Path) -> None:
    session, _ = hand.open(RULE)
    away = hand.folder / "memory/mdmem.toml"
    away.rename(hand.folder / "gone.toml")
    assert hand.roots.forget_gone() == [session]
    assert hand.roots.page(hand.uri(RULE)) is None
    (hand.folder / "gone.toml").rename(away)
    (again,) = hand.roots.find_new()
    assert again is not session
    assert codes(hand) == []


def test_a_memory_that_goes_away_takes_its_findings_along(hand: Hand) -> None:
    write_entry(hand.folder / "memory", "nav/rules/closed", status="actve")
    session, _ = hand.open(RULE)
    hand.type(RULE, "active", "actve")
    told: list[PublishDiagnosticsParams] = []
    publisher = Publisher(told.append, lambda _, work: work())
    publisher.rest(session)
    closed = hand.uri("memory/nav/rules/closed.md")
    assert {one.uri: len(one.diagnostics) for one in told} == {hand.uri(RULE): 1, closed: 1}
    circle: list[object] = [Hand.__new__(Hand)]
    circle[0].circle = circle
    gone = weakref.ref(circle[0])
    del circle
    publisher.rest(session)
    assert len(told) == 2, "the same is not told twice"
    assert gone() is None, "what goes round in circles is let go"
    (hand.folder / "memory").rename(hand.folder / "moved")
    publisher.rest(session)
    assert {one.uri: len(one.diagnostics) for one in told} == {hand.uri(RULE): 0, closed: 0}


def test_what_was_told_of_a_closed_text_is_taken_back_once_an_editor_asks_for_it(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A third of a second among all that the tests hold.
    monkeypatch.setattr("mdmem.lsp.publisher.gc.collect", lambda: None)
    write_entry(hand.folder / "memory", "nav/rules/closed", status="actve")
    session, _ = hand.open(RULE)
    told: list[PublishDiagnosticsParams] = []
    publisher = Publisher(told.append, lambda _, work: work())
    publisher.refresh = lambda: None
    publisher.rest(session)
    hand.open("memory/nav/rules/closed.md")
    publisher.rest(session)
    closed = hand.uri("memory/nav/rules/closed.md")
    assert [(one.uri, len(one.diagnostics)) for one in told] == [(closed, 1), (closed, 0)]
