"""Test `mdmem diff` in real repositories."""

from pathlib import Path
from typing import Any

import pytest
from builders import Run, commit_all, git, memory, write, write_entry

pytestmark = pytest.mark.usefixtures("top")
RULE, CHOICE = "nav/rules/callbacks", "nav/architecture/threads"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository with a memory, on the branch `work`."""
    memory(tmp_path)
    git(tmp_path, "checkout", "-q", "-b", "work")
    return tmp_path


def told(run: Run, *arguments: str) -> dict[str, Any]:
    """Return the JSON of a review."""
    ran = run("diff", *arguments, "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    found: dict[str, Any] = ran.json
    return found


def reworded(run: Run, *arguments: str) -> list[str]:
    return [one["entry"]["address"] for one in told(run, *arguments)["rewordings"]]


def edit(top: Path, address: str, old: str, new: str) -> None:
    file = top / f"memory/{address}.md"
    text = file.read_text(encoding="utf-8")
    assert old in text
    write(top, f"memory/{address}.md", text.replace(old, new))


def supersede(run: Run) -> None:
    words = ("-m", "two were too few", "-t", "Use three threads", "-b", "Three threads.\n", "--status", "active")
    assert run("supersede", CHOICE, *words, "-p", "nav/architecture/three").code == 0


def test_root_that_moved_is_said_to(top: Path, run: Run) -> None:
    git(top, "mv", "memory", "docs")
    commit_all(top)
    said = run("diff", "main..work", "--no-check")
    assert "2 added; current entries 0 → 2\nmain (" in said.out
    assert ") has no mdmem.toml in docs, so it counts as empty here\n" in said.out


def test_staged_reads_the_index_and_not_the_files(top: Path, run: Run) -> None:
    edit(top, RULE, "must not", "may not")
    git(top, "add", "-A")
    edit(top, CHOICE, "two threads", "nine threads")
    assert (reworded(run, "--staged"), reworded(run)) == ([RULE], [RULE, CHOICE])
    assert told(run, "--staged")["after"] == "git index"


def test_branches_that_are_wrong_together_are_told(top: Path, run: Run) -> None:
    write_entry(top / "memory", "nav/rules/new", "See there.\n\n[see: nav/architecture/threads]\n", owner="Ada")
    commit_all(top)
    git(top, "checkout", "-q", "main")
    supersede(run)
    commit_all(top)
    merging = told(run, "main..work")["merging"]
    assert (merging["is_merge"], merging["what"]) == (True, "merging work into main")
    found = [(one["code"], one["path"]) for one in merging["findings"]]
    assert ("link-to-superseded", "nav/rules/new.md") in found


def test_question_is_answered_before_and_after(top: Path, run: Run) -> None:
    supersede(run)
    said = run("diff", "--no-check", "--query", "threads", "--query", "executor").out
    assert said.split("Answers\n")[1] == (
        "  asked threads\n"
        f"    before: [-{CHOICE}-]\n"
        "    after: {+nav/architecture/three+}\n"
        "  asked executor: the answer is the same\n"
        f"    {RULE}\n"
    )


def test_exit_code_says_whether_something_changed(top: Path, run: Run) -> None:
    assert run("diff", "--exit-code").code == 0
    edit(top, RULE, "must not", "may not")
    assert run("diff", "--exit-code", "--query", "threads", unchanged=top).code == 1
    assert run("diff", "main..work", unchanged=top).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope..main"], "`nope` is not a commit here; write a branch, a tag or a commit"),
        (["main..work", "--staged"], "--staged compares git's index with one commit, but `main..work` has two; give o"),
        (["main", "--base", "main"], "--base and `main` both give the start of the change; leave out one of the two"),
    ],
)
def test_question_that_makes_no_sense_is_refused(run: Run, arguments: list[str], said: str) -> None:
    ran = run("diff", *arguments)
    assert (ran.code, ran.err.startswith(f"mdmem: {said}"), ran.err.count("\n")) == (2, True, 1)


def test_markdown_can_be_found_again(top: Path, run: Run) -> None:
    settings = write(top, "memory/mdmem.toml", '[site]\ndiff_url = "https://pages.example/diff.html"\n')
    commit_all(top)
    edit(top, RULE, "must not", "may not")
    # A URL that the change itself sets is not used.
    settings.write_text('[site]\ndiff_url = "https://elsewhere.example/"\n')
    shown = run("diff", "--no-check", "--format", "markdown").out
    assert shown.startswith("<!-- mdmem diff -->\n\n## mdmem diff: 1 changed;")
    assert "\n\n[The page of this change](https://pages.example/diff.html)\n\n" in shown


def test_three_dots_and_base_count_from_the_fork_and_two_say_where_the_first_has_moved_on(top: Path, run: Run) -> None:
    edit(top, RULE, "must not", "may not")
    commit_all(top)
    assert "moved on" not in run("diff", "main..work", "--no-check").out
    git(top, "checkout", "-q", "main")
    edit(top, CHOICE, "two threads", "nine threads")
    commit_all(top)
    assert reworded(run, "main..work") == [RULE, CHOICE]
    said = "main has newer commits, which look like removals here; main...work compares from where work left\n"
    assert said in run("diff", "main..work", "--no-check").out
    assert "moved on" not in run("diff", "main...work", "--no-check").out
    git(top, "checkout", "-q", "work")
    assert reworded(run, "main...work") == reworded(run, "--base", "main") == [RULE]
    said = "main has newer commits, which look like removals here; --base main compares from where HEAD left\n"
    assert said in run("diff", "main", "--no-check").out
