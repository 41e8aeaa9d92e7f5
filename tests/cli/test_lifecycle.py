"""`mdmem deprecate`, `doubt` and `verify`: what is written and printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Ran, Run, git, write, write_entry
from lives import NEW, OLD, changed_lines, lived_in, two_entries


def test_deprecate_prints_what_changed(tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    ran = run("deprecate", "threads", "--reason", "the robot was sold", cwd=root)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"changed {OLD}.md\n  status: active → deprecated\n  deprecated_at: 2026-11-21\n"
        "  deprecated_reason: the robot was sold\n"
    )
    assert run("check", "--select", "deprecated-without-successor-or-reason", cwd=root).code == 0


def test_review_keeps_the_doubt_and_says_how_it_ends(tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    ran = run("doubt", "threads", "--reason", "does it starve?", cwd=root)
    assert (ran.code, ran.out) == (
        0,
        f"changed {OLD}.md\n  status: active → under_review\n  x-review-reason: does it starve?\n",
    )
    assert ran.err == (
        f"{OLD} still applies, shown as uncertain, until `mdmem doubt {OLD} --done` confirms it, or "
        f"`mdmem deprecate {OLD} --reason TEXT` deprecates it\n"
    )


def test_review_that_is_done_leaves_the_file_as_it_was_but_for_the_day(tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    write(root, f"{OLD}.md", lived_in())
    run("doubt", OLD, "-m", "is it so?", cwd=root)
    ran = run("doubt", OLD, "--done", cwd=root)
    assert ran.out == (
        f"changed {OLD}.md\n  status: under_review → active\n  verified_at: 2026-11-21\n"
        "  x-review-reason: removed (is it so?)\n"
    )
    assert changed_lines(lived_in(), (root / f"{OLD}.md").read_bytes()) == ["+ verified_at: 2026-11-21\r"]


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
    commands: list[list[str]], tmp_path: Path, run: Run
) -> None:
    root = two_entries(tmp_path, new_status="draft")
    for command in commands:
        text = ["--body", "Work goes to a pool.\n\nRationale: it was measured."] if command[0] == "new" else []
        assert run(*command, *text, cwd=root).code == 0
    git(tmp_path, "add", "-A")
    assert run("check", "--staged", cwd=root) == Ran(0, "", "")


def test_verify_of_a_room_takes_what_is_in_force_and_names_the_rest(tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    write_entry(root, "nav/architecture/later", status="draft")
    write_entry(root, "nav/architecture/gone", status="deprecated", deprecated_reason="sold")
    ran = run("verify", "nav/architecture/", cwd=root)
    assert (ran.code, ran.out.count("verified_at"), f"changed {NEW}.md" in ran.out) == (0, 2, True)
    assert ran.err == ("left out, drafts: nav/architecture/later\nleft out, not current: nav/architecture/gone\n")


def test_verify_of_a_room_in_which_nothing_is_in_force_is_refused(tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    write_entry(root, "nav/drafts/later", status="draft")
    ran = run("verify", "nav/drafts/", cwd=root)
    assert (ran.code, ran.err) == (2, "mdmem: none of these entries is current: nav/drafts/later\n")


def test_verify_ends_a_review_and_takes_a_day(tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    run("doubt", OLD, "-m", "is it so?", cwd=root)
    ran = run("verify", OLD, "--at", "2026-11-20", cwd=root)
    assert ran.out == (
        f"changed {OLD}.md\n  status: under_review → active\n  verified_at: 2026-11-20\n"
        "  x-review-reason: removed (is it so?)\n"
    )


def test_verify_twice_changes_nothing(tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    run("verify", OLD, cwd=root)
    ran = run("verify", OLD, cwd=root)
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing to change: the files say so already\n")
