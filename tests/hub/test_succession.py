"""A hub never goes back, whatever order commits come in, and two memories of one repository are two."""

import subprocess
import threading
from pathlib import Path

import pytest
from builders import commit_all, environment, git, head, make_root, memory, write_entry
from pushes import pushed, rows, state

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.hub.push import PushResult, Succession


def committed(folder: Path, name: str) -> str:
    write_entry(folder / "memory", f"nav/rules/{name}", f"About {name}.\n")
    return commit_all(folder)


def committed_long_ago(folder: Path) -> str:
    """Commit by a clock that is wrong."""
    dated = environment(GIT_COMMITTER_DATE="2001-01-01T00:00:00Z", GIT_AUTHOR_DATE="2001-01-01T00:00:00Z")
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "dated"], cwd=folder, env=dated, check=True)
    return head(folder)


def at(dsn: str) -> list[tuple[object, ...]]:
    return rows(dsn, "SELECT name, commit, serial FROM repository ORDER BY id")


def test_what_is_older_is_passed_over(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    old, new = head(folder), committed(folder, "one")
    pushed(dsn, folder / "memory")
    before = state(dsn)
    late = pushed(dsn, folder / "memory", commit=old)
    assert (late.succession, late.commit, late.pushed, late.is_unchanged) == (Succession.OLDER, new, old, True)
    # A clone that does not have what the hub has yet.
    stale = tmp_path / "stale"
    git(tmp_path, "clone", "-q", str(folder), "stale")
    pushed(dsn, folder / "memory", commit=committed(folder, "two"))
    assert pushed(dsn, stale / "memory", repository="shop").succession is Succession.OLDER
    assert (before["repository"] != state(dsn)["repository"], at(dsn)) == (True, [("shop", head(folder), 2)])
    # No clock has a say.
    dated = pushed(dsn, folder / "memory", commit=committed_long_ago(folder))
    assert (dated.succession, rows(dsn, "SELECT extract(year FROM committed_at) FROM repository")) == (
        "newer",
        [(2001,)],
    )


def test_a_rewritten_history_needs_a_word_and_what_was_pushed_before_does_not_come_back(
    dsn: str, tmp_path: Path
) -> None:
    folder = memory(tmp_path / "shop")
    root, start = folder / "memory", head(folder)
    pushed(dsn, root)
    old = committed(folder, "one")
    pushed(dsn, root)
    git(folder, "checkout", "-q", "-b", "other", start)
    committed(folder, "other")
    with pytest.raises(UsageError, match=r"does not follow from it.*--rewritten"):
        pushed(dsn, root)
    assert at(dsn) == [("shop", old, 2)]
    assert pushed(dsn, root, is_rewritten=True).succession is Succession.REWRITTEN
    # A job of the old line that ends late.
    assert pushed(dsn, root, commit=old, is_rewritten=True).succession is Succession.OLDER
    assert pushed(dsn, root, commit=committed(folder, "two")).succession is Succession.NEWER
    assert [path for (path,) in rows(dsn, "SELECT path FROM file WHERE path LIKE 'rules/%' ORDER BY 1")] == [
        "rules/callbacks.md",
        "rules/other.md",
        "rules/two.md",
    ]


def test_a_history_that_is_cut_off_is_told_how_to_be_had(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    pushed(dsn, folder / "memory")
    committed(folder, "one")
    git(tmp_path, "clone", "-q", "--depth=1", folder.as_uri(), "cut")
    with pytest.raises(EnvironmentFaultError, match=r"cut off before it.*fetch-depth: 0"):
        pushed(dsn, tmp_path / "cut/memory", repository="shop")
    # The first push needs no history.
    assert pushed(dsn, tmp_path / "cut/memory", repository="cut").succession is Succession.FIRST


def test_a_name_with_blanks_is_refused(dsn: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a valid name for a repository"):
        pushed(dsn, memory(tmp_path / "shop") / "memory", repository="a b")


def test_two_memories_of_a_repository_are_two(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    write_entry(make_root(folder / "teams/web"), "web/rules/one")
    commit_all(folder)
    git(folder, "remote", "add", "origin", "https://somebody:secret@Git.Example.org/acme/shop.git")
    pushed(dsn, folder / "memory")
    assert pushed(dsn, folder / "teams/web").repository == "acme/shop:teams/web"
    assert rows(dsn, "SELECT name, root, url FROM repository ORDER BY 1") == [
        ("acme/shop", "memory", "git.example.org/acme/shop"),
        ("acme/shop:teams/web", "teams/web", "git.example.org/acme/shop"),
    ]
    with pytest.raises(UsageError, match="for another memory of this repository, at memory; choose another"):
        pushed(dsn, folder / "teams/web", repository="acme/shop")
    # One that moved is the same.
    git(folder, "mv", "memory", "docs")
    commit_all(folder)
    moved = pushed(dsn, folder / "docs")
    assert (moved.repository, moved.added, moved.removed) == ("acme/shop", 0, 0)


def test_twenty_at_once_leave_the_newest_once(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    commits = [committed(folder, f"number{number}") for number in range(5)]
    results: list[PushResult] = []

    def send(commit: str) -> None:
        results.append(pushed(dsn, folder / "memory", commit=commit))

    threads = [threading.Thread(target=send, args=[commit]) for commit in commits * 4]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(results) == 20
    (name, commit, serial), *more = at(dsn)
    assert (name, commit, more) == ("shop", commits[-1], [])
    assert serial == sum(not one.is_unchanged for one in results) == rows(dsn, "SELECT count(*) FROM push")[0][0]
    after = state(dsn)
    rows_gone = rows(dsn, "WITH gone AS (DELETE FROM repository RETURNING 1) SELECT count(*) FROM gone")
    pushed(dsn, folder / "memory")
    assert (rows_gone, state(dsn)) == ([(1,)], after)
