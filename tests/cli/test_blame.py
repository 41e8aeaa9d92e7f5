"""`mdmem log --fields ADDRESS`: which commit last set each field, and the body."""

from __future__ import annotations

from pathlib import Path

from builders import Run, commit_all

from .test_log import NEW, OLD, lived


def blamed(run: Run, address: str, *options: str, cwd: Path) -> dict[str, str | None]:
    """Return, for each field, the subject of the commit that set it."""
    ran = run("log", "--fields", address, "--format", "json", *options, cwd=cwd)
    assert ran.code == 0, ran.err
    fields = ran.json["fields"]
    return {one["name"]: one["set_by"] and one["set_by"]["subject"] for one in fields}


def test_each_field_names_the_commit_that_set_it_through_a_move(tmp_path: Path, run: Run) -> None:
    assert blamed(run, NEW, cwd=lived(tmp_path)) == {
        "type": "the memory",
        "status": "end it",
        "created_at": "the memory",
        "title": "the memory",
        "superseded_by": "end it",
        "deprecated_at": "end it",
        "body": "say it better",
    }


def test_field_that_is_only_written_in_another_way_was_not_set(folder: Path, run: Run) -> None:
    file = folder / f"memory/{OLD}.md"
    file.write_text(file.read_text().replace("title: Use two threads", 'title: "Use two threads"  # said anew'))
    commit_all(folder, "quotes")
    assert blamed(run, OLD, cwd=folder)["title"] == "the memory"


def test_field_that_was_changed_on_disk_is_uncommitted(folder: Path, run: Run) -> None:
    file = folder / f"memory/{OLD}.md"
    file.write_text(file.read_text().replace("status: active", "status: under_review"))
    said = blamed(run, OLD, cwd=folder)
    assert (said["status"], said["type"]) == (None, "the memory")
    assert "uncommitted" in run("log", "--fields", OLD).out


def test_revision_is_blamed_by_its_own_history(tmp_path: Path, run: Run) -> None:
    assert blamed(run, OLD, "--at", "HEAD~3", cwd=lived(tmp_path))["body"] == "the memory"
