"""Superseding: both ends at once, the draft's alone, and what is refused."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import entry_text, make_root, open_root, write, write_entry
from lives import NEW, OLD, RULE, changed_lines, two_entries

from mdmem.errors import LostRaceError, UsageError
from mdmem.model.entry import EntryType, Status
from mdmem.write.change_set import ChangeSet
from mdmem.write.create import Draft
from mdmem.write.supersede import plan_succession, plan_supersession, successor_text

TODAY = date(2026, 11, 21)


WHY = "one executor schedules all"


def superseding(root: Path, old: str = OLD, new: str = NEW) -> ChangeSet:
    return plan_supersession(open_root(root).whole_catalog, old, by=new, reason=WHY, today=TODAY)


def after(intent: ChangeSet) -> dict[str, list[str]]:
    """Return the lines that an intent changes, by path, in the order of writing."""
    return {one.path: changed_lines(one.before or b"", one.after or b"") for one in intent.changes}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_entries(tmp_path)


def test_reason_that_the_newer_entry_gives_is_kept_and_said(root: Path) -> None:
    write_entry(root, NEW, reason="it was slow")
    intent = superseding(root)
    assert after(intent)[f"{NEW}.md"] == [f"+ supersedes: [{OLD}]"]
    assert intent.remarks == (f"{NEW} keeps its own reason: it was slow",)
    unsaid = plan_supersession(open_root(root).whole_catalog, OLD, by=NEW, reason="", today=TODAY)
    assert (unsaid.reason, unsaid.remarks) == ("it was slow", ())


def test_short_links_stay_as_they_were_written(root: Path) -> None:
    write_entry(root, "nav/architecture/one", status="deprecated", superseded_by=NEW)
    write_entry(root, NEW, supersedes="one", reason="a")
    assert after(superseding(root))[f"{NEW}.md"] == ["- supersedes: one", f"+ supersedes: [one, {OLD}]"]


def test_superseding_again_changes_nothing(root: Path) -> None:
    for change in superseding(root).changes:
        write(root, change.to, change.after or b"")
    assert [one for one in superseding(root).changes if one.before != one.after] == []


FIRST = "nav/architecture/first"
GONE = {"status": "deprecated", "deprecated_at": "2026-07-01", "deprecated_reason": "gone"}
ENDED = {"status": "deprecated", "deprecated_at": "2026-06-01"}


def test_entry_that_ended_before_keeps_its_day(root: Path) -> None:
    write_entry(root, OLD, **GONE)
    change = after(superseding(root))[f"{OLD}.md"]
    assert (f"+ superseded_by: [{NEW}]" in change, "+ deprecated_at" in change) == (True, False)


TAKEN = {OLD: {**ENDED, "superseded_by": FIRST}}


@pytest.mark.parametrize(
    ("entries", "old", "new", "sentence"),
    [
        ({OLD: {"status": "draft"}, NEW: {"status": "draft"}}, OLD, NEW, "a draft supersedes only current entries"),
        ({FIRST: {"supersedes": OLD, "reason": "a"}}, OLD, NEW, f"{FIRST} already lists {OLD} in its `supersedes`"),
        (
            {**TAKEN, FIRST: {"supersedes": OLD, "reason": "a", **GONE}},
            OLD,
            NEW,
            f"was superseded by {FIRST}, now deprecated; supersede that",
        ),
        (
            {
                **TAKEN,
                FIRST: {"supersedes": OLD, "reason": "a", **ENDED, "superseded_by": NEW},
                NEW: {"supersedes": FIRST, "reason": "b"},
            },
            OLD,
            NEW,
            f"{NEW} supersedes {OLD} already, by way of {FIRST}",
        ),
        (
            {OLD: {**ENDED, "superseded_by": NEW}, NEW: {"supersedes": OLD, "reason": "a"}},
            NEW,
            OLD,
            f"{NEW} supersedes {OLD}, so it cannot be superseded by it",
        ),
        (
            {NEW: {"status": "draft", "supersedes": OLD}},
            NEW,
            OLD,
            f"{NEW} supersedes {OLD}, so it cannot be superseded by it",
        ),
        ({NEW: GONE}, OLD, NEW, f"{NEW} is deprecated, so it cannot supersede anything"),
        (
            {NEW: {"superseded_by": FIRST}, FIRST: {"supersedes": NEW}},
            OLD,
            NEW,
            f"{NEW} is itself superseded; use {FIRST}",
        ),
        ({}, RULE, NEW, f"a decision would take the place of the invariant {RULE}; make it one, or"),
        (
            {NEW: {"status": "draft"}},
            RULE,
            NEW,
            f"a decision would take the place of the invariant {RULE}; make it one, or",
        ),
    ],
)
def test_entry_that_is_not_fit_is_refused(
    root: Path, entries: dict[str, dict[str, Any]], old: str, new: str, sentence: str
) -> None:
    for address, fields in entries.items():
        write_entry(root, address, **fields)
    with pytest.raises((UsageError, LostRaceError), match=sentence):
        superseding(root, old, new)


def superseded(folder: Path, *, head: str = "nav/architecture/first") -> Path:
    """Return a memory in which another entry took the old one's place."""
    root = two_entries(folder)
    write_entry(root, head, supersedes=OLD, reason="a", created_at="2026-06-01")
    write_entry(root, OLD, status="deprecated", deprecated_at="2026-06-01", superseded_by=head)
    return root


