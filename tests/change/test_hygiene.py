"""Test hygiene: the entries that need maintenance, as in the contract."""

from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from builders import make_repository, make_root, open_root, write, write_entry

from mdmem.change.hygiene import HygieneReport, hygiene_fields, run, run_hygiene
from mdmem.markdown.similarity import NearPair
from mdmem.model.finding import Finding
from mdmem.store.state.local_records import PendingWrite, PendingWrites, Times, read_times
from mdmem.store.workspace.workspace import Workspace, is_hygiene_due

TODAY = date(2026, 11, 21)
LONG = "Each request carries a deadline, and whoever calls on passes the rest of it along to the next one.\n"


def examined(root: Path) -> HygieneReport:
    return run(open_root(root))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return make_root(make_repository(tmp_path / "p") / "memory")


@pytest.mark.parametrize(
    ("fields", "is_stale"),
    [
        ({"created_at": "2026-05-25"}, False),
        ({"created_at": "2026-05-24"}, True),
        ({"created_at": "2026-05-24T23:30:00+02:00"}, True),
        ({"created_at": "2020-01-01", "verified_at": "2026-05-25"}, False),
        ({"created_at": "2020-01-01", "verified_at": "2026-05-24"}, True),
        ({"created_at": "2020-01-01", "supersedes": "app/rules/old"}, False),
        ({"created_at": "2020-01-01", "status": "draft"}, False),
        ({"created_at": "2020-01-01", "status": "deprecated"}, False),
        ({"created_at": "2020-01-01", "verified_at": "last week"}, False),
        ({"created_at": "2020-01-01", "type": "invariant"}, False),
        ({"created_at": "2020-01-01", "type": "pattern", "verified_at": "2026-08-24"}, False),
        ({"created_at": "2020-01-01", "type": "pattern", "verified_at": "2026-08-23"}, True),
    ],
)
def test_decisions_are_stale_after_180_days_and_patterns_from_90_on(
    root: Path, fields: dict[str, str], *, is_stale: bool
) -> None:
    write_entry(root, "app/rules/retry", **fields)
    assert [one.id for one in examined(root).stale_items] == ["app/rules/retry"] * is_stale


def test_decision_listed_only_by_its_predecessor_is_not_stale(root: Path) -> None:
    write_entry(root, "app/rules/old", status="deprecated", superseded_by="app/rules/retry")
    write_entry(root, "app/rules/retry", created_at="2020-01-01")
    assert examined(root).stale_items == ()


def test_entries_of_one_type_and_wing_that_say_the_same_are_duplicates(root: Path) -> None:
    for address in ("app/rules/b", "app/rules/a", "app/other/c", "web/rules/d"):
        write_entry(root, address, LONG, title="Deadlines")
    write_entry(root, "app/rules/e", LONG, title="Deadlines", type="note")
    write_entry(root, "app/rules/f", LONG, title="Deadlines", status="draft")
    hygiene = examined(root)
    assert hygiene.duplicates == (("app/other/c", "app/rules/a", "app/rules/b", "app/rules/f"),)
    assert hygiene.duplicates_found == 3
    assert hygiene.titles["app/rules/f"] == "Deadlines (draft)"


@pytest.mark.parametrize("fields", [{"status": "draft", "supersedes": "app/rules/a"}, {"status": "deprecated"}])
def test_superseding_draft_and_deprecated_entry_are_no_duplicates(root: Path, fields: dict[str, str]) -> None:
    write_entry(root, "app/rules/a", LONG)
    write_entry(root, "app/rules/b", LONG, **fields)
    assert examined(root).duplicates == ()


