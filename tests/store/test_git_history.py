"""What history and the index tell of files: when they came, last changed and ended, and where they went."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, repository_of, write, write_entry

from mdmem.errors import GitError
from mdmem.store.git.history import Activity, days_of_ends, first_days, last_changes, list_deletions
from mdmem.store.git.process import Repository


def commit_on(folder: Path, day: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", f"--date={day}T12:00:00", "-m", "change")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a repository in which an entry was written, ended and renamed, and another came ended."""
    folder = make_repository(tmp_path / "p")
    write_entry(folder, "m/app/a")
    commit_on(folder, "2026-01-05")
    write_entry(folder, "m/app/a", "We decided.\n\nstatus: deprecated\n")
    write_entry(folder, "m/app/c", status="deprecated")
    commit_on(folder, "2026-02-05")
    write_entry(folder, "m/app/a", status="deprecated", deprecated_at="2026-03-05")
    commit_on(folder, "2026-03-05")
    git(folder, "mv", "m/app/a.md", "m/app/ü b.md")
    commit_on(folder, "2026-04-05")
    return folder


def test_days_are_those_of_the_first_commit_and_of_the_change_of_status_whatever_the_name_is_now(folder: Path) -> None:
    first = {"m/app/a.md": "2026-01-05", "m/app/ü b.md": "2026-01-05", "m/app/c.md": "2026-02-05"}
    assert first_days(repository_of(folder), ["m"]) == first
    assert days_of_ends(repository_of(folder), "m") == {"m/app/ü b.md": "2026-03-05"}


