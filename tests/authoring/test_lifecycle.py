"""Verifying, doubting, deprecating and approving: which entries are fit, and what people are told."""

from datetime import date
from pathlib import Path

import pytest
from builders import open_root, write, write_entry
from lives import NEW, OLD, RULE, changed_lines, two_entries

from mdmem.errors import UsageError
from mdmem.store.settings import Settings
from mdmem.write.approve import plan_approval
from mdmem.write.change_set import ChangeSet
from mdmem.write.lifecycle import plan_deprecation, plan_review, plan_verification
from mdmem.write.supersede import plan_supersession

TODAY = date(2026, 11, 21)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_entries(tmp_path)


def verifying(root: Path, *addresses: str, at: date | None = None) -> ChangeSet:
    return plan_verification(open_root(root).whole_catalog, addresses or (OLD,), at=at, today=TODAY)


def lines_after(intent: ChangeSet) -> dict[str, list[str]]:
    return {one.path: changed_lines(one.before or b"", one.after or b"") for one in intent.changes}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"status": "draft"}, f"{NEW} is a draft"),
        ({"status": "deprecated", "deprecated_reason": "gone"}, f"{NEW} is deprecated"),
        ({"superseded_by": RULE}, f"{NEW} is superseded by {RULE}; name that instead"),
    ],
)
def test_one_that_does_not_hold_stops_them_all(root: Path, fields: dict[str, str], sentence: str) -> None:
    write_entry(root, NEW, **fields)
    with pytest.raises(UsageError, match=sentence):
        verifying(root, OLD, NEW)


def test_time_of_creation_may_be_of_a_zone_ahead(root: Path) -> None:
    write_entry(root, OLD, created_at="2026-11-22T03:00:00+10:00")
    assert lines_after(verifying(root)) == {f"{OLD}.md": ["+ verified_at: 2026-11-21"]}


def test_later_verification_is_not_taken_back(root: Path) -> None:
    write_entry(root, OLD, verified_at="2026-10-01")
    with pytest.raises(UsageError, match=f"{OLD} was verified later already, on 2026-10-01"):
        verifying(root, at=date(2026, 4, 10))


def test_expiry_is_said_since_verifying_does_not_move_it(root: Path) -> None:
    write_entry(root, OLD, expires_at="2026-10-01")
    assert verifying(root).remarks == (f"{OLD} still counts as under review: its `expires_at` has passed",)


def reviewing(root: Path, reason: str = "the robot has four cores now") -> ChangeSet:
    return plan_review(open_root(root).whole_catalog, OLD, reason=reason)


def lines(intent: ChangeSet) -> list[str]:
    (change,) = intent.changes
    return changed_lines(change.before or b"", change.after or b"")


def test_doubt_goes_when_the_entry_ends(root: Path) -> None:
    (change,) = reviewing(root).changes
    write(root, f"{OLD}.md", change.after or b"")
    catalog = open_root(root).whole_catalog
    ended = plan_deprecation(catalog, OLD, reason="sold", today=TODAY).changes[-1]
    replaced = plan_supersession(catalog, OLD, by=NEW, reason="faster", today=TODAY).changes[-1]
    assert [b"x-review-reason" in (one.after or b"") for one in (ended, replaced)] == [False, False]


def test_another_doubt_does_not_replace_the_first(root: Path) -> None:
    (change,) = reviewing(root, "first").changes
    write(root, f"{OLD}.md", change.after or b"")
    with pytest.raises(UsageError, match=f"{OLD} is under review already: first; `mdmem doubt {OLD} --done`"):
        reviewing(root, "second")


def test_doubt_is_added_to_a_review_without_one(root: Path) -> None:
    write_entry(root, OLD, status="under_review")
    assert lines(reviewing(root, "why")) == ["+ x-review-reason: why"]


def deprecating(root: Path, address: str = OLD, reason: str = "the robot was sold") -> ChangeSet:
    return plan_deprecation(open_root(root).whole_catalog, address, reason=reason, today=TODAY)


def test_half_superseded_entry_is_refused(root: Path) -> None:
    write_entry(root, OLD, superseded_by=NEW)
    with pytest.raises(UsageError, match=f"{OLD} is superseded by {NEW}; `mdmem check --unsafe-fixes` writes what is"):
        deprecating(root)


ADA, BOB = "Ada <ada@example.org>", "Bob <bob@example.org>"


def approving(root: Path, address: str = NEW, *, person: str = ADA, settings: Settings | None = None) -> ChangeSet:
    return plan_approval(open_root(root).whole_catalog, settings or Settings(), address, person=person, today=TODAY)


def drafted(folder: Path, **fields: object) -> Path:
    """Return a memory with a draft that is to supersede the old entry."""
    root = two_entries(folder)
    write_entry(root, NEW, **({"status": "draft", "supersedes": OLD, "reason": "it was slow"} | fields))
    return root


def test_active_entry_that_nobody_approved_gets_the_name(root: Path) -> None:
    (change,) = approving(root).changes
    assert b"approved_by: " in (change.after or b"")
    write(root, change.to, change.after or b"")
    assert approving(root).changes == ()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"status": "under_review"}, f"{NEW} was approved and is under review; `mdmem verify {NEW}`"),
        ({"status": "deprecated", "deprecated_reason": "gone"}, f"{NEW} is deprecated; `mdmem why {NEW}`"),
        ({"supersedes": "nav/rules/none"}, f"{NEW} supersedes nav/rules/none, which does not exist; fix that first"),
        ({"supersedes": RULE}, "a decision would take the place of the invariant"),
        ({"agent": "claude", "supersedes": "nav/rules/broken"}, "which cannot be read; fix that first"),
    ],
)
def test_draft_that_cannot_be_in_force_is_refused(tmp_path: Path, fields: dict[str, str], sentence: str) -> None:
    root = drafted(tmp_path, **fields)
    write(root, "nav/rules/broken.md", "---\ntype: [\n---\n")
    with pytest.raises(UsageError) as caught:
        approving(root)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("person", ["Ada", "<ada@example.org>", "ada@example.org", "", "Ada <>", "Ada <a> b"])
def test_person_is_given_in_the_form_of_git(tmp_path: Path, person: str) -> None:
    with pytest.raises(UsageError, match='does not name a person; write --by "Name <email>"'):
        approving(drafted(tmp_path), person=person)
