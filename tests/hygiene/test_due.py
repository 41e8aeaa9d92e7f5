"""When hygiene is due: the later of manifest and state decides."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from mdmem.entry.model import Wing
from mdmem.hygiene.due import hygiene_due, last_hygiene
from mdmem.hygiene.freshness import Freshness, freshness_of
from mdmem.state import places
from mdmem.state.times import Times, read_times, record_hygiene

TODAY = date(2026, 11, 21)
LATELY, LONG_AGO = date(2026, 10, 23), date(2026, 10, 22)


@pytest.mark.parametrize(
    ("manifest", "state", "is_due"),
    [
        (None, Times(), True),
        (LATELY, Times(), False),
        (LONG_AGO, Times(), True),
        (datetime(2026, 10, 23, 9, tzinfo=UTC), Times(), False),
        (None, Times(LATELY), False),
        (LONG_AGO, Times(LATELY), False),
        (LATELY, Times(LONG_AGO), False),
        (LONG_AGO, Times(LONG_AGO, {"app": LATELY}), False),
        (LONG_AGO, Times(LONG_AGO, {"web": LATELY}), True),
    ],
)
def test_hygiene_is_due_after_30_days(manifest: date | None, state: Times, *, is_due: bool) -> None:
    assert hygiene_due(Wing(name="app", last_hygiene_at=manifest), state, TODAY) is is_due


def test_last_hygiene_is_the_later_day() -> None:
    assert last_hygiene(Wing(name="app", last_hygiene_at=LONG_AGO), Times(LATELY)) == LATELY
    assert last_hygiene(Wing(name="app"), Times()) is None


@pytest.mark.parametrize(
    ("age", "freshness"),
    [(0, Freshness.CURRENT), (30, Freshness.CURRENT), (31, Freshness.RECENT), (180, Freshness.RECENT), (181, "stale")],
)
def test_freshness_goes_by_a_month_and_half_a_year(age: int, freshness: str) -> None:
    assert freshness_of(age) == freshness


def test_times_are_read_back(tmp_path: Path) -> None:
    state = places(tmp_path, None, {"XDG_DATA_HOME": str(tmp_path)}).state
    assert read_times(state) == Times()
    assert record_hygiene(state, "app", LONG_AGO)
    assert record_hygiene(state, None, LATELY)
    assert record_hygiene(state, "web", TODAY)
    assert read_times(state) == Times(LATELY, {"app": LONG_AGO, "web": TODAY})


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"version": "1", "content": {"everything": 3, "wings": {"app": "soon", "web": []}}}'],
)
def test_times_that_cannot_be_read_are_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "times.json").write_bytes(content)
    assert read_times(tmp_path) == Times()
    assert record_hygiene(tmp_path, None, TODAY)
    assert read_times(tmp_path) == Times(TODAY)
