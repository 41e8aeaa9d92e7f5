"""`mdmem status --rebuild` and the former `mdmem index`: the full-text index brought up to date by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import memory, run_here, write_entry

from mdmem.store.index.fulltext import FOLDER

Capture = pytest.CaptureFixture[str]


def done(capsys: Capture, *arguments: str, cwd: Path) -> dict[str, object]:
    ran = run_here(capsys, "index", "--format", "json", *arguments, cwd=cwd)
    assert ran.code == 0
    said: dict[str, object] = json.loads(ran.out)
    return said


def test_first_index_takes_every_entry_in(tmp_path: Path, capsys: Capture) -> None:
    assert done(capsys, cwd=memory(tmp_path)) == {"schema": 1, "total": 2, "added": 2, "removed": 0, "rebuilt": True}


def test_index_up_to_date_takes_nothing_in(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    done(capsys, cwd=folder)
    assert done(capsys, cwd=folder) == {"schema": 1, "total": 2, "added": 0, "removed": 0, "rebuilt": False}


def test_index_drops_what_is_gone(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    done(capsys, cwd=folder)
    (folder / "memory/nav/rules/callbacks.md").unlink()
    assert done(capsys, cwd=folder) == {"schema": 1, "total": 1, "added": 0, "removed": 1, "rebuilt": False}


def test_rebuild_builds_anew(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    done(capsys, cwd=folder)
    ran = run_here(capsys, "status", "--rebuild", "--format", "json", cwd=folder)
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == {"schema": 1, "total": 2, "added": 2, "removed": 0, "rebuilt": True}


def test_text_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    ran = run_here(capsys, "status", "--rebuild", cwd=memory(tmp_path))
    assert ran.out == "2 entries in the index: 2 taken in, 0 dropped, built anew\n"


def test_big_build_says_once_that_it_is_under_way(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    for number in range(500):
        write_entry(folder / "memory", f"nav/many/e{number}", "One.\n")
    ran = run_here(capsys, "search", "callback", cwd=folder)
    assert (ran.code, ran.err) == (0, "indexing 502 entries, once\n")


def test_index_lies_in_gits_own_folder(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    done(capsys, cwd=folder)
    assert {path.parent for path in folder.rglob("*.toc")} == {folder / ".git/mdmem/cache/memory" / FOLDER}


def test_index_outside_git_lies_in_the_users_cache(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "m").mkdir()
    (tmp_path / "m/mdmem.toml").touch()
    write_entry(tmp_path / "m", "nav/rules/one")
    done(capsys, cwd=tmp_path / "m")
    assert list((tmp_path / "cache/mdmem").rglob("*.toc"))
