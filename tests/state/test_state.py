"""The folders of what is derived, safe writing, and the memory of what was read."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import commit_all, git, make_repository, write

from mdmem.git import Repository
from mdmem.state import StatCache, places, read_json, write_json, write_new, write_whole
from mdmem.state import files as stat_cache
from mdmem.tree import WorkingTree, digest_of

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
    assert not write_json(found.shared / "entries.json", "1", {"a": 1})


@pytest.mark.parametrize("name", ["plain", "größe 🙂", os.fsdecode(b"caf\xe9"), "a\nb"])
def test_json_reads_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / "new" / "a.json"
    assert write_json(path, "1", {name: [1, name]})
    assert read_json(path, "1") == {name: [1, name]}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"version":"1","content":{"a":',
        b"\xff\xfe",
        b"[" * 100_000,
        b"[1]",
        b"null",
        b'{"version":"2","content":{"a":1}}',
        b'{"version":"1"}',
        b'{"version":"1","content":[1]}',
        b"\x80\x04\x95",
    ],
    ids=["empty", "torn", "no-text", "deep", "list", "null", "version", "no-content", "wrong-content", "pickle"],
)
def test_json_is_empty_when_the_file_is_torn_or_not_ours(tmp_path: Path, content: bytes) -> None:
    assert read_json(write(tmp_path, "a.json", content), "1") == {}


def test_json_is_empty_when_there_is_no_file(tmp_path: Path) -> None:
    assert read_json(tmp_path / "a.json", "1") == {}
    assert read_json(tmp_path, "1") == {}


def test_json_is_not_written_and_nothing_raised_when_the_folder_is_a_file(tmp_path: Path) -> None:
    write(tmp_path, "cache", "")
    assert not write_json(tmp_path / "cache" / "a.json", "1", {})


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


def test_write_whole_replaces_and_a_reader_of_the_old_file_keeps_it(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", OLD)
    with path.open("rb") as reader:
        write_whole(path, NEW)
        assert reader.read() == OLD
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a.json": NEW}


def test_write_new_never_replaces(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", OLD)
    with pytest.raises(FileExistsError):
        write_new(path, NEW)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a.md": OLD}


def test_write_new_does_not_write_through_a_link(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        write_new(path, NEW)
    assert [file.name for file in tmp_path.iterdir()] == ["a.md"]


@pytest.mark.parametrize("call", ["fsync", "link"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
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


# What the cache remembers is compared with what a reader of every byte finds.


def digests(root: Path, cache: Path) -> dict[str, str]:
    """Return the digests of a tree's files through the cache, as one run of mdmem does."""
    tree = WorkingTree(root, stats=StatCache(cache).load())
    return tree.digests(tree.files())


