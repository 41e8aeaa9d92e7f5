"""Approving: the draft in force, what it supersedes ended, by a person who may."""

from datetime import date
from pathlib import Path

import pytest
from builders import open_root, write, write_entry
from lives import NEW, OLD, RULE, changed_lines, lived_in, two_entries

from mdmem.errors import LostRaceError, UsageError
from mdmem.store.settings import Approvals, Settings
from mdmem.write.approve import plan_approval
from mdmem.write.change_set import ChangeSet, Verb, WriteAction

TODAY = date(2026, 11, 21)
ADA, BOB = "Ada <ada@example.org>", "Bob <bob@example.org>"


def approving(root: Path, address: str = NEW, *, person: str = ADA, settings: Settings | None = None) -> ChangeSet:
    return plan_approval(open_root(root).whole_catalog, settings or Settings(), address, person=person, today=TODAY)


def after(intent: ChangeSet) -> dict[str, list[str]]:
    """Return the lines that an intent changes, by path, in the order of writing."""
    return {one.path: changed_lines(one.before or b"", one.after or b"") for one in intent.changes}


def drafted(folder: Path, **fields: object) -> Path:
    """Return a memory with a draft that is to supersede the old entry."""
    root = two_entries(folder)
    write_entry(root, NEW, **({"status": "draft", "supersedes": OLD, "reason": "it was slow"} | fields))
    return root


def test_draft_becomes_active_and_names_its_approver(tmp_path: Path) -> None:
    intent = approving(two_entries(tmp_path, new_status="draft"))
    assert after(intent) == {f"{NEW}.md": ["- status: draft", "+ status: active", f"+ approved_by: {ADA}"]}
    assert intent.actions == (WriteAction(Verb.APPROVE, NEW),)


def test_what_the_draft_supersedes_ends_in_the_same_plan(tmp_path: Path) -> None:
    intent = approving(drafted(tmp_path))
    assert list(after(intent)) == [f"{NEW}.md", f"{OLD}.md"]
    assert after(intent)[f"{OLD}.md"] == [
        "- status: active",
        "+ status: deprecated",
        "+ deprecated_at: 2026-11-21",
        f"+ superseded_by: [{NEW}]",
    ]
    assert (intent.supersedes, intent.reason) == ((OLD,), "it was slow")


def test_only_the_meant_lines_of_lived_in_files_change(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write(root, f"{NEW}.md", lived_in(status="draft", more=f"supersedes: {OLD}   # it was slow\r\n"))
    write(root, f"{OLD}.md", lived_in(more="superseded_by: []\r\n"))
    assert after(approving(root)) == {
        f"{NEW}.md": [
            "- status: draft # since spring\r",
            "+ status: active # since spring\r",
            f"+ approved_by: {ADA}\r",
        ],
        f"{OLD}.md": [
            "- status: active # since spring\r",
            "+ status: deprecated # since spring\r",
            "+ deprecated_at: 2026-11-21\r",
            "- superseded_by: []\r",
            f"+ superseded_by: [{NEW}]\r",
        ],
    }


def test_approval_of_a_second_draft_is_refused_with_the_first(tmp_path: Path) -> None:
    root = drafted(tmp_path)
    write_entry(root, "nav/rules/mine", status="draft", supersedes=OLD, reason="a")
    for change in approving(root).changes:
        write(root, change.to, change.after or b"")
    with pytest.raises(LostRaceError) as caught:
        approving(root, "nav/rules/mine")
    assert str(caught.value) == (
        f"{OLD} is superseded by {NEW} already; nav/rules/mine stays a draft: "
        f"`mdmem supersede {NEW} --by nav/rules/mine --reason TEXT` puts it behind that one, "
        "`mdmem deprecate nav/rules/mine --reason TEXT` gives it up"
    )


def test_active_entry_that_somebody_approved_is_left_alone(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, approved_by="Ada <ada@example.org>")
    intent = approving(root)
    assert (intent.changes, intent.remarks) == ((), (f"{NEW} is active already",))


def test_active_entry_that_nobody_approved_gets_the_name(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    (change,) = approving(root).changes
    assert b"approved_by: " in (change.after or b"")
    write(root, change.to, change.after or b"")
    assert approving(root).changes == ()


def test_approval_that_was_cut_short_is_completed(tmp_path: Path) -> None:
    root = drafted(tmp_path)
    first, second = approving(root).changes
    write(root, first.to, first.after or b"")
    assert approving(root).changes == (second,)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"status": "under_review"}, f"{NEW} was approved and is under review; `mdmem verify {NEW}`"),
        ({"status": "deprecated", "deprecated_reason": "gone"}, f"{NEW} is deprecated; `mdmem why {NEW}`"),
        ({"supersedes": "nav/rules/none"}, f"{NEW} supersedes nav/rules/none, which does not exist; mend that first"),
        ({"supersedes": RULE}, "a decision would take the place of the invariant"),
        ({"agent": "claude", "supersedes": "nav/rules/broken"}, "which cannot be read; mend that first"),
    ],
)
def test_draft_that_cannot_be_in_force_is_refused(tmp_path: Path, fields: dict[str, str], sentence: str) -> None:
    root = drafted(tmp_path, **fields)
    write(root, "nav/rules/broken.md", "---\ntype: [\n---\n")
    with pytest.raises(UsageError) as caught:
        approving(root)
    assert sentence in str(caught.value)


def test_template_is_not_approved(tmp_path: Path) -> None:
    root = two_entries(tmp_path)
    write_entry(root, NEW, "<State what was decided in one sentence.>\n", status="draft")
    with pytest.raises(UsageError, match=r"the template's `<State what was decided in one sentence\.>` was left in"):
        approving(root)


@pytest.mark.parametrize("agent", ["Ada", "ada@example.org", "ADA <ada@example.org>"])
def test_agent_does_not_approve_itself(tmp_path: Path, agent: str) -> None:
    with pytest.raises(UsageError, match=f"wrote {NEW} as an agent; let a person approve it"):
        approving(drafted(tmp_path, agent=agent))


def test_person_approves_what_an_agent_wrote(tmp_path: Path) -> None:
    assert f"+ approved_by: {ADA}" in after(approving(drafted(tmp_path, agent="claude")))[f"{NEW}.md"]


@pytest.mark.parametrize("person", ["Ada", "<ada@example.org>", "ada@example.org", "", "Ada <>", "Ada <a> b"])
def test_person_is_given_in_the_form_of_git(tmp_path: Path, person: str) -> None:
    with pytest.raises(UsageError, match='does not name a person; write --by "Name <email>"'):
        approving(drafted(tmp_path), person=person)


def test_somebody_who_is_no_owner_is_told_so(tmp_path: Path) -> None:
    intent = approving(drafted(tmp_path), person=BOB)
    assert intent.remarks == (f"`{BOB}` is no owner of the wing `nav`; that is `Ada`",)
    assert f"+ approved_by: {BOB}" in after(intent)[f"{NEW}.md"]


def test_somebody_who_is_no_owner_is_refused_where_the_settings_say_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{NEW} is not approved: `{BOB}` is no owner of the wing `nav`"):
        approving(drafted(tmp_path), person=BOB, settings=Settings(approvals=Approvals.REFUSE))
