"""`--dry-run` and `--format json` of the commands that change one entry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import run_here, snapshot
from lives import OLD, two_entries

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        (["deprecate", OLD, "-m", "sold"], {"status": "deprecated", "deprecated_reason": "sold"}),
        (["doubt", OLD, "-m", "is it so?"], {"status": "under_review", "x-review-reason": "is it so?"}),
        (["verify", OLD], {"verified_at": "2026-11-21"}),
    ],
    ids=["deprecate", "doubt", "verify"],
)
def test_dry_run_writes_nothing_and_json_has_the_fields(
    arguments: list[str], changed: dict[str, str], tmp_path: Path, capsys: Capture
) -> None:
    root = two_entries(tmp_path)
    before = snapshot(tmp_path)
    ran = run_here(capsys, *arguments, "--dry-run", cwd=root)
    assert (ran.code, snapshot(tmp_path)) == (0, before)
    assert all(f"\n+{name}: {value}\n" in ran.out for name, value in changed.items())
    answer = json.loads(run_here(capsys, *arguments, "--format", "json", cwd=root).out)
    (one,) = answer["changed"]
    assert (one["address"], one["action"], one["from"], answer["dry_run"]) == (OLD, "changed", None, False)
    assert {name: one["fields"][name]["after"] for name in changed} == changed