def test_shallow_clone_and_repository_without_a_commit_tell_no_days(folder: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", folder.as_uri(), "shallow")
    for one in (tmp_path / "shallow", make_repository(tmp_path / "new")):
        assert first_days(repository_of(one), ["m"]) == days_of_ends(repository_of(one), "m") == {}


def test_partial_clone_whose_remote_is_gone_tells_no_ends(folder: Path, tmp_path: Path) -> None:
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", folder.as_uri(), "partial")
    folder.rename(tmp_path / "gone")
    assert days_of_ends(repository_of(tmp_path / "partial"), "m") == {}


def test_index_tells_what_moves_and_what_goes_with_the_next_commit(folder: Path) -> None:
    git(folder, "mv", "m/app/c.md", "m/app/d.md")
    git(folder, "rm", "-q", "m/app/ü b.md")
    moved = {"m/app/c.md": ("", "m/app/d.md"), "m/app/ü b.md": ("", None)}
    past = {"m/app/a.md": (git(folder, "log", "-1", "--format=%h"), "m/app/ü b.md")}
    assert list_deletions(repository_of(folder), "m") == moved | past


LONG_AGO = date(2020, 1, 1)


def commit(
    mark: int, day: str, *paths: str, after: tuple[int, ...] = (), branch: str = "main", gone: tuple[str, ...] = ()
) -> str:
    """Return a commit of one day as `git fast-import` reads it; each path gets the mark as its content."""
    seconds = int(datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp())
    lines = [f"commit refs/heads/{branch}", f"mark :{mark}", f"committer Ada <ada@example.org> {seconds} +0000"]
    lines += ["data 1", "x", *(f"{'merge' if number else 'from'} :{one}" for number, one in enumerate(after))]
    for path in paths:
        lines += [f"M 100644 inline {path}", f"data {len(str(mark))}", str(mark)]
    return "\n".join([*lines, *(f"D {path}" for path in gone), ""])


def repository(folder: Path, *commits: str) -> Repository:
    """Return a repository of some commits."""
    make_repository(folder)
    git(folder, "fast-import", "--quiet", text_in="\n".join(commits).encode())
    return repository_of(folder)


def days(activity: Activity) -> dict[str, str]:
    return {path: str(day) for path, day in sorted(activity.days.items())}


def test_newest_change_of_each_path_counts(tmp_path: Path) -> None:
    made = repository(
        tmp_path,
        commit(1, "2026-01-05", "src/a.py", "src/b.py", "docs/c.md"),
        commit(2, "2026-02-05", "src/a.py", after=(1,)),
        commit(3, "2026-03-05", after=(2,), gone=("src/b.py",)),
    )
    assert days(last_changes(made, ["src"], since=LONG_AGO)) == {"src/a.py": "2026-02-05", "src/b.py": "2026-03-05"}
    assert days(last_changes(made, [""], since=date(2026, 2, 4))) == {
        "src/a.py": "2026-02-05",
        "src/b.py": "2026-03-05",
    }
    assert days(last_changes(made, ["docs/c.md"], since=LONG_AGO)) == {"docs/c.md": "2026-01-05"}
    assert days(last_changes(made, ["src"], since=LONG_AGO, until="main~2")) == {
        "src/a.py": "2026-01-05",
        "src/b.py": "2026-01-05",
    }


def test_change_from_a_branch_counts_from_its_merge(tmp_path: Path) -> None:
    made = repository(
        tmp_path,
        commit(1, "2026-01-05", "src/a.py"),
        commit(2, "2026-01-10", "src/a.py", "src/new.py", after=(1,), branch="topic"),
        commit(3, "2026-02-01", "docs/c.md", after=(1,)),
        commit(4, "2026-03-01", "src/a.py", "src/new.py", after=(3, 2)),
    )
    assert days(last_changes(made, ["src"], since=date(2026, 2, 15))) == {
        "src/a.py": "2026-03-01",
        "src/new.py": "2026-03-01",
    }


def test_names_are_taken_byte_for_byte(tmp_path: Path) -> None:
    write(tmp_path, "src/:(glob)*/\nodd\x01 ä.py", "1")
    write(tmp_path, "src/plain.py", "1")
    commit_all(make_repository(tmp_path))
    today = datetime.now(UTC).date()
    changed = last_changes(repository_of(tmp_path), ["src/:(glob)*"], since=LONG_AGO).days
    assert list(changed) == ["src/:(glob)*/\nodd\x01 ä.py"]
    assert abs((changed["src/:(glob)*/\nodd\x01 ä.py"] - today).days) <= 1


def test_end_of_a_shallow_clone_is_no_change(tmp_path: Path) -> None:
    repository(
        tmp_path / "whole",
        commit(1, "2026-01-05", "src/a.py", "src/b.py"),
        commit(2, "2026-02-05", "src/a.py", after=(1,)),
    )
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/whole", "one")
    git(tmp_path, "clone", "-q", f"file://{tmp_path}/whole", "all")
    assert last_changes(repository_of(tmp_path / "one"), ["src"], since=LONG_AGO) == Activity({}, is_cut=True)
    assert not last_changes(repository_of(tmp_path / "all"), ["src"], since=LONG_AGO).is_cut


def test_repository_without_a_commit_has_no_changes(tmp_path: Path) -> None:
    made = repository_of(make_repository(tmp_path))
    assert last_changes(made, ["src"], since=LONG_AGO) == Activity()


def test_repository_that_git_cannot_read_is_an_error(tmp_path: Path) -> None:
    write(make_repository(tmp_path), "src/a.py", "1")
    commit_all(tmp_path)
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}")
    (tmp_path / ".git/objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(GitError, match="git log: "):
        last_changes(repository_of(tmp_path), ["src"], since=LONG_AGO)


def test_control_characters_in_the_name_of_an_author_change_no_day(tmp_path: Path) -> None:
    folder = make_repository(tmp_path)
    write_entry(folder, "m/app/a")
    git(folder, "add", "-A")
    by = ("-c", "user.name=A\x02\x01B", "-c", "user.email=a\x02@example.com")
    git(folder, *by, "commit", "-q", "--date=2026-01-05T12:00:00", "-m", "a\x02b")
    assert first_days(repository_of(folder), ["m"]) == {"m/app/a.md": "2026-01-05"}
