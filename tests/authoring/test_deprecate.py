"""Ending an entry that nothing replaces: the reason in it, and what people should know."""

from datetime import date
from pathlib import Path

import pytest
from builders import open_root, write, write_entry
from lives import NEW, OLD, changed_lines, lived_in, two_entries

from mdmem.errors import UsageError
from mdmem.write.change_set import ChangeSet
from mdmem.write.lifecycle import plan_deprecation

TODAY = date(2026, 11, 21)


def deprecating(root: Path, address: str = OLD, reason: str = "the robot was sold") -> ChangeSet:
    return plan_deprecation(open_root(root).whole_catalog, address, reason=reason, today=TODAY)


def lines(intent: ChangeSet) -> list[str]:
    (change,) = intent.changes
    return changed_lines(change.before or b"", change.after or b"")


@pytest.mark.parametrize("status", ["active", "under_review", "draft"])
def test_only_the_meant_lines_of_a_lived_in_file_change(tmp_path: Path, status: str) -> None:
    root = two_entries(tmp_path)
    write(root, f"{OLD}.md", lived_in(status=status, more="reason: it was slow\r\n"))
    assert lines(deprecating(root)) == [
        f"- status: {status} # since spring\r",
        "+ status: deprecated # since spring\r",
        "+ deprecated_at: 2026-11-21\r",
        "+ deprecated_reason: the robot was sold\r",
    ]


def test_reason_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="say why it is deprecated"):
        deprecating(two_entries(tmp_path), reason=" ")


def test_ended_entry_is_refused(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, status="deprecated", deprecated_reason="gone")
    with pytest.raises(UsageError, match=f"{OLD} is deprecated already; `mdmem why {OLD}` shows its history"):
        deprecating(root)


def test_half_superseded_entry_is_refused(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, OLD, superseded_by=NEW)
    with pytest.raises(UsageError, match=f"{OLD} is superseded by {NEW}; `mdmem check --unsafe-fixes` writes what is"):
        deprecating(root)


def test_draft_that_is_given_up_leaves_what_it_was_to_replace(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, status="draft", supersedes=OLD)
    assert deprecating(root, NEW).remarks == (f"{OLD} stays as it is",)


def test_end_of_a_chain_is_said(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, supersedes=OLD, reason="a")
    write_entry(root, OLD, status="deprecated", deprecated_at="2026-06-01", superseded_by=NEW)
    assert deprecating(root, NEW).remarks == (f"no current entry replaces {OLD} any more",)


def test_drafts_that_were_to_replace_it_are_named(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, status="draft", supersedes=OLD)
    assert deprecating(root).remarks == (f"{NEW} would have superseded it, and can still be approved",)


def test_who_cites_it_is_named_five_of_many(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    for number in range(7):
        write_entry(root, f"nav/rules/r{number}", f"We do, [as told](../architecture/threads.md), {number}.\n")
    assert deprecating(root).remarks == (
        f"{OLD} is still cited by nav/rules/r0, nav/rules/r1, nav/rules/r2, nav/rules/r3, nav/rules/r4 and 2 more",
    )
