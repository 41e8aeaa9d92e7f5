"""A tree with changes that nobody has written yet."""

from pathlib import Path

from builders import write

from mdmem.store.tree import TreeView, Unreadable, WorkingTree, digest_of


def overlay(root: Path) -> TreeView:
    write(root, "a.md", "a")
    write(root, "b.md", "b")
    return TreeView(WorkingTree(root), changed={})


def held(tree: TreeView) -> dict[str, bytes | Unreadable]:
    return dict(tree.read([file.path for file in tree.files()]))


def test_overlay_renames_after_the_change_of_bytes(tmp_path: Path) -> None:
    tree = overlay(tmp_path).with_changes({"a.md": b"new"}, [("a.md", "c.md")])
    assert held(tree) == {"b.md": b"b", "c.md": b"new"}


def test_overlay_follows_a_file_renamed_twice(tmp_path: Path) -> None:
    tree = overlay(tmp_path).with_changes({}, [("a.md", "c.md")]).with_changes({"c.md": b"c"}, [("c.md", "a.md")])
    assert held(tree) == {"a.md": b"c", "b.md": b"b"}


def test_overlay_renames_an_empty_file(tmp_path: Path) -> None:
    assert held(overlay(tmp_path).with_changes({"a.md": b""}, [("a.md", "c.md")])) == {"b.md": b"b", "c.md": b""}


def test_overlay_keeps_to_what_it_read_first(tmp_path: Path) -> None:
    tree = overlay(tmp_path)
    held(tree)
    write(tmp_path, "a.md", "changed meanwhile")
    assert held(tree.with_changes({"b.md": b"new"})) == {"a.md": b"a", "b.md": b"new"}


def test_overlay_knows_the_identity_of_changed_bytes(tmp_path: Path) -> None:
    tree = overlay(tmp_path).with_changes({"a.md": b"new"})
    assert tree.digests(tree.files()) == {"a.md": digest_of(b"new"), "b.md": digest_of(b"b")}
