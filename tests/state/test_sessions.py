"""What a session was given: kept for a while, by names that lead nowhere, and never an obstacle."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mdmem.store.state.local_records import Sessions

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_session_knows_what_it_was_given_and_no_other_does(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    sessions.give("one", {"app/a/x": "1", "app/a/y": "1"}, NOW)
    sessions.give("one", {"app/a/x": "2"}, NOW)
    assert sessions.given("one", NOW) == {"app/a/x": "2", "app/a/y": "1"}
    assert (sessions.given("two", NOW), sessions.given("one", NOW + timedelta(days=3))) == ({}, {})


@pytest.mark.parametrize("name", ["", "../../evil", "a/b", "\0", "x" * 10_000, "\udc80", "CON"])
def test_any_name_is_a_session_within_the_folder(name: str, tmp_path: Path) -> None:
    Sessions(tmp_path / "state").give(name, {"app/a/x": "1"}, NOW)
    assert Sessions(tmp_path / "state").given(name, NOW) == {"app/a/x": "1"}
    assert [path.parent.name for path in tmp_path.rglob("*") if path.is_file()] == ["sessions"]


@pytest.mark.parametrize("content", ["", "[]", '{"at": 1, "given": {}}', '{"at": "2026-11-22T12:00:00+00:00"}'])
def test_torn_session_is_a_new_one(content: str, tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    sessions.give("one", {"app/a/x": "1"}, NOW)
    next((tmp_path / "sessions").iterdir()).write_text(content)
    assert sessions.given("one", NOW) == {}


def test_session_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Sessions(tmp_path / "file").give("one", {"app/a/x": "1"}, NOW)
    assert Sessions(tmp_path / "file").given("one", NOW) == {}


def test_sessions_are_few_and_small(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    for number in range(70):
        sessions.give(str(number), {"app/a/x": "1"}, NOW)
    sessions.give("69", {f"app/a/{number}": "1" for number in range(1500)}, NOW)
    assert len(list((tmp_path / "sessions").iterdir())) == 64
    assert len(sessions.given("69", NOW)) == 1000


def test_writers_at_once_leave_a_whole_session(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    threads = [
        threading.Thread(target=sessions.give, args=("one", {f"app/a/{number}": "1"}, NOW)) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sessions.given("one", NOW).items() <= {f"app/a/{number}": "1" for number in range(8)}.items()
    assert sessions.given("one", NOW)
