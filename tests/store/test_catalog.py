"""Loading a tree: one bad file is a finding, the cache gives what a fresh load gives, and entries are linked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from builders import commit_all, entry_text, git, make_repository, make_root, refuse, repository_of, write, write_entry
from trees import HeldTree, meant

from mdmem.errors import GoneError
from mdmem.model.entry import Wing, WingKind
from mdmem.store.catalog.addresses import full_address
from mdmem.store.catalog.links import neighbours
from mdmem.store.catalog.load import EntryCache, load, settings_bytes
from mdmem.store.catalog.model import Catalog
from mdmem.store.tree import GitTree, TreeFile, Unreadable, WorkingTree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root without a file but its settings."""
    return make_root(tmp_path / "root")


def loaded(root: Path) -> Catalog:
    """Return the catalog of the files on disk."""
    return load(WorkingTree(root))


def cached(root: Path, cache: Path) -> Catalog:
    """Return the catalog of the files on disk as one run of mdmem loads it."""
    return load(WorkingTree(root), EntryCache(cache))


def codes(catalog: Catalog) -> list[tuple[str, str]]:
    """Return path and kind of each finding."""
    return [(finding.place.path, finding.former or finding.code) for finding in catalog.findings]


@pytest.mark.parametrize("through_cache", [False, True])
def test_file_that_cannot_be_read_is_not_an_absent_one(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, through_cache: bool
) -> None:
    write_entry(root, "w/r/closed")
    write_entry(root, "w/r/open", supersedes="w/r/closed")
    refuse(monkeypatch, "open", "closed.md")
    catalog = cached(root, tmp_path / "cache") if through_cache else loaded(root)
    assert codes(catalog) == [("w/r/closed.md", "unreadable")]
    assert catalog.findings[0].message == "cannot be read: permission denied"
    assert catalog.addresses == {"w/r/closed", "w/r/open"}


def test_file_that_could_not_be_read_once_is_read_the_next_time(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(root, "w/r/e")
    with monkeypatch.context() as patched:
        refuse(patched, "open", "e.md")
        assert list(cached(root, tmp_path / "cache").entries) == []
    assert list(cached(root, tmp_path / "cache").entries) == ["w/r/e"]


def test_wing_exists_when_its_folder_holds_a_manifest_or_an_entry(root: Path) -> None:
    write(root, "only_manifest/README.md", "---\nkind: shared\nowners: Ada\n---\n")
    write_entry(root, "only_entry/r/e")
    write(root, "prose/README.md", "# Nothing stated\n")
    write_entry(root, "prose/r/e")
    write(root, "neither/r/README.md", "# A room\n")
    write(root, "nothing/README.md", "# Prose alone\n")
    assert loaded(root).wings == {
        "only_entry": Wing(name="only_entry"),
        "only_manifest": Wing(name="only_manifest", kind=WingKind.SHARED, owners=("Ada",), has_manifest=True),
        "prose": Wing(name="prose"),
    }


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("v/r/a", "v/r/a"),
        ("r/b", "w/r/b"),
        ("b", "w/r/b"),
        ("./b.md", "w/r/b"),
        ("../q/c.md", "w/q/c"),
        ("../../v/r/a.md", "v/r/a"),
        ("v/r/a.md", "v/r/a"),
        ("/v/r/a/", "v/r/a"),
        ("a", None),
        ("v/r", None),
        ("../../../v/r/a", None),
        ("", None),
        (".", None),
    ],
)
def test_link_means_the_address_that_it_names_in_full_or_short(link: str, address: str | None) -> None:
    assert full_address(link, "w/r/e", {"v/r/a", "w/r/b", "w/q/c", "w/r/e"}) == address


def test_body_raises_when_the_file_went_away(root: Path, tmp_path: Path) -> None:
    file = write_entry(root, "w/r/e")
    cached(root, tmp_path / "cache")
    catalog = cached(root, tmp_path / "cache")
    file.unlink()
    with pytest.raises(GoneError, match=r"w/r/e\.md can no longer be read: no such file"):
        catalog.body("w/r/e")


def test_settings_that_cannot_be_read_are_not_absent_ones(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "open", "mdmem.toml")
    assert settings_bytes(WorkingTree(root)) == Unreadable("Permission denied")


# The cache of parsed entries.


