"""A session with what it taught: each part by itself, and the links between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import open_root

from mdmem.ask.context import ContextRequest, compile_context, items_of
from mdmem.ask.facets import Layer
from mdmem.store.catalog.load import load
from mdmem.store.tree import WorkingTree
from mdmem.write.records import BatchSaveResult, SaveResult, SaveStatus
from mdmem.write.similar import DedupOutcome
from write.agents import Agent, agent, decision, later, pattern, session

SESSION = "nav/sessions/set-up"


def produced(root: Path, address: str = SESSION) -> tuple[str, ...]:
    return load(WorkingTree(root)).entries[address].produced


def statuses(batch: BatchSaveResult) -> tuple[str, list[str], list[str], str]:
    return (
        str(batch.session.status),
        [str(one.status) for one in batch.decisions],
        [str(one.status) for one in batch.patterns],
        str(batch.overall),
    )


def test_session_names_what_came_out_of_it(root: Path) -> None:
    batch = agent(root).store_session_with_learnings(
        session(), [decision(), decision("Other", "Else.")], [pattern()], "nav", agent="bot"
    )
    assert statuses(batch) == ("saved", ["saved", "saved"], ["saved"], "saved")
    learned = ("nav/architecture/use-utc", "nav/architecture/other", "nav/conventions/a-test-fails")
    assert tuple(one.artifact_id for one in (*batch.decisions, *batch.patterns)) == learned
    assert produced(root) == learned


def test_session_names_what_was_there_before(saves: Agent, root: Path) -> None:
    saves.save_decision(decision(), "nav")
    saves.save_pattern(pattern(), "nav")
    batch = saves.store_session_with_learnings(session(), [decision()], [pattern()], "nav")
    assert statuses(batch) == ("saved", ["duplicate_skip"], ["duplicate_skip"], "saved")
    assert produced(root) == ("nav/architecture/use-utc", "nav/conventions/a-test-fails")


def test_part_that_fails_stops_no_other(saves: Agent, root: Path) -> None:
    batch = saves.store_session_with_learnings({}, [decision("Other")], [], "nav")
    assert statuses(batch) == ("failed", ["saved"], [], "partial")
    batch = saves.store_session_with_learnings(session(), [{"title": 3}, decision(), None], [pattern("x"), {}], "nav")
    assert statuses(batch) == ("saved", ["failed", "saved", "failed"], ["saved", "failed"], "partial")
    assert produced(root) == ("nav/architecture/use-utc", "nav/conventions/x")


def test_link_changes_no_other_byte_of_the_session(saves: Agent, root: Path) -> None:
    saves.save_session(session(open_items=["one"]), "nav")
    alone = (root / f"{SESSION}.md").read_text()
    (root / f"{SESSION}.md").unlink()
    saves.store_session_with_learnings(session(open_items=["one"]), [decision()], [], "nav")
    linked = (root / f"{SESSION}.md").read_text()
    assert linked == alone.replace("objective:", "produced: [nav/architecture/use-utc]\nobjective:")


def result(status: str, outcome: DedupOutcome | None = None) -> SaveResult:
    return SaveResult(status=SaveStatus(status), dedup_outcome=outcome)


SAVED, SKIPPED, FAILED = result("saved"), result("duplicate_skip", DedupOutcome.DUPLICATE_SKIP), result("failed")
BLOCKED, WAITS = result("blocked_scope"), result("pending_retry")
REVIEW = result("pending_retry", DedupOutcome.MANUAL_REVIEW)


@pytest.mark.parametrize(
    ("parts", "overall"),
    [
        ((SAVED,), "saved"),
        ((SAVED, SKIPPED), "saved"),
        ((FAILED,), "failed"),
        ((BLOCKED, FAILED, REVIEW), "failed"),
        ((SAVED, FAILED), "partial"),
        ((SAVED, REVIEW), "partial"),
        ((FAILED, SKIPPED), "partial"),
        ((WAITS,), "partial"),
        ((WAITS, WAITS), "partial"),
        ((WAITS, FAILED), "partial"),
    ],
)
def test_overall_says_whether_all_some_or_none_is_there(parts: tuple[SaveResult, ...], overall: str) -> None:
    batch = BatchSaveResult(session=parts[0], decisions=parts[1:2], patterns=parts[2:])
    assert batch.overall == overall


def test_newest_session_of_a_day_is_the_active_work(root: Path) -> None:
    for hour, objective in enumerate(("Zeta first", "Alpha second", "Middle third")):
        agent(root, now=later(3600 * hour)).save_session(session(objective), "nav")
    asked = ContextRequest(goal="resume work", layer=Layer.WAKE, project="nav")
    items = items_of(compile_context(open_root(root), asked))
    assert next(item["id"] for item in items if item["id"].startswith("nav/sessions/")) == "nav/sessions/middle-third"
