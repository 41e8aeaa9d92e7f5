"""Writing a new entry in the place of an older one: composed, linked, and refused before anybody types."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import entry_text, make_root, open_root, write_entry
from lives import NEW, OLD, RULE, two_entries

from mdmem.errors import LostRaceError, UsageError
from mdmem.model.entry import EntryType, Status
from mdmem.write.change_set import ChangeSet, Verb, WriteAction
from mdmem.write.create import Draft
from mdmem.write.supersede import plan_succession, successor_text

TODAY = date(2026, 11, 21)
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


def test_new_entry_stands_beside_the_old_one_with_its_type_as_a_draft(tmp_path: Path) -> None:
    assert composed(two_entries(tmp_path)) == (
        THREE,
        (
            "---\ntype: decision\nstatus: draft\ncreated_at: 2026-11-21\ntitle: Use three threads\n"
            f"supersedes: [{OLD}]\nreason: two are too few\n---\n\n{TEXT}"
        ),
    )


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


def test_place_type_and_status_are_as_stated(tmp_path: Path) -> None:
    address, text = composed(
        two_entries(tmp_path), place="nav/rules/three", type=EntryType.INVARIANT, status=Status.ACTIVE
    )
    assert address == "nav/rules/three"
    assert text.startswith("---\ntype: invariant\nstatus: active\n")


def test_no_text_leaves_the_template(tmp_path: Path) -> None:
    assert "<State what was decided in one sentence.>" in composed(two_entries(tmp_path), body="")[1]


def test_name_of_the_old_one_is_refused(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, THREE)
    with pytest.raises(UsageError, match=f"{THREE} is the older entry's own name; give the new one another"):
        composed(root, THREE)


def test_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LostRaceError, match=f"{NEW} exists already"):
        composed(two_entries(tmp_path), place=NEW)


def test_nobody_types_in_vain_where_another_was_first(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, supersedes=OLD, reason="a")
    with pytest.raises(LostRaceError) as caught:
        composed(root)
    assert str(caught.value) == (
        f"{NEW} says already that it supersedes {OLD}; nothing was written: replace that one with "
        f"`mdmem supersede {NEW} --title TEXT --reason TEXT`, or add to it with `mdmem edit {NEW}`"
    )


def test_less_authority_than_an_invariant_is_refused_before_typing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a note would take the place of the invariant"):
        composed(two_entries(tmp_path), RULE, type=EntryType.NOTE)


def test_active_text_is_written_first_and_ends_the_old_one(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    intent = with_text(root, composed(root, status=Status.ACTIVE)[1])
    assert [(one.path, one.before is None) for one in intent.changes] == [
        (f"{THREE}.md", True),
        (f"{OLD}.md", False),
    ]
    assert intent.actions == (WriteAction(Verb.SUPERSEDE, OLD, THREE),)


def test_draft_text_is_all_that_is_written(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    intent = with_text(root, composed(root)[1])
    assert [one.path for one in intent.changes] == [f"{THREE}.md"]
    assert intent.actions == (WriteAction(Verb.ADD, THREE),)


def test_links_that_the_editor_took_away_are_written_all_the_same(tmp_path: Path) -> None:
    (change,) = with_text(two_entries(tmp_path), entry_text(TEXT, status="draft")).changes
    assert f"supersedes: [{OLD}]\nreason: two are too few\n".encode() in (change.after or b"")


def test_reason_that_was_typed_stays(tmp_path: Path) -> None:
    text = entry_text(TEXT, status="draft", reason="I know better now")
    (change,) = with_text(two_entries(tmp_path), text).changes
    assert (change.after or b"").count(b"reason:") == 1
    assert b"reason: I know better now\n" in (change.after or b"")


def test_everything_that_the_text_supersedes_ends(tmp_path: Path) -> None:
    intent = with_text(two_entries(tmp_path), entry_text(TEXT, supersedes=[NEW], reason="both"))
    assert [one.path for one in intent.changes] == [f"{THREE}.md", f"{NEW}.md", f"{OLD}.md"]


@pytest.mark.parametrize("status", ["under_review", "deprecated"])
def test_new_entry_starts_as_draft_or_active(tmp_path: Path, status: str) -> None:
    with pytest.raises(UsageError, match=f"a new entry starts as `draft` or `active`, not as `{status}`"):
        with_text(two_entries(tmp_path), entry_text(TEXT, status=status))


def test_active_entry_needs_its_text(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    with pytest.raises(UsageError, match=r"cannot be active yet: the template's `<Say|State .*>` was left in"):
        with_text(root, composed(root, body="", status=Status.ACTIVE)[1])


def test_text_that_is_no_entry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the entry cannot be read: line 1"):
        with_text(two_entries(tmp_path), "only words\n")


def test_text_is_refused_where_the_address_was_taken_meanwhile(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    text = composed(root)[1]
    write_entry(root, THREE)
    with pytest.raises(LostRaceError, match=f"{THREE} exists already"):
        with_text(root, text)
