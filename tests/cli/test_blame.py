"""`mdmem log --fields ADDRESS`: which commit last set each field, and the body."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import commit_all, git, memory, run_here, write, write_entry

from .test_log import NEW, OLD, lived

Capture = pytest.CaptureFixture[str]


def blamed(capsys: Capture, address: str, *options: str, cwd: Path) -> dict[str, str | None]:
    """Return, for each field, the subject of the commit that set it."""
    ran = run_here(capsys, "log", "--fields", address, "--format", "json", *options, cwd=cwd)
    assert ran.code == 0, ran.err
    fields = json.loads(ran.out)["fields"]
    return {one["name"]: one["set_by"] and one["set_by"]["subject"] for one in fields}


def test_each_field_names_the_commit_that_set_it_through_a_move(tmp_path: Path, capsys: Capture) -> None:
    assert blamed(capsys, NEW, cwd=lived(tmp_path)) == {
        "type": "the memory",
        "status": "end it",
        "created_at": "the memory",
        "title": "the memory",
        "superseded_by": "end it",
        "deprecated_at": "end it",
        "body": "say it better",
    }


def test_text_is_a_line_a_field(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    head = f"{git(folder, 'log', '-1', '--format=%cs')} {git(folder, 'rev-parse', 'HEAD')[:10]}  Ada"
    lines = run_here(capsys, "log", "--fields", OLD, cwd=folder).out.splitlines()
    assert lines[0] == f"{head}  type: decision"
    assert lines[-1] == f"{head}  body"


def test_field_that_is_only_written_in_another_way_was_not_set(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    file = folder / f"memory/{OLD}.md"
    file.write_text(file.read_text().replace("title: Use two threads", 'title: "Use two threads"  # said anew'))
    commit_all(folder, "quotes")
    assert blamed(capsys, OLD, cwd=folder)["title"] == "the memory"


def test_field_that_went_away_and_came_back_was_set_by_the_last(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    for status in ("under_review", "active"):
        write_entry(folder / "memory", OLD, status=status)
        commit_all(folder, status)
    assert blamed(capsys, OLD, cwd=folder)["status"] == "active"


def test_field_that_was_changed_on_disk_is_uncommitted(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    file = folder / f"memory/{OLD}.md"
    file.write_text(file.read_text().replace("status: active", "status: under_review"))
    said = blamed(capsys, OLD, cwd=folder)
    assert (said["status"], said["type"]) == (None, "the memory")
    assert "uncommitted" in run_here(capsys, "log", "--fields", OLD, cwd=folder).out


def test_revision_is_blamed_by_its_own_history(tmp_path: Path, capsys: Capture) -> None:
    assert blamed(capsys, OLD, "--at", "HEAD~3", cwd=lived(tmp_path))["body"] == "the memory"


def test_new_file_is_uncommitted_as_a_whole(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    write(folder, "memory/nav/rules/new.md", "---\ntype: note\nstatus: active\ncreated_at: 2026-01-01\n---\n\nNew.\n")
    assert set(blamed(capsys, "nav/rules/new", cwd=folder).values()) == {None}


def test_entry_that_is_not_there_exits_1(tmp_path: Path, capsys: Capture) -> None:
    assert run_here(capsys, "log", "--fields", "zebra", cwd=memory(tmp_path)).code == 1