def hashed(root: Path) -> dict[str, str]:
    """Return the digests of a tree's files from their bytes."""
    files = (file for file in root.rglob("*.md"))
    return {file.relative_to(root).as_posix(): digest_of(file.read_bytes()) for file in files}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust every file at once, as if each change lay long back."""
    monkeypatch.setattr(stat_cache, "_RACY_NS", -(10**15))


def test_digest_is_the_name_git_gives(tmp_path: Path) -> None:
    make_repository(tmp_path)
    file = write(tmp_path, "a.md", "größe\r\n")
    assert digest_of(file.read_bytes()) == git(tmp_path, "hash-object", "--no-filters", "a.md")
    assert digest_of(b"") == hashlib.sha1(b"blob 0\0").hexdigest()


@pytest.mark.usefixtures("patient")
def test_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, cache = tmp_path / "root", tmp_path / "stat.json"
    write(root, "w/r/e.md", OLD)
    before = digests(root, cache)
    monkeypatch.setattr(WorkingTree, "_learn", None)
    assert digests(root, cache) == before == {"w/r/e.md": digest_of(OLD)}


@pytest.mark.usefixtures("patient")
def test_rewritten_file_is_read_again_when_size_and_mtime_are_the_same(tmp_path: Path) -> None:
    root, cache = tmp_path / "root", tmp_path / "stat.json"
    file = write(root, "w/r/e.md", OLD)
    digests(root, cache)
    stat = file.stat()
    # The clock of the file system may stand still for some milliseconds.
    while file.stat().st_ctime_ns == stat.st_ctime_ns:
        file.write_bytes(NEW)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert digests(root, cache) == {"w/r/e.md": digest_of(NEW)}


@pytest.mark.usefixtures("patient")
def test_file_replaced_by_another_is_read_again(tmp_path: Path) -> None:
    root, cache = tmp_path / "root", tmp_path / "stat.json"
    write(root, "w/r/e.md", OLD)
    digests(root, cache)
    write_whole(root / "w/r/e.md", NEW)
    assert digests(root, cache) == {"w/r/e.md": digest_of(NEW)}


def test_file_rewritten_in_the_same_tick_is_read_again(tmp_path: Path) -> None:
    root, cache = tmp_path / "root", tmp_path / "stat.json"
    file = write(root, "w/r/e.md", OLD)
    for content in (OLD, NEW) * 20:
        file.write_bytes(content)
        assert digests(root, cache) == {"w/r/e.md": digest_of(content)}


def test_checkout_to_and_fro_is_seen(tmp_path: Path) -> None:
    top, cache = make_repository(tmp_path / "top"), tmp_path / "stat.json"
    for content in (OLD, NEW):
        write(top, "w/r/e.md", content)
        write(top, f"w/r/{content[:3].decode()}.md", content)
        commit_all(top)
    for revision in ("HEAD~1", "main") * 5:
        git(top, "checkout", "-q", revision)
        assert digests(top, cache) == hashed(top)


def clocked(mtime: int, ctime: int) -> os.stat_result:
    """Return the stat of a file that changed at a time."""
    return SimpleNamespace(st_mtime_ns=mtime, st_ctime_ns=ctime, st_size=3, st_ino=7)  # type: ignore[return-value]


SECOND = 1_000_000_000
NOW = 1000 * SECOND


@pytest.mark.parametrize(
    ("mtime", "ctime", "found"),
    [
        (NOW - 5 * SECOND, NOW - 5 * SECOND, "digest"),
        (NOW - SECOND, NOW - SECOND, None),
        (NOW - 500 * SECOND, NOW - SECOND, None),
        (NOW + 500 * SECOND, NOW - 5 * SECOND, None),
    ],
    ids=["quiet", "just-now", "mtime-set-back", "mtime-in-the-future"],
)
def test_file_is_remembered_only_when_it_was_quiet_as_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mtime: int, ctime: int, found: str | None
) -> None:
    monkeypatch.setattr(stat_cache.time, "time_ns", lambda: NOW)
    cache, stat = StatCache(tmp_path / "stat.json"), clocked(mtime, ctime)
    cache.keep("e.md", stat, "digest")
    # A long build may lie between the reading and the writing.
    cache.save({"e.md"})
    os.utime(tmp_path / "stat.json", ns=(NOW + 60 * SECOND,) * 2) if found else None
    assert StatCache(tmp_path / "stat.json").load().find("e.md", stat) == found


def test_file_that_changed_when_the_cache_was_written_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stat_cache.time, "time_ns", lambda: NOW)
    cache, stat = StatCache(tmp_path / "stat.json"), clocked(NOW - 5 * SECOND, NOW - 5 * SECOND)
    cache.keep("e.md", stat, "digest")
    cache.save({"e.md"})
    # The clock of a file server may be behind that of the machine.
    os.utime(tmp_path / "stat.json", ns=(NOW - 5 * SECOND,) * 2)
    assert StatCache(tmp_path / "stat.json").load().find("e.md", stat) is None


@pytest.mark.parametrize("content", [{"w/r/e.md": 5}, {"w/r/e.md": [1, 2]}, {"w/r/e.md": [1, 2, 3, 4, 5]}, {"x": None}])
def test_foreign_record_is_ignored(tmp_path: Path, content: dict[str, object]) -> None:
    root, cache = tmp_path / "root", tmp_path / "stat.json"
    write(root, "w/r/e.md", OLD)
    write(tmp_path, "stat.json", json.dumps({"version": "1", "content": content}))
    assert digests(root, cache) == {"w/r/e.md": digest_of(OLD)}


@pytest.mark.usefixtures("patient")
def test_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    root, cache = tmp_path / "root", tmp_path / "stat.json"
    for name in ("a", "b"):
        write(root, f"w/r/{name}.md", OLD)
    digests(root, cache)
    (root / "w/r/a.md").unlink()
    digests(root, cache)
    assert list(read_json(cache, "1")) == ["w/r/b.md"]


def test_digests_are_right_when_the_cache_cannot_be_written(tmp_path: Path) -> None:
    write(tmp_path, "root/w/r/e.md", OLD)
    write(tmp_path, "cache", "a file")
    assert digests(tmp_path / "root", tmp_path / "cache" / "stat.json") == {"w/r/e.md": digest_of(OLD)}


@pytest.mark.usefixtures("patient")
def test_file_whose_name_is_no_text_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, cache = tmp_path / "root", tmp_path / "stat.json"
    name = os.fsdecode(b"w/r/caf\xe9.md")
    write(root, name, OLD)
    digests(root, cache)
    monkeypatch.setattr(WorkingTree, "_learn", None)
    assert digests(root, cache) == {name: digest_of(OLD)}
