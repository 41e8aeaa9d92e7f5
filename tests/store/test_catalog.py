"""Test loading a tree: bad files, the cache, links between entries, and the changes since a base."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path

import pytest
from builders import commit_all, entry_text, git, make_repository, make_root, repository_of, write, write_entry
from hypothesis import given
from hypothesis import strategies as st
from trees import HeldTree, ListedTree, case_of, meant

from mdmem.checks.case import Base, Case
from mdmem.checks.engine import run_checks
from mdmem.errors import GoneError
from mdmem.model.entry import Wing, WingKind
from mdmem.store.catalog.changes import Changes
from mdmem.store.catalog.links import EdgeKind, classify, neighbours
from mdmem.store.catalog.load import EntryCache, load
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind, GitTree, TreeFile, WorkingTree


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


def test_body_raises_when_the_file_went_away(root: Path, tmp_path: Path) -> None:
    file = write_entry(root, "w/r/e")
    cached(root, tmp_path / "cache")
    catalog = cached(root, tmp_path / "cache")
    file.unlink()
    with pytest.raises(GoneError, match=r"w/r/e\.md can no longer be read: no such file"):
        catalog.body("w/r/e")


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


GRAPH: dict[str, dict[str, object]] = {
    "one": {"see": ["app/a/two"], "conflicts_with": ["app/a/three"]},
    "two": {"overrides": ["app/a/one"]},
    "three": {"produced": ["app/a/one"]},
    "reader": {"see": ["app/a/old", "app/a/gone", "app/a/done", "app/a/reader"]},
    "new": {"supersedes": ["app/a/old"]},
    "old": {"status": "deprecated", "superseded_by": ["app/a/new"]},
    "done": {"status": "deprecated", "deprecated_at": "2026-04-01", "deprecated_reason": "done"},
    "hub": {"type": "note", "label": "entity", "entity": "hub", "relations": "[{type: READS, to: app/a/part}]"},
    "part": {},
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one", ["conflicts_with > three", "overrides < two", "produced < three", "see > two"]),
        ("two", ["overrides > one", "see < one"]),
        # Each end lists a supersession once, and the new entry replaces the old one.
        ("old", ["supersedes < new", "see < reader"]),
        ("new", ["supersedes > old"]),
        ("reader", ["see > new"]),
        ("hub", ["reads > part", "see > three"]),
        ("part", ["reads < hub"]),
    ],
)
def test_neighbours_come_from_both_ends_the_weightiest_first(name: str, expected: list[str]) -> None:
    body = "As [see: three] says, not as `[see: two]`.\n" if name == "hub" else ""
    catalog = load(HeldTree({f"app/a/{one}.md": entry_text(**stated).encode() for one, stated in GRAPH.items()}))
    found = neighbours(catalog, f"app/a/{name}", body=body)
    marks = {"outgoing": ">", "incoming": "<"}
    shown = [f"{one.relationship} {marks[one.direction]} {one.entry.address.rsplit('/', 1)[-1]}" for one in found]
    assert shown == expected


@pytest.mark.parametrize("place", ["app", "app/rules"])
@pytest.mark.parametrize("kind", [FileKind.SYMLINK, FileKind.UNREADABLE])
def test_entries_below_a_closed_folder_are_neither_new_nor_gone(place: str, kind: FileKind) -> None:
    opened, closed = HeldTree({"app/rules/a.md": entry_text().encode()}), ListedTree((TreeFile(place, kind),))
    for before, after in ((opened, closed), (closed, opened)):
        assert case_of(after, base=Base("base", load(before), Settings())).changes == Changes()


def memory(stated: Mapping[str, dict[str, object] | str]) -> Catalog:
    """Load entries by their address, with a shared wing; a text is the whole file."""
    texts = {f"{address}.md": one if isinstance(one, str) else entry_text(**one) for address, one in stated.items()}
    shared = {"lib/README.md": "---\nkind: shared\n---\n"}
    return load(HeldTree({path: text.encode() for path, text in (texts | shared).items()}))


# Properties: small memories in two wings, with files that are missing and files that cannot be parsed.
BROKEN = "---\ntype: [\n---\n"
PLACES = ("app/rules/a", "app/rules/b", "app/rules/c", "lib/rules/d", "lib/rules/e")
TARGETS = st.lists(st.sampled_from([*PLACES, "app/rules/gone"]), max_size=3, unique=True)
ENTRIES = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["draft", "active", "active", "under_review", "deprecated", "deprecated"]),
        "supersedes": TARGETS,
        "superseded_by": TARGETS,
        "reason": st.sampled_from([None, "it was tried"]),
        "deprecated_at": st.sampled_from([None, "2026-04-01", "2026-05-01"]),
    }
)
MEMORIES = st.dictionaries(st.sampled_from(PLACES), st.one_of(ENTRIES, ENTRIES, ENTRIES, st.just(BROKEN)), min_size=1)


@given(MEMORIES)
def test_every_named_edge_is_in_exactly_one_class(stated: dict[str, dict[str, object] | str]) -> None:
    catalog = memory(stated)
    named = {(old, new) for new, entry in catalog.entries.items() for old in entry.supersedes}
    named |= {(old, new) for old, entry in catalog.entries.items() for new in entry.superseded_by}
    assert Counter((edge.old, edge.new) for edge in classify(catalog)) == Counter(named)


# What each class makes the checks say: so many findings as it has edges, or as it has old ends.
BY_EDGE = {
    "successor-not-current": {EdgeKind.BY_DRAFT, EdgeKind.BY_DEAD},
    "supersession-across-wings": {EdgeKind.ACROSS_WINGS},
}
BY_OLD = {"two-successors": {EdgeKind.TWO_SUCCESSORS}, "superseded-but-active": {EdgeKind.BUT_ACTIVE}}


@given(MEMORIES)
def test_each_broken_edge_gives_one_finding(stated: dict[str, dict[str, object] | str]) -> None:
    case = Case(memory(stated), Settings(), date(2026, 11, 21))
    for code, wanted in BY_EDGE.items():
        assert len(run_checks(case, [code])) == sum(edge.kind in wanted for edge in case.edges), code
    for code, wanted in BY_OLD.items():
        assert len(run_checks(case, [code])) == len({edge.old for edge in case.edges if edge.kind in wanted}), code
    ends = {EdgeKind.MISSING_BACK, EdgeKind.MISSING_FORWARD}
    one_sided = sum(edge.kind in ends for edge in case.edges)
    mismatched = len({edge.old for edge in case.edges if edge.kind is EdgeKind.MISMATCH})
    assert len(run_checks(case, ["supersession-one-sided"])) == one_sided + mismatched
    dangling = [finding for finding in run_checks(case, ["dangling-link"]) if "supersede" in finding.message]
    edges = [edge for edge in case.edges if not {edge.old, edge.new} <= case.catalog.addresses]
    assert (len(dangling), {edge.kind for edge in edges} - {EdgeKind.OTHER}) == (len(edges), set())
    in_cycles = {end for edge in case.edges if edge.kind is EdgeKind.CYCLE for end in (edge.old, edge.new)}
    assert in_cycles == case.catalog.lineage.contradictory
