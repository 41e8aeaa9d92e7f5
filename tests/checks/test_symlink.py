"""Links are made here: a checkout on Windows turns those in a golden case into files."""

from pathlib import Path

import pytest
from builders import commit_all, make_repository, make_root, write, write_entry
from trees import found_in

from mdmem.store.catalog.load import load
from mdmem.store.git.discovery import find_repository
from mdmem.store.tree import GitTree, WorkingTree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_root(make_repository(tmp_path) / "memory")
    write_entry(root, "app/rules/use-utc")
    return root


def staged(root: Path) -> GitTree:
    commit_all(root.parent)
    repository = find_repository(root)
    assert repository is not None
    return GitTree(repository, "memory", None, "staged")


def test_link_to_an_entry_is_found_on_disk_and_in_the_index(root: Path) -> None:
    (root / "app/rules/utc.md").symlink_to("use-utc.md")
    expected = ["app/rules/utc.md: error a symbolic link to `use-utc.md`; links are not followed"]
    assert found_in(WorkingTree(root), "symlink") == expected
    assert found_in(staged(root), "symlink") == expected


def test_link_to_a_room_and_a_manifest_are_found_and_not_read(root: Path) -> None:
    write(root, "app/manifest.txt", "---\nkind: shared\n---\n")
    (root / "app/copy").symlink_to("rules", target_is_directory=True)
    (root / "app/README.md").symlink_to("manifest.txt")
    assert found_in(WorkingTree(root), "symlink") == [
        "app/README.md: error a symbolic link to `manifest.txt`; links are not followed",
        "app/copy: error a symbolic link to `rules`; links are not followed",
    ]
    assert list(load(WorkingTree(root)).entries) == ["app/rules/use-utc"]
    assert not load(WorkingTree(root)).wings["app"].is_shared
    assert found_in(WorkingTree(root), "manifest-invalid") == []


@pytest.mark.parametrize(
    "target", ["../../../secrets/key.md", "/etc/passwd", "../../../memory-too/app/rules/a.md", "../../.."]
)
def test_link_out_of_the_root_escapes_it(root: Path, target: str) -> None:
    (root / "app/rules/key.md").symlink_to(target)
    expected = [f"app/rules/key.md: error a symbolic link leaves the memory for `{target}`"]
    assert found_in(WorkingTree(root), "symlink") == expected
    assert found_in(staged(root), "path-escapes-root") == expected


def test_link_that_climbs_to_the_root_and_down_again_stays_inside(root: Path) -> None:
    (root / "app/rules/utc.md").symlink_to("../../app/../app/rules/use-utc.md")
    (root / "app/rules/gone.md").symlink_to("..almost")
    assert [one.rpartition("; ")[2] for one in found_in(WorkingTree(root), "symlink")] == ["links are not followed"] * 2


def test_file_that_holds_a_path_is_no_link(root: Path) -> None:
    write(root, "app/rules/utc.md", "use-utc.md")
    assert found_in(WorkingTree(root), "symlink") == []


def test_links_outside_the_wings_are_not_the_memorys_where_the_root_is_the_top(tmp_path: Path) -> None:
    top = make_root(make_repository(tmp_path))
    write(top, "app/README.md", "---\nkind: project\n---\n")
    write(top, "CHANGELOG.md", "# Changes\n")
    write(top, "src/main.c", "")
    (top / "docs").symlink_to("src", target_is_directory=True)
    commit_all(top)
    repository = find_repository(top)
    assert repository is not None
    for tree in (WorkingTree(top, is_top=True), GitTree(repository, "", None, "staged")):
        assert [file.path for file in tree.files()] == ["app/README.md", "mdmem.toml"]
