"""The ledger: a write that failed is one record, is tried by one process at a time, and is never lost."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import write
from hypothesis import given
from hypothesis import strategies as st
from processes import run_at_once

from mdmem.store.state import files as state_files
from mdmem.store.state.local_records import Blocked, PendingWrite, PendingWrites, stated_confidence

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FULL = "No space left on device"


def failed(
    name: str = "a", *, created: datetime = NOON, attempts: int = 1, error: str = FULL, **arguments: Any
) -> PendingWrite:
    """Return a write of a session that failed."""
    stated = {"objective": name, **arguments}
    return PendingWrite(verb="save_session", arguments=stated, created=created, attempts=attempts, error=error)


def claimed(ledger: PendingWrites, id_: str) -> PendingWrite | None:
    """Claim a write for a moment."""
    with ledger.claim(id_) as found:
        return found


def files(folder: Path) -> list[str]:
    """Return the files below a folder but for the locks."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if not name.endswith("write.lock"))


def test_keep_reads_back_in_another_process(tmp_path: Path) -> None:
    PendingWrites(tmp_path).keep(failed("größe 🙂 \udce9", steps=[1, {"b": None}], intended=1.5))
    (found,) = PendingWrites(tmp_path).pending()
    assert found == failed("größe 🙂 \udce9", steps=[1, {"b": None}], intended=1.5)


def test_keep_leaves_a_token_out_of_the_file_and_the_id(tmp_path: Path) -> None:
    ledger = PendingWrites(tmp_path)
    assert ledger.keep(failed(governance_token="secret")) == ledger.keep(failed()) == failed().id
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.rglob("*.json"))


@given(names=st.permutations(["a", "b", "c", "d"]), hours=st.permutations([0, 1, 1, 2]))
def test_pending_is_ordered_by_time_then_id_whatever_the_order_of_failing(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], hours: list[int]
) -> None:
    ledger = PendingWrites(tmp_path_factory.mktemp("state"))
    records = [failed(name, created=NOON + timedelta(hours=hour)) for name, hour in zip(names, hours, strict=True)]
    for record in records:
        ledger.keep(record)
    assert ledger.pending() == tuple(sorted(records, key=lambda one: (one.created, one.id)))


@pytest.mark.parametrize(
    "content",
    [b"", b'{"verb":"save_session","argum', b"\xff\xfe", b"[" * 100_000, b"[1]", b'{"verb":"save_session"}'],
    ids=["empty", "torn", "no-text", "deep", "list", "partial"],
)
def test_torn_record_is_named_and_stays_and_the_others_are_read(tmp_path: Path, content: bytes) -> None:
    ledger = PendingWrites(tmp_path)
    ledger.keep(failed())
    torn = write(tmp_path, f"pending/{failed('b').id}.json", content)
    assert ledger.pending() == (failed(),)
    assert ledger.unreadable() == (f"pending/{torn.name}",)
    assert claimed(ledger, failed("b").id) is None
    assert torn.read_bytes() == content


def test_foreign_files_are_named_and_never_opened(tmp_path: Path) -> None:
    ledger = PendingWrites(tmp_path)
    kept = tmp_path / "pending" / f"{ledger.keep(failed())}.json"
    shutil.copy(kept, tmp_path / "pending" / "copy.json")
    (tmp_path / "pending" / "link.json").symlink_to(kept)
    (tmp_path / "pending" / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pending" / "pipe.json")
    write(tmp_path, "blocked/note.txt", "mine")
    assert ledger.pending() == (failed(),)
    names = ["pending/copy.json", "pending/folder.json", "pending/link.json", "pending/pipe.json"]
    assert ledger.unreadable() == (*names, "blocked/note.txt")


def test_claim_is_for_one_and_done_removes_the_record(tmp_path: Path) -> None:
    first, second = PendingWrites(tmp_path), PendingWrites(tmp_path)
    id_ = first.keep(failed())
    with first.claim(id_) as found:
        assert found == failed()
        assert claimed(second, id_) is None
        assert claimed(first, id_) is None
        assert second.pending() == (failed(),)
        first.done(id_)
    assert (claimed(second, id_), second.pending()) == (None, ())
    assert files(tmp_path) == []


def test_give_back_counts_the_attempt_and_lets_others_try(tmp_path: Path) -> None:
    first, second = PendingWrites(tmp_path), PendingWrites(tmp_path)
    id_ = first.keep(failed())
    with first.claim(id_):
        first.give_back(id_, "Read-only file system")
    assert claimed(second, id_) == failed(attempts=2, error="Read-only file system")


def test_keep_of_a_write_that_is_being_tried_again_makes_no_second(tmp_path: Path) -> None:
    first, second = PendingWrites(tmp_path), PendingWrites(tmp_path)
    id_ = first.keep(failed())
    with first.claim(id_):
        second.keep(failed(created=NOON + timedelta(hours=1), error="later"))
        assert second.pending() == (failed(),)
        first.done(id_)
    assert second.pending() == ()


def test_lock_of_a_file_that_was_removed_meanwhile_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, acquire = tmp_path / "claim", state_files.acquire

    def acquire_late(handle: int) -> None:
        path.unlink()
        path.touch()
        acquire(handle)

    with monkeypatch.context() as patched:
        patched.setattr(state_files, "acquire", acquire_late)
        assert state_files.try_lock(path) is None
    handle = state_files.try_lock(path)
    assert handle is not None
    os.close(handle)


def keep_many(number: int, folder: str) -> None:
    ledger = PendingWrites(Path(folder))
    for turn in range(12):
        ledger.keep(failed("shared"))
        ledger.keep(failed(f"{number}-{turn}"))


def test_processes_lose_no_record_and_count_every_attempt(tmp_path: Path) -> None:
    assert run_at_once(keep_many, str(tmp_path)) == [None] * 4
    found = {one.arguments["objective"]: one.attempts for one in PendingWrites(tmp_path).pending()}
    assert found.pop("shared") == 48
    assert found == {f"{number}-{turn}": 1 for number in range(4) for turn in range(12)}
    assert PendingWrites(tmp_path).unreadable() == ()


def stopped(confidence: float | None, **more: str) -> Blocked:
    stated = stated_confidence(confidence)
    return Blocked(key="app 1", confidence=stated, candidate="app/architecture/a", at=NOON, **more)


@given(stated=st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=5), again=st.none() | st.floats(0, 1))
def test_blocked_passes_only_below_every_confidence_that_was_stopped(
    tmp_path_factory: pytest.TempPathFactory, stated: list[float | None], again: float | None
) -> None:
    ledger = PendingWrites(tmp_path_factory.mktemp("state"))
    for value in stated:
        ledger.remember_blocked(stopped(value))
    found = ledger.blocked("app 1")
    assert found is not None
    as_one = [1.0 if value is None else value for value in stated]
    assert found.lets_pass(again) == all((1.0 if again is None else again) < value for value in as_one)
