"""Doubting an entry: the doubt beside it, its own reason kept."""

from datetime import date
from pathlib import Path

import pytest
from builders import open_root, write, write_entry
from lives import NEW, OLD, changed_lines, lived_in, two_entries

from mdmem.errors import UsageError
from mdmem.write.change_set import ChangeSet, Verb, WriteAction
from mdmem.write.lifecycle import plan_deprecation, plan_end_of_review, plan_review
from mdmem.write.supersede import plan_supersession

TODAY = date(2026, 11, 21)


def reviewing(root: Path, reason: str = "the robot has four cores now") -> ChangeSet:
    return plan_review(open_root(root).whole_catalog, OLD, reason=reason)


def lines(intent: ChangeSet) -> list[str]:
    (change,) = intent.changes
    return changed_lines(change.before or b"", change.after or b"")


def test_entry_is_put_under_review_with_the_doubt(tmp_path: Path) -> None:
    intent = reviewing(two_entries(tmp_path))
    assert lines(intent) == [
        "- status: active",
        "+ status: under_review",
        "+ x-review-reason: the robot has four cores now",
    ]
    assert intent.actions == (WriteAction(Verb.REVIEW, OLD),)
    assert intent.reason == "the robot has four cores now"


def test_reason_of_the_entry_stays(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, reason="one was too slow")
    assert not any("one was too slow" in line for line in lines(reviewing(root)))


def test_end_of_a_review_leaves_every_other_line_as_it_was(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write(root, f"{OLD}.md", lived_in())
    (change,) = reviewing(root).changes
    write(root, f"{OLD}.md", change.after or b"")
    (back,) = plan_end_of_review(open_root(root).whole_catalog, OLD, today=TODAY).changes
    assert changed_lines(lived_in(), back.after or b"") == ["+ verified_at: 2026-11-21\r"]


def test_doubt_goes_when_the_entry_ends(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    (change,) = reviewing(root).changes
    write(root, f"{OLD}.md", change.after or b"")
    catalog = open_root(root).whole_catalog
    ended = plan_deprecation(catalog, OLD, reason="sold", today=TODAY).changes[-1]
    replaced = plan_supersession(catalog, OLD, by=NEW, reason="faster", today=TODAY).changes[-1]
    assert [b"x-review-reason" in (one.after or b"") for one in (ended, replaced)] == [False, False]


@pytest.mark.parametrize("status", ["active", "draft", "deprecated"])
def test_only_a_review_is_ended(tmp_path: Path, status: str) -> None:
    catalog = open_root(two_entries(tmp_path, new_status=status)).whole_catalog
    with pytest.raises(UsageError, match=f"{NEW} is not under review: it is {status}"):
        plan_end_of_review(catalog, NEW, today=TODAY)


def test_same_doubt_twice_changes_nothing(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    (change,) = reviewing(root).changes
    write(root, f"{OLD}.md", change.after or b"")
    assert lines(reviewing(root)) == []


def test_another_doubt_does_not_replace_the_first(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    (change,) = reviewing(root, "first").changes
    write(root, f"{OLD}.md", change.after or b"")
    with pytest.raises(UsageError, match=f"{OLD} is under review already: first; `mdmem doubt {OLD} --done`"):
        reviewing(root, "second")


def test_doubt_is_added_to_a_review_without_one(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, status="under_review")
    assert lines(reviewing(root, "why")) == ["+ x-review-reason: why"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"status": "draft"}, f"{OLD} is a draft; `mdmem approve {OLD}`"),
        ({"status": "deprecated", "deprecated_reason": "gone"}, f"{OLD} is deprecated; `mdmem why {OLD}`"),
        ({"superseded_by": NEW}, f"{OLD} is superseded by {NEW}; name that instead"),
    ],
)
def test_what_does_not_hold_is_not_reviewed(tmp_path: Path, fields: dict[str, str], sentence: str) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, **fields)
    with pytest.raises(UsageError) as caught:
        reviewing(root)
    assert sentence in str(caught.value)


def test_doubt_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="say what is in doubt: --reason TEXT"):
        reviewing(two_entries(tmp_path), " ")
