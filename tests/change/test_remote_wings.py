"""A wing of another repository, fetched or not, as checks, retrieval, search and writes see it."""

from __future__ import annotations

import re

import pytest
from builders import commit_all, git, run_here, snapshot, write, write_entry

from change.pair import Two
from mdmem.ask.bundle import retrieve_context
from mdmem.ask.show import list_problems
from mdmem.change.sync import fetch_wings
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import UsageError
from mdmem.model.access import Access
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.write import write as writing
from mdmem.write.create import plan_entry
from mdmem.write.write import WriteOptions

Capture = pytest.CaptureFixture[str]

RULE = "ros2/rules/callbacks"


@pytest.fixture
def pinned(two: Two) -> Two:
    fetch_wings(two.opened(), commit=True)
    return two


def codes(two: Two, *, snapshot: Snapshot | None = None, base: str | None = None) -> list[str]:
    opened = two.opened().at(snapshot or Snapshot())
    return [f"{one.severity} {one.code}" for one in check(opened, CheckRequest(base=base)).findings]


def test_wing_that_is_not_fetched_makes_the_check_incomplete(two: Two, capsys: Capture) -> None:
    ran = run_here(capsys, "check", "--format", "concise", cwd=two.root)
    assert ran.code == 3
    assert ran.out.splitlines()[0] == (
        "mdmem.toml:2:1: error wing-not-fetched the wing `ros2` of ../../lib is not pinned to a commit yet"
    )
    assert codes(two) == ["error wing-not-fetched"]


def test_wing_that_is_not_fetched_is_a_problem_of_every_retrieval(two: Two, capsys: Capture) -> None:
    for command in (["retrieve"], ["retrieve", "--wing", "ros2"], ["search", "callback"]):
        ran = run_here(capsys, *command, cwd=two.root)
        assert ran.code == (command[0] == "search")
        assert "the wing `ros2` of ../../lib is not pinned to a commit yet" in ran.out + ran.err


def test_fetched_wing_is_checked_with_the_rest(pinned: Two) -> None:
    assert codes(pinned) == []
    write_entry(pinned.root, "nav/rules/threads", title="Use two threads", see=["ros2/rules/callback"])
    assert codes(pinned) == ["error dangling-link"]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["retrieve", "--type", "invariant"], f"[invariant] {RULE}: Callbacks do not block (shared)"),
        (["search", "executor"], RULE),
        (["show", RULE], "A callback must not block"),
        (["why", RULE], "is current"),
        (["status"], "from     ros2  ../../lib at {commit}, last fetched on "),
    ],
)
def test_commands_read_a_fetched_wing(pinned: Two, capsys: Capture, command: list[str], shown: str) -> None:
    commit = git(pinned.lib, "rev-parse", "main")[:10]
    assert shown.replace("{commit}", commit) in run_here(capsys, *command, cwd=pinned.root).out


def test_each_tree_reads_the_commit_that_its_own_settings_name(pinned: Two) -> None:
    first = git(pinned.app, "rev-parse", "HEAD")
    pinned.share("ros2/rules/new", title="New")
    fetch_wings(pinned.opened())
    git(pinned.app, "add", "-A")
    opened = pinned.opened()
    assert "ros2/rules/new" in opened.catalog.entries
    assert "ros2/rules/new" in opened.at(Snapshot(staged=True)).catalog.entries
    assert "ros2/rules/new" not in opened.at(Snapshot(revision=first)).catalog.entries
    commit_all(pinned.app)
    git(pinned.app, "switch", "-q", "-c", "side", first)
    write_entry(pinned.root, "nav/rules/side", title="Side")
    commit_all(pinned.app)
    merged = pinned.opened().at(Snapshot(revision="side", merge_into="main"))
    assert {"ros2/rules/new", "nav/rules/side"} <= merged.catalog.entries.keys()
    ours, theirs, ancestor = merged.sides
    assert [RULE in side.catalog.entries for side in (ours, theirs, ancestor)] == [True, True, True]
    assert ["ros2/rules/new" in side.catalog.entries for side in (ours, theirs, ancestor)] == [False, True, False]


def test_what_changed_in_a_fetched_wing_blocks_nobody_here(pinned: Two) -> None:
    git(pinned.lib, "rm", "-q", "memory/ros2/rules/old.md")
    commit_all(pinned.lib)
    fetch_wings(pinned.opened())
    assert codes(pinned, base="HEAD") == ["info deleted-in-force"]


