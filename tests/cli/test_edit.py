"""`mdmem edit`: what an editor leaves is checked before it is written, and never thrown away."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, commit_all, on_terminal, snapshot, write
from lives import OLD, changed_lines, editor, lived_in, two_entries

THREE = "text = text.replace('We decided', 'We decided on three')"
TORN = "text = text.replace('status: active', 'status: actve')"


def edit(root: Path, *arguments: str, by: str, variable: str = "GIT_EDITOR") -> tuple[int, str]:
    """Run the command with an editor that runs a line of Python, and return its exit code and all it printed."""
    env = {variable: editor(root.parent.parent, by)["GIT_EDITOR"]}
    return on_terminal("edit", OLD, *arguments, cwd=root, env=env)


def kept_in(root: Path) -> list[Path]:
    return list(root.parent.glob(".git/mdmem/state/memory/edits/*/threads.md"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_entries(tmp_path / "p")


@pytest.mark.parametrize("variable", ["GIT_EDITOR", "VISUAL", "EDITOR"])
def test_edit_writes_what_the_editor_left(variable: str, root: Path) -> None:
    write(root, f"{OLD}.md", lived_in())
    commit_all(root.parent)
    code, printed = edit(root, by="text = text.replace('measured', 'tried')", variable=variable)
    assert (code, printed.splitlines()[:2]) == (0, [f"changed {OLD}.md", "  body: changed"])
    assert changed_lines(lived_in(), (root / f"{OLD}.md").read_bytes()) == [
        "- Rationale: it was measured.",
        "+ Rationale: it was tried.",
    ]
    assert kept_in(root) == []


def test_edit_opens_again_with_the_reason_above(tmp_path: Path, root: Path) -> None:
    file = root / f"{OLD}.md"
    file.write_text("\ufeff" + file.read_text())
    by = f"{TORN} if turn == 0 else text.replace('status: actve', 'status: active').replace('tried', 'seen')"
    code, _ = edit(root, by=by)
    assert (code, "it was seen" in file.read_text(), "# mdmem" in file.read_text()) == (0, True, False)
    unknown = "unknown status `actve`; write `active`; allowed are draft, active, under_review, deprecated"
    assert (tmp_path / "seen-1").read_text().splitlines()[:6] == [
        "\ufeff# mdmem: nothing is written yet; fix it, or close the file without changes to cancel",
        f"# mdmem: nothing was written: {OLD}.md:3: {unknown}",
        "# mdmem: these lines are removed again, and line numbers do not count them",
        "---",
        "type: decision",
        "status: actve",
    ]
    assert file.read_text().startswith("\ufeff---\n")


def test_edit_that_is_given_up_keeps_what_was_typed(root: Path) -> None:
    before = snapshot(root)
    code, printed = edit(root, by=TORN)
    (kept,) = kept_in(root)
    assert (code, snapshot(root)) == (2, before)
    assert printed == (
        f"your text is kept in {kept}\nmdmem: nothing was written: {OLD}.md:3: unknown status `actve`; write "
        "`active`; allowed are draft, active, under_review, deprecated\n"
    )
    assert ("status: actve" in kept.read_text(), "# mdmem" in kept.read_text()) == (True, False)


def test_edit_of_a_file_that_changed_meanwhile_keeps_both(root: Path) -> None:
    file = root / f"{OLD}.md"
    theirs = f"pathlib.Path({str(file)!r}).write_text('---\\ntheirs')"
    code, printed = edit(root, by=f"{theirs}; {THREE}")
    (kept,) = kept_in(root)
    assert (code, file.read_text(), "on three" in kept.read_text()) == (4, "---\ntheirs", True)
    assert printed.splitlines()[::2] == [
        f"your text is kept in {kept}",
        f"`mdmem edit {OLD}` opens the file as it is now",
    ]


def test_edit_that_is_editorial_marks_the_day(root: Path, run: Run) -> None:
    code, printed = edit(root, "--editorial", by=THREE)
    assert (code, printed) == (0, f"changed {OLD}.md\n  editorial_at: 2026-11-21\n  body: changed\n")
    assert run("check", "--base", "HEAD", "--select", "frozen-text-changed", cwd=root).code == 0


@pytest.mark.parametrize("arguments", [[], ["--editorial"]])
def test_edit_without_a_change_writes_nothing(arguments: list[str], root: Path) -> None:
    before = snapshot(root.parent)
    assert edit(root, *arguments, by="pass") == (0, "nothing to change: the files already have this content\n")
    assert snapshot(root.parent) == before


@pytest.mark.parametrize(
    ("arguments", "by", "code", "said"),
    [
        ([], f"{THREE}; path.write_text(text); sys.exit(3)", 3, "ended with code 3; nothing was written\n"),
        (["--dry-run"], THREE, 0, "-We decided.\n+We decided on three.\n"),
    ],
    ids=["editor fails", "dry run"],
)
def test_edit_that_writes_nothing_keeps_what_was_typed(
    arguments: list[str], by: str, code: int, said: str, root: Path
) -> None:
    before = snapshot(root)
    ended, printed = edit(root, *arguments, by=by)
    (kept,) = kept_in(root)
    assert (ended, said in printed, f"your text is kept in {kept}\n" in printed) == (code, True, True)
    assert ("on three" in kept.read_text(), snapshot(root)) == (True, before)


def test_edit_mends_what_cannot_be_read(root: Path) -> None:
    file = root / f"{OLD}.md"
    file.write_text(file.read_text().replace("status: active", "status: actve"))
    assert edit(root, by="text = text.replace('actve', 'active')")[0] == 0
    assert "status: active\n" in file.read_text()


def test_applies_to_is_set_without_an_editor(root: Path, run: Run) -> None:
    ran = run("edit", OLD, "--applies-to", "src/**", "--applies-to", "lib/a.py", cwd=root)
    assert (ran.code, ran.out) == (0, f"changed {OLD}.md\n  applies_to: src/**, lib/a.py\n")
    assert 'applies_to: ["src/**", lib/a.py]' in (root / f"{OLD}.md").read_text()
