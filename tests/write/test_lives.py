"""Test superseding, approving, verifying, doubting and deprecating: changes, refusals and messages."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import (
    Capture,
    Run,
    entry_text,
    make_root,
    on_terminal,
    open_root,
    run_here,
    run_mdmem,
    snapshot,
    write,
    write_entry,
)
from lives import NEW, OLD, RULE, changed_lines, editor, two_entries
from msgspec.structs import replace

from mdmem.errors import LostRaceError, UsageError
from mdmem.model.entry import EntryType, Status
from mdmem.write.change_set import ChangeSet
from mdmem.write.create import Draft, new_text, plan_new, plan_supersession

TODAY = date(2026, 11, 21)
WHY = "one executor schedules all"
FIRST, SPIN = "nav/architecture/first", "ros/rules/spin"
GONE = {"status": "deprecated", "deprecated_at": "2026-07-01", "deprecated_reason": "gone"}
ENDED = {"status": "deprecated", "deprecated_at": "2026-06-01"}
TAKEN = {OLD: {**ENDED, "superseded_by": FIRST}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_entries(tmp_path)


def superseding(root: Path, old: str = OLD, new: str = NEW) -> ChangeSet:
    return plan_supersession(open_root(root), old, by=new, reason=WHY)


def after(intent: ChangeSet) -> dict[str, list[str]]:
    """Return the lines that a plan changes, by path, in the order of writing."""
    return {one.path: changed_lines(one.before or b"", one.after or b"") for one in intent.changes}


def supersede(old: str = OLD, new: str = NEW) -> tuple[str, ...]:
    return ("supersede", old, "--by", new, "--reason", WHY)


VERIFY, APPROVE = ("verify", OLD, NEW), ("approve", NEW)
DRAFT = {"status": "draft", "supersedes": OLD, "reason": "it was slow"}
LOWER = f"a decision cannot replace the invariant {RULE}; make the new entry an invariant, or"
BACK = f"{NEW} supersedes {OLD}, so {OLD} cannot supersede {NEW}"


@pytest.mark.parametrize(
    ("entries", "line", "sentence"),
    [
        (
            {OLD: {"status": "draft"}, NEW: {"status": "draft"}},
            supersede(),
            "a draft can supersede only current entries",
        ),
        ({FIRST: {"supersedes": OLD, "reason": "a"}}, supersede(), f"`supersedes` of {FIRST} already contains {OLD}"),
        (
            {**TAKEN, FIRST: {"supersedes": OLD, "reason": "a", **GONE}},
            supersede(),
            f"was superseded by {FIRST}, which is deprecated now; supersede the latter",
        ),
        (
            {
                **TAKEN,
                FIRST: {"supersedes": OLD, "reason": "a", **ENDED, "superseded_by": NEW},
                NEW: {"supersedes": FIRST, "reason": "b"},
            },
            supersede(),
            f"{NEW} supersedes {OLD} already, through {FIRST}",
        ),
        ({OLD: {**ENDED, "superseded_by": NEW}, NEW: {"supersedes": OLD, "reason": "a"}}, supersede(NEW, OLD), BACK),
        ({NEW: {"status": "draft", "supersedes": OLD}}, supersede(NEW, OLD), BACK),
        ({NEW: GONE}, supersede(), f"{NEW} is deprecated, so it cannot supersede anything"),
        (
            {NEW: {"superseded_by": FIRST}, FIRST: {"supersedes": NEW}},
            supersede(),
            f"{NEW} is superseded, too; use {FIRST} instead",
        ),
        ({}, supersede(RULE), LOWER),
        ({NEW: {"status": "draft"}}, supersede(RULE), LOWER),
        (
            {SPIN: {}},
            supersede(SPIN),
            f"to replace it only in nav, write `overrides: {SPIN}` and a `reason` into {NEW}",
        ),
        (
            {"web/a/b": {}},
            supersede("web/a/b"),
            "web/a/b, which is in another wing; put the new entry into web, or into a shared wing",
        ),
        (
            {SPIN: {}, "lib/a/b": {}},
            supersede(SPIN, "lib/a/b"),
            f"{SPIN}, which is in another wing; put the new entry into ros",
        ),
        ({NEW: {"status": "draft"}}, VERIFY, f"{NEW} is a draft"),
        ({NEW: GONE}, VERIFY, f"{NEW} is deprecated"),
        ({NEW: {"superseded_by": RULE}}, VERIFY, f"{NEW} is superseded by {RULE}; use the newer entry"),
        (
            {OLD: {"verified_at": "2026-10-01"}},
            ("verify", OLD, "--at", "2026-04-10"),
            f"{OLD} was verified later already, on 2026-10-01",
        ),
        (
            {OLD: {"status": "under_review", "x-review-reason": "first"}},
            ("doubt", OLD, "--reason", "second"),
            f"{OLD} is under review already: first; `mdmem doubt {OLD} --done`",
        ),
        (
            {OLD: {"superseded_by": NEW}},
            ("deprecate", OLD, "--reason", "sold"),
            f"{OLD} is superseded by {NEW} already; `mdmem check --unsafe-fixes` writes the fields",
        ),
        ({NEW: {"status": "under_review"}}, APPROVE, f"{NEW} was approved and is under review; `mdmem verify {NEW}`"),
        ({NEW: GONE}, APPROVE, f"{NEW} is deprecated; `mdmem why {NEW}`"),
        ({NEW: DRAFT | {"supersedes": "nav/rules/none"}}, APPROVE, "which does not exist; correct `supersedes` first"),
        ({NEW: DRAFT | {"supersedes": RULE}}, APPROVE, "a decision cannot replace the invariant"),
        (
            {NEW: DRAFT | {"agent": "claude", "supersedes": "nav/rules/broken"}},
            APPROVE,
            "which cannot be read; repair that file first",
        ),
        *(
            ({NEW: DRAFT}, (*APPROVE, "--by", person), 'does not name a person; write --by "Name <email>"')
            for person in ("Ada", "<ada@example.org>", "ada@example.org", "Ada <>", "Ada <a> b")
        ),
    ],
)
def test_unfit_entry_or_person_is_refused(
    root: Path, capsys: Capture, entries: dict[str, dict[str, Any]], line: tuple[str, ...], sentence: str
) -> None:
    for name, kind in (("ros", "shared"), ("lib", "shared"), ("web", "project")):
        write(root, f"{name}/README.md", f"---\nkind: {kind}\n---\n")
    write(root, "nav/rules/broken.md", "---\ntype: [\n---\n")
    for address, fields in entries.items():
        write_entry(root, address, **fields)
    before = snapshot(root)
    ran = run_here(capsys, *line, cwd=root)
    assert (ran.code in (2, 4), ran.out, sentence in ran.err, snapshot(root)) == (True, "", True, before), ran.err


def test_own_reason_of_the_newer_entry_is_kept(root: Path) -> None:
    write_entry(root, NEW, reason="it was slow")
    intent = superseding(root)
    assert after(intent)[f"{NEW}.md"] == [f"+ supersedes: [{OLD}]"]
    assert intent.remarks == (f"{NEW} keeps its own reason: it was slow",)
    unsaid = plan_supersession(open_root(root), OLD, by=NEW, reason="")
    assert (unsaid.reason, unsaid.remarks) == ("it was slow", ())


def test_short_links_stay_as_they_were_written(root: Path) -> None:
    write_entry(root, "nav/architecture/one", status="deprecated", superseded_by=NEW)
    write_entry(root, NEW, supersedes="one", reason="a")
    assert after(superseding(root))[f"{NEW}.md"] == ["- supersedes: one", f"+ supersedes: [one, {OLD}]"]


def test_deprecated_entry_keeps_its_day(root: Path) -> None:
    write_entry(root, OLD, **GONE)
    change = after(superseding(root))[f"{OLD}.md"]
    assert (f"+ superseded_by: [{NEW}]" in change, "+ deprecated_at" in change) == (True, False)


def test_overtaken_draft_supersedes_the_newer_entry(root: Path) -> None:
    write_entry(root, FIRST, supersedes=OLD, reason="a", created_at="2026-06-01")
    write_entry(root, OLD, **TAKEN[OLD])
    write_entry(root, NEW, status="draft", supersedes=OLD, reason="mine")
    intent = superseding(root, old=FIRST)
    assert after(intent) == {f"{NEW}.md": [f"- supersedes: {OLD}", f"+ supersedes: {FIRST}"]}
    assert f"{NEW} no longer lists {OLD}, which {FIRST} replaced" in intent.remarks


def test_shared_entry_may_supersede_and_a_decision_an_invariant_with_a_reason(root: Path) -> None:
    write(root, "ros/README.md", "---\nkind: shared\n---\n")
    write_entry(root, SPIN)
    assert list(after(superseding(root, new=SPIN))) == [f"{SPIN}.md", f"{OLD}.md"]
    write_entry(root, NEW, ignore="{supersession-across-types: the law was repealed}")
    assert superseding(root, old=RULE).supersedes == (RULE,)


THREE = "nav/architecture/use-three-threads"
TEXT = "Navigation uses three threads.\n\nRationale: it was measured.\n"


DRAFTED = Draft(
    type=EntryType.DECISION,
    place="nav/architecture",
    title="Use three threads",
    body=TEXT,
    old=OLD,
    reason="two are too few",
)


def composed(root: Path, /, **stated: object) -> str:
    return new_text(open_root(root), replace(DRAFTED, **stated), today=TODAY)[1]


def with_text(root: Path, text: str) -> ChangeSet:
    return plan_new(open_root(root), DRAFTED, THREE, text)


GLOBS = 'applies_to: ["src/nav/**"]\n'


def test_new_entry_copies_the_scope_of_the_old_one(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    scope = {"label": "contract", "owner": "nav-team", "topic": "threads", "focus": "docking", "tags": ["executor"]}
    write_entry(root, OLD, applies_to=["src/nav/**"], confidence=0.5, see=[NEW], **scope)
    held = "label: contract\nowner: nav-team\ntopic: threads\nfocus: docking\ntags: [executor]\n"
    assert f"{held}{GLOBS}supersedes: " in composed(root)
    stated = composed(root, applies_to=("src/dock/**",), type=EntryType.INVARIANT)
    assert (GLOBS in stated, 'applies_to: ["src/dock/**"]\n' in stated, "label:" in stated) == (False, True, False)
    # The owner has not seen a new active entry yet.
    assert "owner" not in composed(root, status=Status.ACTIVE)
    # An empty glob means that the entry is about no files in particular.
    assert "applies_to" not in composed(root, applies_to=("",))


def test_supersession_by_another_is_refused_before_the_editor_opens(root: Path) -> None:
    write_entry(root, NEW, supersedes=OLD, reason="a")
    with pytest.raises(LostRaceError) as caught:
        composed(root)
    assert str(caught.value) == (
        f"`supersedes` of {NEW} already contains {OLD}; nothing was written: replace that one with "
        f"`mdmem supersede {NEW} --title TEXT --body TEXT --reason TEXT`, or add to it with `mdmem edit {NEW}`"
    )


def test_missing_links_are_added_and_all_superseded_entries_deprecated(root: Path) -> None:
    (change,) = with_text(root, entry_text(TEXT, status="draft")).changes
    assert f"supersedes: [{OLD}]\nreason: two are too few\n".encode() in (change.after or b"")
    intent = with_text(root, entry_text(TEXT, supersedes=[NEW], reason="both"))
    assert [one.path for one in intent.changes] == [f"{THREE}.md", f"{NEW}.md", f"{OLD}.md"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (entry_text(TEXT, status="under_review"), "a new entry starts as `draft` or `active`, not as `under_review`"),
        (entry_text(TEXT, status="deprecated"), "a new entry starts as `draft` or `active`, not as `deprecated`"),
        ("only words\n", "the entry cannot be read: line 1"),
    ],
)
def test_invalid_text_of_a_new_entry_is_refused(root: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        with_text(root, text)


def test_entry_from_a_time_zone_ahead_is_verified(root: Path, capsys: Capture) -> None:
    write_entry(root, OLD, created_at="2026-11-22T03:00:00+10:00", expires_at="2026-10-01")
    ran = run_here(capsys, "verify", OLD, cwd=root)
    said = ran.err
    assert ran.out == f"changed {OLD}.md\n  verified_at: 2026-11-21\n"
    assert f"{OLD} still counts as under review: its `expires_at` has passed" in said


@pytest.mark.parametrize("line", [("deprecate", OLD, "-m", "sold"), supersede()], ids=["deprecate", "supersede"])
def test_doubt_is_removed_from_a_deprecated_entry(root: Path, capsys: Capture, line: tuple[str, ...]) -> None:
    write_entry(root, OLD, status="under_review")
    assert run_here(capsys, "doubt", OLD, "-m", "why", cwd=root).out == f"changed {OLD}.md\n  x-review-reason: why\n"
    assert run_here(capsys, *line, cwd=root).code == 0
    assert "x-review-reason" not in (root / f"{OLD}.md").read_text()


def test_document_outside_the_memory_can_be_superseded(tmp_path: Path, capsys: Capture) -> None:
    root = two_entries(tmp_path / "p")
    write_entry(root, NEW, status="draft", supersedes=["RFC 6120"], reason="it is newer")
    assert run_here(capsys, *APPROVE, cwd=root).code == 0
    line = "text = text.replace('title:', 'supersedes: https://example.org/old\\nreason: it is newer\\ntitle:')"
    assert on_terminal("edit", OLD, cwd=root, env=editor(tmp_path, line))[0] == 0
    assert "supersedes: https://example.org/old\n" in (root / f"{OLD}.md").read_text()


def test_active_entry_without_approval_gets_one(root: Path, capsys: Capture) -> None:
    assert "approved_by: " in run_here(capsys, *APPROVE, cwd=root).out
    assert run_here(capsys, *APPROVE, cwd=root).out == ""


MORE = ["--title", "Use four threads", "--body", "Navigation uses four threads.\n\nRationale: it was measured again."]
FOUR = "nav/architecture/use-four-threads"


def test_supersede_by_an_existing_entry_prints_both_ends(root: Path, run: Run) -> None:
    ran = run("supersede", OLD, "--by", NEW, "--reason", WHY, cwd=root)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"changed {NEW}.md\n  supersedes: {OLD}\n  reason: {WHY}\n"
        f"changed {OLD}.md\n  status: active → deprecated\n  deprecated_at: 2026-11-21\n  superseded_by: {NEW}\n"
    )
    assert run("check", "--select", "supersession-one-sided", cwd=root).code == 0
    again = run("supersede", OLD, "--by", NEW, "--reason", WHY, cwd=root)
    assert (again.code, again.err) == (0, "nothing to change: the files already have this content\n")


def test_supersede_by_a_new_draft_leaves_the_old_entry_alone(root: Path, run: Run) -> None:
    before = (root / f"{OLD}.md").read_bytes()
    ran = run("supersede", "threads", "-m", WHY, *MORE, cwd=root)
    assert (ran.code, ran.out) == (0, f"created {FOUR}.md\n")
    assert ran.err == f"{OLD} stays as it is until `mdmem approve {FOUR}`\n"
    assert (root / f"{OLD}.md").read_bytes() == before
    assert (root / f"{FOUR}.md").read_text() == (
        "---\ntype: decision\nstatus: draft\ncreated_at: 2026-11-21\ntitle: Use four threads\n"
        f"supersedes: [{OLD}]\nreason: {WHY}\n---\n\n"
        "Navigation uses four threads.\n\nRationale: it was measured again.\n"
    )


def test_supersede_by_a_new_active_entry_writes_both(root: Path, run: Run) -> None:
    ran = run("supersede", OLD, "-m", WHY, *MORE, "--status", "active", cwd=root)
    assert ran.out.startswith(f"created {FOUR}.md\nchanged {OLD}.md\n  status: active → deprecated\n")
    together = "commit these files together, with `git add` first: `git commit -a` omits the new ones\n"
    assert ran.err == f"{together}takes effect when committed to the default branch: {FOUR}\n"


def test_supersede_without_a_body_keeps_the_template_which_cannot_be_active(root: Path) -> None:
    command, before = ("supersede", OLD, "-m", WHY, "-t", "Use four threads", "-b", ""), snapshot(root)
    ran = run_mdmem(*command, "-s", "active", cwd=root)
    assert (ran.returncode, "cannot be active yet: replace the template's" in ran.stderr) == (2, True)
    assert snapshot(root) == before
    ran = run_mdmem(*command, cwd=root)
    assert ran.returncode == 0
    assert "<State what was decided in one sentence.>" in (root / f"{FOUR}.md").read_text()
    assert ran.stderr.splitlines()[0] == "no text was given: the entry has the template, to be filled in"


def test_supersede_opens_the_editor_again_until_the_text_is_right(tmp_path: Path) -> None:
    root = two_entries(tmp_path / "p")
    lines = (
        "text = text.replace('<State what was decided in one sentence.>', 'Four threads.')",
        "text = text.replace('draft', 'under_review') if turn == 0 else text.replace('under_review', 'draft')",
    )
    command = ("supersede", OLD, "-m", WHY, "--title", "Use four threads")
    code, printed = on_terminal(*command, cwd=root, env=editor(tmp_path, *lines))
    assert (code, f"created {FOUR}.md" in printed.splitlines()) == (0, True)
    assert f"supersedes: [{OLD}]\nreason: {WHY}\n---\n\nFour threads.\n" in (root / f"{FOUR}.md").read_text()
    assert "not as `under_review`" in (tmp_path / "seen-1").read_text()
