"""A save that is sent again within two minutes is one entry; later it is another."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import open_root, write
from msgspec.structs import replace

from mdmem.model.access import Access
from mdmem.store.state.pending_writes import PendingWrites, Receipt
from mdmem.write.remember import remember
from saving.agents import NOON, Agent, agent, context, entries, later, session

MEMO = {"title": "Warm the cache", "content": "It takes a minute.", "project": "nav"}
Clock = Callable[[], datetime]


def save_context(root: Path, now: Clock) -> str | None:
    return agent(root, now=now).save_context(context(), "nav").artifact_id


def save_session(root: Path, now: Clock) -> str | None:
    return agent(root, now=now).save_session(session(), "nav").artifact_id


def keep_memo(root: Path, now: Clock) -> str | None:
    return remember(open_root(root), MEMO, now=now).id


def store_session(root: Path, now: Clock) -> str | None:
    learned = [{"title": "Use UTC", "rationale": "Clocks differ."}]
    return agent(root, now=now).store_session_with_learnings(session(), learned, [], "nav").session.artifact_id


@pytest.mark.parametrize("save", [save_context, save_session, keep_memo, store_session])
def test_same_save_within_two_minutes_is_one_entry(root: Path, save: Callable[[Path, Clock], str | None]) -> None:
    first = save(root, later(0))
    made = entries(root)
    assert save(root, later(119)) == first
    assert entries(root) == made
    assert save(root, later(121)) not in (None, first)


def saved(root: Path, *, project_id: str = "nav", **fields: Any) -> str | None:
    return agent(root).save_context(context(**fields), project_id).artifact_id


def test_answer_to_a_repeated_save_says_so(root: Path) -> None:
    first = saved(root)
    result = agent(root).save_context(context(), "nav")
    assert (str(result.status), result.artifact_id, result.dedup_outcome) == ("saved", first, None)
    assert result.message == f"{first} was already saved by an identical call"


@pytest.mark.parametrize(
    "other",
    [{"content": "The arm has seven joints."}, {"topic": "leg"}, {"relevance_score": 0.5}, {"project_id": "sea"}],
)
def test_other_arguments_are_another_save(root: Path, other: dict[str, Any]) -> None:
    write(root, "sea/README.md", "---\nkind: project\n---\n")
    assert saved(root) != saved(root, **other)


def test_other_caller_is_another_save(root: Path) -> None:
    first, other = saved(root), replace(open_root(root), access=Access.to_wings(["nav"], name="other"))
    assert Agent(other, now=lambda: NOON).save_context(context(), "nav").artifact_id not in (None, first)


def test_entry_that_was_edited_meanwhile_is_the_same_and_one_that_was_removed_is_not(root: Path) -> None:
    first = saved(root)
    path = root / f"{first}.md"
    path.write_text(path.read_text() + "\nIt was measured.\n")
    assert saved(root) == first
    path.unlink()
    assert saved(root) == first
    assert "measured" not in path.read_text()


def test_file_of_somebody_else_at_the_place_is_not_the_answer(root: Path, tmp_path: Path) -> None:
    first = saved(root)
    (record,) = (tmp_path / ".git/mdmem/state/memory/intents").iterdir()
    # As it is left by a process that died before it wrote.
    record.write_text(json.dumps({**json.loads(record.read_text()), "is_written": False, "digest": "0"}))
    assert saved(root) not in (None, first)


def test_receipts_are_forgotten_after_a_day_and_where_there_are_many(tmp_path: Path) -> None:
    ledger = PendingWrites(tmp_path)
    for number in range(70):
        at = NOON + timedelta(seconds=number)
        ledger.keep_receipt(f"{number:064}", Receipt(address="nav/context/arm", digest="", at=at))
    assert len(list((tmp_path / "intents").iterdir())) == 64
    ledger.keep_receipt("x", Receipt(address="nav/context/arm", digest="", at=NOON + timedelta(days=2)))
    assert len(list((tmp_path / "intents").iterdir())) == 1


def test_state_that_refuses_stops_no_save(root: Path, tmp_path: Path) -> None:
    write(tmp_path, ".git/mdmem/state/memory/intents", "no folder")
    assert saved(root) is not None