def test_a_time_is_spelled_the_same_whether_it_comes_out_of_the_file_or_of_the_cache(
    root: Path, tmp_path: Path
) -> None:
    write_entry(root, "w/r/a", created_at="2026-03-05T00:30:00+02:00", verified_at="2026-03-06")
    entries = [cached(root, tmp_path / "cache").entries["w/r/a"] for _ in range(2)]
    assert [str(one.created_at) for one in entries] == ["2026-03-04 22:30:00+00:00"] * 2
    assert [str(one.verified_at) for one in entries] == ["2026-03-06"] * 2


def test_cache_serves_every_tree_of_a_repository(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top")
    root = make_root(top / "memory")
    write(root, "w/README.md", "---\nkind: shared\n---\n")
    write_entry(root, "w/r/e")
    commit_all(top)
    repository = repository_of(top)
    cached(root, tmp_path / "cache")
    before = (tmp_path / "cache").stat().st_mtime_ns
    revision = GitTree(repository, "memory", git(top, "rev-parse", "HEAD"), "HEAD")
    assert load(revision, EntryCache(tmp_path / "cache")).entries == loaded(root).entries
    assert (tmp_path / "cache").stat().st_mtime_ns == before


class Overtaken(WorkingTree):
    """A working tree in which somebody writes a file after it was hashed and before it is parsed."""

    change: Callable[[], object] = dict

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        found = super().digests(files)
        self.change()
        return found


MANIFESTS = ["---\nkind: project\n---\n", "---\nkind: shared\n---\n"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [("w/r/e.md", entry_text(title="Old"), entry_text(title="New")), ("w/README.md", *MANIFESTS)],
)
def test_cache_never_keeps_new_content_under_the_name_of_the_old(
    path: str, old: str, new: str, root: Path, tmp_path: Path
) -> None:
    write(root, path, old)
    load(Overtaken(root, change=lambda: write(root, path, new)), EntryCache(tmp_path / "cache"))
    write(root, path, old)
    assert meant(cached(root, tmp_path / "cache")) == meant(loaded(root))


ENDED = {"status": "deprecated", "superseded_by": ["app/a/new"]}


def near(name: str, body: str = "", /, **entries: dict[str, object]) -> list[tuple[str, str, str]]:
    """Return relationship, direction and entry-id of each neighbour of an entry in `app/a`, in order."""
    files = {f"app/a/{one}.md": entry_text(**stated).encode() for one, stated in entries.items()}
    found = neighbours(load(HeldTree(files)), f"app/a/{name}", body=body)
    return [(one.relationship, one.direction, one.entry.address.rsplit("/", 1)[-1]) for one in found]


def test_neighbours_come_from_both_ends_the_weightiest_first() -> None:
    entries: dict[str, dict[str, object]] = {
        "one": {"see": ["app/a/two"], "conflicts_with": ["app/a/three"]},
        "two": {"overrides": ["app/a/one"]},
        "three": {"produced": ["app/a/one"]},
    }
    assert near("one", **entries) == [
        ("conflicts_with", "outgoing", "three"),
        ("overrides", "incoming", "two"),
        ("produced", "incoming", "three"),
        ("see", "outgoing", "two"),
    ]
    assert near("two", **entries) == [("overrides", "outgoing", "one"), ("see", "incoming", "one")]


def test_either_end_of_a_supersession_tells_it_once_and_answers_for_the_old_entry() -> None:
    entries: dict[str, dict[str, object]] = {
        "reader": {"see": ["app/a/old"]},
        "new": {"supersedes": ["app/a/old"]},
        "old": ENDED,
    }
    assert near("old", **entries) == [("supersedes", "incoming", "new"), ("see", "incoming", "reader")]
    assert near("new", **entries) == [("supersedes", "outgoing", "old")]
    assert near("reader", **entries) == [("see", "outgoing", "new")]


def test_ended_neighbour_is_none() -> None:
    old: dict[str, object] = {"status": "deprecated", "deprecated_at": "2026-04-01", "deprecated_reason": "done"}
    assert near("reader", reader={"see": ["app/a/old", "app/a/gone", "app/a/reader"]}, old=old) == []


def test_relations_and_references_of_the_body_are_links() -> None:
    hub: dict[str, object] = {"type": "note", "label": "entity", "relations": "[{type: READS, to: app/a/two}]"}
    entries = {"one": {**hub, "entity": "one"}, "two": {}, "three": {}}
    body = "As [see: three] says, not as `[see: two]`.\n"
    assert near("one", body, **entries) == [("reads", "outgoing", "two"), ("see", "outgoing", "three")]
    assert near("two", **entries) == [("reads", "incoming", "one")]