@pytest.mark.parametrize(
    ("fields", "is_near"),
    [
        ({}, True),
        ({"status": "draft"}, True),
        ({"see": ["app/rules/a"]}, False),
        ({"conflicts_with": ["app/rules/a"]}, False),
        ({"type": "note"}, False),
        ({"status": "deprecated"}, False),
    ],
)
def test_similar_decisions_are_reported_as_pairs(root: Path, fields: dict[str, object], *, is_near: bool) -> None:
    write_entry(root, "app/rules/a", "Rationale: one two three four five\n", title="Six")
    write_entry(root, "app/rules/b", "Rationale: one two three four zero\n", title="Nine", **fields)
    write_entry(root, "app/rules/c", "Rationale: one eight ten eleven\n", title="Twelve")
    near = (NearPair("app/rules/a", "app/rules/b", 0.5),) if is_near else ()
    assert examined(root).near == near
    assert [one["similarity"] for one in hygiene_fields(examined(root)).get("near_duplicates", ())] == [0.5] * is_near


def test_opposite_invariants_are_similar(root: Path) -> None:
    for name, said, kind in (("a", "be", "invariant"), ("b", "never be", "invariant"), ("c", "be", "decision")):
        write_entry(root, f"app/rules/{name}", f"Amounts must {said} floats.\n", type=kind, title="Amounts are floats")
    assert [(one.a, one.b) for one in examined(root).near] == [("app/rules/a", "app/rules/b")]


def test_common_lines_of_a_template_do_not_make_entries_similar(root: Path) -> None:
    template = "\n".join(f"What of step {number} in the way of release?" for number in range(20))
    for number in range(12):
        own = " ".join(f"own{number}{letter}" for letter in "abcdefgh")
        write_entry(root, f"app/rules/r{number}", f"{template}\n\n{own}\n", title=f"Own {number}")
    write_entry(root, "app/rules/twin", f"{template}\n\n{own[:-5]} else other new\n", title="Own 11 again")
    assert [(one.a, one.b) for one in examined(root).near] == [("app/rules/r11", "app/rules/twin")]


def test_patterns_that_differ_in_their_steps_are_no_duplicates(root: Path) -> None:
    write_entry(root, "app/rules/a", "", type="pattern", title="Release", repeatable_steps=["tag", "build", "sign"])
    write_entry(root, "app/rules/b", "", type="pattern", title="Release", repeatable_steps=["announce", "thank"])
    assert examined(root).duplicates == ()


def test_entities_of_one_name_drift_within_wing_and_focus(root: Path) -> None:
    entity = {"type": "note", "label": "entity"}
    write_entry(root, "app/entities/a", "The queue.", entity="Order Queue", **entity)
    write_entry(root, "app/entities/b", "It waits for orders.", entity="order  queue", **entity)
    write_entry(root, "app/entities/c", "Another focus.", entity="order queue", focus="billing", **entity)
    write_entry(root, "web/entities/d", "Another wing.", entity="order queue", **entity)
    write_entry(root, "app/entities/e", "Of an agent.", entity="ORDER QUEUE", status="draft", **entity)
    write_entry(root, "app/entities/f", "It was once.", entity="order queue", status="deprecated", **entity)
    assert examined(root).drifted == (("app/entities/a", "app/entities/b", "app/entities/e"),)


def examined_after(root: Path, days: dict[str, date], monkeypatch: pytest.MonkeyPatch) -> tuple[Finding, ...]:
    """Return the findings for given days of the last changes of files."""
    activity = SimpleNamespace(days=days, is_cut=False)
    monkeypatch.setattr("mdmem.change.hygiene.last_changes", lambda *_, **__: activity)
    return examined(root).findings


