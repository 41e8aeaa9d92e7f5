"""Test folders of derived files, safe writing, logs, sessions, and when hygiene is due."""

import errno
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from builders import make_root, open_root, write, write_entry
from msgspec.structs import replace
from processes import run_at_once

from mdmem.store.git.process import Repository
from mdmem.store.state import files, local_records
from mdmem.store.workspace.workspace import is_hygiene_due

OLD, NEW = b"old bytes", b"new bytes"


def repository(top: str, git_dir: str, common_dir: str) -> Repository:
    """Return a repository whose folders need not exist."""
    return Repository(Path(top), Path(git_dir), Path(common_dir))


def test_places_lie_in_the_git_directories_of_the_worktree_and_of_all() -> None:
    found = files.state_folders(Path("/w/memory"), repository("/w", "/r/.git/worktrees/w", "/r/.git"), {})
    assert found.index == Path("/r/.git/worktrees/w/mdmem/cache/memory")
    assert found.shared == Path("/r/.git/mdmem/cache")


def test_places_of_different_roots_differ() -> None:
    roots = ["/w", "/w/top", "/w/%top", "/w/a/b", "/w/a%2Fb", "/w/a"]
    found = {files.state_folders(Path(root), repository("/w", "/w/.git", "/w/.git"), {}).index for root in roots}
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
    found = files.state_folders(Path("/w"), None, environment)
    assert (str(found.shared.parent), found.index) == (home, found.shared / "index")


def test_places_are_where_nothing_can_be_written_when_there_is_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    found = files.state_folders(Path("/w"), None, {})
    with pytest.raises(OSError, match="Not a directory"):
        local_records.record_hygiene(found.shared, None, date(2026, 11, 21))


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
    assert local_records.read_times(tmp_path) == local_records.Times()


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
        files.write_whole(path, NEW)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a.json": OLD}


@pytest.mark.parametrize("is_link", [False, True])
def test_write_new_never_replaces_a_file_or_writes_through_a_link(tmp_path: Path, is_link: bool) -> None:
    path = tmp_path / "a.md"
    path.symlink_to(tmp_path / "elsewhere") if is_link else path.write_bytes(OLD)
    with pytest.raises(FileExistsError):
        files.write_new(path, NEW)
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
        files.write_new(tmp_path / "a.md", NEW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_write_new_gives_the_mode_of_any_new_file(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        files.write_new(tmp_path / "a.md", NEW)
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert (tmp_path / "a.md").stat().st_mode & 0o777 == mode


def test_file_in_place_of_a_link_is_its_owners_alone(tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.symlink_to(tmp_path / "elsewhere")
    files.write_whole(record, b"new")
    assert record.stat().st_mode & 0o777 == 0o600


def test_exchange_copies_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = write(tmp_path, ".one", "1"), write(tmp_path, "other", "2")
    with failing(monkeypatch, "link", OSError(errno.EPERM, "Operation not permitted")):
        files.exchange(one, other)
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
        lambda: files.swap(ours, path, read=b"a", written=b"new"),
        lambda: files.move_aside(path, tmp_path / "c", read=b"a"),
    ):
        with pytest.raises(files.FileChangedError):
            act()
    assert (ours.read_text(), (tmp_path / "c").exists(), path.is_symlink()) == ("new", False, there == "link")


def test_what_is_saved_in_the_moment_of_taking_away_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, looks = write(tmp_path, "a.md", "old"), iter([True, False])
    monkeypatch.setattr(files, "has_content", lambda *_: next(looks))
    with pytest.raises(files.FileChangedError):
        files.move_aside(target, tmp_path / ".a.md.x.tmp", read=b"old")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "old"}


WHEN = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def record(state: Path, goal: str = "a goal") -> str | None:
    return local_records.append_audit(state, "context", {"goal": goal}, ("app/a/b",), when=WHEN, caller="ci")


def test_lines_stay_one_line_each_whatever_they_hold(tmp_path: Path) -> None:
    for goal in ("two\nlines\u2028three", "\ud800", "x" * 9000):
        record(tmp_path, goal)
    goals = [one["asked"]["goal"] for one in local_records.read_audit(tmp_path)]
    assert goals == ["two\nlines\u2028three", "\ud800", "x" * 2000]


def test_full_log_makes_room_and_the_oldest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_records, "AUDIT_BYTES", 1000)
    for number in range(60):
        assert record(tmp_path, str(number)) is None
    kept = [int(one["asked"]["goal"]) for one in local_records.read_audit(tmp_path)]
    assert kept == list(range(60 - len(kept), 60))
    assert 30 <= len(kept) < 60
    names = sorted(path.name for path in tmp_path.glob("audit*.jsonl"))
    assert names == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.4.jsonl", "audit.jsonl"]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.glob("audit*.jsonl"))