@pytest.mark.parametrize("is_fetched", [True, False])
def test_wing_that_lives_elsewhere_is_not_written_here(two: Two, is_fetched: bool, capsys: Capture) -> None:
    if is_fetched:
        fetch_wings(two.opened())
    before = snapshot(two.app)
    said = "the wing `ros2` belongs to ../../lib: change it there, then type `mdmem sync --wings` here"
    text = "---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\ntitle: X\n---\n\nWe saw it.\n"
    with pytest.raises(UsageError, match=re.escape(said)):
        writing.write(two.opened(), lambda one: plan_entry(one, "ros2/rules/mine", text), WriteOptions())
    for command in (("deprecate", RULE, "--reason", "x"), ("edit", RULE)) if is_fetched else ():
        ran = run_here(capsys, *command, cwd=two.root)
        assert (ran.code, ran.err) == (2, f"mdmem: {said}\n")
    assert snapshot(two.app) == before


def test_fix_leaves_a_fetched_wing_alone(pinned: Two, capsys: Capture) -> None:
    path = pinned.lib / "memory/ros2/rules/callbacks.md"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    commit_all(pinned.lib)
    fetch_wings(pinned.opened(), commit=True)
    found = check(pinned.opened(), CheckRequest()).findings
    assert [(one.code, one.fix) for one in found] == [("file-form", None)]
    before = snapshot(pinned.app)
    assert run_here(capsys, "check", "--fix", cwd=pinned.root).code == 0
    assert snapshot(pinned.app) == before


def test_settings_of_the_wing_outweigh_that_it_is_not_ours(pinned: Two) -> None:
    write_entry(pinned.lib / "memory", "ros2/rules/old", title="Old", see=["other/rules/gone"])
    commit_all(pinned.lib)
    fetch_wings(pinned.opened())
    assert codes(pinned) == ["info dangling-link"]
    with (pinned.root / "mdmem.toml").open("a") as settings:
        settings.write('[wings.ros2.check]\nseverity.dangling-link = "error"\n')
    assert codes(pinned) == ["error dangling-link"]


def test_folder_here_goes_before_a_wing_of_its_name(pinned: Two) -> None:
    write_entry(pinned.root, "ros2/rules/mine", title="Mine")
    opened = pinned.opened()
    assert [one for one in opened.catalog.entries if one.startswith("ros2/")] == ["ros2/rules/mine"]
    assert "error wing-not-fetched" in codes(pinned)


def test_project_that_is_ours_is_the_active_one(pinned: Two) -> None:
    write(pinned.lib, "memory/ros2/README.md", "---\nkind: project\nowners: [Ada]\n---\n\n# ros2\n")
    commit_all(pinned.lib)
    fetch_wings(pinned.opened())
    opened = pinned.opened()
    assert resolve_scope(opened.catalog, opened.settings, Filters()).wing == "nav"


def test_hygiene_leaves_a_fetched_wing_to_its_own_repository(pinned: Two, capsys: Capture) -> None:
    write_entry(pinned.lib / "memory", "ros2/rules/old", title="An older choice", expires_at="2026-04-01")
    commit_all(pinned.lib)
    fetch_wings(pinned.opened())
    assert run_here(capsys, "hygiene", "--wing", "ros2", cwd=pinned.root).out.count("ros2/rules/old") == 0


def test_caller_who_may_not_see_the_wing_is_told_nothing(two: Two) -> None:
    opened = two.opened()
    narrow = type(opened)(
        opened.location, opened.environment, opened.cwd, opened.today, access=Access.to_wings({"nav"}, may_write=False)
    )
    assert list_problems(narrow, Filters()) == ()
    assert narrow.catalog.missing_wings == frozenset()


def test_damaged_cache_is_said_and_ends_nothing(pinned: Two) -> None:
    for pack in (pinned.app / ".git/mdmem/cache/wings").rglob("*.pack"):
        pack.unlink()
    for loose in (pinned.app / ".git/mdmem/cache/wings").glob("*/git/objects/??/*"):
        loose.unlink()
    assert [one.message for one in list_problems(pinned.opened(), Filters())] == [
        "the wing `ros2` of ../../lib was fetched, but can no longer be read"
    ]
    assert fetch_wings(pinned.opened(), pinned=True).wings[0].fault is None
    assert RULE in pinned.opened().catalog.entries


def test_ignored_and_untracked_are_not_asked_of_a_fetched_wing(pinned: Two) -> None:
    write(pinned.app, ".gitignore", "ros2/\n")
    commit_all(pinned.app)
    assert codes(pinned) == []


def test_wing_that_is_fetched_binds_in_a_bundle_with_a_time_limit(pinned: Two) -> None:
    bundle = retrieve_context(pinned.opened(), project_id="nav", scope="project")
    standings = {item["id"]: item.get("standing") for item in (*bundle["items"], *bundle["proposed"])}
    assert standings[RULE] == "binding"
