"""At a repository's top: what is meant as an entry and lies in no wing is an error in every tree, never silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders import commit_all, git, make_repository, make_root, open_root, write, write_entry

from mdmem.checks.run import CheckRequest, check
from mdmem.store.workspace.location import Snapshot

if TYPE_CHECKING:
    from pathlib import Path

CODE = "wing-without-manifest"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository that is a memory, with a rule in a folder without a manifest, and one that git ignores."""
    top = make_root(make_repository(tmp_path / "p"), 'default_wing = "team"\n')
    write(top, "team/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(top, "team/rules/a", title="A")
    write_entry(top, "ops/rules/no-root", title="No root")
    write_entry(top, "build/rules/copy", title="Copy")
    write(top, ".gitignore", "build/\n")
    return top


@pytest.mark.parametrize("snapshot", [Snapshot(), Snapshot(staged=True), Snapshot(revision="HEAD")])
def test_entry_without_a_wing_is_told_in_every_tree(top: Path, snapshot: Snapshot) -> None:
    commit_all(top)
    report = check(open_root(top).at(snapshot), CheckRequest())
    assert [(one.code, one.place.path) for one in report.findings] == [(CODE, "ops/rules/no-root.md")]


def test_path_of_such_an_entry_is_no_clean_run(top: Path) -> None:
    report = check(open_root(top), CheckRequest(paths=("ops/rules/no-root.md",)))
    assert [one.code for one in report.findings] == [CODE]


def test_manifest_that_is_taken_away_is_one_finding_and_no_deletion(top: Path) -> None:
    commit_all(top)
    git(top, "rm", "-q", "team/README.md")
    report = check(open_root(top).at(Snapshot(staged=True)), CheckRequest(base="HEAD"))
    new = [(one.code, one.place.path) for one in report.findings if one.new]
    assert new == [("unknown-wing", "mdmem.toml"), (CODE, "team/README.md")]


def test_link_to_a_file_that_git_mv_moved_is_mended_before_the_commit(tmp_path: Path) -> None:
    from mdmem.write.fix import fix

    folder = make_repository(tmp_path / "p")
    root = make_root(folder / "memory")
    write(root, "app/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(root, "app/rules/twice", "We retry.\n\nRationale: it was tried.\n", title="Twice")
    write_entry(root, "app/rules/a", "We do.\n\nRationale: [this](twice.md).\n", title="A", see=["app/rules/twice"])
    commit_all(folder)
    git(folder, "mv", "memory/app/rules", "memory/app/retries")
    write(root, "app/rules/b.md", (root / "app/retries/a.md").read_bytes())
    report = check(open_root(root), CheckRequest())
    assert {one.message.partition(", which ")[2] for one in report.findings if one.code == "dangling-link"} == {
        "moved to `app/retries/twice` in git's index"
    }
    assert "; `mdmem mv` moves an entry with its links" in report.findings[0].help
    fix(open_root(root), CheckRequest(), with_unsafe=False, is_dry=False)
    assert check(open_root(root), CheckRequest(select=("dangling-link", "body-link-broken"))).findings == ()


def test_fix_is_offered_only_where_it_can_be_written(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "p")
    root = make_root(folder / "memory")
    write_entry(root, "app/rules/a", title="A", see=["b"])
    write_entry(root, "app/rules/b", title="B")
    commit_all(folder)
    request, workspace = CheckRequest(select=("short-address",)), open_root(root)
    fixes = [
        [one.fix is not None for one in check(workspace.at(snapshot), request).findings]
        for snapshot in (Snapshot(), Snapshot(staged=True), Snapshot(revision="HEAD"))
    ]
    assert fixes == [[True], [True], [False]]


def test_link_to_a_file_outside_the_memory_that_is_not_added_says_that_git_does_not_track_it(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "p")
    root = make_root(folder / "memory")
    write(root, "app/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(root, "app/rules/a", "We do.\n\nRationale: [this](../../../docs/plan.md).\n", title="A")
    commit_all(folder)
    write(folder, "docs/plan.md", "A plan.\n")
    (found,) = check(open_root(root), CheckRequest(select=("body-link-broken",))).findings
    assert found.message == "`../../../docs/plan.md` is not a file that git tracks"
    commit_all(folder)
    assert check(open_root(root), CheckRequest(select=("body-link-broken",))).findings == ()
