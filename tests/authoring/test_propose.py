"""What agents propose: a draft, once, and what else speaks of its subject."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders import memory, open_root, snapshot, write_entry

from mdmem.errors import LostRaceError, RootNotFoundError
from mdmem.write.propose import ProposeRequest, propose

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def proposed(root: Path, title: str = "Poll sensors", body: str = "They are polled.", **more: Any) -> dict[str, Any]:
    return propose(open_root(root), ProposeRequest(title=title, body=body, **more), now=NOON)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return memory(tmp_path) / "memory"


def test_proposal_bears_the_time_of_day(root: Path) -> None:
    address = proposed(root)["address"]
    assert "created_at: 2026-11-21T12:00:00+00:00\n" in (root / f"{address}.md").read_text()


@pytest.mark.parametrize("more", [{}, {"supersedes": "nav/architecture/threads", "reason": "measured again"}])
def test_equal_proposal_is_skipped_as_an_equal_decision_is(root: Path, more: dict[str, str]) -> None:
    first = proposed(root, **more)
    before = snapshot(root)
    again = proposed(root, "Poll  sensors!", **more)
    assert (first["status"], again["status"], again["address"]) == ("saved", "duplicate_skip", first["address"])
    assert snapshot(root) == before


def test_proposal_of_a_title_that_is_taken_by_other_words_is_refused(root: Path) -> None:
    proposed(root)
    with pytest.raises(LostRaceError, match="nav/architecture/poll-sensors exists already"):
        proposed(root, body="Else.")


def test_proposal_is_told_what_speaks_of_its_subject(root: Path) -> None:
    write_entry(root, "nav/rules/slow", "Slow sensors are polled by a thread of their own.\n", title="Slow ones")
    assert proposed(root)["on_subject"] == ["nav/rules/slow"]


def test_paraphrase_under_another_title_is_told_what_it_repeats(root: Path) -> None:
    write_entry(root, "nav/rules/slow", "Slow sensors are polled by a thread of their own.\n", title="Slow ones")
    said = "A slow sensor is polled by its own thread.\n\nRationale: the bus blocks while it waits for an answer."
    assert proposed(root, "No waiting for sensors", body=said)["on_subject"] == ["nav/rules/slow"]


def test_proposal_says_where_the_memory_is_gone(root: Path) -> None:
    found = open_root(root)
    shutil.rmtree(root)
    with pytest.raises(RootNotFoundError, match="is gone; nothing was read or written"):
        propose(found, ProposeRequest(title="A", body="B"), now=NOON)
