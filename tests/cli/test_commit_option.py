"""`--commit` of the verbs: one commit of just what was written, as people who share a repository want it."""

import json
from pathlib import Path

import pytest
from builders import (
    Ran,
    Run,
    commit_all,
    git,
    hook,
    memory,
    merge_conflict,
    nobody,
    snapshot,
    status,
    write,
    write_entry,
)

OLD, NEW = "nav/architecture/threads", "nav/architecture/executor"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the root of a committed memory with an entry that can take over from another."""
    root = memory(tmp_path / "top") / "memory"
    write_entry(root, NEW, title="Use an executor")
    commit_all(root.parent, "more")
    return root


def deprecate(run: Run, root: Path, address: str = OLD, reason: str = "It is gone.") -> Ran:
    return run("deprecate", address, "--reason", reason, "--commit", cwd=root)


def held(root: Path) -> list[str]:
    """Return what the last commit did to which files."""
    return git(root, "show", "--format=", "--name-status", "--no-renames", "HEAD").splitlines()


def trailers(root: Path) -> list[str]:
    """Return the trailers of the last commit, as git reads them."""
    message = git(root, "log", "-1", "--format=%B").encode()
    return git(root, "interpret-trailers", "--parse", text_in=message).splitlines()


def test_commit_of_an_agent_names_it(root: Path, run: Run) -> None:
    write(root, "mdmem.toml", 'commit = true\n[governance.agent_status]\ndecision = "active"\n')
    commit_all(root.parent, "settings")
    record = {"title": "Use zenoh", "rationale": "The network lets nothing else through."}
    given = write(root.parent.parent, "decision.json", json.dumps(record))
    line = ("save", "decision", "--json", str(given), "--project", "nav", "--agent", "Navigator 3")
    assert run(*line, cwd=root).code == 0
    assert trailers(root) == ["Mdmem-Entry: nav/architecture/use-zenoh", "Mdmem-Agent: Navigator 3"]
    assert held(root) == ["A\tmemory/nav/architecture/use-zenoh.md"]


@pytest.mark.parametrize("is_staged", [True, False])
def test_staged_change_of_the_file_is_committed_unless_only_a_part_is_staged(
    is_staged: bool, root: Path, run: Run
) -> None:
    path, file = f"memory/{OLD}.md", root / f"{OLD}.md"
    file.write_text(file.read_text().replace("measured", "measured twice"))
    git(root, "add", "-A")
    if is_staged:
        assert deprecate(run, root).code == 0
        assert ("measured twice" in git(root, "show", f"HEAD:{path}"), status(root.parent)) == (True, [])
        return
    file.write_text(file.read_text().replace("two threads", "three threads"))
    done = deprecate(run, root)
    hint = (
        "commit that version or unstage it (`git restore --staged`) first; nothing was committed, the files are written"
    )
    assert (done.code, done.err) == (3, f"mdmem: another version of `{path}` is staged; {hint}\n")
    assert (status(root.parent), "status: deprecated" in file.read_text()) == ([f"MM {path}"], True)
    assert "deprecated" not in git(root, "diff", "--cached")


GONE = ("deprecate", OLD, "--reason", "Gone.")


@pytest.mark.parametrize(
    ("operation", "line"),
    [
        *((operation, GONE) for operation in ("merge", "rebase", "cherry-pick", "bisect")),
        ("merge", ("new", "note", "nav/notes/n", "--body", "Text.")),
        ("merge", ("mv", "nav/rules/", "nav/laws/")),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_nothing_is_written_during_an_operation(root: Path, run: Run, operation: str, line: tuple[str, ...]) -> None:
    top = root.parent
    if operation == "bisect":
        git(top, "bisect", "start")
    else:
        merge_conflict(top, "code.py", "ours\n", "theirs\n")
    if operation in ("rebase", "cherry-pick"):
        git(top, "merge", "--abort")
        git(top, operation, "theirs", ends=1)
    done = run(*line, "--commit", cwd=root, unchanged=top)
    ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
    said = f"a {operation} is in progress here; end it with {ends}, or leave out `--commit`"
    assert (done.code, done.out, done.err) == (2, "", f"mdmem: {said}\n")
    assert run(*line, cwd=root).code == 0


def test_hook_that_refuses_is_named_with_its_words_and_the_files_are_written(root: Path, run: Run) -> None:
    hook(root.parent, "pre-commit", "echo 'no commits on Fridays' >&2; exit 1")
    before = git(root, "rev-parse", "HEAD")
    done = run("new", "note", "nav/notes/n", "--body", "Text.", "--commit", cwd=root)
    why = "a hook refused the commit; nothing was committed, the files are written"
    assert (done.code, done.err) == (3, f"mdmem: {why}\nno commits on Fridays\n")
    assert git(root, "rev-parse", "HEAD") == before
    assert status(root.parent) == ["?? memory/nav/notes/n.md"]


def test_nobody_commits_where_git_knows_no_name(root: Path, run: Run) -> None:
    nobody(root.parent)
    done = deprecate(run, root)
    hint = "type `git config user.name NAME` and `git config user.email EMAIL`"
    left = "nothing was committed, the files are written"
    assert (done.code, done.err) == (3, f"mdmem: git does not know who you are; {hint}; {left}\n")
    assert status(root.parent) == [f" M memory/{OLD}.md"]


def test_first_commit_of_a_repository_holds_the_new_entry_alone(tmp_path: Path, run: Run) -> None:
    root = memory(tmp_path / "top") / "memory"
    git(root, "checkout", "-q", "--orphan", "other")
    git(root, "rm", "-q", "-r", "--cached", ".")
    done = run("new", "note", "nav/notes/n", "--body", "Text.", "--commit", cwd=root)
    assert (done.code, held(root)) == (0, ["A\tmemory/nav/notes/n.md"])
    assert git(root, "rev-list", "--count", "HEAD") == "1"


def test_root_without_git_says_so_and_writes_nothing(tmp_path: Path, run: Run) -> None:
    root = write(tmp_path, "memory/mdmem.toml").parent
    done = run("new", "note", "nav/notes/n", "--body", "Text.", "--new-wing", "--commit", cwd=root)
    assert (done.code, done.err) == (3, f"mdmem: {root} is in no git repository; leave out --commit\n")
    assert sorted(snapshot(root)) == ["mdmem.toml"]
