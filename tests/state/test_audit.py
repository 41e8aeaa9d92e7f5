"""The audit log: every line whole, whoever writes at the same time; its own failing stops nobody."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from processes import run_at_once

from mdmem.store.state import local_records
from mdmem.store.state.files import write_lock
from mdmem.store.state.local_records import AUDIT_NAME as NAME
from mdmem.store.state.local_records import append_audit, read_audit

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


def test_log_is_its_owners_alone(tmp_path: Path) -> None:
    record(tmp_path)
    assert (tmp_path / NAME).stat().st_mode & 0o077 == 0


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
