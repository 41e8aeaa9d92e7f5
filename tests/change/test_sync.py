"""Test the sync of several clones of one memory: pull, check, push, and the errors."""

import random
import subprocess
from functools import partial
from pathlib import Path

import pytest
from builders import (
    SIGNED,
    Capture,
    commit_all,
    entry_text,
    environment,
    git,
    made_once,
    memory,
    open_root,
    run_here,
    run_mdmem,
    sign,
    snapshot,
    write,
    write_entry,
)
from processes import run_at_once

from mdmem.change import sync as syncing
from mdmem.change.sync import SyncStoppedError
from mdmem.change.sync import sync as sync_in
from mdmem.errors import GitError, LostRaceError, UsageError
from mdmem.store.git.process import find_repository
from mdmem.store.git.remote import move_branch
from mdmem.write import write as writing
from mdmem.write.create import plan_entry
from mdmem.write.write import WriteOptions


def origin(tmp_path: Path) -> Path:
    """Return a bare repository with a memory."""
    first = memory(tmp_path / "first")
    git(tmp_path, "clone", "-q", "--bare", "--template=", str(first), "origin.git")
    return tmp_path / "origin.git"


def clone(bare: Path, name: str) -> Path:
    folder = bare.parent / name
    git(bare.parent, "clone", "-q", "--template=", str(bare), name)
    with (folder / ".git/config").open("a", encoding="utf-8") as settings:
        settings.write("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return folder


@made_once
def two_clones(folder: Path) -> Path:
    bare = origin(folder)
    for name in ("ours", "theirs"):
        clone(bare, name)
    return folder


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    two_clones(tmp_path)
    return tmp_path / "ours"


@pytest.fixture
def theirs(ours: Path) -> Path:
    return ours.parent / "theirs"


def add(folder: Path, address: str, body: str | None = None, /, **fields: object) -> str:
    """Commit one entry and return the commit."""
    write_entry(folder / "memory", address, body, **fields)
    return commit_all(folder, f"Add {address}")


def push_entry(folder: Path, address: str, **fields: object) -> None:
    git(folder, "pull", "-q", "--rebase")
    add(folder, address, title=f"Choice {address.rsplit('/', 1)[-1]}", **fields)
    git(folder, "push", "-q")


def sync(folder: Path) -> syncing.SyncResult:
    return syncing.sync(open_root(folder / "memory"), draw=lambda: 0.0, sleep=lambda _: None)


def head(folder: Path, ref: str = "HEAD") -> str:
    return git(folder, "rev-parse", ref)


def pushed(folder: Path) -> str:
    """Return the commit of the remote branch."""
    return git(folder, "ls-remote", "origin", "main").split("\t")[0]


def untouched(folder: Path) -> tuple[object, ...]:
    """Return everything that a stopped sync must not change."""
    files = {path: said for path, said in snapshot(folder).items() if not path.startswith(".git/")}
    return files, head(folder), git(folder, "status", "--porcelain"), git(folder, "worktree", "list"), pushed(folder)


def assert_stops(folder: Path, error: type[Exception], said: str) -> None:
    """Assert that a sync fails and changes nothing."""
    before = untouched(folder)
    with pytest.raises(error, match=said):
        sync(folder)
    assert untouched(folder) == before


def test_sync_with_nothing_new_says_so(ours: Path, capsys: Capture) -> None:
    ran = run_here(capsys, "sync", cwd=ours)
    at = head(ours)[:10]
    assert (ran.code, ran.out) == (0, f"nothing to do: main and origin/main are at {at}\n")
    ran = run_here(capsys, "sync", "ros2", cwd=ours)
    assert (ran.code, ran.err) == (2, "mdmem sync: names of wings, --pinned and --commit need --wings\n")


@pytest.mark.parametrize(("pulled", "pushes"), [(0, 1), (1, 0), (1, 1)])
def test_sync_brings_both_branches_to_one_commit(ours: Path, theirs: Path, pulled: int, pushes: int) -> None:
    if pulled:
        push_entry(theirs, "nav/rules/theirs")
    if pushes:
        add(ours, "nav/rules/ours", title="Ours")
    done = sync(ours)
    assert (done.pulled, done.pushed, done.attempts) == (pulled, pushes, 1)
    assert pushed(ours) == head(ours) == done.commit
    # Our commits are on top of theirs.
    assert git(ours, "rev-parse", f"HEAD~{pushes}") == head(theirs)
    assert (ours / "memory/nav/rules/theirs.md").exists() == bool(pulled)
    assert git(ours, "status", "--porcelain") == ""
    assert git(ours, "worktree", "list").count("\n") == 0


def test_sync_leaves_files_that_are_not_committed(ours: Path, theirs: Path, capsys: Capture) -> None:
    write(ours, "code.py", "old\n")
    write(ours, "other.py", "old\n")
    commit_all(ours)
    git(ours, "push", "-q")
    push_entry(theirs, "nav/rules/theirs")
    add(ours, "nav/rules/ours", title="Ours")
    write(ours, "code.py", "new\n")
    write(ours, "other.py", "staged\n")
    git(ours, "add", "other.py")
    write(ours, "memory/nav/rules/draft.md", "half an entry")
    before = git(ours, "status", "--porcelain")
    ran = run_here(capsys, "sync", cwd=ours)
    assert ran.code == 0
    assert ran.err == "not committed, so not pushed: memory/nav/rules/draft.md\n"
    assert git(ours, "status", "--porcelain") == before
    assert (ours / "code.py").read_text() == "new\n"
    assert git(ours, "show", ":other.py") == "staged"
    assert pushed(ours) == head(ours)


@pytest.mark.parametrize("address", ["nav/architecture/threads", "nav/rules/new"], ids=["changed", "added"])
def test_uncommitted_file_that_others_wrote_stops_the_sync(ours: Path, theirs: Path, address: str) -> None:
    push_entry(theirs, address)
    write_entry(ours / "memory", address, title="Mine")
    said = rf"`memory/{address}\.md` is not committed here, and the remote branch changed it; commit the file"
    assert_stops(ours, UsageError, said)
    assert not (ours / ".git/index.lock").exists()


def test_conflict_stops_the_sync_and_changes_nothing(ours: Path, theirs: Path, capsys: Capture) -> None:
    body = "A callback must not {}.\n\nRationale: the robot stops.\n"
    rule = {"type": "invariant", "title": "Callbacks do not block", "editorial_at": "2026-11-20"}
    add(theirs, "nav/rules/callbacks", body.format("wait"), **rule)
    git(theirs, "push", "-q")
    add(ours, "nav/rules/callbacks", body.format("sleep"), **rule)
    before = untouched(ours)
    ran = run_here(capsys, "sync", cwd=ours)
    assert ran.code == 1
    first, *rest = ran.err.splitlines()
    path = "memory/nav/rules/callbacks.md"
    assert first == (f"mdmem: git cannot merge `{path}` with origin/main; nothing was pushed, and nothing changed here")
    assert rest[0].startswith("type `git pull --rebase`")
    assert untouched(ours) == before


def test_merge_that_a_rebase_would_take_apart_is_merged_with_the_remote(
    ours: Path, theirs: Path, capsys: Capture
) -> None:
    push_entry(theirs, "nav/rules/theirs")
    add(ours, "nav/rules/x", "Do one.\n", title="One")
    git(ours, "checkout", "-q", "-b", "side", "HEAD~1")
    add(ours, "nav/rules/x", "Do two.\n", title="Two")
    git(ours, "checkout", "-q", "-")
    git(ours, "merge", "-q", "side", ends=1)
    write_entry(ours / "memory", "nav/rules/x", "Do both.\n", title="Both")
    commit_all(ours)
    ran = run_here(capsys, "sync", cwd=ours)
    assert ran.code == 1
    step = "type `git pull --no-rebase`, resolve each file (`mdmem resolve`) and `git add` it, `git merge --continue`,"
    assert ran.err.splitlines()[1:] == [step, "then `mdmem sync` again"]
    git(ours, "pull", "-q", "--no-rebase", "--no-edit")
    assert run_here(capsys, "sync", cwd=ours).code == 0
    assert "Do both." in git(ours, "show", "origin/HEAD:memory/nav/rules/x.md")


def test_result_that_breaks_the_graph_is_not_pushed(ours: Path, theirs: Path, capsys: Capture) -> None:
    push_entry(theirs, "nav/rules/idea", status="draft")
    git(ours, "pull", "-q")
    git(theirs, "rm", "-q", "memory/nav/rules/idea.md")
    commit_all(theirs)
    git(theirs, "push", "-q")
    add(ours, "nav/rules/ours", title="Ours", see=["nav/rules/idea"])
    before = untouched(ours)
    ran = run_here(capsys, "sync", cwd=ours)
    assert ran.code == 1
    first, finding, step = ran.err.splitlines()
    assert first.startswith("mdmem: on top of origin/main the memory has a new finding; nothing was pushed")
    assert finding.startswith("  nav/rules/ours.md:6: error dangling-link `see` contains `nav/rules/idea`")
    assert (
        step == "type `git pull --rebase` and `mdmem check --base origin/main`, fix and commit, then `mdmem sync` again"
    )
    assert untouched(ours) == before


def test_finding_of_the_remote_branch_stops_nobody_and_one_of_a_local_commit_does(
    ours: Path, theirs: Path, capsys: Capture
) -> None:
    push_entry(theirs, "nav/rules/theirs", see=["nav/rules/gone"])
    add(ours, "nav/rules/ours", title="Ours")
    ran = run_here(capsys, "sync", cwd=ours)
    assert ran.code == 0
    assert ran.err == "the memory has 1 failing finding; `mdmem check` shows it\n"
    assert pushed(ours) == head(ours)
    add(ours, "nav/rules/more", title="More", see=["nav/rules/gone"])
    assert_stops(ours, SyncStoppedError, "the memory has a new finding")


def racing_hook(ours: Path, theirs: Path, rounds: int) -> None:
    """Let somebody else push during our first pushes."""
    hook = write(
        ours,
        ".git/hooks/pre-push",
        f'#!/bin/sh\nn=$(cat "{theirs}/n" 2>/dev/null || echo 0)\n[ "$n" -ge {rounds} ] && exit 0\n'
        f'echo $((n + 1)) > "{theirs}/n"\ncd "{theirs}"\nunset $(git rev-parse --local-env-vars)\n'
        "git pull -q --rebase && echo $n > theirs-$n.txt && git add theirs-$n.txt\n"
        'git -c user.name=Ada -c user.email=ada@example.org commit -q -m "$n" && git push -q\n',
    )
    hook.chmod(0o755)


def test_sync_tries_again_if_others_push_first(ours: Path, theirs: Path) -> None:
    racing_hook(ours, theirs, rounds=3)
    add(ours, "nav/rules/ours", title="Ours")
    slept: list[float] = []
    done = syncing.sync(open_root(ours / "memory"), draw=lambda: 0.5, sleep=slept.append)
    assert (done.attempts, done.pulled, done.pushed, slept) == (4, 3, 1, [0.125, 0.25, 0.5])
    assert pushed(ours) == head(ours)


def test_sync_gives_up_if_others_always_push_first(ours: Path, theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    racing_hook(ours, theirs, rounds=99)
    monkeypatch.setattr(syncing, "ATTEMPTS", 3)
    add(ours, "nav/rules/ours", title="Ours")
    with pytest.raises(
        LostRaceError, match="others pushed first at each attempt; your commits are on top of theirs now"
    ):
        sync(ours)
    assert git(ours, "log", "-1", "--format=%s") == "Add nav/rules/ours"
    assert git(ours, "status", "--porcelain") == ""


def test_hook_can_refuse_the_push_or_the_rebase(ours: Path, theirs: Path, capsys: Capture) -> None:
    write(ours, ".git/hooks/pre-push", "#!/bin/sh\necho 'not on a Friday' >&2\nexit 1\n").chmod(0o755)
    add(ours, "nav/rules/ours", title="Ours")
    before = pushed(ours)
    ran = run_here(capsys, "sync", cwd=ours)
    assert ran.code == 3
    assert "the push was refused" in ran.err
    assert "not on a Friday" in ran.err
    assert pushed(ours) == before
    push_entry(theirs, "nav/rules/theirs")
    write(ours, ".git/hooks/pre-rebase", "#!/bin/sh\nexit 1\n").chmod(0o755)
    assert_stops(ours, GitError, "git cannot rebase: ")


def test_rebased_commits_are_signed_again(ours: Path, theirs: Path) -> None:
    push_entry(theirs, "nav/rules/theirs")
    sign(ours)
    add(ours, "nav/rules/ours", title="Ours")
    sync(ours)
    assert SIGNED in git(ours, "cat-file", "commit", "HEAD")


def test_own_merge_commit_stays_a_merge(ours: Path, theirs: Path) -> None:
    push_entry(theirs, "nav/rules/theirs")
    git(ours, "switch", "-q", "-c", "side")
    add(ours, "nav/rules/side", title="Side")
    git(ours, "switch", "-q", "main")
    add(ours, "nav/rules/ours", title="Ours")
    git(ours, "merge", "-q", "--no-edit", "side")
    sync(ours)
    assert len(git(ours, "log", "-1", "--format=%P").split()) == 2
    assert git(ours, "merge-base", "HEAD", "origin/main") == pushed(ours)


def test_commit_that_others_have_already_is_not_pushed_twice(ours: Path, theirs: Path) -> None:
    add(ours, "nav/rules/same", title="Same")
    add(theirs, "nav/rules/before", title="Before")
    add(theirs, "nav/rules/same", title="Same")
    git(theirs, "push", "-q")
    done = sync(ours)
    assert (done.pulled, done.pushed, done.commit) == (2, 0, head(theirs))
    assert head(ours) == head(theirs)


def test_linked_work_tree_syncs_its_own_branch(ours: Path) -> None:
    git(ours, "worktree", "add", "-q", "-b", "topic", "../linked")
    linked = ours.parent / "linked"
    git(linked, "push", "-q", "-u", "origin", "topic")
    commit = add(linked, "nav/rules/linked", title="Linked")
    assert sync(linked).upstream == "origin/topic"
    assert git(linked, "ls-remote", "origin", "topic").split("\t")[0] == commit
    assert head(ours, "main") == pushed(ours)


def test_worktree_of_a_killed_process_is_removed(ours: Path, theirs: Path) -> None:
    left = ours / ".git/mdmem/sync/tree"
    left.parent.mkdir(parents=True)
    git(ours, "worktree", "add", "-q", "--detach", str(left))
    push_entry(theirs, "nav/rules/theirs")
    add(ours, "nav/rules/ours", title="Ours")
    assert sync(ours).pushed == 1
    assert not left.exists()
    assert git(ours, "worktree", "list").count("\n") == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("git checkout -q --detach", r"no branch is checked out \(detached HEAD\); type `git switch BRANCH` first"),
        ("git switch -q -c topic", "`topic` tracks no remote branch; type `git push -u origin topic` once"),
        (
            "git remote remove origin",
            "`main` tracks no remote branch; type `git remote add origin URL`, then `git push -u",
        ),
        ("git switch -q -c topic --track origin/main", "`topic` tracks `origin/main`, which has another name"),
        (
            "git switch -q -c topic --track main",
            "`topic` tracks no remote branch; type `git push -u origin topic` once",
        ),
        (
            "git switch -q --orphan empty && mkdir -p memory && touch memory/mdmem.toml",
            "nothing is committed on `empty` yet; commit first",
        ),
        (
            "git rev-parse HEAD > .git/MERGE_HEAD",
            "git is in the middle of a merge here; end it first with `git merge --continue` or `--abort`",
        ),
    ],
)
def test_state_that_prevents_a_sync_is_reported(ours: Path, command: str, said: str) -> None:
    subprocess.run(["sh", "-c", command], cwd=ours, env=environment(), check=True)
    with pytest.raises(UsageError, match=said):
        sync(ours)


