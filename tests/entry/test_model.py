"""The domain types: dates, links, statuses on a day, and the form in the cache."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from builders import entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.model.entry import (
    Entry,
    EntryType,
    NoSuchDayError,
    NotIsoError,
    Relation,
    Status,
    Wing,
    WingKind,
    instant_of,
    parse_moment,
    title_of,
)
from mdmem.model.fields import DATE_FIELDS
from mdmem.model.text import visible
from mdmem.record import pack, unpack
from mdmem.store.catalog.snapshot import LoadedFile, read_dates

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.dates() | st.datetimes(timezones=st.none() | OFFSETS)
LISTS = (
    "tags",
    "applies_to",
    "supersedes",
    "superseded_by",
    "overrides",
    "conflicts_with",
    "see",
    "produced",
    "unread",
)
LISTS += ("repeatable_steps", "exclusions", "actions_taken", "decisions_made", "open_items", "next_actions")
TEXT_FIELDS = ("label", "owner", "topic", "focus", "agent", "approved_by", "reason", "deprecated_reason", "trigger")
TEXT_FIELDS += ("objective", "entity")
ENTRIES = st.builds(
    Entry,
    address=st.just("w/r/some-entry"),
    type=st.sampled_from(EntryType),
    status=st.sampled_from(Status),
    title=TEXT,
    version=st.none() | st.integers(1, 99),
    confidence=st.none() | st.floats(0, 1),
    relevance_score=st.none() | st.floats(0, 1),
    ignore=st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    relations=st.lists(st.builds(Relation, TEXT, TEXT), max_size=2).map(tuple),
    **dict.fromkeys(DATE_FIELDS, st.none() | MOMENTS),
    **dict.fromkeys(TEXT_FIELDS, st.none() | TEXT),
    **dict.fromkeys(LISTS, TEXTS),
)


def from_cache(one: Entry | Wing) -> Entry | Wing | None:
    """Return a record that was written to a file and read from it."""
    found = unpack(pack("1", one), "1", type(one))
    assert found is not None
    assert read_dates(*([], [found]) if isinstance(found, Wing) else ([LoadedFile("w/r/some-entry.md", found)], []))
    return found


@given(ENTRIES)
def test_entry_is_the_same_after_its_form_in_the_cache(one: Entry) -> None:
    assert from_cache(one) == one


@given(
    st.builds(
        Wing,
        name=st.just("w"),
        kind=st.sampled_from(WingKind),
        project_id=st.none() | TEXT,
        owners=TEXTS,
        shared_wings=st.none() | TEXTS,
        description=st.none() | TEXT,
        last_hygiene_at=st.none() | MOMENTS,
        has_manifest=st.just(True),
    )
)
def test_wing_is_the_same_after_its_form_in_the_cache(wing: Wing) -> None:
    assert from_cache(wing) == wing


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-05", date(2026, 3, 5)),
        ("2024-02-29", date(2024, 2, 29)),
        ("2026-03-05T10:30", datetime(2026, 3, 5, 10, 30)),  # noqa: DTZ001
        ("2026-03-05 10:30:15", datetime(2026, 3, 5, 10, 30, 15)),  # noqa: DTZ001
        ("2026-03-05T10:30:15.5Z", datetime(2026, 3, 5, 10, 30, 15, 500_000, UTC)),
        ("2026-03-05t10:30z", datetime(2026, 3, 5, 10, 30, tzinfo=UTC)),
        ("2026-03-05T10:30+05:30", datetime(2026, 3, 5, 10, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))),
        ("2026-03-05T10:30-0800", datetime(2026, 3, 5, 10, 30, tzinfo=timezone(-timedelta(hours=8)))),
    ],
)
def test_moment_is_read(text: str, moment: date) -> None:
    assert (parse_moment(text), type(parse_moment(text))) == (moment, type(moment))


@pytest.mark.parametrize(
    "text",
    [
        "2023-14-05",
        "2026-02-30",
        "2025-02-29",
        "0000-01-01",
        "2026-03-05T24:01",
        "2026-03-05T10:30+25:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_moment_that_no_calendar_has_is_refused(text: str) -> None:
    with pytest.raises(NoSuchDayError):
        parse_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026",
        "2026-03",
        "20260305",
        "5.3.2026",
        "03/05/2026",
        "2026-3-5",
        "2026-W10-4",
        "2026-03-05T10",
        "yesterday",
        "2026-03-05\n",
        " 2026-03-05",
        "2026-03-05T10:30:15.1234567Z",
        "٢٠٢٦-٠٣-٠٥",
    ],
)
def test_moment_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(NotIsoError):
        parse_moment(text)


def test_moments_of_both_kinds_can_be_ordered() -> None:
    moments = ["2026-03-05T01:00+02:00", "2026-03-05", "2026-03-05T00:30", "2026-03-05T00:45Z"]
    assert sorted(moments, key=lambda text: instant_of(parse_moment(text))) == moments


@pytest.mark.parametrize(
    ("address", "title"),
    [("w/r/single-executor", "Single executor"), ("w/r/snake_case", "Snake case"), ("w/r/---", ""), ("w/r/x", "X")],
)
def test_title_of_an_address_is_the_id_in_words(address: str, title: str) -> None:
    assert title_of(address) == title


def test_entry_knows_the_parts_of_its_address() -> None:
    one = entry("some_wing/some-room/some-id")
    assert (one.wing, one.room, one.path) == ("some_wing", "some-room", "some_wing/some-room/some-id.md")


@pytest.mark.parametrize(
    ("status", "expires_at", "on_day"),
    [
        (Status.ACTIVE, date(2026, 11, 20), Status.UNDER_REVIEW),
        (Status.ACTIVE, date(2026, 11, 21), Status.ACTIVE),
        (Status.ACTIVE, None, Status.ACTIVE),
        (Status.ACTIVE, datetime(2026, 11, 20, 23, tzinfo=UTC), Status.UNDER_REVIEW),
        (Status.DRAFT, date(2026, 11, 20), Status.DRAFT),
        (Status.DEPRECATED, date(2026, 11, 20), Status.DEPRECATED),
    ],
)
def test_status_on_a_day_counts_an_expired_entry_as_under_review(
    status: Status, expires_at: date | None, on_day: Status
) -> None:
    assert entry("w/r/e", status=status, expires_at=expires_at).status_on(date(2026, 11, 21)) is on_day


@pytest.mark.parametrize(
    ("status", "binds"),
    [(Status.DRAFT, False), (Status.ACTIVE, True), (Status.UNDER_REVIEW, True), (Status.DEPRECATED, False)],
)
def test_status_says_whether_an_entry_is_in_force(status: Status, binds: bool) -> None:
    assert entry("w/r/e", status=status).is_in_force is binds


def test_reason_stands_in_for_the_reason_of_the_end() -> None:
    assert entry("w/r/e", reason="a").why_ended == "a"
    assert entry("w/r/e", reason="a", deprecated_reason="b").why_ended == "b"


def test_types_rank_by_authority() -> None:
    assert sorted(EntryType, key=lambda kind: kind.rank) == ["invariant", "decision", "pattern", "note"]


def test_visible_shows_what_does_not_show() -> None:
    assert visible("own\u200ber\x07") == "own<U+200B>er<U+0007>"
