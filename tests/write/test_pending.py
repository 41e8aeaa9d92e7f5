"""Test writes that fail and are tried again, and repeated saves: nothing is written twice."""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, git, open_root, write, write_entry
from msgspec.structs import replace
from processes import exit_code_of, run_at_once

from mdmem.change.hygiene import run_hygiene
from mdmem.change.status import report_status
from mdmem.model.access import Access
from mdmem.store.catalog.load import load
from mdmem.store.state.files import write_lock
from mdmem.store.state.local_records import PendingWrites, Receipt
from mdmem.store.tree import WorkingTree
from mdmem.write.records import SaveResult
from mdmem.write.remember import remember
from write.agents import (
    KINDS,
    NOON,
    Agent,
    agent,
    context,
    decision,
    entries,
    later,
    of_words,
    outcome,
    pattern,
    project,
    save,
    session,
    ticking,
)

SESSION = "nav/sessions/set-up"


def ledger(folder: Path) -> PendingWrites:
    return PendingWrites(folder / ".git/mdmem/state/memory")


def busy(folder: Path) -> AbstractContextManager[None]:
    """Hold the lock that every write of an agent needs."""
    return write_lock(folder / ".git/mdmem/state/memory/saving")


@contextmanager
def no_room(root: Path, room: str) -> Iterator[None]:
    """Put a file in the place of a room, so that nothing can be written there."""
    path = write(root, room, "no room")
    yield
    path.unlink()


def all_kinds(saves: Agent) -> list[SaveResult]:
    return [save(saves, kind) for kind in KINDS]


def test_write_of_every_kind_that_finds_the_lock_held_waits_and_is_written_once(root: Path, tmp_path: Path) -> None:
    with busy(tmp_path):
        results = all_kinds(agent(root, wait=0))
    assert {(str(one.status), one.dedup_outcome, one.artifact_id) for one in results} == {("pending_retry", None, None)}
    assert results[0].message == (
        "not written yet: another process has been writing to the memory for 0 s; try again when it is done"
    )
    assert results[0].next_step == (
        "nothing has to be done: the next write tries this one again, and so does `mdmem save --retry`"
    )
    assert entries(root) == []
    verbs = "save_context save_decision save_pattern save_session upsert_entity_with_deps"
    assert sorted(one.verb for one in ledger(tmp_path).pending()) == verbs.split()
    retried = agent(root).pending.retry()
    assert [str(result.status) for _, result in retried] == ["saved"] * 5
    found = entries(root)
    assert len(found) == 5
    assert agent(root).pending.retry() == []
    assert (entries(root), ledger(tmp_path).pending()) == (found, ())
    assert agent(root).save_context(context(), "nav").artifact_id in found
    assert entries(root) == found, "what waited and is sent again is one entry"


def test_next_write_tries_three_that_wait_first(root: Path, tmp_path: Path) -> None:
    with busy(tmp_path):
        all_kinds(agent(root, wait=0))
    assert agent(root).save_context(context(topic="other"), "nav").status == "saved"
    assert (len(entries(root)), len(ledger(tmp_path).pending())) == (4, 2)
    assert agent(root).save_context(context(topic="third"), "nav").status == "saved"
    assert (len(entries(root)), len(ledger(tmp_path).pending())) == (7, 0)


def test_failing_write_does_not_delay_others(root: Path, tmp_path: Path) -> None:
    saves = agent(root, wait=0)
    with no_room(root, "nav/sessions"):
        saves.save_session(session("Never"), "nav")
        with busy(tmp_path):
            saves.save_context(context(), "nav")
        for number in range(3):
            saves.save_context(context(topic=f"more {number}"), "nav")
        assert [one.verb for one in ledger(tmp_path).pending()] == ["save_session"]


def test_same_call_again_is_one_write(root: Path, tmp_path: Path) -> None:
    with busy(tmp_path):
        for _ in range(2):
            assert agent(root, wait=0).save_session(session(), "nav").waits
    (waiting,) = ledger(tmp_path).pending()
    assert waiting.attempts == 2
    assert agent(root).save_session(session(), "nav").artifact_id == SESSION
    assert (entries(root), ledger(tmp_path).pending()) == ([SESSION], ())


