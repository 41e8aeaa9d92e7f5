"""What agents were told: counted by entry and way for thirty days; a log that fails stops nobody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from mdmem.store.state.local_records import Tally, record_shown, tally_shown

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def consult(state: Path, *addresses: str, way: str = "server", days: int = 0) -> None:
    record_shown(state, way, addresses, NOW - timedelta(days=days))


def test_entries_and_ways_are_counted_of_the_last_thirty_days(tmp_path: Path) -> None:
    consult(tmp_path, "a/b/old", days=31)
    consult(tmp_path, "a/b/c", "a/b/d", days=2)
    consult(tmp_path, "a/b/c", way="hook codex", days=1)
    told = tally_shown(tmp_path, NOW)
    assert (told.times, told.ways) == ({"a/b/c": 2, "a/b/d": 1}, {"server": 2, "hook codex": 1})
    assert told.last == NOW - timedelta(days=1)


def test_lines_that_are_none_of_ours_count_nothing(tmp_path: Path) -> None:
    consult(tmp_path, "a/b/c")
    with (tmp_path / "consulted.jsonl").open("ab") as log:
        log.write(
            b'{"when": 3, "way": "x", "told": ["y"]}\n[]\n{"when": "2026-11-22T10:00:00+00:00", "way": "x"}\n{"wh'
        )
    assert tally_shown(tmp_path, NOW).times == {"a/b/c": 1}


def test_a_log_that_cannot_be_written_or_read_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    consult(tmp_path / "file/state", "a/b/c")
    assert tally_shown(tmp_path / "file/state", NOW) == Tally()


def test_the_log_stays_small_and_its_owners(tmp_path: Path) -> None:
    long = tuple(f"wing/room/{'x' * 200}-{number}" for number in range(500))
    for _ in range(12):
        consult(tmp_path, *long)
    files = sorted(tmp_path.glob("consulted*.jsonl"))
    assert [path.name for path in files] == ["consulted.1.jsonl", "consulted.jsonl"]
    assert all(path.stat().st_size <= 512 * 1024 and path.stat().st_mode & 0o077 == 0 for path in files)
