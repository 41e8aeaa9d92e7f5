"""`mdmem verify`: one entry, several, and what is in force in a room."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import git, run_here, snapshot, write_entry
from lives import NEW, OLD, RULE, two_entries

Capture = pytest.CaptureFixture[str]


def test_verify_several_writes_the_day_into_each(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    ran = run_here(capsys, "verify", "threads", RULE, cwd=root)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"changed {OLD}.md\n  verified_at: 2026-11-21\nchanged {RULE}.md\n  verified_at: 2026-11-21\n"


def test_verify_of_a_room_takes_what_is_in_force_and_names_the_rest(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    write_entry(root, "nav/architecture/later", status="draft")
    write_entry(root, "nav/architecture/gone", status="deprecated", deprecated_reason="sold")
    ran = run_here(capsys, "verify", "nav/architecture/", cwd=root)
    assert (ran.code, ran.out.count("verified_at"), f"changed {NEW}.md" in ran.out) == (0, 2, True)
    assert ran.err == ("left out, drafts: nav/architecture/later\nleft out, not current: nav/architecture/gone\n")


def test_verify_of_a_wing_takes_every_room(tmp_path: Path, capsys: Capture) -> None:
    ran = run_here(capsys, "verify", "nav/", cwd=two_entries(tmp_path))
    assert (ran.code, ran.out.count("changed ")) == (0, 3)


def test_verify_of_a_room_in_which_nothing_is_in_force_is_refused(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    write_entry(root, "nav/drafts/later", status="draft")
    ran = run_here(capsys, "verify", "nav/drafts/", cwd=root)
    assert (ran.code, ran.err) == (2, "mdmem: no entry is current there: nav/drafts/later\n")


def test_verify_ends_a_review_and_takes_a_day(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    run_here(capsys, "review", OLD, "-m", "is it so?", cwd=root)
    ran = run_here(capsys, "verify", OLD, "--at", "2026-11-20", cwd=root)
    assert ran.out == (
        f"changed {OLD}.md\n  status: under_review → active\n  verified_at: 2026-11-20\n"
        "  x-review-reason: removed (is it so?)\n"
    )


def test_verify_twice_changes_nothing(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    run_here(capsys, "verify", OLD, cwd=root)
    ran = run_here(capsys, "verify", OLD, cwd=root)
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing to change: the files say so already\n")


def test_verify_commits_its_files(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path)
    assert run_here(capsys, "verify", OLD, RULE, "--commit", cwd=root).code == 0
    wanted = f"Verify 2 entries\n\nMdmem-Entry: {OLD}\nMdmem-Entry: {RULE}"
    assert git(tmp_path, "log", "-1", "--format=%B").rstrip("\n") == wanted
    assert git(tmp_path, "show", "--name-only", "--format=", "HEAD") == f"memory/{OLD}.md\nmemory/{RULE}.md"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "mdmem verify: Missing argument 'ADDRESS...'; type `mdmem verify ADDRESS...`"),
        ([OLD, "nav/rules/callback"], 1, f"mdmem: there is no entry `nav/rules/callback`; did you mean {RULE}"),
        (["nav/gone/"], 1, "mdmem: there is no entry `nav/gone/`"),
        ([OLD, NEW], 2, f"mdmem: {NEW} is a draft"),
        ([OLD, "--at", "2026-11-22"], 2, "mdmem: 2026-11-22 lies ahead; --at takes the day on which it was verified"),
        ([OLD, "--at", "2026-01-01"], 2, f"mdmem: {OLD} was created on 2026-03-05, after 2026-01-01"),
        ([OLD, "--at", "soon"], 2, "mdmem verify: Invalid value for '--at'"),
    ],
)  # fmt: skip
def test_verify_refuses_in_one_sentence_and_writes_none(
    arguments: list[str], code: int, said: str, tmp_path: Path, capsys: Capture
) -> None:
    root = two_entries(tmp_path, new_status="draft")
    before = snapshot(root)
    ran = run_here(capsys, "verify", *arguments, cwd=root)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert ran.err.startswith(said)
    assert snapshot(root) == before