def test_committed_write_waits_for_the_end_of_a_merge(tmp_path: Path) -> None:
    root = project(tmp_path, "commit = true\n")
    commit_all(tmp_path)
    head = write(tmp_path, ".git/MERGE_HEAD", git(tmp_path, "rev-parse", "HEAD"))
    result = agent(root).save_session(session(), "nav")
    assert result.message == (
        "not written yet: a merge is in progress in the repository, so a write could not be committed"
    )
    assert entries(root) == []
    head.unlink()
    assert [result.artifact_id for _, result in agent(root).pending.retry()] == [SESSION]
    assert git(tmp_path, "log", "-1", "--format=%s") == f"Add {SESSION}"
    assert git(tmp_path, "status", "--porcelain") == ""


def test_write_that_git_refuses_to_commit_is_saved_and_says_so(tmp_path: Path) -> None:
    root = project(tmp_path, "commit = true\n")
    commit_all(tmp_path)
    write(tmp_path, ".git/hooks/pre-commit", "#!/bin/sh\necho no >&2\nexit 1\n").chmod(0o755)
    result = agent(root).save_session(session(), "nav")
    assert (result.status, result.artifact_id) == ("saved", SESSION)
    said = f"{SESSION} is saved; a hook refused the commit; nothing was committed, the files are written"
    assert (result.message or "").startswith(said)
    assert ledger(tmp_path).pending() == ()


@pytest.mark.parametrize("project_id", ["nav", None, "web"])
def test_stopped_save_is_reported_until_it_is_resolved(
    saves: Agent, root: Path, tmp_path: Path, project_id: str | None
) -> None:
    known = saves.save_decision(of_words(13), "nav").artifact_id
    saves.save_decision(of_words(20), "nav")
    (blocked,) = ledger(tmp_path).blocked_writes()
    shown = [{"id": blocked.id, "wing": "nav", "title": "worda", "candidate_id": known, "since": NOON.isoformat()}]
    told = shown if project_id != "web" else None
    hygiene = run_hygiene(open_root(root), project_id, check_pending_only=True)
    assert (hygiene.get("blocked_saves"), hygiene["unresolved_saves"]) == (told, 1 if told else 0)
    standing = saves.get_save_status(project_id or "nav")
    assert standing.get("blocked") == told
    assert (standing["status"], standing["count"]) == (("pending_retry", 1) if told else ("saved", 0))
    assert any("1 stopped by a similar entry" in one for one in report_status(open_root(root)).remarks)
    assert saves.save_decision(of_words(20, supersedes=known), "nav").status == "saved"
    assert "blocked_saves" not in run_hygiene(open_root(root))
    assert saves.get_save_status("nav")["status"] == "saved"


def test_write_for_a_person_is_kept_and_not_retried(root: Path, tmp_path: Path) -> None:
    with busy(tmp_path):
        agent(root, wait=0).save_decision(of_words(20), "nav")
    write_entry(root, "nav/rules/known", f"Rationale: {of_words(13)['rationale']}\n", title=of_words(13)["title"])
    ((_, retried),) = agent(root).pending.retry()
    assert outcome(retried) == ("pending_retry", "manual_review", "nav/rules/known")
    for number in range(2):
        agent(root).save_context(context(topic=f"more {number}"), "nav")
    (waiting,) = ledger(tmp_path).pending()
    assert (waiting.refused, waiting.attempts) == (True, 2)
    assert agent(root).get_save_status("nav")["status"] == "failed"


