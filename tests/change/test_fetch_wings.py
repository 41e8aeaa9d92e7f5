"""`mdmem sync --wings`: the one command that fetches, and the commit that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import commit_all, git, make_root, open_root, run_here, snapshot, write, write_entry

from change.pair import Two
from mdmem.change.sync import fetch_wings
from mdmem.errors import UsageError
from mdmem.store.git.process import find_repository
from mdmem.store.git.remote import fetch_tip, make_bare, run_unattended

Capture = pytest.CaptureFixture[str]


def pin(two: Two) -> str | None:
    return two.opened().settings.wings["ros2"].commit


def test_first_fetch_pins_the_wing_to_what_its_ref_is(two: Two, capsys: Capture) -> None:
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


def test_next_fetch_says_what_it_changes_and_a_third_changes_nothing(two: Two, capsys: Capture) -> None:
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


def test_fetch_that_fails_keeps_what_is_here_and_says_how_old_it_is(two: Two, capsys: Capture) -> None:
    fetch_wings(two.opened())
    before = pin(two)
    two.lib.rename(two.lib.parent / "away")
    ran = run_here(capsys, "sync", "--wings", cwd=two.root)
    assert ran.code == 3
    assert "does not appear to be a git repository" in ran.out
    assert f"  still {(before or '')[:10]}, last fetched on 2026-" in ran.out
    assert pin(two) == before
    assert "ros2/rules/callbacks" in two.opened().catalog.entries


def test_wing_that_is_not_there_moves_no_pin(two: Two, capsys: Capture) -> None:
    fetch_wings(two.opened())
    before = pin(two)
    git(two.lib, "mv", "memory/ros2", "memory/ros")
    commit_all(two.lib)
    ran = run_here(capsys, "sync", "--wings", cwd=two.root)
    assert ran.code == 3
    assert "no file is in `memory/ros2`" in ran.out
    assert pin(two) == before


def test_memory_is_found_where_the_other_repository_has_one(two: Two) -> None:
    git(two.lib, "mv", "memory", "docs")
    commit_all(two.lib)
    fetch_wings(two.opened())
    assert "ros2/rules/callbacks" in two.opened().catalog.entries


def test_one_of_several_memories_is_named_by_its_path(two: Two) -> None:
    make_root(two.lib / "other")
    commit_all(two.lib)
    [fault] = [wing.fault for wing in fetch_wings(two.opened()).wings]
    assert fault == ("it is one of several memories there: `memory`, `other`; choose one with `path`")
    write(two.root, "mdmem.toml", '[wings.ros2]\ngit = "../../lib"\npath = "memory"\n')
    assert fetch_wings(two.opened()).wings[0].fault is None
    assert "ros2/rules/callbacks" in two.opened().catalog.entries


def test_ref_may_be_a_tag(two: Two) -> None:
    git(two.lib, "tag", "-a", "v1", "-m", "v1")
    first = git(two.lib, "rev-parse", "HEAD")
    two.share("ros2/rules/new", title="New")
    write(two.root, "mdmem.toml", '[wings.ros2]\ngit = "../../lib"\nref = "v1"\n')
    fetch_wings(two.opened())
    assert pin(two) == first


def test_pinned_fetches_what_others_pinned_and_writes_nothing(two: Two, capsys: Capture) -> None:
    fetch_wings(two.opened(), commit=True)
    two.share("ros2/rules/new", title="New")
    git(two.app.parent, "clone", "-q", "--template=", str(two.app), "clone")
    clone = two.app.parent / "clone"
    before = git(clone, "status", "--porcelain")
    ran = run_here(capsys, "sync", "--wings", "--pinned", cwd=clone)
    assert (ran.code, ran.out) == (0, f"ros2  ../../lib main: at {(pin(two) or '')[:10]}\n")
    assert git(clone, "status", "--porcelain") == before == ""
    found = open_root(clone / "memory").catalog
    assert found.fetched_wings == {"ros2"}
    assert "ros2/rules/new" not in found.entries


def test_pinned_finds_a_commit_that_the_other_side_gives_by_no_name(two: Two, tmp_path: Path) -> None:
    fetch_wings(two.opened(), commit=True)
    two.share("ros2/rules/new", title="New")
    # The first protocol gives only what a branch or tag names.
    git(two.lib, "config", "uploadpack.allowAnySHA1InWant", "false")
    write(tmp_path, "home/.gitconfig", "[protocol]\n\tversion = 0\n")
    git(two.app.parent, "clone", "-q", "--template=", str(two.app), "clone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "home/.gitconfig"))
        done = fetch_wings(open_root(two.app.parent / "clone/memory"), pinned=True)
    assert [wing.fault for wing in done.wings] == [None]


def test_commit_that_is_gone_is_named(two: Two) -> None:
    gone = "0" * 39 + "1"
    write(two.root, "mdmem.toml", f'[wings.ros2]\ngit = "../../lib"\nref = "main"\ncommit = "{gone}"\n')
    [wing] = fetch_wings(two.opened(), pinned=True).wings
    said = f"main of {two.lib} no longer contains commit {gone[:10]}; `mdmem sync --wings` takes the newest"
    assert wing.fault == said


def test_name_that_is_no_such_wing_is_refused(two: Two) -> None:
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


def test_helper_that_runs_a_program_is_refused_by_git_itself(tmp_path: Path) -> None:
    store = make_bare(tmp_path / "store")
    with pytest.raises(Exception, match="transport 'ext' not allowed"):
        fetch_tip(store, f"ext::touch {tmp_path}/ran", None)
    assert not (tmp_path / "ran").exists()


def test_git_that_does_not_end_is_ended(tmp_path: Path) -> None:
    write(tmp_path, "slow", "#!/bin/sh\nsleep 60\n").chmod(0o755)
    store, slow = make_bare(tmp_path / "store"), f"--upload-pack={tmp_path}/slow"
    with pytest.raises(Exception, match=r"git fetch took more than 0\.1 s"):
        run_unattended(store.top, "fetch", slow, str(tmp_path), variables=store.variables, timeout=0.1)


def test_side_of_the_reader_is_a_repository_of_its_own(two: Two) -> None:
    fetch_wings(two.opened())
    assert git(two.app, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert find_repository(two.root) == find_repository(two.app)
