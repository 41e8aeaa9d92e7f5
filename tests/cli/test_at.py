"""`--at REV` in every command that reads files."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, commit_all, git, memory, snapshot, write_entry

from mdmem.store.index.fulltext import FOLDER

ADDRESS = "nav/architecture/threads"
READING = (
    ["status"],
    ["list"],
    ["show", ADDRESS],
    ["search", "threads"],
    ["retrieve", "threads"],
    ["why", ADDRESS],
    ["check"],
)


def changed(folder: Path) -> Path:
    """Return a repository whose commit `old` says two threads, `new` says four, and whose working tree says eight."""
    memory(folder)
    git(folder, "tag", "old")
    for title, tag in (("Use four threads", "new"), ("Use eight threads", None)):
        write_entry(folder / "memory", ADDRESS, title=title)
        if tag:
            commit_all(folder)
            git(folder, "tag", tag)
    return folder


@pytest.mark.parametrize("command", READING[1:6], ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("revision", "title"), [("old", "Use two threads"), ("new", "Use four threads"), (None, "Use eight threads")]
)
def test_reading_command_shows_the_files_of_a_revision(
    command: list[str], revision: str | None, title: str, tmp_path: Path, run: Run
) -> None:
    ran = run(*command, *(["--at", revision] if revision else []), cwd=changed(tmp_path))
    assert (ran.code, title in ran.out) == (0, True)
    # Of files that are not committed yet, the version that binds is shown, too.
    is_asked_for_what_binds = revision is None and command[0] in ("search", "retrieve")
    assert ran.out.count("Use ") == (2 if is_asked_for_what_binds else 1)


@pytest.mark.parametrize("command", READING, ids=lambda command: command[0])
def test_revision_that_does_not_exist_is_one_sentence(command: list[str], folder: Path, run: Run) -> None:
    ran = run(*command, "--at", "nothing", cwd=folder)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "mdmem: `nothing` is not a commit here; write a branch, a tag or a commit\n"


def test_status_and_check_name_the_revision(tmp_path: Path, run: Run) -> None:
    folder = changed(tmp_path)
    name = f"old ({git(folder, 'rev-parse', 'old')[:10]})"
    for command in (["status"], ["check"]):
        ran = run(*command, "--format", "json", "--at", "old", cwd=folder)
        assert ran.json["tree"] == name


def test_check_judges_the_revision_and_not_the_working_tree(tmp_path: Path, run: Run) -> None:
    folder = changed(tmp_path)
    (folder / f"memory/{ADDRESS}.md").write_text("broken\n")
    arguments = ("check", "--select", "front-matter-missing")
    assert run(*arguments, cwd=folder).code == 1
    assert run(*arguments, "--at", "HEAD", cwd=folder).code == 0


def test_settings_are_read_from_the_revision(folder: Path, run: Run) -> None:
    (folder / "memory/mdmem.toml").write_text("nonsense = 1\n")
    assert run("list").code == 2
    assert run("list", "--at", "HEAD").code == 0


def test_question_about_a_revision_leaves_the_index_of_the_working_tree_alone(tmp_path: Path, run: Run) -> None:
    folder = changed(tmp_path)
    assert run("search", "threads", cwd=folder).code == 0
    before = snapshot(folder / ".git/mdmem/cache/memory" / FOLDER)
    assert "four" in run("search", "threads", "--at", "new", cwd=folder).out
    assert snapshot(folder / ".git/mdmem/cache/memory" / FOLDER) == before
    assert "eight" in run("search", "threads", cwd=folder).out
