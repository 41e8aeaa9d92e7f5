"""Test `mdmem sync --wings`, and a wing of another repository in checks, answers and writes."""

import re
from pathlib import Path

import pytest
from builders import Capture, commit_all, git, make_root, open_root, run_here, snapshot, write, write_entry

from change.pair import Two
from mdmem.ask.bundle import BundleRequest, retrieve_context
from mdmem.ask.search import list_problems
from mdmem.change.sync import fetch_wings
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import UsageError
from mdmem.model.access import Access
from mdmem.store.git.process import find_repository
from mdmem.store.git.remote import fetch_tip, make_bare, run_unattended
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.write import write as writing
from mdmem.write.create import plan_entry
from mdmem.write.write import WriteOptions


def pin(two: Two) -> str | None:
    return two.opened().settings.wings["ros2"].commit


def test_first_fetch_pins_the_wing_to_the_commit_of_its_ref(two: Two, capsys: Capture) -> None:
    ran = run_here(capsys, "sync", "--wings", cwd=two.root)
    commit = git(two.lib, "rev-parse", "main")
    assert ran.code == 0
    assert ran.out == (
        f"ros2  ../../lib main: not fetched → {commit[:10]}\n"
        "  2 new entries, 0 changed, 0 gone; current entries 0 → 2\n"
    )
    assert (two.root / "mdmem.toml").read_text() == (
        f'[wings.ros2]\ngit = "../../lib"\nref = "main"\ncommit = "{commit}"\n'
    )
    assert git(two.app, "status", "--porcelain") == " M memory/mdmem.toml"
    assert ran.err == "mdmem.toml has the new commits: see `mdmem diff`, then commit it\n"