def test_remote_that_is_not_there_is_named(ours: Path) -> None:
    git(ours, "remote", "set-url", "origin", str(ours.parent / "gone.git"))
    with pytest.raises(GitError, match=r"nothing could be fetched from `origin`: .*gone\.git"):
        sync(ours)
    write(ours.parent, "m/mdmem.toml")
    with pytest.raises(GitError, match="is in no git repository"):
        syncing.sync(open_root(ours.parent / "m"), draw=lambda: 0.0, sleep=lambda _: None)


def write_and_sync(number: int, folder: str, entries: int) -> list[int]:
    """Write entries, each in a commit, sync after every second one, and return the results."""
    root = Path(folder) / f"writer-{number}" / "memory"
    chance, answers = random.Random(number), []
    for turn in range(entries):
        workspace = open_root(root)
        text = entry_text(f"Number {number}-{turn} counts.\n\nRationale: tried.\n", title=f"Choice {number} {turn}")
        plan = partial(plan_entry, address=f"nav/room-{turn % 3}/w{number}-{turn}", text=text)
        writing.write(workspace, plan, WriteOptions(commit=True))
        if turn % 2:
            answers.append(sync_in(open_root(root), draw=chance.random).pushed)
    return answers


@pytest.mark.parametrize(("writers", "entries"), [(4, 4), pytest.param(8, 10, marks=pytest.mark.long)])
def test_many_writers_sync_many_entries_each(tmp_path: Path, writers: int, entries: int) -> None:
    bare = origin(tmp_path)
    for number in range(writers):
        clone(bare, f"writer-{number}")
    answers = run_at_once(write_and_sync, str(tmp_path), entries, count=writers)
    assert [one for one in answers if not isinstance(one, list)] == []
    assert all(pushed for one in answers for pushed in one)
    result = clone(bare, "result")
    found = {path.stem for path in (result / "memory/nav").glob("room-*/*.md")}
    assert found == {f"w{number}-{turn}" for number in range(writers) for turn in range(entries)}
    assert int(git(result, "rev-list", "--count", "HEAD")) == 1 + writers * entries
    assert run_mdmem("check", cwd=result).returncode == 0
    assert git(tmp_path / "writer-0", "status", "--porcelain") == ""


def test_branch_that_changed_meanwhile_is_not_moved(ours: Path) -> None:
    old = head(ours)
    new = add(ours, "nav/rules/ours", title="Ours")
    repository = find_repository(ours)
    assert repository is not None
    assert not move_branch(repository, "refs/heads/main", old, old)
    assert head(ours) == new
    assert git(ours, "status", "--porcelain") == ""
