"""`mdmem supersede`: what is printed and written, by an entry that is there and by a new one."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, on_terminal, run_mdmem, snapshot
from lives import NEW, OLD, editor, two_entries

WHY = "one executor schedules all"
MORE = ["--title", "Use four threads", "--body", "Navigation uses four threads.\n\nRationale: it was measured again."]
FOUR = "nav/architecture/use-four-threads"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_entries(tmp_path)


def test_supersede_by_an_entry_that_is_there_prints_both_ends(root: Path, run: Run) -> None:
    ran = run("supersede", OLD, "--by", NEW, "--reason", WHY, cwd=root)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"changed {NEW}.md\n  supersedes: {OLD}\n  reason: {WHY}\n"
        f"changed {OLD}.md\n  status: active → deprecated\n  deprecated_at: 2026-11-21\n  superseded_by: {NEW}\n"
    )
    assert run("check", "--select", "supersession-one-sided", cwd=root).code == 0


def test_supersede_by_a_new_draft_leaves_the_old_entry_alone(root: Path, run: Run) -> None:
    before = (root / f"{OLD}.md").read_bytes()
    ran = run("supersede", "threads", "-m", WHY, *MORE, cwd=root)
    assert (ran.code, ran.out) == (0, f"created {FOUR}.md\n")
    assert ran.err == f"{OLD} stays as it is until `mdmem approve {FOUR}`\n"
    assert (root / f"{OLD}.md").read_bytes() == before
    assert (root / f"{FOUR}.md").read_text() == (
        "---\ntype: decision\nstatus: draft\ncreated_at: 2026-11-21\ntitle: Use four threads\n"
        f"supersedes: [{OLD}]\nreason: {WHY}\n---\n\n"
        "Navigation uses four threads.\n\nRationale: it was measured again.\n"
    )


def test_supersede_by_a_new_active_entry_writes_both(root: Path, run: Run) -> None:
    ran = run("supersede", OLD, "-m", WHY, *MORE, "--status", "active", cwd=root)
    assert ran.out.startswith(f"created {FOUR}.md\nchanged {OLD}.md\n  status: active → deprecated\n")
    together = "commit these files together, with `git add` first: `git commit -a` omits the new ones\n"
    assert ran.err == f"{together}takes effect when the default branch has it: {FOUR}\n"


def test_supersede_without_a_body_keeps_the_template_which_cannot_be_active(root: Path) -> None:
    command, before = ("supersede", OLD, "-m", WHY, "--title", "Use four threads"), snapshot(root)
    ran = run_mdmem(*command, "-s", "active", cwd=root)
    assert (ran.returncode, "cannot be active yet: replace the template's" in ran.stderr) == (2, True)
    assert snapshot(root) == before
    ran = run_mdmem(*command, cwd=root)
    assert ran.returncode == 0
    assert "<State what was decided in one sentence.>" in (root / f"{FOUR}.md").read_text()
    assert ran.stderr.splitlines()[0] == "no text was given: the entry has the template, to be filled in"


def test_supersede_opens_the_editor_again_until_the_text_is_right(tmp_path: Path) -> None:
    root = two_entries(tmp_path / "p")
    lines = (
        "text = text.replace('<State what was decided in one sentence.>', 'Four threads.')",
        "text = text.replace('draft', 'under_review') if turn == 0 else text.replace('under_review', 'draft')",
    )
    command = ("supersede", OLD, "-m", WHY, "--title", "Use four threads")
    code, printed = on_terminal(*command, cwd=root, env=editor(tmp_path, *lines))
    assert (code, f"created {FOUR}.md" in printed.splitlines()) == (0, True)
    assert f"supersedes: [{OLD}]\nreason: {WHY}\n---\n\nFour threads.\n" in (root / f"{FOUR}.md").read_text()
    assert "not as `under_review`" in (tmp_path / "seen-1").read_text()