def test_outside_git_no_advice_mentions_a_git_command(
    two: Two, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(tmp_path, "plain/mdmem.toml", f'[wings.ros2]\ngit = "{two.lib}"\n')
    ran = run_here(capsys, "sync", "--wings", cwd=tmp_path / "plain")
    assert (ran.code, ran.err) == (0, "mdmem.toml has the new commits\n")


def test_second_fetch_reports_its_changes_and_a_third_changes_nothing(two: Two, capsys: Capture) -> None:
    fetch_wings(two.opened())
    before = pin(two) or ""
    write_entry(two.lib / "memory", "ros2/rules/old", title="Another choice")
    after = two.share("ros2/rules/new", type="invariant", title="New")
    assert run_here(capsys, "sync", "--wings", cwd=two.root).out == (
        f"ros2  ../../lib main: {before[:10]} → {after[:10]}\n  1 new entry, 1 changed, 0 gone; current entries 2 → 3\n"
    )
    assert pin(two) == after
    files = snapshot(two.app)
    ran = run_here(capsys, "sync", "--wings", "ros2", cwd=two.root)
    assert (ran.out, snapshot(two.app)) == (f"ros2  ../../lib main: at {after[:10]}\n", files)


def test_fetch_commits_the_settings_alone(two: Two) -> None:
    write(two.app, "other.txt", "x")
    git(two.app, "add", "other.txt")
    done = fetch_wings(two.opened(), commit=True)
    assert done.commit == git(two.app, "rev-parse", "HEAD")
    assert git(two.app, "show", "--format=%s", "--name-only", "HEAD") == "Update the wing ros2\n\nmemory/mdmem.toml"


def test_fetch_that_breaks_a_link_here_says_which(two: Two, capsys: Capture) -> None:
    fetch_wings(two.opened())
    git(two.lib, "rm", "-q", "memory/ros2/rules/callbacks.md")
    after = commit_all(two.lib)
    ran = run_here(capsys, "sync", "--wings", cwd=two.root)
    assert ran.code == 1
    assert "nav/rules/threads.md:6: error dangling-link `see` contains `ros2/rules/callbacks`" in ran.out
    assert pin(two) == after


def test_failed_fetch_keeps_the_old_commit_and_prints_its_age(two: Two, capsys: Capture) -> None:
    fetch_wings(two.opened())
    before = pin(two)
    git(two.lib, "mv", "memory/ros2", "memory/ros")
    commit_all(two.lib)
    moved = run_here(capsys, "sync", "--wings", cwd=two.root)
    assert (moved.code, "no file is in `memory/ros2`" in moved.out, pin(two)) == (3, True, before)
    two.lib.rename(two.lib.parent / "away")
    ran = run_here(capsys, "sync", "--wings", cwd=two.root)
    assert (ran.code, "does not appear to be a git repository" in ran.out, pin(two)) == (3, True, before)
    assert f"  still {(before or '')[:10]}, last fetched on 2026-" in ran.out
    assert "ros2/rules/callbacks" in two.opened().catalog.entries


def test_memory_of_the_other_repository_is_found_or_chosen_with_path(two: Two) -> None:
    git(two.lib, "mv", "memory", "docs")
    commit_all(two.lib)
    fetch_wings(two.opened())
    assert "ros2/rules/callbacks" in two.opened().catalog.entries
    make_root(two.lib / "other")
    commit_all(two.lib)
    [fault] = [wing.fault for wing in fetch_wings(two.opened()).wings]
    assert fault == ("it is one of several memories there: `docs`, `other`; choose one with `path`")
    write(two.root, "mdmem.toml", '[wings.ros2]\ngit = "../../lib"\npath = "docs"\n')
    assert fetch_wings(two.opened()).wings[0].fault is None
    assert "ros2/rules/callbacks" in two.opened().catalog.entries


def test_ref_may_be_a_tag(two: Two) -> None:
    git(two.lib, "tag", "-a", "v1", "-m", "v1")
    first = git(two.lib, "rev-parse", "HEAD")
    two.share("ros2/rules/new", title="New")
    write(two.root, "mdmem.toml", '[wings.ros2]\ngit = "../../lib"\nref = "v1"\n')
    fetch_wings(two.opened())
    assert pin(two) == first


@pytest.mark.parametrize("is_old", [False, True])
def test_pinned_fetches_what_others_pinned_and_writes_nothing(
    is_old: bool, two: Two, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_wings(two.opened(), commit=True)
    two.share("ros2/rules/new", title="New")
    if is_old:
        # With the first protocol, git fetches only commits that have a branch or tag.
        git(two.lib, "config", "uploadpack.allowAnySHA1InWant", "false")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(write(tmp_path, "old", "[protocol]\n\tversion = 0\n")))
    git(two.app.parent, "clone", "-q", "--template=", str(two.app), "clone")
    clone = two.app.parent / "clone"
    before = git(clone, "status", "--porcelain")
    ran = run_here(capsys, "sync", "--wings", "--pinned", cwd=clone)
    assert (ran.code, ran.out) == (0, f"ros2  ../../lib main: at {(pin(two) or '')[:10]}\n")
    assert git(clone, "status", "--porcelain") == before == ""
    found = open_root(clone / "memory").catalog
    assert found.fetched_wings == {"ros2"}
    assert "ros2/rules/new" not in found.entries


def test_commit_that_is_gone_is_named(two: Two) -> None:
    gone = "0" * 39 + "1"
    write(two.root, "mdmem.toml", f'[wings.ros2]\ngit = "../../lib"\nref = "main"\ncommit = "{gone}"\n')
    [wing] = fetch_wings(two.opened(), pinned=True).wings
    said = f"main of {two.lib} no longer contains commit {gone[:10]}; `mdmem sync --wings` takes the newest"
    assert wing.fault == said


def test_name_of_a_local_wing_is_refused(two: Two) -> None:
    with pytest.raises(
        UsageError, match="`nav` is not a wing of another repository; the wings of other repositories are `ros2`"
    ):
        fetch_wings(two.opened(), ["nav"])


def test_nothing_but_sync_fetches(two: Two, capsys: Capture) -> None:
    for command in (["check"], ["retrieve"], ["status"], ["search", "callback"], ["diff"], ["list"]):
        run_here(capsys, *command, cwd=two.root)
    assert not (two.app / ".git/mdmem/cache/wings").exists()


def test_nothing_of_the_other_repository_runs_or_is_checked_out(two: Two, tmp_path: Path) -> None:
    hook = f'#!/bin/sh\ntouch "{tmp_path}/ran"\n'
    write(tmp_path, "template/hooks/reference-transaction", hook).chmod(0o755)
    write(tmp_path, "home/.gitconfig", f'[init]\n\ttemplateDir = "{tmp_path}/template"\n')
    write(two.lib, ".gitattributes", "* filter=evil\n")
    write(two.lib, ".gitmodules", f'[submodule "x"]\n\tpath = x\n\turl = {tmp_path}/nowhere\n')
    commit_all(two.lib)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "home/.gitconfig"))
        fetch_wings(two.opened())
    assert "ros2/rules/callbacks" in two.opened().catalog.entries
    assert not (tmp_path / "ran").exists()
    assert list((two.app / ".git/mdmem/cache/wings").rglob("*.md")) == []
    assert git(two.app, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert find_repository(two.root) == find_repository(two.app)


def test_helper_that_runs_a_program_is_refused_by_git_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_bare(tmp_path / "store")
    with pytest.raises(Exception, match="transport 'ext' not allowed"):
        fetch_tip(store, f"ext::touch {tmp_path}/ran", None)
    assert not (tmp_path / "ran").exists()
    # A helper that does not end is killed.
    write(tmp_path, "slow", "#!/bin/sh\nsleep 60\n").chmod(0o755)
    slow = f"--upload-pack={tmp_path}/slow"
    monkeypatch.setattr("mdmem.store.git.remote._TIMEOUT", 0.1)
    with pytest.raises(Exception, match=r"git fetch took more than 0\.1 s"):
        run_unattended(store.top, "fetch", slow, str(tmp_path), variables=store.variables)


RULE = "ros2/rules/callbacks"


@pytest.fixture
def pinned(two: Two) -> Two:
    fetch_wings(two.opened(), commit=True)
    return two


def codes(two: Two, *, snapshot: Snapshot | None = None, base: str | None = None) -> list[str]:
    opened = two.opened().at(snapshot or Snapshot())
    return [f"{one.severity} {one.code}" for one in check(opened, CheckRequest(base=base)).findings]


def test_unfetched_wing_is_a_problem_in_checks_and_answers(two: Two, capsys: Capture) -> None:
    ran = run_here(capsys, "check", "--format", "concise", cwd=two.root)
    assert ran.code == 3
    assert ran.out.splitlines()[0] == (
        "mdmem.toml:2:1: error wing-not-fetched the wing `ros2` of ../../lib is not pinned to a commit yet"
    )
    assert codes(two) == ["error wing-not-fetched"]
    for command in (["retrieve"], ["retrieve", "--wing", "ros2"], ["search", "callback"]):
        ran = run_here(capsys, *command, cwd=two.root)
        assert ran.code == (command[0] == "search")
        assert "the wing `ros2` of ../../lib is not pinned to a commit yet" in ran.out + ran.err


def test_fetched_wing_is_checked_with_the_rest(pinned: Two) -> None:
    # A wing of another repository is not checked for ignored and untracked files.
    write(pinned.app, ".gitignore", "ros2/\n")
    commit_all(pinned.app)
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


def test_change_in_a_fetched_wing_fails_no_check_here(pinned: Two) -> None:
    git(pinned.lib, "rm", "-q", "memory/ros2/rules/old.md")
    commit_all(pinned.lib)
    fetch_wings(pinned.opened())
    assert codes(pinned, base="HEAD") == ["info deleted-in-force"]


@pytest.mark.parametrize("is_fetched", [True, False])
def test_wing_of_another_repository_is_not_written_here(two: Two, is_fetched: bool, capsys: Capture) -> None:
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


def test_settings_of_a_fetched_wing_can_raise_its_severities(pinned: Two) -> None:
    write_entry(pinned.lib / "memory", "ros2/rules/old", title="Old", see=["other/rules/gone"])
    commit_all(pinned.lib)
    fetch_wings(pinned.opened())
    assert codes(pinned) == ["info dangling-link"]
    with (pinned.root / "mdmem.toml").open("a") as settings:
        settings.write('[wings.ros2.check]\nseverity.dangling-link = "error"\n')
    assert codes(pinned) == ["error dangling-link"]


def test_local_folder_takes_precedence_over_a_fetched_wing(pinned: Two) -> None:
    write_entry(pinned.root, "ros2/rules/mine", title="Mine")
    opened = pinned.opened()
    assert [one for one in opened.catalog.entries if one.startswith("ros2/")] == ["ros2/rules/mine"]
    assert "error wing-not-fetched" in codes(pinned)


def test_active_wing_is_the_local_project(pinned: Two) -> None:
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


def test_caller_without_access_sees_no_problem_of_the_wing(two: Two) -> None:
    opened = two.opened()
    narrow = type(opened)(
        opened.location, opened.environment, opened.cwd, opened.today, access=Access.to_wings({"nav"}, may_write=False)
    )
    assert list_problems(narrow, Filters()) == ()
    assert narrow.catalog.missing_wings == frozenset()


def test_damaged_cache_is_a_problem_and_can_be_fetched_again(pinned: Two) -> None:
    for pack in (pinned.app / ".git/mdmem/cache/wings").rglob("*.pack"):
        pack.unlink()
    for loose in (pinned.app / ".git/mdmem/cache/wings").glob("*/git/objects/??/*"):
        loose.unlink()
    assert [one.message for one in list_problems(pinned.opened(), Filters())] == [
        "the wing `ros2` of ../../lib was fetched, but can no longer be read"
    ]
    assert fetch_wings(pinned.opened(), pinned=True).wings[0].fault is None
    assert RULE in pinned.opened().catalog.entries


def test_wing_that_is_fetched_binds_in_a_bundle_with_a_time_limit(pinned: Two) -> None:
    bundle = retrieve_context(pinned.opened(), BundleRequest(project_id="nav"))
    standings = {item["id"]: item.get("standing") for item in (*bundle["items"], *bundle["proposed"])}
    assert standings[RULE] == "binding"
