"""The state that commit 61caf593 wrote is read through the commands that list and use it: nothing of it is lost."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, git, make_repository, run_here, write

LEFT = Path(__file__).parents[1] / "data" / "state_of_61caf593"
# A minute before the one-time token expires, which was made last.
WRITTEN = datetime(2026, 11, 23, 20, 41, 53, tzinfo=UTC)
ONE_TIME_TOKEN = "NR_WLqX0e7D4eVwFzgZFGhhLchp5hK8aNAYdarIlxdE"
MOMENT = re.compile(r"20\d\d-\d\d-\d\dT[\d:.]+\+00:00")
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """Return a repository with that memory and state, written a moment ago."""
    folder = make_repository(tmp_path / "p")
    shutil.copytree(LEFT / "memory", folder / "memory")
    commit_all(folder)
    passed = datetime.now(UTC) - WRITTEN
    for file in sorted((LEFT / "state").rglob("*")):
        if file.is_file():
            content = MOMENT.sub(lambda at: (datetime.fromisoformat(at[0]) + passed).isoformat(), file.read_text())
            write(folder / ".git/mdmem/state/memory", str(file.relative_to(LEFT / "state")), content)
    write(folder, "src/nav/a.py")
    return folder


def save(folder: Path, capsys: Capture, kind: str, record: dict[str, Any], *options: str) -> dict[str, Any]:
    file = write(folder.parent, "record.json", json.dumps(record))
    answer: dict[str, Any] = json.loads(run_here(capsys, "save", kind, "--json", str(file), *options, cwd=folder).out)
    return answer


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("token list", "reader: reads nav, writes nothing, since 20"),
        ("pending", "af6306b98572  save_decision  Clocks show UTC  (1 attempt, since 20"),
        ("pending", "decision `worda`, since 20"),
        ("pending", "nav/architecture/worda is similar"),
        ("audit", "owner  context: block a callback → 1 entry"),
        ("status", "hygiene  last on 2026-11-21"),
        ("status", "1 entry shown 1 time in 30 days (hook claude-code 1)"),
    ],
)
def test_command_lists_it(left: Path, capsys: Capture, command: str, shown: str) -> None:
    ran = run_here(capsys, *command.split(), cwd=left)
    assert (ran.code, shown in ran.out) == (0, True), ran


def test_session_knows_what_it_was_given(left: Path, capsys: Capture) -> None:
    rule = "Rationale: the robot stops."
    assert rule not in run_here(capsys, "retrieve", "callbacks", "--session", "one", cwd=left).out
    assert rule in run_here(capsys, "retrieve", "callbacks", "--session", "another", cwd=left).out


def test_session_of_an_edit_knows_which_rules_it_was_told(left: Path, capsys: Capture) -> None:
    assert run_here(capsys, "brief", "src/nav/a.py", "--session", "two", cwd=left).out == ""
    assert "nav/rules/callbacks" in run_here(capsys, "brief", "src/nav/a.py", "--session", "another", cwd=left).out


def test_one_time_token_opens_a_shared_wing_once(left: Path, capsys: Capture) -> None:
    pattern = {"trigger": "A test fails", "repeatable_steps": ["Run it alone."], "scope": "global"}
    options = ("--project", "nav", "--token", ONE_TIME_TOKEN)
    first = save(left, capsys, "pattern", pattern, *options)
    assert first["status"] == "saved", first
    again = save(left, capsys, "pattern", {**pattern, "trigger": "A build is slow"}, *options)
    assert "used" in again["message"], again


def test_write_that_waited_is_written(left: Path, capsys: Capture) -> None:
    assert run_here(capsys, "pending", "retry", cwd=left).code == 0
    assert git(left, "ls-files", "--others", "memory") == "memory/nav/stuck/clocks-show-utc.md"


def test_save_that_a_similar_entry_stopped_passes_with_less_confidence(left: Path, capsys: Capture) -> None:
    words = [f"word{letter}" for letter in "abcdefghijk"]
    stated = {"title": words[0], "rationale": " ".join(words[1:]), "confidence": 0.7}
    assert save(left, capsys, "decision", stated, "--project", "nav")["status"] == "saved"


def test_save_whose_answer_was_lost_is_the_same_entry(left: Path, capsys: Capture) -> None:
    record = {"content": "The arm has six joints.", "topic": "arm"}
    assert save(left, capsys, "context", record, "--project", "nav")["artifact_id"] == "nav/context/arm"
