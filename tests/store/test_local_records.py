"""The local records: the audit log, the log of answers, and what each session was shown; none stops a command."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from processes import run_at_once

from mdmem.store.state import local_records
from mdmem.store.state.files import write_lock
from mdmem.store.state.local_records import AUDIT_NAME as NAME
from mdmem.store.state.local_records import Sessions, Tally, append_audit, read_audit, record_shown, tally_shown

WHEN = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def record(state: Path, goal: str = "a goal") -> str | None:
    return append_audit(state, "context", {"goal": goal}, ("app/a/b",), when=WHEN, caller="ci")


def test_line_says_what_was_asked_and_returned_when_and_by_whom(tmp_path: Path) -> None:
    assert record(tmp_path / "state") is None
    assert json.loads((tmp_path / "state" / NAME).read_bytes()) == {
        "when": "2026-11-21T10:00:00+00:00",
        "caller": "ci",
        "verb": "context",
        "asked": {"goal": "a goal"},
        "returned": ["app/a/b"],
    }
    assert (tmp_path / "state" / NAME).stat().st_mode & 0o077 == 0


def test_lines_stay_one_line_each_whatever_they_hold(tmp_path: Path) -> None:
    for goal in ("two\nlines\u2028three", "\ud800", "x" * 9000):
        record(tmp_path, goal)
    goals = [one["asked"]["goal"] for one in read_audit(tmp_path)]
    assert goals == ["two\nlines\u2028three", "\ud800", "x" * 2000]


def test_full_log_makes_room_and_the_oldest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_records, "AUDIT_BYTES", 1000)
    for number in range(60):
        assert record(tmp_path, str(number)) is None
    kept = [int(one["asked"]["goal"]) for one in read_audit(tmp_path)]
    assert kept == list(range(60 - len(kept), 60))
    assert 30 <= len(kept) < 60
    names = sorted(path.name for path in tmp_path.glob("audit*.jsonl"))
    assert names == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.4.jsonl", "audit.jsonl"]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.glob("audit*.jsonl"))


def test_torn_line_swallows_no_other(tmp_path: Path) -> None:
    record(tmp_path, "first")
    with (tmp_path / NAME).open("ab") as log:
        log.write(b'{"when": "20')
    record(tmp_path, "second")
    assert [one["asked"]["goal"] for one in read_audit(tmp_path)] == ["first", "second"]


def _write_many(writer: int, state: Path) -> None:
    local_records.AUDIT_BYTES = 4000
    for number in range(40):
        assert record(state, f"{writer} {number}") is None


def test_many_processes_append_whole_lines(tmp_path: Path) -> None:
    assert run_at_once(_write_many, tmp_path) == [None] * 4
    lines = b"".join(path.read_bytes() for path in tmp_path.glob("audit*.jsonl")).splitlines()
    goals = [json.loads(line)["asked"]["goal"] for line in lines]
    assert len(goals) == len(set(goals)) > 60


def test_log_that_cannot_be_written_is_only_said(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    assert record(tmp_path) == f"this call is not in the audit log {tmp_path / NAME}: is a directory"


def test_log_is_no_link_to_somewhere_else(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / NAME).symlink_to(tmp_path / "elsewhere")
    assert "not in the audit log" in (record(tmp_path / "state") or "")
    assert (tmp_path / "elsewhere").read_text() == "kept"


def test_busy_log_is_not_waited_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_records, "AUDIT_WAIT", 0.05)
    with write_lock(tmp_path / "audit"):
        assert "another process has been writing" in (record(tmp_path) or "")


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def consult(state: Path, *addresses: str, way: str = "server", days: int = 0) -> None:
    record_shown(state, way, addresses, NOW - timedelta(days=days))


def test_entries_and_ways_are_counted_of_the_last_thirty_days(tmp_path: Path) -> None:
    consult(tmp_path, "a/b/old", days=31)
    consult(tmp_path, "a/b/c", "a/b/d", days=2)
    consult(tmp_path, "a/b/c", way="hook codex", days=1)
    told = tally_shown(tmp_path, NOW)
    assert (told.times, told.ways) == ({"a/b/c": 2, "a/b/d": 1}, {"server": 2, "hook codex": 1})
    assert told.last == NOW - timedelta(days=1)


def test_lines_that_are_none_of_ours_count_nothing(tmp_path: Path) -> None:
    consult(tmp_path, "a/b/c")
    with (tmp_path / "consulted.jsonl").open("ab") as log:
        log.write(
            b'{"when": 3, "way": "x", "told": ["y"]}\n[]\n{"when": "2026-11-22T10:00:00+00:00", "way": "x"}\n{"wh'
        )
    assert tally_shown(tmp_path, NOW).times == {"a/b/c": 1}


def test_log_or_session_that_cannot_be_written_or_read_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    consult(tmp_path / "file/state", "a/b/c")
    assert tally_shown(tmp_path / "file/state", NOW) == Tally()
    Sessions(tmp_path / "file").give("one", {"app/a/x": "1"}, NOW)
    assert Sessions(tmp_path / "file").given("one", NOW) == {}


def test_the_log_stays_small_and_its_owners(tmp_path: Path) -> None:
    long = tuple(f"wing/room/{'x' * 200}-{number}" for number in range(500))
    for _ in range(12):
        consult(tmp_path, *long)
    files = sorted(tmp_path.glob("consulted*.jsonl"))
    assert [path.name for path in files] == ["consulted.1.jsonl", "consulted.jsonl"]
    assert all(path.stat().st_size <= 512 * 1024 and path.stat().st_mode & 0o077 == 0 for path in files)


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
