"""Test `mdmem approve`: who may approve, the messages, and the entries that an approval ends."""

from pathlib import Path

import pytest
from builders import Run, commit_all, git, make_root, run_mdmem, snapshot, write, write_entry
from lives import NEW, OLD, two_entries

ADA = "Ada <ada@example.org>"


def with_draft(folder: Path, *, owners: str = "[Ada]", **fields: object) -> Path:
    """Return a committed memory in which a draft is to supersede a decision."""
    root = two_entries(folder)
    write(root, "nav/README.md", f"---\nkind: project\nowners: {owners}\n---\n")
    write_entry(root, NEW, title="One executor", status="draft", supersedes=OLD, reason="better", **fields)
    commit_all(folder, "a draft")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return with_draft(tmp_path)


def test_approve_puts_the_draft_in_force_and_ends_the_old_entry(root: Path, run: Run) -> None:
    ran = run("approve", "executor", cwd=root)
    assert (ran.code, ran.err) == (0, f"takes effect when committed to the default branch: {NEW}\n")
    assert ran.out == (
        f"changed {NEW}.md\n  status: draft → active\n  verified_at: 2026-11-21\n  approved_by: {ADA}\n"
        f"changed {OLD}.md\n  status: active → deprecated\n  deprecated_at: 2026-11-21\n  superseded_by: {NEW}\n"
    )
    assert run("check", "--strict", cwd=root).code == 0


def test_old_draft_that_is_approved_today_is_not_stale(root: Path, run: Run) -> None:
    write_entry(root, "nav/rules/late", title="Use one clock", status="draft", created_at="2025-01-05")
    assert run("approve", "nav/rules/late", cwd=root).code == 0
    stale = run("hygiene", "--format", "json", cwd=root).json["stale_items"]
    assert [one["id"] for one in stale if one["id"] == "nav/rules/late"] == []


def test_approve_by_somebody_who_is_no_owner_is_refused_where_the_settings_say_so(tmp_path: Path, run: Run) -> None:
    root = make_root(with_draft(tmp_path, owners="[navigation-team]"), '[governance]\napprovals = "refuse"\n')
    ran = run("approve", NEW, cwd=root, unchanged=root)
    said = f"mdmem: {NEW} is not approved: `{ADA}` is not an owner of the wing `nav`; its owner is `navigation-team`\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    ran = run("approve", NEW, "--by", "navigation-team <nav@example.org>", cwd=root)
    assert (ran.code, "approved_by: navigation-team <nav@example.org>" in ran.out) == (0, True)


def test_agent_does_not_approve_what_it_wrote(tmp_path: Path, run: Run) -> None:
    root = with_draft(tmp_path, agent="Ada")
    ran = run("approve", NEW, cwd=root, unchanged=root)
    assert (ran.code, ran.err) == (2, f"mdmem: the agent `Ada` wrote {NEW} and cannot approve it; let a person do it\n")


def test_second_draft_for_one_entry_is_refused_with_the_first_address(root: Path, run: Run) -> None:
    write_entry(root, "nav/architecture/late", status="draft", supersedes=OLD, reason="mine")
    assert run("approve", NEW, cwd=root).code == 0
    ran = run("approve", "late", cwd=root, unchanged=root)
    assert ran.code == 4
    assert ran.err == (
        f"mdmem: {OLD} is superseded by {NEW} already; nav/architecture/late stays a draft: `mdmem supersede {NEW} "
        f"--by nav/architecture/late` makes the draft the successor of {NEW}, `mdmem "
        "deprecate nav/architecture/late --reason TEXT` rejects the draft\n"
    )


def test_approve_asks_for_a_person_where_git_knows_none(tmp_path: Path, root: Path) -> None:
    git(tmp_path, "config", "--unset", "user.email")
    ran = run_mdmem("approve", NEW, cwd=root, env={"EMAIL": "", "GIT_AUTHOR_NAME": "", "GIT_COMMITTER_NAME": ""})
    assert (ran.returncode, 'write --by "Name <email>"' in ran.stderr) == (2, True)


