"""Test two writers at once whose plans depend on each other, and proposals of agents."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders import memory, open_root, run_here, snapshot, write, write_entry

from mdmem.checks.run import CheckRequest, check
from mdmem.errors import KeptAsideError, LostRaceError, NotFoundError, RootNotFoundError, UsageError
from mdmem.model.entry import EntryType
from mdmem.store.workspace.workspace import Workspace
from mdmem.write import write as writing
from mdmem.write.create import Draft, new_text, plan_entry, plan_new
from mdmem.write.fix import fix
from mdmem.write.lifecycle import plan_approvals, plan_deprecation, plan_review, plan_verification
from mdmem.write.move import plan_named_moves
from mdmem.write.propose import ProposeRequest, propose
from mdmem.write.write import WriteOptions, WriteResult

OLD, MOVED, DRAFT = "nav/architecture/threads", "nav/other/threads", "nav/notes/next"
TEXT = "We decided.\n\nRationale: it was tried.\n"
PLAIN = WriteOptions()


def move(root: Workspace, to: str = MOVED) -> WriteResult:
    return writing.write(root, lambda one: plan_named_moves(one, {OLD: to}), PLAIN)


def review(root: Workspace, name: str = OLD) -> WriteResult:
    return writing.write(root, lambda one: plan_review(one, name, reason="Doubt."), PLAIN)


def add_draft(root: Workspace) -> WriteResult:
    draft = Draft(type=EntryType.DECISION, title="Next", place=DRAFT, body=TEXT, old=OLD, reason="Better.")
    address, text = new_text(root, draft, today=root.today)
    return writing.write(root, lambda one: plan_new(one, draft, address, text), PLAIN)


def forestall(patch: pytest.MonkeyPatch, root: Path, other: Callable[[Workspace], object]) -> None:
    """Let somebody else write after the next plan is made and before its writer has the lock."""
    whole, others = writing.writers_lock, [other]

    def locked(state: Path) -> AbstractContextManager[None]:
        if others:
            others.pop()(open_root(root))
        return whole(state)

    patch.setattr(writing, "writers_lock", locked)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return memory(tmp_path / "m") / "memory"


def errors(root: Path) -> list[str]:
    return [one.code for one in check(open_root(root), CheckRequest(ignore=("link-not-tracked",))).findings]


def test_move_rewrites_the_links_of_a_draft_and_a_text_that_were_written_meanwhile(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(workspace: Workspace) -> None:
        add_draft(workspace)
        write_entry(root, "nav/notes/text", f"{TEXT}\n[see: {OLD}]\n", title="Next")

    forestall(monkeypatch, root, add)
    written = move(open_root(root))
    assert {change.to for change in written.changes} >= {f"{MOVED}.md", f"{DRAFT}.md"}
    assert f"supersedes: [{MOVED}]" in (root / f"{DRAFT}.md").read_text()
    assert f"[see: {MOVED}]" in (root / "nav/notes/text.md").read_text()
    assert "dangling-link" not in errors(root)


@pytest.mark.parametrize(
    "verb",
    [
        add_draft,
        lambda root: writing.write(root, lambda one: plan_verification(one, [OLD]), PLAIN),
        lambda root: writing.write(root, lambda one: plan_approvals(one, [OLD], by="T <t@example.org>"), PLAIN),
        review,
        lambda root: writing.write(root, lambda one: plan_deprecation(one, OLD, reason="Gone."), PLAIN),
        lambda root: move(root, "nav/third/threads"),
    ],
    ids=["supersede", "verify", "approve", "review", "deprecate", "mv"],
)
def test_entry_that_was_moved_meanwhile_is_not_found(
    root: Path, monkeypatch: pytest.MonkeyPatch, verb: Callable[[Workspace], object]
) -> None:
    forestall(monkeypatch, root, move)
    with pytest.raises(NotFoundError, match=f"there is no entry `{OLD}`"):
        verb(open_root(root))
    assert not (root / f"{DRAFT}.md").exists()
    assert errors(root) == []


def test_short_name_finds_a_moved_entry(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forestall(monkeypatch, root, move)
    written = review(open_root(root), "threads")
    assert [change.to for change in written.changes] == [f"{MOVED}.md"]


def test_new_entry_with_a_link_to_a_moved_entry_is_a_lost_race(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"---\ntype: note\nstatus: active\ncreated_at: 2026-01-01\ntitle: N\nsee: {OLD}\n---\n\nText.\n"
    forestall(monkeypatch, root, move)
    with pytest.raises(LostRaceError, match=f"changed, so nothing was written: .*`{OLD}`"):
        writing.write(open_root(root), lambda one: plan_entry(one, DRAFT, text), PLAIN)
    assert not (root / f"{DRAFT}.md").exists()


def test_unrelated_write_of_another_process_stops_nobody(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forestall(monkeypatch, root, lambda _: write_entry(root, "nav/notes/other", TEXT, title="Other"))
    written = review(open_root(root))
    assert [change.to for change in written.changes] == [f"{OLD}.md"]


def test_fixes_use_the_current_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(root, "nav/notes/one", TEXT, title="One", see="architecture/threads")
    forestall(monkeypatch, root, lambda _: write_entry(root, "nav/notes/two", TEXT, see="architecture/threads"))
    fix(open_root(root), CheckRequest(), with_unsafe=False, is_dry=False)
    texts = [(root / f"nav/notes/{one}.md").read_text() for one in ("one", "two")]
    assert [f"\nsee: {OLD}\n" in text for text in texts] == [True, True]


def test_write_keeps_the_text_that_an_editor_saved_meanwhile(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.store.state import files as swap

    path, whole = root / f"{OLD}.md", swap.exchange
    saved = path.read_text() + "Saved by hand.\n"

    def exchange(one: Path, other: Path) -> None:
        monkeypatch.setattr(swap, "exchange", whole)
        write(root, f"{OLD}.md", saved)
        whole(one, other)

    monkeypatch.setattr(swap, "exchange", exchange)
    review(open_root(root))
    assert "status: under_review" in path.read_text()
    assert path.read_text().endswith("Saved by hand.\n")


def test_text_kept_aside_is_reported_and_not_retried(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    def carry_out(*given: Any, **named: Any) -> None:
        calls.append(given)
        raise KeptAsideError("`a.md` changed while it was written; nothing was changed; `a.md.x.kept` keeps a text")

    monkeypatch.setattr(writing, "write_changes", carry_out)
    said = run_here(capsys, "doubt", OLD, "--reason", "Doubt.", cwd=root)
    assert (said.code, len(calls), "`a.md.x.kept` keeps a text" in said.err) == (4, 1, True)


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def proposed(root: Path, title: str = "Poll sensors", body: str = "They are polled.", **more: Any) -> dict[str, Any]:
    return propose(open_root(root), ProposeRequest(title=title, body=body, **more), now=NOON)


@pytest.mark.parametrize("more", [{}, {"supersedes": "nav/architecture/threads", "reason": "measured again"}])
def test_equal_proposal_is_skipped(root: Path, more: dict[str, str]) -> None:
    first = proposed(root, **more)
    assert "created_at: 2026-11-21T12:00:00+00:00\n" in (root / f"{first['address']}.md").read_text()
    before = snapshot(root)
    again = proposed(root, "Poll  sensors!", **more)
    assert (first["status"], again["status"], again["address"]) == ("saved", "duplicate_skip", first["address"])
    assert snapshot(root) == before


def test_proposal_with_the_title_of_another_entry_is_refused(root: Path) -> None:
    proposed(root)
    with pytest.raises(LostRaceError, match="nav/architecture/poll-sensors exists already"):
        proposed(root, body="Else.")


def test_proposal_with_a_title_in_another_script_gets_an_address(root: Path) -> None:
    assert proposed(root, "時計は協定世界時")["address"] == "nav/architecture/時計は協定世界時"
    with pytest.raises(UsageError, match="no entry-id can be made from the title `!`; write a title with letters"):
        proposed(root, "!", "Else.")


def test_proposal_lists_entries_on_its_subject(root: Path) -> None:
    write_entry(root, "nav/rules/slow", "Slow sensors are polled by a thread of their own.\n", title="Slow ones")
    assert proposed(root)["on_subject"] == ["nav/rules/slow"]
    # The text is a paraphrase with another title.
    said = "A slow sensor is polled by its own thread.\n\nRationale: the bus blocks while it waits for an answer."
    assert proposed(root, "No waiting for sensors", body=said)["on_subject"] == ["nav/rules/slow"]


def test_proposal_in_a_deleted_memory_is_refused(root: Path) -> None:
    found = open_root(root)
    shutil.rmtree(root)
    with pytest.raises(RootNotFoundError, match="was moved or deleted; nothing was read or written"):
        propose(found, ProposeRequest(title="A", body="B"), now=NOON)