def killed_before_done(root: str) -> None:
    saves = Agent(open_root(Path(root)), now=lambda: NOON, wait=1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(saves.pending.ledger), "complete", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        saves.pending.retry()


@pytest.mark.parametrize("by", ["retry", "next write", "same call"])
def test_write_of_a_killed_process_is_not_written_twice(tmp_path: Path, by: str) -> None:
    root = project(tmp_path)
    with busy(tmp_path):
        agent(root, wait=0).save_session(session(), "nav")
    assert exit_code_of(killed_before_done, str(root)) == -signal.SIGKILL
    assert (entries(root), len(ledger(tmp_path).pending())) == ([SESSION], 1)
    saves = agent(root)
    if by == "retry":
        ((_, retried),) = saves.pending.retry()
        assert (retried.status, retried.message) == ("saved", f"{SESSION} was written before")
    elif by == "same call":
        assert saves.save_session(session(), "nav").artifact_id == SESSION
    else:
        saves.save_pattern(pattern(), "nav")
    assert [one for one in entries(root) if "/sessions/" in one] == [SESSION]
    assert ledger(tmp_path).pending() == ()


def retry_all(number: int, root: str) -> list[str]:
    return [str(result.status) for _, result in Agent(open_root(Path(root))).pending.retry()]


def test_two_processes_that_retry_at_once_write_each_once(root: Path, tmp_path: Path) -> None:
    with busy(tmp_path):
        for number in range(4):
            agent(root, wait=0).save_session(session(f"Session {number}"), "nav")
    answers = run_at_once(retry_all, str(root), count=2)
    assert sorted(status for said in answers for status in said) == ["saved"] * 4
    assert entries(root) == [f"nav/sessions/session-{number}" for number in range(4)]


def test_parts_of_a_session_wait_with_it_and_are_linked(root: Path) -> None:
    with no_room(root, "nav/sessions"):
        batch = agent(root).store_session_with_learnings(session(), [decision()], [pattern()], "nav")
    assert [one.message for one in batch.decisions] == ["not written yet: the session of this record is not saved yet"]
    assert (batch.overall, entries(root)) == ("partial", [])
    agent(root).pending.retry()
    learned = {"nav/architecture/use-utc", "nav/conventions/a-test-fails"}
    assert set(load(WorkingTree(root)).entries[SESSION].produced) == learned


@pytest.mark.parametrize("project_id", ["nav", "web"])
@pytest.mark.parametrize("now", [ticking(), lambda: NOON])
def test_session_and_what_it_taught_are_linked_when_all_of_it_waited(
    root: Path, tmp_path: Path, project_id: str, now: Callable[[], datetime]
) -> None:
    with busy(tmp_path):
        # A batch that is repeated while it waits is written once.
        for _ in range(2):
            saves = agent(root, wait=0, now=now)
            batch = saves.store_session_with_learnings(session(), [decision()], [pattern()], project_id)
    assert (str(batch.overall), len(ledger(tmp_path).pending())) == ("partial", 3)
    if project_id == "nav":
        batch = agent(root).store_session_with_learnings(session(), [decision()], [pattern()], "nav")
        assert (str(batch.overall), ledger(tmp_path).pending()) == ("saved", ())
    else:
        assert [str(result.status) for _, result in agent(root).pending.retry()] == ["saved"] * 3
    learned = {f"{project_id}/architecture/use-utc", f"{project_id}/conventions/a-test-fails"}
    assert set(entries(root)) == {*learned, f"{project_id}/sessions/set-up"}
    assert set(load(WorkingTree(root)).entries[f"{project_id}/sessions/set-up"].produced) == learned


def test_status_of_a_project_counts_what_waits_for_it(root: Path, tmp_path: Path) -> None:
    write(root, "web/README.md", "---\nproject_id: Acme/Web\n---\n")
    nothing = {"status": "saved", "count": 0, "oldest_pending_at": None, "artifact_ids": []}
    assert agent(root).get_save_status("nav") == nothing
    with busy(tmp_path):
        agent(root, wait=0, now=later(60)).save_session(session("Later"), "Acme/Web")
        agent(root, wait=0).save_session(session(), "web")
        agent(root, wait=0).save_context(context(), "nav")
    found = agent(root).get_save_status("Acme/Web")
    oldest_first = sorted(ledger(tmp_path).pending(), key=lambda one: one.created)
    waiting = [one.id for one in oldest_first if one.verb == "save_session"]
    assert found == {
        "status": "pending_retry",
        "count": 2,
        "oldest_pending_at": NOON.isoformat(),
        "artifact_ids": waiting,
    }
    assert len(ledger(tmp_path).pending()) == 3


def test_status_is_partial_where_some_were_refused(root: Path, tmp_path: Path) -> None:
    write_entry(root, "nav/rules/old", status="deprecated", deprecated_reason="over")
    with busy(tmp_path):
        agent(root, wait=0).save_decision(decision(supersedes="nav/rules/old"), "nav")
    (root / "nav/rules/old.md").unlink()
    agent(root).pending.retry()
    assert agent(root).get_save_status("nav")["status"] == "failed"
    with busy(tmp_path):
        agent(root, wait=0).save_context(context(), "nav")
    assert agent(root).get_save_status("nav")["status"] == "partial"


@pytest.mark.parametrize("kind", ["decision", "session", "entity"])
def test_deleted_memory_is_not_created_again(saves: Agent, root: Path, kind: str) -> None:
    shutil.rmtree(root)
    result = save(saves, kind)
    assert (result.status, "was moved or deleted" in (result.message or ""), root.exists()) == ("failed", True, False)
    for named in ({"project": "nav"}, {}):
        told = remember(saves.workspace, {"title": "A", "content": "B", **named})
        assert (told.success, "was moved or deleted" in told.message) == (False, True)


MEMO = {"title": "Warm the cache", "content": "It takes a minute.", "project": "nav"}


def store_session(saves: Agent) -> str | None:
    learned = [{"title": "Use UTC", "rationale": "Clocks differ."}]
    return saves.store_session_with_learnings(session(), learned, [], "nav").session.artifact_id


@pytest.mark.parametrize(
    "save",
    [
        lambda saves: saves.save_context(context(), "nav").artifact_id,
        lambda saves: saves.save_session(session(), "nav").artifact_id,
        lambda saves: remember(saves.workspace, MEMO, now=saves.now).id,
        store_session,
    ],
    ids=["context", "session", "memo", "batch"],
)
def test_same_save_within_two_minutes_is_one_entry(root: Path, save: Callable[[Agent], str | None]) -> None:
    first = save(agent(root, now=later(0)))
    made = entries(root)
    assert save(agent(root, now=later(119))) == first
    assert entries(root) == made
    assert save(agent(root, now=later(121))) not in (None, first)


def saved(root: Path, *, project_id: str = "nav", **fields: Any) -> str | None:
    return agent(root).save_context(context(**fields), project_id).artifact_id


def test_repeated_save_says_so_and_other_arguments_or_another_caller_save_again(root: Path) -> None:
    write(root, "sea/README.md", "---\nkind: project\n---\n")
    first, caller = saved(root), replace(open_root(root), access=Access.to_wings(["nav"], name="other"))
    result = agent(root).save_context(context(), "nav")
    assert (str(result.status), result.artifact_id, result.dedup_outcome) == ("saved", first, None)
    assert result.message == f"{first} was already saved by an identical call"
    others = [{"content": "The arm has seven joints."}, {"topic": "leg"}, {"relevance_score": 0.5}]
    made = [saved(root, **one) for one in (*others, {"project_id": "sea"})]
    made.append(Agent(caller, now=lambda: NOON).save_context(context(), "nav").artifact_id)
    assert len({first, *made} - {None}) == 6


def test_entry_that_was_edited_meanwhile_is_the_same_and_one_that_was_removed_is_not(root: Path) -> None:
    first = saved(root)
    path = root / f"{first}.md"
    path.write_text(path.read_text() + "\nIt was measured.\n")
    assert saved(root) == first
    path.unlink()
    assert saved(root) == first
    assert "measured" not in path.read_text()


def test_file_of_another_writer_at_the_address_is_not_the_answer(root: Path, tmp_path: Path) -> None:
    first = saved(root)
    (record,) = (tmp_path / ".git/mdmem/state/memory/intents").iterdir()
    # A process that died before it wrote leaves such a receipt.
    record.write_text(json.dumps({**json.loads(record.read_text()), "is_written": False, "digest": "0"}))
    assert saved(root) not in (None, first)


def test_receipts_are_deleted_after_a_day_or_beyond_a_number(tmp_path: Path) -> None:
    ledger = PendingWrites(tmp_path)
    for number in range(70):
        at = NOON + timedelta(seconds=number)
        ledger.add_receipt(f"{number:064}", Receipt(address="nav/context/arm", digest="", at=at))
    assert len(list((tmp_path / "intents").iterdir())) == 64
    ledger.add_receipt("x", Receipt(address="nav/context/arm", digest="", at=NOON + timedelta(days=2)))
    assert len(list((tmp_path / "intents").iterdir())) == 1


def test_unwritable_state_does_not_stop_a_save(root: Path, tmp_path: Path) -> None:
    write(tmp_path, ".git/mdmem/state/memory/intents", "no folder")
    assert saved(root) is not None