def test_several_are_approved_together_or_none_is(root: Path, run: Run) -> None:
    write_entry(root, "nav/rules/one", title="One", status="draft")
    write_entry(root, "nav/rules/late", title="Late", status="draft", supersedes=OLD, reason="mine")
    before = snapshot(root)
    ran = run("approve", NEW, "late", "nav/rules/one", "nowhere", cwd=root)
    first, second, last = ran.err.splitlines()
    assert (ran.out, snapshot(root)) == ("", before)
    assert first.startswith("mdmem: there is no entry `nowhere`")
    assert second == f"{NEW} and nav/rules/late both supersede {OLD}; approve one of them"
    assert last == "none of them is approved"
    assert run("approve", NEW, "one", "--by", "nobody", cwd=root).err.count("`nobody`") == 1
    ran = run("approve", "one", NEW, "nav/rules/one", "--commit", cwd=root)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("status: draft → active") == 2
    assert git(root, "log", "-1", "--format=%s").strip() == "Approve 2 entries"


def test_folder_stands_for_the_drafts_in_it_each_planned_on_what_the_last_left(root: Path, run: Run) -> None:
    write_entry(root, "nav/rules/next", title="Next", status="draft", supersedes=NEW, reason="better still")
    ran = run("approve", "nav/architecture/", "nav/rules/", cwd=root)
    proposed = f"takes effect when committed to the default branch: {NEW}, nav/rules/next\n"
    assert (ran.code, ran.err) == (0, proposed)
    texts = [(root / f"{one}.md").read_text() for one in (OLD, NEW, "nav/rules/next")]
    assert ["status: deprecated" in text for text in texts] == [True, True, False]
    ran = run("approve", "nav/rules/", cwd=root)
    said = "mdmem: there is no draft in nav/rules/; `mdmem approve --active nav/rules/` approves its active rules\n"
    assert (ran.code, ran.err) == (2, said)


@pytest.mark.parametrize("names", [[], ["nav/"], ["nav/rules/", "nav/architecture/"]])
def test_active_rules_that_nobody_approved_are_approved_in_one_go(names: list[str], tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    write(root, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    for name, fields in (
        ("waiting", {"status": "draft"}),
        ("ours", {"owner": "Ada"}),
        ("named", {"approved_by": "Bo <bo@x.org>"}),
        ("ended", {"status": "deprecated", "deprecated_reason": "no use"}),
        ("seen", {"type": "note"}),
    ):
        write_entry(root, f"nav/rules/{name}", **fields)
    before = snapshot(root)
    ran = run("approve", "--active", *names, cwd=root)
    changed = [path for path, content in snapshot(root).items() if before[path] != content]
    unapproved = ["nav/architecture/executor.md", "nav/rules/callbacks.md"]
    assert (ran.code, sorted(changed)) == (0, unapproved)
    assert all(f"approved_by: {ADA}\n" in (root / path).read_text() for path in unapproved)
    ran = run("approve", "--active", *names, cwd=root)
    assert (ran.code, ran.err) == (2, "mdmem: every active invariant and decision here is approved\n")


def test_a_folder_of_which_a_file_cannot_be_read_is_not_approved_without_it(root: Path, run: Run) -> None:
    (root / "nav/architecture/torn.md").write_text("---\ntype: [\n---\n")
    before = snapshot(root)
    ran = run("approve", "nav/", cwd=root)
    assert (ran.code, snapshot(root)) == (1, before)
    assert ran.err.startswith("mdmem: nav/architecture/torn is there but cannot be read: line ")
    assert run("approve", NEW, cwd=root).code == 0


def test_draft_that_a_current_entry_supersedes_is_not_approved(folder: Path, run: Run) -> None:
    root = folder / "memory"
    write_entry(root, "nav/rules/old", status="draft")
    write_entry(root, "nav/rules/new", supersedes=["nav/rules/old"], reason="better")
    refused = run("approve", "nav/rules/old", cwd=folder)
    assert (refused.code, "nav/rules/old is superseded by nav/rules/new" in refused.err) == (2, True)
    assert "supersedes nav/rules/old, which does not link back" in run("why", "nav/rules/old", cwd=folder).out
