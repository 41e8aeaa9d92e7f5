"""`mdmem search`: full text with lineage, in its formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from builders import Run, write_entry

OLD, NEW = "nav/architecture/threads", "nav/architecture/four"


def searched(run: Run, *arguments: str, cwd: Path, code: int = 0) -> dict[str, Any]:
    ran = run("search", *arguments, "--format", "json", cwd=cwd)
    assert ran.code == code, ran.err
    said: dict[str, Any] = ran.json
    return said


def test_json_and_text_have_the_hits(folder: Path, run: Run) -> None:
    said = searched(run, "executor", cwd=folder)
    assert said["hits"][0].pop("score") > 0
    assert said == {
        "schema": 1,
        "query": "executor",
        "total": 1,
        "hits": [
            {
                "address": "nav/rules/callbacks",
                "type": "invariant",
                "status": "active",
                "title": "Callbacks do not block",
                "wing": "nav",
                "room": "rules",
                "snippet": "A callback must not block its executor. Rationale: the robot stops.",
                "heads": ["nav/rules/callbacks"],
                "via": [],
                "standing": "binding",
            }
        ],
        "unmatched_terms": [],
        "problems": [],
        "degraded": False,
        "source": "index",
    }
    ran = run("search", "executor")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "[invariant] nav/rules/callbacks\n  Callbacks do not block\n"
        "  A callback must not block its executor. Rationale: the robot stops.\n"
    )


def test_nothing_that_passes_the_filters_exits_1_and_says_so(folder: Path, run: Run) -> None:
    ran = run("search", "executor", "--type", "note", cwd=folder)
    said = "nothing found: the filters leave out everything that matches\n"
    assert (ran.code, ran.out, ran.err) == (1, "", said)


def test_several_projects_and_none_named_are_all_searched(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "arm/rules/grip", "The executor grips.\n")
    assert searched(run, "executor", cwd=folder)["total"] == 2
    assert searched(run, "executor", "--wing", "arm", cwd=folder)["total"] == 1


def test_words_of_exclusions_are_found(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/a/how", type="pattern", exclusions=["Never with Terraform"])
    assert "nav/a/how" in run("search", "terraform").out
