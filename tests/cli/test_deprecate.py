"""`mdmem deprecate`: the end of an entry that nothing replaces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import git, run_here, snapshot, write_entry
from lives import NEW, OLD, two_entries

Capture = pytest.CaptureFixture[str]


def test_deprecate_prints_what_changed_and_who_still_cites_it(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    write_entry(root, "nav/rules/linked", see=OLD)
    ran = run_here(capsys, "deprecate", "threads", "--reason", "the robot was sold", cwd=root)
    assert (ran.code, ran.err) == (0, f"{OLD} is still cited by nav/rules/linked\n")
    assert ran.out == (
        f"changed {OLD}.md\n  status: active → deprecated\n  deprecated_at: 2026-11-21\n"
        "  deprecated_reason: the robot was sold\n"
    )
    assert run_here(capsys, "check", "--select", "deprecated-without-successor-or-reason", cwd=root).code == 0


def test_deprecate_commits_its_file_with_the_reason(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, title="Mine, not committed")
    assert run_here(capsys, "deprecate", OLD, "-m", "sold", "--commit", cwd=root).code == 0
    wanted = f"Deprecate {OLD}\n\nsold\n\nMdmem-Entry: {OLD}"
    assert git(tmp_path, "log", "-1", "--format=%B").rstrip("\n") == wanted
    assert git(tmp_path, "status", "--short") == f" M memory/{NEW}.md"


def test_deprecate_json_names_the_fields(tmp_path: Path, capsys: Capture) -> None:
    ran = run_here(capsys, "deprecate", OLD, "-m", "sold", "--format", "json", cwd=two_entries(tmp_path))
    (changed,) = json.loads(ran.out)["changed"]
    assert changed["fields"] == {
        "status": {"before": "active", "after": "deprecated"},
        "deprecated_at": {"before": None, "after": "2026-11-21"},
        "deprecated_reason": {"before": None, "after": "sold"},
    }


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([OLD], 2, "mdmem deprecate: Missing option '--reason' / '-m'; type `mdmem deprecate ADDRESS --reason TEXT`"),
        ([OLD, "-m", " "], 2, "mdmem: say why it is deprecated: --reason TEXT"),
        (["thread", "-m", "x"], 1, f"mdmem: there is no entry `thread`; did you mean {OLD}"),
        ([NEW, "-m", "x"], 2, f"mdmem: {NEW} is deprecated already; `mdmem why {NEW}` shows its history"),
    ],
)
def test_deprecate_refuses_in_one_sentence(
    arguments: list[str], code: int, said: str, tmp_path: Path, capsys: Capture
) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, status="deprecated", deprecated_reason="gone")
    before = snapshot(root)
    ran = run_here(capsys, "deprecate", *arguments, cwd=root)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert ran.err.startswith(said)
    assert snapshot(root) == before
