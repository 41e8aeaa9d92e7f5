"""The folders of what is derived, safe writing, and the memory of what was read."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest
from builders import write

from mdmem.store.git.process import Repository
from mdmem.store.state import files
from mdmem.store.state.files import OvertakenError, exchange, places, swap, take_away, write_new, write_whole
from mdmem.store.state.local_records import Times, read_times, record_hygiene

OLD, NEW = b"old bytes", b"new bytes"


def repository(top: str, git_dir: str, common_dir: str) -> Repository:
    """Return a repository whose folders need not exist."""
    return Repository(Path(top), Path(git_dir), Path(common_dir))


def test_places_lie_in_the_git_directories_of_the_worktree_and_of_all() -> None:
    found = places(Path("/w/memory"), repository("/w", "/r/.git/worktrees/w", "/r/.git"), {})
    assert found.index == Path("/r/.git/worktrees/w/mdmem/cache/memory")
    assert found.shared == Path("/r/.git/mdmem/cache")


def test_places_of_different_roots_differ() -> None:
    roots = ["/w", "/w/top", "/w/%top", "/w/a/b", "/w/a%2Fb", "/w/a"]
    found = {places(Path(root), repository("/w", "/w/.git", "/w/.git"), {}).index for root in roots}
    assert len(found) == len(roots)
    assert {path.parent for path in found} == {Path("/w/.git/mdmem/cache")}


@pytest.mark.parametrize(
    ("environment", "home"),
    [
        ({"XDG_CACHE_HOME": "/cache", "HOME": "/home/ada"}, "/cache/mdmem"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/ada"}, "/home/ada/.cache/mdmem"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/ada"}, "/home/ada/.cache/mdmem"),
    ],
)
def test_places_lie_in_the_users_cache_when_there_is_no_repository(environment: dict[str, str], home: str) -> None:
    found = places(Path("/w"), None, environment)
    assert (str(found.shared.parent), found.index) == (home, found.shared / "index")


def test_places_are_where_nothing_can_be_written_when_there_is_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    found = places(Path("/w"), None, {})
    with pytest.raises(OSError, match="Not a directory"):
        record_hygiene(found.shared, None, date(2026, 11, 21))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"version":"1","content":{"a":',
        b"\xff\xfe",
        b"[" * 100_000,
        b"[1]",
        b"null",
        b'{"version":"2","content":{"everything":"2026-01-01"}}',
        b'{"version":"1"}',
        b'{"version":"1","content":[1]}',
        b"\x80\x04\x95",
    ],
    ids=["empty", "torn", "no-text", "deep", "list", "null", "version", "no-content", "wrong-content", "pickle"],
)
def test_record_is_not_read_when_the_file_is_torn_or_not_ours(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, "times.json", content)
    assert read_times(tmp_path) == Times()


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException) -> Iterator[None]:
    """Let one call of the system fail."""

    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, name, fail)
        yield


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_write_whole_leaves_the_old_file_and_no_other_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    path = write(tmp_path, "a.json", OLD)
    with failing(monkeypatch, call, error), pytest.raises(type(error)):
        write_whole(path, NEW)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a.json": OLD}


@pytest.mark.parametrize("is_link", [False, True])
def test_write_new_never_replaces_a_file_or_writes_through_a_link(tmp_path: Path, is_link: bool) -> None:
    path = tmp_path / "a.md"
    path.symlink_to(tmp_path / "elsewhere") if is_link else path.write_bytes(OLD)
    with pytest.raises(FileExistsError):
        write_new(path, NEW)
    assert [file.name for file in tmp_path.iterdir()] == ["a.md"]
    assert is_link or path.read_bytes() == OLD


@pytest.mark.parametrize(
    ("call", "error"),
    [("fsync", OSError(28, "No space left on device")), ("fsync", KeyboardInterrupt()), ("link", KeyboardInterrupt())],
)
def test_write_new_leaves_nothing_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    with failing(monkeypatch, call, error), pytest.raises(type(error)):
        write_new(tmp_path / "a.md", NEW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_write_new_gives_the_mode_of_any_new_file(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write_new(tmp_path / "a.md", NEW)
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert (tmp_path / "a.md").stat().st_mode & 0o777 == mode


def test_file_in_place_of_a_link_is_its_owners_alone(tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.symlink_to(tmp_path / "elsewhere")
    write_whole(record, b"new")
    assert record.stat().st_mode & 0o777 == 0o600


def test_exchange_copies_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = write(tmp_path, ".one", "1"), write(tmp_path, "other", "2")
    with failing(monkeypatch, "link", OSError(errno.EPERM, "Operation not permitted")):
        exchange(one, other)
    assert (one.read_text(), other.read_text(), len(list(tmp_path.iterdir()))) == ("2", "1", 2)


@pytest.mark.parametrize("there", ["nothing", "other", "longer", "link", "pipe", "folder"])
def test_file_that_is_no_longer_as_it_was_read_is_left(tmp_path: Path, there: str) -> None:
    ours, path = write(tmp_path, ".ours.tmp", "new"), tmp_path / "a"
    made = {
        "nothing": lambda: None,
        "other": lambda: path.write_text("b"),
        "longer": lambda: path.write_text("ab"),
        "link": lambda: path.symlink_to(write(tmp_path, "b", "a")),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
    }
    made[there]()
    for act in (
        lambda: swap(ours, path, read=b"a", written=b"new"),
        lambda: take_away(path, tmp_path / "c", read=b"a"),
    ):
        with pytest.raises(OvertakenError):
            act()
    assert (ours.read_text(), (tmp_path / "c").exists(), path.is_symlink()) == ("new", False, there == "link")


def test_what_is_saved_in_the_moment_of_taking_away_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, looks = write(tmp_path, "a.md", "old"), iter([True, False])
    monkeypatch.setattr(files, "has_content", lambda *_: next(looks))
    with pytest.raises(OvertakenError):
        take_away(target, tmp_path / ".a.md.x.tmp", read=b"old")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "old"}
