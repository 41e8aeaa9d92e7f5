"""`mdmem context` on the command line."""

import json
from pathlib import Path

import pytest
from builders import commit_all, make_repository, memory, run_here, write, write_entry


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_text_groups_by_facet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run_here(capsys, "context", "two", "threads", "for", "navigation", cwd=memory(tmp_path / "repo"))
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if line[:1] in ("#", "`")][1:] == [
        "## Constraints",
        "### invariant: Callbacks do not block",
        "`nav/rules/callbacks` (project); invariant of the scope",
        "## Decisions",
        "### decision: Use two threads",
        "`nav/architecture/threads` (project); contains two, threads, navigation",
    ]
    assert "\n> Rationale: the robot stops.\n" in ran.out


def test_json_is_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--intent", "debug", "--layer", "wake", "--limit", "3", "--no-related", "--agent", "bot")
    ran = run_here(capsys, "context", "threads", *arguments, "--format", "json", cwd=memory(tmp_path / "repo"))
    pack = json.loads(ran.out)
    assert (pack["schema"], pack["intent"], pack["layer"], pack["project"]) == (1, "debug", "wake", None)
    assert [section["facet"] for section in pack["sections"]] == ["constraints", "decisions"]
    assert pack["markdown"].startswith("# Context: threads\n")


def test_markdown_is_the_packs_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = memory(tmp_path / "repo")
    as_json = json.loads(run_here(capsys, "context", "threads", "--format", "json", cwd=folder).out)
    assert run_here(capsys, "context", "threads", "--format", "markdown", cwd=folder).out == as_json["markdown"] + "\n"


def test_revision_is_read_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = memory(tmp_path / "repo")
    write_entry(folder / "memory", "nav/architecture/zebra", title="Zebra")
    assert "nav/architecture/zebra" in run_here(capsys, "context", "zebra", cwd=folder).out
    assert "nav/architecture/zebra" not in run_here(capsys, "context", "zebra", "--at", "HEAD", cwd=folder).out


def test_without_a_memory_the_repository_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_repository(tmp_path / "repo")
    write(folder, "README.md", "# A thing\n\nThreads are two.\n")
    commit_all(folder)
    ran = run_here(capsys, "context", "threads", "--project", "x", cwd=folder)
    assert ran.code == 0
    assert "README.md:3: Threads are two." in ran.out
    assert "Degraded: no memory here" in ran.out


def test_intent_that_is_none_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run_here(capsys, "context", "threads", "--intent", "bild", cwd=memory(tmp_path / "repo"))
    assert ran.code == 2
    assert "--intent" in ran.err


def test_audit_that_fails_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = memory(tmp_path / "repo")
    (folder / ".git/mdmem/state/memory/audit.jsonl").mkdir(parents=True)
    ran = run_here(capsys, "context", "threads", cwd=folder)
    assert ran.code == 0
    assert "not in the audit log" in ran.out
