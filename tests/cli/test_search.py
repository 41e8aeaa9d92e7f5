"""`mdmem search`: full text with lineage, in its formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import Run, commit_all, write_entry

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


def test_hit_on_a_superseded_entry_yields_its_head(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", OLD, "Two.\n", title="Two threads", status="deprecated", superseded_by=NEW)
    write_entry(folder / "memory", NEW, "Four of them.\n", title="More workers", supersedes=OLD)
    commit_all(folder)
    hits = searched(run, "threads", cwd=folder)["hits"]
    assert [(hit["address"], hit["via"]) for hit in hits] == [(NEW, [OLD])]


def test_limit_cuts_the_hits_and_not_the_total(folder: Path, run: Run) -> None:
    for number in range(12):
        write_entry(folder / "memory", f"nav/many/e{number:02}", f"Crane {number}.\n")
    said = searched(run, "crane", cwd=folder)
    assert (len(said["hits"]), said["total"]) == (10, 12)
    assert len(searched(run, "crane", "--limit", "3", cwd=folder)["hits"]) == 3
    assert run("search", "crane").out.endswith("\n2 more; --limit shows them\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["zebra"], "nothing found: no entry has zebra\n"),
        (["the", "of", "and"], "nothing found: the question has no word to search for, only stop words or signs\n"),
        (["?!"], "nothing found: the question has no word to search for, only stop words or signs\n"),
        (["executor", "--type", "note"], "nothing found: the filters leave out everything that matches\n"),
    ],
)
def test_nothing_found_exits_1_and_says_why(words: list[str], said: str, folder: Path, run: Run) -> None:
    ran = run("search", *words, cwd=folder)
    assert (ran.code, ran.out, ran.err) == (1, "", said)


def test_several_projects_and_none_named_are_all_searched(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "arm/rules/grip", "The executor grips.\n")
    assert searched(run, "executor", cwd=folder)["total"] == 2
    assert searched(run, "executor", "--wing", "arm", cwd=folder)["total"] == 1
