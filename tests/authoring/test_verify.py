"""Verifying: a day that is possible, on entries that hold, all of them or none."""

from datetime import date
from pathlib import Path

import pytest
from builders import open_root, write, write_entry
from lives import NEW, OLD, RULE, changed_lines, lived_in, two_entries

from mdmem.errors import UsageError
from mdmem.write.change_set import ChangeSet, Verb, WriteAction
from mdmem.write.lifecycle import plan_verification

TODAY = date(2026, 11, 21)


def verifying(root: Path, *addresses: str, at: date | None = None) -> ChangeSet:
    return plan_verification(open_root(root).whole_catalog, addresses or (OLD,), at=at, today=TODAY)


def after(intent: ChangeSet) -> dict[str, list[str]]:
    return {one.path: changed_lines(one.before or b"", one.after or b"") for one in intent.changes}


def test_entries_are_verified_today_in_one_plan(tmp_path: Path) -> None:
    intent = verifying(two_entries(tmp_path), OLD, RULE)
    assert after(intent) == {f"{one}.md": ["+ verified_at: 2026-11-21"] for one in (OLD, RULE)}
    assert intent.actions == (WriteAction(Verb.VERIFY, OLD), WriteAction(Verb.VERIFY, RULE))


def test_stated_day_is_written(tmp_path: Path) -> None:
    intent = verifying(two_entries(tmp_path), at=date(2026, 4, 10))
    assert after(intent) == {f"{OLD}.md": ["+ verified_at: 2026-04-10"]}


def test_only_the_meant_lines_of_a_lived_in_file_change(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write(root, f"{OLD}.md", lived_in(status="under_review", more="verified_at: '2026-03-06'  # by Ada\r\n"))
    assert after(verifying(root)) == {
        f"{OLD}.md": [
            "- status: under_review # since spring\r",
            "+ status: active # since spring\r",
            "- verified_at: '2026-03-06'  # by Ada\r",
            "+ verified_at: '2026-11-21'  # by Ada\r",
        ]
    }


def test_verifying_twice_a_day_changes_nothing(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, verified_at="2026-11-21")
    assert after(verifying(root)) == {f"{OLD}.md": []}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"status": "draft"}, f"{NEW} is a draft"),
        ({"status": "deprecated", "deprecated_reason": "gone"}, f"{NEW} is deprecated"),
        ({"superseded_by": RULE}, f"{NEW} is superseded by {RULE}; name that instead"),
    ],
)
def test_one_that_does_not_hold_stops_them_all(tmp_path: Path, fields: dict[str, str], sentence: str) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, **fields)
    with pytest.raises(UsageError, match=sentence):
        verifying(root, OLD, NEW)


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        (date(2026, 11, 22), "2026-11-22 lies ahead"),
        (date(2026, 3, 4), f"{OLD} was created on 2026-03-05, after 2026-03-04"),
    ],
)
def test_day_that_cannot_be_is_refused(tmp_path: Path, at: date, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        verifying(two_entries(tmp_path), at=at)


def test_time_of_creation_may_be_of_a_zone_ahead(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, created_at="2026-11-22T03:00:00+10:00")
    assert after(verifying(root)) == {f"{OLD}.md": ["+ verified_at: 2026-11-21"]}


def test_later_verification_is_not_taken_back(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, verified_at="2026-10-01")
    with pytest.raises(UsageError, match=f"{OLD} was verified later already, on 2026-10-01"):
        verifying(root, at=date(2026, 4, 10))


def test_expiry_is_said_since_verifying_does_not_move_it(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, expires_at="2026-10-01")
    assert verifying(root).remarks == (f"{OLD} still counts as under review: its `expires_at` has passed",)
