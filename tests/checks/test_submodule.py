"""A repository in the repository: git refuses to carry a `.git` in a golden case."""

from pathlib import Path

from builders import commit_all, git, make_repository, make_root, write_entry
from trees import found_in, tree_of

from mdmem.store.git.discovery import find_repository
from mdmem.store.tree import GitTree, WorkingTree

MESSAGE = "this is a repository of its own; nothing in it is read"


def test_repository_as_wing_is_found_on_disk_and_in_the_index(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path / "outer") / "memory")
    write_entry(root, "app/rules/use-utc")
    inner = make_repository(root / "shared")
    write_entry(inner, "rules/a")
    inner_commit = commit_all(inner)
    git(root.parent, "update-index", "--add", "--cacheinfo", f"160000,{inner_commit},memory/shared")
    repository = find_repository(root)
    assert repository is not None
    for tree in (WorkingTree(root), GitTree(repository, "memory", None, "staged")):
        assert found_in(tree, "submodule") == [f"shared: error {MESSAGE}"]


def test_worktree_below_the_memory_counts_for_its_git_file(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, "app/rules/use-utc")
    (root / "app/rules/.git").write_text("gitdir: ../elsewhere\n")
    assert found_in(WorkingTree(root), "submodule") == [f"app/rules: error {MESSAGE}"]


def test_room_named_git_is_no_repository() -> None:
    assert found_in(tree_of("app/git/use-utc.md", "app/gitmodules/a.md"), "submodule") == []
