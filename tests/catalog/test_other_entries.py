"""A catalog that was patched is the one that loading the changed tree gives."""

from __future__ import annotations

from pathlib import Path

from builders import make_root, write, write_entry

from mdmem.catalog import Catalog, load_cached, with_other_entries
from mdmem.tree import OverlaidTree, WorkingTree

CHANGED = {
    "nav/rules/one.md": b"---\ntype: decision\nstatus: active\ncreated_at: 2026-01-01\nsupersedes: two\n---\n\nOne.\n",
    "nav/rules/new.md": b"---\ntype: note\nstatus: active\ncreated_at: 2026-01-01\nnonsense: 1\n---\n\nNew words.\n",
}


def catalogs(folder: Path, gone: frozenset[str] = frozenset()) -> tuple[Catalog, Catalog]:
    """Return what patching gives, and what loading does."""
    root = make_root(folder / "memory")
    write(root, "nav/README.md", "---\nkind: project\n---\n")
    for name in ("one", "two", "three"):
        write_entry(root, f"nav/rules/{name}", see="two")
    tree = WorkingTree(root)
    changed = OverlaidTree(WorkingTree(root), CHANGED, gone)
    loaded = load_cached(changed, folder / "other")
    return with_other_entries(load_cached(tree, folder / "cache"), changed, CHANGED, gone=gone), loaded


def told(catalog: Catalog) -> tuple[object, ...]:
    lists = (list(catalog.entries.items()), catalog.findings, catalog.wings, catalog.digests, dict(catalog.sizes))
    return (*lists, [file.path for file in catalog.files], catalog.lineage.successors, sorted(catalog.addresses))


def test_patched_catalog_is_the_loaded_one(tmp_path: Path) -> None:
    patched, loaded = catalogs(tmp_path)
    assert told(patched) == told(loaded)
    assert patched.entries["nav/rules/one"].supersedes == ("nav/rules/two",)


def test_entries_that_are_gone_are_in_neither(tmp_path: Path) -> None:
    patched, loaded = catalogs(tmp_path, frozenset({"nav/rules/three.md"}))
    assert told(patched) == told(loaded)


def test_bodies_are_those_of_the_changed_tree(tmp_path: Path) -> None:
    patched, loaded = catalogs(tmp_path)
    for address in loaded.entries:
        assert patched.body(address) == loaded.body(address)
