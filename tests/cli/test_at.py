"""Test `--at REV` and `--at DATE` (what was binding then, on the default branch) in every reading command."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from builders import Run, environment, git, head, made_once, make_repository, make_root, snapshot, write, write_entry

from mdmem.store.index.fulltext import FOLDER

ADDRESS = "nav/architecture/threads"
# The arguments of each command; `retrieve` and the others read a revision in the same way.
COMMANDS = (
    ["list"],
    ["show", ADDRESS],
    ["search", "threads"],
    ["retrieve", "threads"],
    ["why", ADDRESS],
    ["context", "threads"],
    ["status"],
    ["check"],
)


def commit_on(folder: Path, when: str, message: str = "change") -> None:
    """Commit everything on a day, or at a moment in UTC."""
    moment = f"{when if 'T' in when else f'{when}T12:00:00'}+00:00"
    git(folder, "add", "-A")
    env = environment(GIT_AUTHOR_DATE=moment, GIT_COMMITTER_DATE=moment)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", message], cwd=folder, env=env, check=True)


def use(folder: Path, number: str, **fields: object) -> None:
    body = f"Navigation uses {number} threads.\n"
    write_entry(folder / "memory", ADDRESS, body, title=f"Use {number} threads", **fields)


@made_once
def dated(folder: Path) -> Path:
    """Return a repository that used two threads from March on, four from May on, and eight since July."""
    make_repository(folder)
    make_root(folder / "memory")
    write(folder, "memory/nav/README.md", "---\nkind: project\n---\n")
    for day, number in (("2026-03-01", "two"), ("2026-05-01", "four"), ("2026-07-01", "eight")):
        use(folder, number)
        commit_on(folder, day)
    return folder


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    return dated(tmp_path)


def titles(run: Run, folder: Path, at: str) -> list[str]:
    ran = run("list", "--format", "json", "--at", at, cwd=folder)
    assert ran.code == 0, ran.err
    return [one["front_matter"]["title"] for one in ran.json["entries"]]


@pytest.mark.parametrize("command", COMMANDS[:6], ids=lambda command: command[0])
def test_command_reads_what_was_binding_on_a_day_or_in_a_revision(command: list[str], tmp_path: Path, run: Run) -> None:
    folder = dated(tmp_path)
    use(folder, "ten")
    for at, number in (("2026-06-01", "four"), ("HEAD~2", "two"), ("HEAD", "eight"), (None, "ten")):
        ran = run(*command, *(["--at", at] if at else []), cwd=folder)
        assert (ran.code, f"Use {number} threads" in ran.out) == (0, True), at
        # Of files that are not committed yet, the version that binds is shown, too.
        is_asked_for_what_binds = at is None and command[0] in ("search", "retrieve", "context")
        shown = {one for one in ("two", "four", "eight", "ten") if f"Use {one} threads" in ran.out}
        assert shown == {number, *(["eight"] if is_asked_for_what_binds else [])}, at


def test_commit_that_is_read_is_said(lived: Path, run: Run) -> None:
    ran = run("list", "--at", "2026-06-01")
    commit = git(lived, "rev-parse", "HEAD~1")[:10]
    assert ran.err == f"as of 2026-06-01: commit {commit} of main, from 2026-05-01 12:00 UTC\n"
    assert run("list", "-q", "--at", "2026-06-01").err == ""
    for command in ("status", "check"):
        for at in ("2026-06-01", "HEAD~1"):
            assert run(command, "--format", "json", "--at", at).json["tree"] == f"{at} ({commit})"


@pytest.mark.parametrize(
    ("at", "title"),
    [("2026-05-01", "Use four threads"), ("2026-04-30", "Use two threads"), ("9999-12-31", "Use eight threads")],
)
def test_day_lasts_until_its_end_in_utc(at: str, title: str, tmp_path: Path, run: Run) -> None:
    assert titles(run, dated(tmp_path), at) == [title]


def test_merge_counts_from_the_day_of_the_merge(lived: Path, run: Run) -> None:
    git(lived, "checkout", "-q", "-b", "feature")
    use(lived, "ten")
    commit_on(lived, "2026-07-10")
    git(lived, "checkout", "-q", "main")
    git(lived, "merge", "-q", "--no-ff", "feature", "-m", "ten")
    assert titles(run, lived, "2026-07-20") == ["Use eight threads"]
    assert titles(run, lived, "2999-01-01") == ["Use ten threads"]


def test_branch_at_hand_does_not_matter(lived: Path, run: Run) -> None:
    git(lived, "checkout", "-q", "-b", "feature", "HEAD~2")
    use(lived, "ten")
    commit_on(lived, "2026-04-01")
    for options in ((), ("--detach",)):
        git(lived, "checkout", "-q", *options)
        assert titles(run, lived, "2026-06-01") == ["Use four threads"]


def test_where_dates_fall_the_last_commit_by_then_counts_with_all_it_builds_on(lived: Path, run: Run) -> None:
    use(lived, "ten")
    commit_on(lived, "2026-06-15")
    assert titles(run, lived, "2026-06-20") == ["Use ten threads"]


@pytest.mark.long
def test_answers_of_any_day_are_those_of_a_checkout(tmp_path: Path, run: Run) -> None:
    draw, commits, top = Random(4), dict[int, str](), make_repository(tmp_path / "top")
    make_root(top / "memory")
    write(top, "memory/nav/README.md", "---\nkind: project\n---\n")
    began = int(datetime.fromisoformat("2026-01-01T00:00:00+00:00").timestamp())
    for number in range(40):
        began += draw.randrange(3_600, 400_000)
        name = f"nav/rules/rule-{draw.randrange(12)}"
        if draw.random() < 0.3:
            (top / f"memory/{name}.md").unlink(missing_ok=True)
        else:
            write_entry(top / "memory", name, f"Text {number} of threads.\n", title=f"Rule {number}")
        when = datetime.fromtimestamp(began, UTC).replace(tzinfo=None).isoformat()
        commit_on(top, when, f"change {number}")
        commits[began] = head(top)
    copy = tmp_path / "copy"
    git(tmp_path, "clone", "-q", str(top), str(copy))
    # Without this, the older commits would be outdated.
    git(copy, "remote", "remove", "origin")
    for day in sorted({datetime.fromtimestamp(one, UTC).date() for one in range(min(commits), began, 50_000)}):
        last = max(one for one in commits if datetime.fromtimestamp(one, UTC).date() <= day)
        git(copy, "checkout", "-q", "-B", "main", commits[last])
        for question in (("list", "--format", "json"), ("search", "threads")):
            assert run(*question, "--at", str(day), cwd=top).out == run(*question, cwd=copy).out, day


def test_entry_is_judged_by_the_day(lived: Path, run: Run) -> None:
    use(lived, "ten", expires_at="2026-09-01")
    commit_on(lived, "2026-08-01")

    for at, status in (("2026-08-15", "active"), ("2026-10-01", "under_review"), ("main", "under_review")):
        assert run("retrieve", "threads", "--format", "json", "--at", at).json["items"][0]["status"] == status


def test_what_names_a_revision_is_one_and_that_is_said(lived: Path, run: Run) -> None:
    git(lived, "tag", "2026-06-01", "HEAD~2")
    ran = run("list", "--at", "2026-06-01")
    assert "Use two threads" in ran.out
    assert ran.err == "`2026-06-01` is a branch or tag here, so it is not read as a date\n"


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("2026-02-28", "nothing was committed on main by 2026-02-28; its history begins on 2026-03-01"),
        ("2026-02-30", "`2026-02-30` is not a date; write a day as 2026-01-31"),
        ("2026-05-01T12:00Z", "`2026-05-01T12:00Z` is not a date; write a day as 2026-01-31"),
        ("3 years ago", "`3 years ago` is not a commit here; write a branch, a tag or a commit"),
        ("some day", "`some day` is not a commit here; write a branch, a tag or a commit"),
        ("20260601", "`20260601` is not a commit here; write a branch, a tag or a commit"),
    ],
)
def test_what_is_no_answer_is_one_sentence(at: str, message: str, tmp_path: Path, run: Run) -> None:
    ran = run("retrieve", "threads", "--at", at, cwd=dated(tmp_path))
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem: {message}\n")


def test_shallow_clone_says_that_the_history_is_cut_off(tmp_path: Path, run: Run) -> None:
    origin = dated(tmp_path / "origin")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", str(tmp_path / "clone"))
    ran = run("list", "--at", "2026-06-01", cwd=tmp_path / "clone")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("mdmem: the history of main is cut off before 2026-06-01 and begins on 2026-07-01; fetch")
    assert titles(run, tmp_path / "clone", "2026-07-02") == ["Use eight threads"]


def test_without_a_known_default_branch_the_setting_is_named(lived: Path, run: Run) -> None:
    git(lived, "branch", "-q", "-m", "main", "develop")
    git(lived, "branch", "other")
    ran = run("list", "--at", "2026-06-01")
    assert (ran.code, "`git config mdmem.defaultBranch NAME` sets it" in ran.err) == (3, True)
    git(lived, "config", "mdmem.defaultBranch", "develop")
    assert titles(run, lived, "2026-06-01") == ["Use four threads"]


def test_revision_is_judged_by_its_own_files_and_settings(lived: Path, run: Run) -> None:
    (lived / f"memory/{ADDRESS}.md").write_text("broken\n")
    arguments = ("check", "--select", "front-matter-missing")
    assert [run(*arguments, *at).code for at in ((), ("--at", "HEAD"))] == [1, 0]
    (lived / "memory/mdmem.toml").write_text("nonsense = 1\n")
    assert [run("list", *at).code for at in ((), ("--at", "HEAD"))] == [2, 0]


def test_question_about_a_revision_leaves_the_index_of_the_working_tree_alone(lived: Path, run: Run) -> None:
    assert run("search", "threads").code == 0
    before = snapshot(lived / ".git/mdmem/cache/memory" / FOLDER)
    assert "four" in run("search", "threads", "--at", "HEAD~1").out
    assert snapshot(lived / ".git/mdmem/cache/memory" / FOLDER) == before
    assert "eight" in run("search", "threads").out
