"""Test many processes that write at the same time: each write is done once, or waits and is done later."""

import contextlib
import io
import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from builders import (
    commit_all,
    entry_text,
    git,
    make_repository,
    memory,
    open_root,
    run_mdmem,
    snapshot,
    write,
    write_entry,
)
from processes import run_at_once
from write.agents import Agent

from mdmem.errors import LostRaceError, MdmemError
from mdmem.store.workspace.workspace import Workspace
from mdmem.write import write as writing
from mdmem.write.create import plan_entry, plan_supersession
from mdmem.write.records import SaveResult, SaveStatus
from mdmem.write.write import WriteOptions

# None lost and none twice is shown by few as by many; many find what few happen to miss.
MANY = pytest.mark.parametrize(("writers", "writes"), [(4, 6), pytest.param(8, 25, marks=pytest.mark.long)])


def decision(title: str) -> dict[str, str]:
    """Return a record whose words are its own, so that no other one looks like it."""
    return {"title": title, "rationale": " ".join(f"{title.replace(' ', '')}word{number}" for number in range(12))}


def title_of(number: int, turn: int) -> str:
    return f"Choice {number} of turn {turn}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return memory(tmp_path / "m") / "memory"


def create_many(number: int, root: str, writes: int) -> list[str]:
    """Write like `mdmem new --commit`, with files that are read again each time, and return the answers."""
    answers = []
    for turn in range(writes):
        text = entry_text(title=title_of(number, turn), status="draft")
        plan = partial(plan_entry, address=f"nav/room-{turn % 3}/w{number}-{turn}", text=text)
        try:
            answers.append(writing.write(open_root(Path(root)), plan, WriteOptions(commit=True)).commit or "written")
        except MdmemError as error:
            answers.append(str(error))
    return answers


def save_many(number: int, root: str, writes: int, wait: float | None) -> list[str]:
    """Write as agents do and return what was answered; `wait` makes them impatient."""
    agent = Agent(open_root(Path(root)), wait=300.0 if wait is None else wait)
    return [agent.save_decision(decision(title_of(number, turn)), "nav").status.value for turn in range(writes)]


def titles(root: Path) -> Counter[str]:
    """Return the number of files with each title."""
    files = (root / "nav").glob("*/*.md")
    return Counter(found[1] for file in files if (found := re.search(r"^title: (Choice .*)$", file.read_text(), re.M)))


def each_once(processes: int, writes: int) -> Counter[str]:
    return Counter(title_of(number, turn) for number in range(processes) for turn in range(writes))


def assert_clean(root: Path) -> None:
    """Assert that the checks find no error, and that no temporary file is left."""
    assert run_mdmem("check", cwd=root).returncode == 0
    assert [path for path in snapshot(root) if "/." in path] == []


def commits(folder: Path, since: str) -> list[tuple[str, ...]]:
    """Return for each commit since another the entries in its trailers and its changed files."""
    form = "--format=%x00%(trailers:key=Mdmem-Entry,valueonly)"
    listed = git(folder, "log", form, "--name-status", f"{since}..HEAD").split("\0")[1:]
    return [tuple(line for line in one.splitlines() if line) for one in listed]


@MANY
def test_processes_that_commit_new_entries_at_once_lose_none(tmp_path: Path, writers: int, writes: int) -> None:
    folder = memory(tmp_path / "m")
    write(folder, "other.txt", "somebody else's\n")
    git(folder, "add", "other.txt")
    first = git(folder, "rev-parse", "HEAD")
    answers = [
        made for found in run_at_once(create_many, str(folder / "memory"), writes, count=writers) for made in found
    ]
    assert set(answers) == set(git(folder, "rev-list", f"{first}..HEAD").split())
    assert len(set(answers)) == writers * writes
    addresses = {f"nav/room-{turn % 3}/w{number}-{turn}" for number in range(writers) for turn in range(writes)}
    assert set(commits(folder, first)) == {(one, f"A\tmemory/{one}.md") for one in addresses}
    assert git(folder, "status", "--porcelain") == "A  other.txt"
    assert_clean(folder / "memory")


@pytest.mark.parametrize(
    ("settings", "writers", "writes"),
    [
        *(("commit = true\n", 4, 2), ("", 4, 6)),
        *(pytest.param(*values, marks=pytest.mark.long) for values in (("commit = true\n", 8, 5), ("", 8, 25))),
    ],
)
def test_agents_that_save_at_once_lose_none(settings: str, writers: int, writes: int, tmp_path: Path) -> None:
    folder = memory(tmp_path / "m")
    write(folder, "memory/mdmem.toml", settings)
    first = commit_all(folder, "settings")
    answers = run_at_once(save_many, str(folder / "memory"), writes, None, count=writers)
    assert answers == [["saved"] * writes] * writers
    assert titles(folder / "memory") == each_once(writers, writes)
    if settings:
        assert len(commits(folder, first)) == len(set(commits(folder, first))) == writers * writes
        assert git(folder, "status", "--porcelain") == ""
    assert_clean(folder / "memory")


def test_what_impatient_agents_were_told_waits_is_brought_by_retry_exactly_once(root: Path) -> None:
    answers = Counter(one for found in run_at_once(save_many, str(root), 5, 0.0) for one in found)
    assert set(answers) == {"saved", "pending_retry"}
    assert answers.total() == 20
    retried = run_mdmem("pending", "retry", cwd=root)
    assert (retried.returncode, retried.stderr.count("Traceback")) == (0, 0)
    assert titles(root) == each_once(4, 5)
    assert run_mdmem("pending", cwd=root).stdout == ""
    assert_clean(root)


