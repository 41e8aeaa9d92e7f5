"""`mdmem status --rebuild` and `--audit`, and the places of the index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import memory, run_here, write_entry

from mdmem.store.index.fulltext import FOLDER

Capture = pytest.CaptureFixture[str]


def test_rebuild_reads_every_entry_again(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    for number in (2, 1):
        ran = run_here(capsys, "status", "--rebuild", "--format", "json", cwd=folder)
        assert (ran.code, ran.err) == (0, "")
        built = {"schema": 1, "total": number, "added": number, "removed": 0, "rebuilt": True}
        assert json.loads(ran.out) == built
        (folder / "memory/nav/rules/callbacks.md").unlink(missing_ok=True)
    assert run_here(capsys, "status", "--rebuild", cwd=folder).out == "the index is built again: 1 entry\n"


def test_long_build_is_announced_once(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    for number in range(500):
        write_entry(folder / "memory", f"nav/many/e{number}", "One.\n")
    ran = run_here(capsys, "search", "callback", cwd=folder)
    assert (ran.code, ran.err) == (0, "indexing 502 entries, once\n")


def test_index_lies_in_gits_own_folder(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    run_here(capsys, "status", "--rebuild", cwd=folder)
    assert {path.parent for path in folder.rglob("*.toc")} == {folder / ".git/mdmem/cache/memory" / FOLDER}


def test_index_outside_git_lies_in_the_users_cache(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "m").mkdir()
    (tmp_path / "m/mdmem.toml").touch()
    write_entry(tmp_path / "m", "nav/rules/one")
    run_here(capsys, "status", "--rebuild", cwd=tmp_path / "m")
    assert list((tmp_path / "cache/mdmem").rglob("*.toc"))


def test_packs_that_were_asked_for_are_listed_the_newest_last(tmp_path: Path, capsys: Capture) -> None:
    root = memory(tmp_path)
    for goal in ("first goal", "second goal", "third \x1b[31mgoal"):
        run_here(capsys, "context", goal, cwd=root)
    ran = run_here(capsys, "status", "--audit", "--limit", "2", cwd=root)
    assert [line.split("  ", 1)[1].split(" → ")[0] for line in ran.out.splitlines()] == [
        "owner  context: second goal",
        "owner  context: third <U+001B>[31mgoal",
    ]
    assert "1 older" in ran.err
    shown = json.loads(run_here(capsys, "status", "--audit", "--format", "json", cwd=root).out)
    assert (shown["total"], shown["lines"][0]["asked"]["goal"]) == (3, "first goal")


def test_log_that_is_not_there_or_torn_is_no_fault(tmp_path: Path, capsys: Capture) -> None:
    root = memory(tmp_path)
    assert run_here(capsys, "status", "--audit", cwd=root).err.strip() == "nobody asked for a context pack yet"
    run_here(capsys, "context", "a goal", cwd=root)
    log = next(root.rglob(".git/mdmem/state/**/audit.jsonl"))
    log.write_text('{"asked": 1, "returned": 2}\n[]\n{"verb": "context"}\n{"torn')
    assert run_here(capsys, "status", "--audit", cwd=root).out.count("→ 0 entries") == 2