def test_torn_line_swallows_no_other(tmp_path: Path) -> None:
    record(tmp_path, "first")
    with (tmp_path / local_records.AUDIT_NAME).open("ab") as log:
        log.write(b'{"when": "20')
    record(tmp_path, "second")
    assert [one["asked"]["goal"] for one in local_records.read_audit(tmp_path)] == ["first", "second"]
    assert (tmp_path / local_records.AUDIT_NAME).stat().st_mode & 0o077 == 0


def _write_many(writer: int, state: Path) -> None:
    local_records.AUDIT_BYTES = 4000
    for number in range(40):
        assert record(state, f"{writer} {number}") is None


def test_many_processes_append_whole_lines(tmp_path: Path) -> None:
    assert run_at_once(_write_many, tmp_path) == [None] * 4
    lines = b"".join(path.read_bytes() for path in tmp_path.glob("audit*.jsonl")).splitlines()
    goals = [json.loads(line)["asked"]["goal"] for line in lines]
    assert len(goals) == len(set(goals)) > 60


@pytest.mark.parametrize("is_pipe", [False, True])
def test_log_that_is_a_link_or_a_pipe_is_not_written(tmp_path: Path, is_pipe: bool) -> None:
    log, elsewhere = tmp_path / "state" / local_records.AUDIT_NAME, write(tmp_path, "elsewhere", "kept")
    log.parent.mkdir()
    os.mkfifo(log) if is_pipe else log.symlink_to(elsewhere)
    assert (record(log.parent) or "").startswith("this call is not in the audit log")
    assert elsewhere.read_text() == "kept"


def test_busy_log_is_not_waited_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_records, "AUDIT_WAIT", 0.05)
    with files.write_lock(tmp_path / "audit"):
        assert "another process has been writing" in (record(tmp_path) or "")


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def consult(state: Path, *addresses: str, way: str = "server", days: int = 0) -> None:
    local_records.record_shown(state, way, addresses, NOW - timedelta(days=days))


def test_entries_and_ways_are_counted_of_the_last_thirty_days(tmp_path: Path) -> None:
    consult(tmp_path, "a/b/old", days=31)
    consult(tmp_path, "a/b/c", "a/b/d", days=2)
    consult(tmp_path, "a/b/c", way="hook codex", days=1)
    told = local_records.tally_shown(tmp_path, NOW)
    assert (told.times, told.ways) == ({"a/b/c": 2, "a/b/d": 1}, {"server": 2, "hook codex": 1})
    assert told.last == NOW - timedelta(days=1)


def test_lines_that_are_none_of_ours_count_nothing(tmp_path: Path) -> None:
    consult(tmp_path, "a/b/c")
    with (tmp_path / "consulted.jsonl").open("ab") as log:
        log.write(
            b'{"when": 3, "way": "x", "told": ["y"]}\n[]\n{"when": "2026-11-22T10:00:00+00:00", "way": "x"}\n{"wh'
        )
    assert local_records.tally_shown(tmp_path, NOW).times == {"a/b/c": 1}


def test_log_or_session_that_cannot_be_written_or_read_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    consult(tmp_path / "file/state", "a/b/c")
    assert local_records.tally_shown(tmp_path / "file/state", NOW) == local_records.Tally()
    local_records.Sessions(tmp_path / "file").record("one", {"app/a/x": "1"}, NOW)
    assert local_records.Sessions(tmp_path / "file").shown("one", NOW) == {}
    local_records.Sessions(tmp_path).record("one", {"app/a/x": "1"}, NOW)
    next((tmp_path / "sessions").iterdir()).write_text('{"at": "2026-11-22T12:00:00+00:00"}')
    assert local_records.Sessions(tmp_path).shown("one", NOW) == {}