def save_the_same(number: int, root: str) -> SaveResult:
    return Agent(open_root(Path(root))).save_decision(decision(title_of(0, 0)), "nav")


def test_decision_that_agents_save_at_once_is_there_once(root: Path) -> None:
    answers: list[SaveResult] = run_at_once(save_the_same, str(root))
    assert Counter(one.status for one in answers) == {SaveStatus.SAVED: 1, SaveStatus.DUPLICATE_SKIP: 3}
    assert {one.artifact_id for one in answers} == {"nav/architecture/choice-0-of-turn-0"}
    assert titles(root) == {title_of(0, 0): 1}


def run_one(number: int, root: str, commands: list[list[str]]) -> tuple[int, int, str, str]:
    """Run the command line that this process is given and return its number, exit code and what it printed."""
    from mdmem.cli.main import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(commands[number])
    return number, code, out.getvalue(), err.getvalue()


OLD = "nav/architecture/threads"


def two_successors(folder: Path, status: str, **fields: Any) -> Path:
    root = memory(folder) / "memory"
    for name in ("one", "two"):
        write_entry(root, f"nav/architecture/{name}", title=f"Use {name}", status=status, **fields)
    commit_all(folder, "two ideas")
    return root


def winner(root: Path, commands: list[list[str]]) -> tuple[str, str, str]:
    """Run two commands at once, and return the entry-ids of the first and the second, and the message of the second."""
    results = run_at_once(run_one, str(root), commands, count=2)
    (won, code, _, _), (lost, lost_code, out, said) = sorted(results, key=lambda one: one[1])
    assert (code, lost_code, out, said.count("\n")) == (0, 4, "", 1)
    first, second = ("one", "two")[won], ("one", "two")[lost]
    assert said.startswith(f"mdmem: {OLD} is superseded by nav/architecture/{first} already; ")
    assert f"superseded_by: [nav/architecture/{first}]\n" in (root / f"{OLD}.md").read_text()
    assert_clean(root)
    return first, second, said


@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.long) for turn in (1, 2))])
def test_two_who_supersede_the_same_entry_at_once_get_one_winner_and_one_choice(tmp_path: Path, turn: int) -> None:
    root = two_successors(tmp_path / "m", "active")
    line = ["supersede", OLD, "--reason", "It was measured.", "--by"]
    first, second, said = winner(root, [[*line, f"nav/architecture/{one}"] for one in ("one", "two")])
    assert said.endswith(
        f"nothing was written: `mdmem supersede nav/architecture/{first} --by nav/architecture/{second} --reason TEXT` "
        f"replaces nav/architecture/{first}\n"
    )
    assert "supersedes" not in (root / f"nav/architecture/{second}.md").read_text()


def test_fault_that_is_another_writers_doing_is_a_lost_race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = two_successors(tmp_path / "m", "active")
    others, reads = [open_root(root)], writing.catalog_after

    def superseding(root: Workspace, new: str) -> None:
        plan = partial(plan_supersession, name=OLD, by=f"nav/architecture/{new}", reason="Better.")
        writing.write(root, plan, WriteOptions())

    def read_late(*arguments: Any) -> Any:
        if others:
            superseding(others.pop(), "two")
        return reads(*arguments)

    monkeypatch.setattr(writing, "catalog_after", read_late)
    with pytest.raises(LostRaceError, match=f"{OLD} is superseded by nav/architecture/two already"):
        superseding(open_root(root), "one")


def test_first_entries_of_a_new_wing_at_once_are_all_written(tmp_path: Path) -> None:
    folder = make_repository(tmp_path)
    # At the repository's top a folder is a wing by its manifest alone.
    write(folder, "mdmem.toml", "")
    write_entry(folder, "old/rules/retries", title="Retry twice")
    write(folder, "old/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    commit_all(folder)
    made = ["--new-wing", "--shared", "--body", "We decided.\n\nRationale: it was tried."]
    new = [["new", "note", f"shop/rules/n-{number}", *made, "--title", f"Note {number}"] for number in range(5)]
    copied = ["supersede", "old/rules/retries", "-m", "tried", "--place", "shop/rules/n-5", *made]
    results = run_at_once(run_one, str(folder), [*new, copied], count=6)
    assert [(code, err) for _, code, _, err in results if code] == []
    assert {path.stem for path in (folder / "shop/rules").iterdir()} == {f"n-{number}" for number in range(6)}
    assert_clean(folder)


def test_two_new_entries_for_the_same_one_at_once_leave_one(root: Path) -> None:
    line = ["supersede", OLD, "--reason", "It was measured.", "--status", "active", "--commit", "--body"]
    text = "We decided.\n\nRationale: it was measured.\n"
    first, second, _ = winner(root, [[*line, text, "--title", one] for one in ("One", "Two")])
    assert not (root / f"nav/architecture/{second}.md").exists()
    assert git(root, "log", "-1", "--format=%s") == f"Supersede {OLD} by nav/architecture/{first}"
    assert git(root, "status", "--porcelain") == ""


def test_two_drafts_for_the_same_entry_approved_at_once_leave_one_in_force(tmp_path: Path) -> None:
    root = two_successors(tmp_path / "m", "draft", supersedes=OLD, reason="It was measured.")
    _, second, _ = winner(root, [["approve", f"nav/architecture/{one}"] for one in ("one", "two")])
    assert "status: draft\n" in (root / f"nav/architecture/{second}.md").read_text()
