"""A save whose answer was lost and that is sent again: one entry; one that is repeated on purpose: two."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import open_root, write
from msgspec.structs import replace

from mdmem.model.access import Access
from mdmem.reply import replying
from mdmem.store.state.pending_writes import UnansweredSave, UnansweredSaves
from mdmem.write.remember import remember
from saving.agents import NOON, Agent, agent, context, entries, project, session

MEMO = {"title": "Warm the cache", "content": "It takes a minute.", "project": "nav"}


def save_context(root: Path) -> str | None:
    return agent(root).save_context(context(), "nav").artifact_id


def save_session(root: Path) -> str | None:
    return agent(root).save_session(session(), "nav").artifact_id


def keep_memo(root: Path) -> str | None:
    return remember(open_root(root), MEMO, now=lambda: NOON).id


def store_session(root: Path) -> str | None:
    learned = [{"title": "Use UTC", "rationale": "Clocks differ."}]
    return agent(root).store_session_with_learnings(session(), learned, [], "nav").session.artifact_id


VERBS = pytest.mark.parametrize("save", [save_context, save_session, keep_memo, store_session])


@VERBS
def test_save_whose_answer_was_lost_is_one_entry(tmp_path: Path, save: Callable[[Path], str | None]) -> None:
    root = project(tmp_path)
    with replying():
        first = save(root)
    made = entries(root)
    with replying() as reply:
        assert save(root) == first
    assert entries(root) == made
    reply.has_left()
    assert save(root) != first


@VERBS
def test_save_that_is_repeated_after_its_answer_is_a_second_entry(
    tmp_path: Path, save: Callable[[Path], str | None]
) -> None:
    root = project(tmp_path)
    with replying() as reply:
        first = save(root)
        reply.has_left()
    assert save(root) not in (None, first)


def unanswered(root: Path, *, project_id: str = "nav", **fields: Any) -> str | None:
    with replying():
        return agent(root).save_context(context(**fields), project_id).artifact_id


def test_answer_to_what_was_sent_again_says_so(tmp_path: Path) -> None:
    root = project(tmp_path)
    first = unanswered(root)
    result = agent(root).save_context(context(), "nav")
    assert (str(result.status), result.artifact_id, result.dedup_outcome) == ("saved", first, None)
    assert result.message == f"{first} is saved; an earlier call had saved it, whose answer was lost"


@pytest.mark.parametrize(
    "other",
    [{"content": "The arm has seven joints."}, {"topic": "leg"}, {"relevance_score": 0.5}, {"project_id": "sea"}],
)
def test_other_arguments_are_another_save(tmp_path: Path, other: dict[str, Any]) -> None:
    root = project(tmp_path)
    write(root, "sea/README.md", "---\nkind: project\n---\n")
    assert unanswered(root) != unanswered(root, **other)


def test_other_caller_is_another_save(tmp_path: Path) -> None:
    root = project(tmp_path)
    first, other = unanswered(root), replace(open_root(root), access=Access.to_wings(["nav"], name="other"))
    assert Agent(other, now=lambda: NOON).save_context(context(), "nav").artifact_id not in (None, first)


def test_entry_that_was_edited_meanwhile_is_the_same_and_one_that_was_removed_is_not(tmp_path: Path) -> None:
    root = project(tmp_path)
    first = unanswered(root)
    path = root / f"{first}.md"
    path.write_text(path.read_text() + "\nIt was measured.\n")
    assert unanswered(root) == first
    path.unlink()
    assert unanswered(root) == first
    assert "measured" not in path.read_text()


def test_file_of_somebody_else_at_the_place_is_not_the_answer(tmp_path: Path) -> None:
    root = project(tmp_path)
    first = unanswered(root)
    (record,) = (tmp_path / ".git/mdmem/state/memory/intents").iterdir()
    known = json.loads(record.read_text())
    # As it is left where the process died before it wrote.
    record.write_text(json.dumps({**known, "is_written": False, "digest": "0"}))
    assert unanswered(root) not in (None, first)


def test_unanswered_save_is_forgotten_after_an_hour_and_where_there_are_many(tmp_path: Path) -> None:
    intents = UnansweredSaves(tmp_path)
    for number in range(70):
        at = NOON + timedelta(seconds=number)
        intents.keep(f"{number:064}", UnansweredSave(address="nav/context/arm", digest="", at=at))
    assert len(list((tmp_path / "intents").iterdir())) == 64
    assert intents.unanswered(f"{0:064}", NOON) is None
    assert intents.unanswered(f"{69:064}", NOON + timedelta(minutes=59)) is not None
    assert intents.unanswered(f"{69:064}", NOON + timedelta(minutes=62)) is None


def test_state_that_refuses_stops_no_save(tmp_path: Path) -> None:
    root = project(tmp_path)
    write(tmp_path, ".git/mdmem/state/memory/intents", "no folder")
    assert unanswered(root) is not None