def test_session_knows_what_it_was_given_and_no_other_does(tmp_path: Path) -> None:
    sessions = local_records.Sessions(tmp_path)
    sessions.record("one", {"app/a/x": "1", "app/a/y": "1"}, NOW)
    sessions.record("one", {"app/a/x": "2"}, NOW)
    assert sessions.shown("one", NOW) == {"app/a/x": "2", "app/a/y": "1"}
    assert (sessions.shown("two", NOW), sessions.shown("one", NOW + timedelta(days=3))) == ({}, {})


@pytest.mark.parametrize("name", ["", "../../evil", "a/b", "\0", "x" * 10_000, "\udc80", "CON"])
def test_any_name_is_a_session_within_the_folder(name: str, tmp_path: Path) -> None:
    local_records.Sessions(tmp_path / "state").record(name, {"app/a/x": "1"}, NOW)
    assert local_records.Sessions(tmp_path / "state").shown(name, NOW) == {"app/a/x": "1"}
    assert [path.parent.name for path in tmp_path.rglob("*") if path.is_file()] == ["sessions"]


def test_sessions_are_few_and_small(tmp_path: Path) -> None:
    sessions = local_records.Sessions(tmp_path)
    for number in range(70):
        sessions.record(str(number), {"app/a/x": "1"}, NOW)
    sessions.record("69", {f"app/a/{number}": "1" for number in range(1500)}, NOW)
    assert len(list((tmp_path / "sessions").iterdir())) == 64
    assert len(sessions.shown("69", NOW)) == 1000


TODAY = date(2026, 11, 21)
LATELY, LONG_AGO = date(2026, 10, 23), date(2026, 10, 22)


@pytest.mark.parametrize(
    ("manifest", "runs", "is_due"),
    [
        (None, [], True),
        (LATELY, [], False),
        (LONG_AGO, [], True),
        (f"{LATELY}T09:00:00Z", [], False),
        (None, [(None, LATELY)], False),
        (LATELY, [(None, LONG_AGO)], False),
        (LONG_AGO, [(None, LONG_AGO), (["app"], LATELY)], False),
        (LONG_AGO, [(None, LONG_AGO), (["web"], LATELY)], True),
    ],
)
def test_hygiene_is_due_after_30_days(
    tmp_path: Path, manifest: date | str | None, runs: list[tuple[list[str] | None, date]], *, is_due: bool
) -> None:
    root = make_root(tmp_path)
    write_entry(root, "app/rules/retry", created_at="2020-01-01")
    write(root, "app/README.md", f"---\nkind: project\nlast_hygiene_at: {manifest}\n---\n" if manifest else "")
    workspace = replace(open_root(root), today=TODAY)
    for wings, day in runs:
        local_records.record_hygiene(workspace.state_folder, wings, day)
    assert is_hygiene_due(workspace, "app") is is_due


@pytest.mark.parametrize(("created", "is_due"), [((LATELY, TODAY), False), ((TODAY, LONG_AGO), True), ((None,), True)])
def test_days_without_hygiene_count_from_the_oldest_entry(
    tmp_path: Path, created: Sequence[date | None], *, is_due: bool
) -> None:
    root = make_root(tmp_path)
    for number, day in enumerate(created):
        write_entry(root, f"app/rules/r{number}", created_at=day)
    write_entry(root, "web/rules/old", created_at="2020-01-01")
    assert is_hygiene_due(replace(open_root(root), today=TODAY), "app") is is_due


def test_imported_entries_are_older_than_the_memory_and_do_not_count(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    origin = {"x-imported-from": "docs/adr/0001-files.md@e8f040fdc18f"}
    write_entry(root, "app/rules/files", created_at="2020-01-01", **origin)
    assert not is_hygiene_due(replace(open_root(root), today=TODAY), "app")
    write_entry(root, "app/rules/own", created_at=LONG_AGO)
    assert is_hygiene_due(replace(open_root(root), today=TODAY), "app")


def test_runs_of_many_processes_are_all_kept(tmp_path: Path) -> None:
    names = [f"wing{number}" for number in range(12)]
    with ThreadPoolExecutor(max_workers=6) as runs:
        list(runs.map(lambda name: local_records.record_hygiene(tmp_path, [name], TODAY), names))
    assert local_records.read_times(tmp_path) == local_records.Times(None, dict.fromkeys(sorted(names), TODAY))


def test_folder_that_refuses_a_lock_raises(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File exists"):
        local_records.record_hygiene(write(tmp_path, "file"), None, TODAY)