def test_draft_that_was_forestalled_gets_in_line(tmp_path: Path) -> None:
    root = superseded(tmp_path)
    write_entry(root, NEW, status="draft", supersedes=OLD, reason="mine")
    intent = superseding(root, old="nav/architecture/first")
    assert after(intent) == {f"{NEW}.md": [f"- supersedes: {OLD}", "+ supersedes: nav/architecture/first"]}
    assert f"{NEW} no longer lists {OLD}, which nav/architecture/first replaced" in intent.remarks


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("shared", f"so nav overrides it; write `overrides: ros/rules/spin` with a `reason` in {NEW}"),
        ("project", "ros/rules/spin is in another wing; supersede it from within ros, or from a shared wing"),
    ],
)
def test_entry_of_another_wing_is_not_superseded(root: Path, kind: str, sentence: str) -> None:
    write(root, "ros/README.md", f"---\nkind: {kind}\n---\n")
    write_entry(root, "ros/rules/spin")
    with pytest.raises(UsageError) as caught:
        superseding(root, old="ros/rules/spin")
    assert str(caught.value).endswith(sentence)


def test_shared_entry_takes_over_from_a_project(root: Path) -> None:
    write(root, "ros/README.md", "---\nkind: shared\n---\n")
    write_entry(root, "ros/rules/spin")
    assert list(after(superseding(root, new="ros/rules/spin"))) == ["ros/rules/spin.md", f"{OLD}.md"]


def test_invariant_gives_way_to_less_where_somebody_says_why(root: Path) -> None:
    write_entry(root, NEW, ignore="{supersession-across-types: the law was repealed}")
    assert superseding(root, old=RULE).supersedes == (RULE,)


THREE = "nav/architecture/use-three-threads"


TEXT = "Navigation uses three threads.\n\nRationale: it was measured.\n"


def composed(root: Path, old: str = OLD, /, **stated: object) -> tuple[str, str]:
    catalog = open_root(root).whole_catalog
    place, type_ = old.rpartition("/")[0], catalog.entries[old].type
    usual: dict[str, Any] = {"title": "Use three threads", "body": TEXT, "place": place, "type": type_}
    return successor_text(catalog, old, Draft(**usual | stated), reason="two are too few", today=TODAY)


def with_text(root: Path, text: str, *, new: str = THREE) -> ChangeSet:
    catalog = open_root(root).whole_catalog
    return plan_succession(catalog, OLD, new=new, text=text, reason="two are too few", today=TODAY)


SCOPE = {"label": "contract", "owner": "nav-team", "topic": "threads", "focus": "docking", "tags": ["executor"]}


GLOBS = 'applies_to: ["src/nav/**"]\n'


def test_new_entry_is_about_what_the_old_one_is_about(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, OLD, applies_to=["src/nav/**"], confidence=0.5, see=[NEW], **SCOPE)
    held = "label: contract\nowner: nav-team\ntopic: threads\nfocus: docking\ntags: [executor]\n"
    assert f"{held}{GLOBS}supersedes: " in composed(root)[1]
    stated = composed(root, applies_to=("src/dock/**",), type=EntryType.INVARIANT)[1]
    assert (GLOBS in stated, 'applies_to: ["src/dock/**"]\n' in stated, "label:" in stated) == (False, True, False)
    # What binds at once is nobody's who has not seen it.
    assert "owner" not in composed(root, status=Status.ACTIVE)[1]
    # An empty glob says that it is about no files in particular.
    assert "applies_to" not in composed(root, applies_to=("",))[1]


def test_nobody_types_in_vain_where_another_was_first(root: Path) -> None:
    write_entry(root, NEW, supersedes=OLD, reason="a")
    with pytest.raises(LostRaceError) as caught:
        composed(root)
    assert str(caught.value) == (
        f"{NEW} already lists {OLD} in its `supersedes`; nothing was written: replace that one with "
        f"`mdmem supersede {NEW} --title TEXT --reason TEXT`, or add to it with `mdmem edit {NEW}`"
    )


def test_links_that_the_editor_took_away_are_written_all_the_same(tmp_path: Path) -> None:
    (change,) = with_text(two_entries(tmp_path), entry_text(TEXT, status="draft")).changes
    assert f"supersedes: [{OLD}]\nreason: two are too few\n".encode() in (change.after or b"")


def test_everything_that_the_text_supersedes_ends(tmp_path: Path) -> None:
    intent = with_text(two_entries(tmp_path), entry_text(TEXT, supersedes=[NEW], reason="both"))
    assert [one.path for one in intent.changes] == [f"{THREE}.md", f"{NEW}.md", f"{OLD}.md"]


@pytest.mark.parametrize("status", ["under_review", "deprecated"])
def test_new_entry_starts_as_draft_or_active(tmp_path: Path, status: str) -> None:
    with pytest.raises(UsageError, match=f"a new entry starts as `draft` or `active`, not as `{status}`"):
        with_text(two_entries(tmp_path), entry_text(TEXT, status=status))


def test_text_that_is_no_entry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the entry cannot be read: line 1"):
        with_text(two_entries(tmp_path), "only words\n")
