"""The types of entries and wings, their fields with the JSON Schema, and their form in the cache."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from builders import entry, entry_text
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mdmem.markdown.parse import parse_document
from mdmem.model.entry import (
    Entry,
    EntryType,
    Field,
    Holder,
    Kind,
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
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, WING_FIELDS, front_matter_schema, version_of
from mdmem.model.schema import read_entry, read_wing
from mdmem.model.text import visible
from mdmem.record import pack, unpack
from mdmem.store.catalog.addresses import LoadedFile
from mdmem.store.catalog.load import read_dates

TEXT = st.text(st.characters(codec="utf-8"), max_size=10)
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
VALUES = {
    Kind.TYPE: st.sampled_from(EntryType),
    Kind.STATUS: st.sampled_from(Status),
    Kind.WING_KIND: st.sampled_from(WingKind),
    Kind.TEXT: TEXT,
    Kind.TEXTS: TEXTS,
    Kind.WINGS: st.none() | TEXTS,
    Kind.LINKS: TEXTS,
    Kind.GLOBS: TEXTS,
    Kind.MOMENT: st.none() | st.dates() | st.datetimes(timezones=st.none() | OFFSETS),
    Kind.VERSION: st.none() | st.integers(1, 99),
    Kind.SHARE: st.none() | st.floats(0, 1),
    Kind.PAIRS: st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    Kind.RELATIONS: st.lists(st.builds(Relation, TEXT, TEXT), max_size=2).map(tuple),
}
OF_ENTRIES = {field.name: VALUES[field.kind] for field in FIELDS if hasattr(Entry, field.name)}
OF_WINGS = {field.name: VALUES[field.kind] for field in FIELDS if field.is_of_wings}


@given(st.builds(Entry, address=st.just("w/r/e"), unread=TEXTS, **OF_ENTRIES), st.builds(Wing, name=TEXT, **OF_WINGS))
def test_entry_and_wing_are_the_same_after_their_form_in_the_cache(one: Entry, wing: Wing) -> None:
    found, manifest = unpack(pack("1", one), "1", Entry), unpack(pack("1", wing), "1", Wing)
    assert found is not None
    assert read_dates([LoadedFile("w/r/e.md", found, wing=manifest)])
    assert (found, manifest) == (one, wing)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-02-29", date(2024, 2, 29)),
        ("2026-03-05T10:30", datetime(2026, 3, 5, 10, 30)),  # noqa: DTZ001
        ("2026-03-05 10:30:15", datetime(2026, 3, 5, 10, 30, 15)),  # noqa: DTZ001
        ("2026-03-05T10:30:15.5Z", datetime(2026, 3, 5, 10, 30, 15, 500_000, UTC)),
        ("2026-03-05t10:30z", datetime(2026, 3, 5, 10, 30, tzinfo=UTC)),
        ("2026-03-05T10:30+05:30", datetime(2026, 3, 5, 10, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))),
        ("2026-03-05T10:30-0800", datetime(2026, 3, 5, 10, 30, tzinfo=timezone(-timedelta(hours=8)))),
    ],
)
def test_moment_is_parsed(text: str, moment: date) -> None:
    assert (parse_moment(text), type(parse_moment(text))) == (moment, type(moment))


NO_DAYS = ["2023-14-05", "2026-02-30", "0000-01-01", "2026-03-05T24:01", "2026-03-05T10:30+25:00"]
NO_DAYS += ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
OTHER_FORMS = ["", "2026", "2026-03", "20260305", "5.3.2026", "2026-3-5", "2026-W10-4", "2026-03-05T10", "yesterday"]
OTHER_FORMS += ["2026-03-05\n", " 2026-03-05", "2026-03-05T10:30:15.1234567Z", "٢٠٢٦-٠٣-٠٥"]


def test_moment_that_no_calendar_has_or_of_another_form_is_refused() -> None:
    for text in NO_DAYS:
        with pytest.raises(NoSuchDayError):
            parse_moment(text)
    for text in OTHER_FORMS:
        with pytest.raises(NotIsoError):
            parse_moment(text)


def test_moments_of_both_kinds_can_be_ordered() -> None:
    moments = ["2026-03-05T01:00+02:00", "2026-03-05", "2026-03-05T00:30", "2026-03-05T00:45Z"]
    assert sorted(moments, key=lambda text: instant_of(parse_moment(text))) == moments


def test_title_of_an_address_is_the_id_in_words() -> None:
    addresses = ("w/r/single-executor", "w/r/snake_case", "w/r/---", "w/r/x")
    assert [title_of(one) for one in addresses] == ["Single executor", "Snake case", "", "X"]


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
def test_expired_active_entry_counts_as_under_review(status: Status, expires_at: date | None, on_day: Status) -> None:
    assert entry("w/r/e", status=status, expires_at=expires_at).status_on(date(2026, 11, 21)) is on_day


def test_visible_writes_invisible_characters_as_numbers() -> None:
    assert visible("own\u200ber\x07") == "own<U+200B>er<U+0007>"


def test_every_attribute_is_a_field() -> None:
    assert set(Entry.__struct_fields__) - {"address", "unread"} == KNOWN_FIELDS
    assert set(Wing.__struct_fields__) - {"name", "has_manifest"} == WING_FIELDS


@pytest.mark.parametrize("field", FIELDS, ids=[field.name for field in FIELDS])
def test_example_is_read_without_a_flaw(field: Field) -> None:
    front = {"created_at": "2026-01-01", "status": "active", "type": field.holder.type, "label": field.holder.value}
    if field.holder in (Holder.ENTRY, Holder.WING):
        front |= {"type": "note"}
    stated = "" if field.holder is Holder.WING else "".join(f"{k}: {v}\n" for k, v in front.items() if k != field.name)
    document = parse_document("a/b/c.md", f"---\n{stated}{field.example}\n---\n\nText.\n".encode())
    assert document.fields is not None
    assert field.name in document.fields
    if field.is_of_wings:
        assert read_wing("a", {field.name: document.fields[field.name]})[1] == ()
    if field.holder is not Holder.WING:
        assert read_entry("a/b/c", dict(document.fields), None)[1] == ()


def test_version_follows_parsing_and_not_prose() -> None:
    first, *rest = FIELDS
    assert version_of([replace(first, meaning="other", example="other"), *rest]) == version_of(FIELDS)
    assert version_of([replace(first, kind=Kind.TEXT), *rest]) != version_of(FIELDS)
    assert version_of([replace(first, searched=None), *rest]) != version_of(FIELDS)


def test_json_schema_has_every_field() -> None:
    schema = front_matter_schema()
    assert set(schema["properties"]) == KNOWN_FIELDS
    assert set(schema["$defs"]["wing"]["properties"]) == WING_FIELDS
    assert schema["required"] == ["type", "status", "created_at"]


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({}, True),
        ({"tags": "[a, b]", "applies_to": "src/**", "x-ours": "[1]", "see": "[a/b/c]"}, True),
        ({"created_at": "2026-03-05T10:00:00Z"}, True),
        ({"created_at": "yesterday"}, False),
        ({"type": "rule"}, False),
        ({"unknown": "x"}, False),
        ({"applies_to": "[':(glob)x']"}, False),
        ({"trigger": "always"}, False),
        ({"objective": "docking"}, False),
        ({"type": "pattern", "trigger": "always"}, True),
        ({"type": "note", "label": "session", "objective": "docking"}, True),
        ({"status": None}, False),
    ],
)
def test_json_schema_agrees_with_the_parser(fields: dict[str, Any], fits: bool) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = parse_document("nav/rules/x.md", entry_text(**fields).encode())
    assert document.fields is not None
    validator = jsonschema.Draft202012Validator(front_matter_schema())
    assert validator.is_valid(dict(document.fields)) == fits
    assert (read_entry("nav/rules/x", document.fields, None)[1] == ()) == fits
