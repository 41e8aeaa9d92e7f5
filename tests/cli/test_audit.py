"""`mdmem status --audit`: which context packs were asked for."""

import json
from pathlib import Path

import pytest
from builders import memory, run_here

Capture = pytest.CaptureFixture[str]


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
    told = json.loads(run_here(capsys, "status", "--audit", "--format", "json", cwd=root).out)
    assert (told["total"], told["lines"][0]["asked"]["goal"]) == (3, "first goal")


def test_log_that_is_not_there_or_torn_is_no_fault(tmp_path: Path, capsys: Capture) -> None:
    root = memory(tmp_path)
    assert run_here(capsys, "status", "--audit", cwd=root).err.strip() == "no context pack was asked for yet"
    run_here(capsys, "context", "a goal", cwd=root)
    log = next(root.rglob(".git/mdmem/state/**/audit.jsonl"))
    log.write_text('{"asked": 1, "returned": 2}\n[]\n{"verb": "context"}\n{"torn')
    assert run_here(capsys, "status", "--audit", cwd=root).out.count("→ 0 entries") == 2
