"""`mdmem doubt`: the doubt beside the entry, and its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Ran, git, run_here, snapshot, write
from lives import NEW, OLD, changed_lines, lived_in, two_entries

Capture = pytest.CaptureFixture[str]


def test_review_keeps_the_doubt_and_says_how_it_ends(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    ran = run_here(capsys, "doubt", "threads", "--reason", "does it starve?", cwd=root)
    assert (ran.code, ran.out) == (
        0,
        f"changed {OLD}.md\n  status: active → under_review\n  x-review-reason: does it starve?\n",
    )
    assert ran.err == (
        f"{OLD} still applies, shown as uncertain, until `mdmem doubt {OLD} --done` confirms it, or "
        f"`mdmem deprecate {OLD} --reason TEXT` deprecates it\n"
    )


def test_review_that_is_done_leaves_the_file_as_it_was_but_for_the_day(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    write(root, f"{OLD}.md", lived_in())
    run_here(capsys, "doubt", OLD, "-m", "is it so?", cwd=root)
    ran = run_here(capsys, "doubt", OLD, "--done", cwd=root)
    assert ran.out == (
        f"changed {OLD}.md\n  status: under_review → active\n  verified_at: 2026-11-21\n"
        "  x-review-reason: removed (is it so?)\n"
    )
    assert changed_lines(lived_in(), (root / f"{OLD}.md").read_bytes()) == ["+ verified_at: 2026-11-21\r"]


def test_review_commits_its_file_with_the_reason(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    assert run_here(capsys, "doubt", OLD, "-m", "is it so?", "--commit", cwd=root).code == 0
    wanted = f"Review {OLD}\n\nis it so?\n\nMdmem-Entry: {OLD}"
    assert git(tmp_path, "log", "-1", "--format=%B").rstrip("\n") == wanted
    assert git(tmp_path, "show", "--name-only", "--format=", "HEAD") == f"memory/{OLD}.md"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([OLD], 2, "mdmem doubt: give --reason TEXT to begin a review, or --done to end one"),
        ([OLD, "-m", "x", "--done"], 2, "mdmem doubt: give --reason TEXT to begin a review, or --done to end one"),
        ([OLD, "--done"], 2, f"mdmem: {OLD} is not under review: it is active"),
        ([OLD, "-m", " "], 2, "mdmem: say what is in doubt: --reason TEXT"),
        (["thread", "-m", "x"], 1, f"mdmem: there is no entry `thread`; did you mean {OLD}"),
        ([NEW, "-m", "x"], 2, f"mdmem: {NEW} is a draft; `mdmem approve {NEW}` makes it active"),
    ],
)  # fmt: skip
def test_review_refuses_in_one_sentence(
    arguments: list[str], code: int, said: str, tmp_path: Path, capsys: Capture
) -> None:
    root = two_entries(tmp_path, new_status="draft")
    before = snapshot(root)
    ran = run_here(capsys, "doubt", *arguments, cwd=root)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert ran.err.startswith(said)
    assert snapshot(root) == before


@pytest.mark.parametrize(
    "commands",
    [
        [["new", "decision", "nav/rules/pool", "-s", "under_review"]],
        [["new", "decision", "nav/rules/pool", "-s", "active"], ["doubt", "pool", "-m", "is it so?"]],
        [["approve", NEW], ["doubt", NEW, "-m", "is it so?"]],
    ],
    ids=["new", "new-then-review", "approve-then-review"],
)
def test_review_that_begins_before_the_commit_passes_the_hook(
    commands: list[list[str]], tmp_path: Path, capsys: Capture
) -> None:
    root = two_entries(tmp_path, new_status="draft")
    for command in commands:
        text = ["--body", "Work goes to a pool.\n\nRationale: it was measured."] if command[0] == "new" else []
        assert run_here(capsys, *command, *text, cwd=root).code == 0
    git(tmp_path, "add", "-A")
    assert run_here(capsys, "check", "--staged", cwd=root) == Ran(0, "", "")
