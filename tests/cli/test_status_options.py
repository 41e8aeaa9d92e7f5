"""`mdmem status --rebuild` and `--audit`, and the places of the index."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, write_entry

from mdmem.store.index.fulltext import FOLDER


def test_rebuild_reads_every_entry_again(folder: Path, run: Run) -> None:
    for number in (2, 1):
        ran = run("status", "--rebuild", "--format", "json")
        assert (ran.code, ran.err) == (0, "")
        built = {"schema": 1, "total": number, "added": number, "removed": 0, "rebuilt": True}
        assert ran.json == built
        (folder / "memory/nav/rules/callbacks.md").unlink(missing_ok=True)
    assert run("status", "--rebuild").out == "the index is built again: 1 entry\n"


def test_long_build_is_announced_once(folder: Path, run: Run) -> None:
    for number in range(500):
        write_entry(folder / "memory", f"nav/many/e{number}", "One.\n")
    ran = run("search", "callback")
    assert (ran.code, ran.err) == (0, "indexing 502 entries, once\n")


def test_index_lies_in_gits_own_folder(folder: Path, run: Run) -> None:
    run("status", "--rebuild")
    assert {path.parent for path in folder.rglob("*.toc")} == {folder / ".git/mdmem/cache/memory" / FOLDER}


def test_index_outside_git_lies_in_the_users_cache(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "m").mkdir()
    (tmp_path / "m/mdmem.toml").touch()
    write_entry(tmp_path / "m", "nav/rules/one")
    run("status", "--rebuild", cwd=tmp_path / "m")
    assert list((tmp_path / "cache/mdmem").rglob("*.toc"))


def test_packs_that_were_asked_for_are_listed_the_newest_last(folder: Path, run: Run) -> None:
    root = folder
    for goal in ("first goal", "second goal", "third \x1b[31mgoal"):
        run("context", goal, cwd=root)
    ran = run("status", "--audit", "--limit", "2", cwd=root)
    assert [line.split("  ", 1)[1].split(" → ")[0] for line in ran.out.splitlines()] == [
        "owner  context: second goal",
        "owner  context: third <U+001B>[31mgoal",
    ]
    assert "1 older" in ran.err
    shown = run("status", "--audit", "--format", "json", cwd=root).json
    assert (shown["total"], shown["lines"][0]["asked"]["goal"]) == (3, "first goal")


def test_log_that_is_not_there_or_torn_is_no_fault(folder: Path, run: Run) -> None:
    root = folder
    assert run("status", "--audit", cwd=root).err.strip() == "nobody asked for a context pack yet"
    run("context", "a goal", cwd=root)
    log = next(root.rglob(".git/mdmem/state/**/audit.jsonl"))
    log.write_text('{"asked": 1, "returned": 2}\n[]\n{"verb": "context"}\n{"torn')
    assert run("status", "--audit", cwd=root).out.count("→ 0 entries") == 2