def test_rule_is_reported_with_the_newest_file_that_changed_later(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(root, "app/rules/retry", applies_to=["src/net/**"], verified_at="2026-10-01")
    days = {"src/net/a.py": date(2026, 10, 5), "src/net/b.py": date(2026, 11, 2), "src/network.py": TODAY}
    (found,) = examined_after(root, days, monkeypatch)
    assert (found.code, found.address, found.place.line) == ("unverified-since-change", "app/rules/retry", 5)
    assert found.message == "`src/net/b.py` changed on 2026-11-02, with 1 more, after it was verified on 2026-10-01"
    assert "`mdmem verify app/rules/retry`" in found.help
    write_entry(root, "app/rules/retry", applies_to=["src/net/**"], created_at="2026-10-01")
    for day in (date(2026, 9, 30), date(2026, 10, 1)):
        assert examined_after(root, {"src/net/a.py": day}, monkeypatch) == ()


def test_stale_entry_is_not_also_reported_as_overdue(root: Path) -> None:
    old = {"created_at": "2020-01-01", "verified_at": "2020-01-02"}
    write_entry(root, "app/rules/retry", **old)
    write_entry(root, "app/rules/clock", "Clocks run on UTC.", type="invariant", **old)
    found = [(one.code, one.address) for one in examined(root).findings]
    assert found == [("review-overdue", "app/rules/clock")]


KINDS = ["duplicate_decisions", "outdated_decisions", "obsolete_patterns", "entity_drift", "unresolved_saves"]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Return a memory of a shared wing and two projects, each with an old decision, one of them with a focus."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root = make_root(tmp_path / "memory")
    write(root, "base/README.md", "---\nkind: shared\n---\n")
    write(root, "app/README.md", "---\nkind: project\nproject_id: The-App\n---\n")
    for wing in ("app", "base", "web"):
        write_entry(root, f"{wing}/rules/old", f"{wing}.\n", created_at="2020-01-01")
    write_entry(root, "app/rules/net", "Networks.\n", created_at="2020-01-01", focus="net")
    return open_root(root)


def keep(workspace: Workspace, project: str, content: dict[str, Any] | None = None, **more: str) -> str:
    arguments = {"decision": content or {}, "project_id": project, **more}
    created = datetime(2026, 11, 20, tzinfo=UTC)
    return PendingWrites(workspace.state_folder).add(
        PendingWrite(verb="save_decision", arguments=arguments, created=created)
    )


@pytest.mark.parametrize(
    ("project", "scope", "outdated"),
    [
        (None, None, ["app/rules/net", "app/rules/old", "base/rules/old", "web/rules/old"]),
        ("", None, ["app/rules/net", "app/rules/old", "base/rules/old", "web/rules/old"]),
        (None, "project", ["app/rules/net", "app/rules/old", "web/rules/old"]),
        (None, "global", ["base/rules/old"]),
        ("The-App", None, ["app/rules/net", "app/rules/old"]),
        ("The-App", "project", ["app/rules/net", "app/rules/old"]),
        ("The-App", "global", ["base/rules/old"]),
        ("app", "focus", ["app/rules/net"]),
    ],
)
def test_project_and_scope_limit_the_report(
    workspace: Workspace, project: str | None, scope: str | None, outdated: list[str]
) -> None:
    answer = run_hygiene(workspace, project, scope)
    assert answer["candidate_ids"]["outdated_decisions"] == outdated
    assert (answer["project_id"], answer["scope"]) == (project or None, scope)


def test_project_without_a_wing_has_only_its_writes(workspace: Workspace) -> None:
    mine = keep(workspace, "new-project")
    keep(workspace, "web")
    answer = run_hygiene(workspace, "new-project")
    assert answer["candidate_ids"] == {kind: [] for kind in KINDS} | {"unresolved_saves": [mine]}
    assert answer["remarks"] == ["there is no wing for the project `new-project` yet"]
    assert not is_hygiene_due(workspace, "new-project")
    assert read_times(workspace.state_folder) == Times()


def test_project_and_scope_limit_the_pending_writes(workspace: Workspace) -> None:
    plain = keep(workspace, "The-App", {"title": "a", "scope": "project"})
    wide = keep(workspace, "app", {"title": "b", "scope": "global"})
    focused = keep(workspace, "app", {"title": "c", "scope": "focus"}, focus="net")
    other = keep(workspace, "web", {"title": "d"})
    for project, scope, waiting in (
        (None, None, {plain, wide, focused, other}),
        ("app", None, {plain, wide, focused}),
        ("app", "project", {plain, focused}),
        ("The-App", "global", {wide}),
        (None, "focus", {focused}),
    ):
        answer = run_hygiene(workspace, project, scope, check_pending_only=True)
        assert set(answer["candidate_ids"]["unresolved_saves"]) == waiting
