"""What is there and cannot be read: no golden case could be checked out."""

import os
from pathlib import Path

import pytest
from builders import make_root, write_entry
from trees import ListedTree, found_in

from mdmem.store.catalog.load import load
from mdmem.store.tree import FileKind, TreeFile, WorkingTree

CODE = "unreadable"


def test_file_and_folder_that_refuse_are_found() -> None:
    refused = {"kind": FileKind.UNREADABLE, "reason": "Permission denied"}
    tree = ListedTree((TreeFile("app/rules/a.md", **refused), TreeFile("app/time", **refused), TreeFile("app/b/c.md")))
    expected = [f"{path}: error cannot be read: permission denied" for path in ("app/rules/a.md", "app/time")]
    assert found_in(tree, CODE) == expected
    assert list(load(tree).broken) == ["app/rules/a.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes")
def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, "app/rules/use-utc")
    os.mkfifo(root / "app/rules/pipe.md")
    assert found_in(WorkingTree(root), CODE) == ["app/rules/pipe.md: error cannot be read: it is not a regular file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may read everything")
def test_file_without_the_right_to_read_is_found(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, "app/rules/use-utc").chmod(0)
    assert found_in(WorkingTree(root), CODE) == ["app/rules/use-utc.md: error cannot be read: permission denied"]


def test_file_that_can_be_read_is_fine(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, "app/rules.md/use-utc")
    write_entry(root, "app/rules/use-utc")
    (root / "app/empty.md").mkdir()
    assert found_in(WorkingTree(root), CODE) == []
