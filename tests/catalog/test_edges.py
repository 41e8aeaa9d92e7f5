"""Each row of the table in `mdmem/store/catalog/links.py`, and that an edge never falls into two classes or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

from builders import entry_text
from hypothesis import given
from hypothesis import strategies as st

from mdmem.checks.case import Case
from mdmem.checks.engine import run_checks
from mdmem.store.catalog.links import Edge, EdgeKind, classify
from mdmem.store.catalog.load import load
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import Tree, TreeFile, Unreadable, digest_of

NEW, OLD, OTHER = "app/rules/new", "app/rules/old", "app/rules/other"
BROKEN = "---\ntype: decision\nsuperseded_by: [app/rules/new\n---\n"
ENDED = {"status": "deprecated"}


@dataclass
class MemoryTree(Tree):
    """A tree in memory."""

    texts: dict[str, str] = field(default_factory=dict)
    name: str = "memory"

    def files(self) -> tuple[TreeFile, ...]:
        return tuple(TreeFile(path) for path in sorted(self.texts))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        yield from ((path, self.texts[path].encode()) for path in paths)

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        return {file.path: digest_of(self.texts[file.path].encode()) for file in files}

    def identity(self, path: str, content: bytes) -> str:
        return digest_of(content)


def catalog_of(**entries: dict[str, object] | str) -> Catalog:
    """Load entries by their id in `app/rules`; a text stands as it is."""
    return load(MemoryTree({f"app/rules/{name}.md": _text(stated) for name, stated in entries.items()}))


def _text(stated: dict[str, object] | str) -> str:
    return stated if isinstance(stated, str) else entry_text(**stated)


def kinds(catalog: Catalog, untracked: frozenset[str] = frozenset()) -> dict[tuple[str, str], EdgeKind]:
    """Return the classes by superseding and superseded entry-id."""
    return {(_id(edge.new), _id(edge.old)): edge.kind for edge in classify(catalog, untracked)}


def _id(address: str) -> str:
    return address.removeprefix("app/rules/")


def kind_of(new: dict[str, object] | str, old: dict[str, object] | str) -> EdgeKind:
    """Return the class of the one edge between `new` and `old`."""
    return kinds(catalog_of(new=new, old=old))["new", "old"]


def test_unknown_when_the_silent_field_holds_a_dangling_link() -> None:
    catalog = catalog_of(new={"supersedes": [OLD]}, old={"superseded_by": ["app/rules/nwe"], **ENDED})
    assert kinds(catalog) == {("new", "old"): EdgeKind.UNKNOWN, ("nwe", "old"): EdgeKind.DANGLING}


def test_edge_out_of_a_cycle_is_judged_for_itself() -> None:
    catalog = catalog_of(
        a={"supersedes": ["app/rules/b"]}, b={"supersedes": ["app/rules/a"]}, c={"supersedes": ["app/rules/a"]}
    )
    assert kinds(catalog)["c", "a"] is EdgeKind.MISSING_BACK


def across(new_kind: str, old_kind: str) -> EdgeKind:
    texts = {
        "one/README.md": f"---\nkind: {new_kind}\n---\n",
        "two/README.md": f"---\nkind: {old_kind}\n---\n",
        "one/rules/new.md": entry_text(supersedes=["two/rules/old"]),
        "two/rules/old.md": entry_text(superseded_by=["one/rules/new"], **ENDED),
    }
    return classify(load(MemoryTree(texts)))[0].kind


def test_two_successors_go_before_mismatch() -> None:
    catalog = catalog_of(
        new={"supersedes": [OLD]}, other={"supersedes": [OLD]}, old={"superseded_by": [OTHER], **ENDED}
    )
    assert set(kinds(catalog).values()) == {EdgeKind.TWO_SUCCESSORS}


def test_one_turned_down_is_no_second_successor() -> None:
    turned_down = {"supersedes": [OLD], **ENDED, "deprecated_reason": "Too slow."}
    found = kinds(catalog_of(new={"supersedes": [OLD]}, other=turned_down, old={"superseded_by": [NEW], **ENDED}))
    assert found == {("new", "old"): EdgeKind.SOUND, ("other", "old"): EdgeKind.PENDING}


def test_pending_when_the_old_entry_ended_for_a_reason_of_its_own() -> None:
    new = {"supersedes": [OLD], "status": "draft"}
    assert kind_of(new, {"superseded_by": [NEW], "deprecated_reason": "it hid outages", **ENDED}) is EdgeKind.PENDING


def test_pending_when_another_successor_took_over() -> None:
    old = {"superseded_by": [NEW, OTHER], **ENDED}
    catalog = catalog_of(new={"supersedes": [OLD], "status": "draft"}, other={"supersedes": [OLD]}, old=old)
    assert kinds(catalog) == {("new", "old"): EdgeKind.PENDING, ("other", "old"): EdgeKind.SOUND}


def test_missing_forward_when_a_silent_draft_is_named_by_an_entry_that_ended_by_itself() -> None:
    old = {"superseded_by": [NEW], "reason": "it hid outages", **ENDED}
    assert kind_of({"status": "draft"}, old) is EdgeKind.MISSING_FORWARD


def test_sound_when_the_chain_goes_on_behind_a_dead_successor() -> None:
    new = {"supersedes": [OLD], "superseded_by": [OTHER], "deprecated_at": "2026-03-01", **ENDED}
    old = {"superseded_by": [NEW], "deprecated_at": "2026-05-01", **ENDED}
    assert set(kinds(catalog_of(new=new, old=old, other={"supersedes": [NEW]})).values()) == {EdgeKind.SOUND}


def test_short_links_count_as_full_ones() -> None:
    assert kind_of({"supersedes": ["old"]}, {"superseded_by": ["rules/new"], **ENDED}) is EdgeKind.SOUND


# Properties: small memories in two wings, with files that are missing and files that cannot be parsed.
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


def memory(stated: dict[str, dict[str, object] | str]) -> Catalog:
    texts = {f"{address}.md": _text(one) for address, one in stated.items()}
    return load(MemoryTree(texts | {"lib/README.md": "---\nkind: shared\n---\n"}))


@given(MEMORIES)
def test_every_named_edge_is_in_exactly_one_class(stated: dict[str, dict[str, object] | str]) -> None:
    catalog = memory(stated)
    named = {(old, new) for new, entry in catalog.entries.items() for old in entry.supersedes}
    named |= {(old, new) for old, entry in catalog.entries.items() for new in entry.superseded_by}
    edges = classify(catalog)
    assert Counter((edge.old, edge.new) for edge in edges) == Counter(named)
    for one in catalog.entries:
        olds = {edge.old for edge in edges if one in (edge.old, edge.new)}
        assert classify(catalog, about={one}) == tuple(edge for edge in edges if edge.old in olds)


# What each class makes the checks say: so many findings as it has edges, or as it has old ends.
BY_EDGE = {
    "successor-not-current": {EdgeKind.BY_DRAFT, EdgeKind.BY_DEAD},
    "supersession-across-wings": {EdgeKind.ACROSS_WINGS},
}
BY_OLD = {
    "two-successors": {EdgeKind.TWO_SUCCESSORS},
    "superseded-but-active": {EdgeKind.BUT_ACTIVE},
}


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
    assert len(dangling) == sum(edge.kind is EdgeKind.DANGLING for edge in case.edges)
    in_cycles = {end for edge in case.edges if edge.kind is EdgeKind.CYCLE for end in (edge.old, edge.new)}
    assert in_cycles == case.catalog.lineage.contradictory


@given(MEMORIES)
def test_consistent_classes_keep_what_they_promise(stated: dict[str, dict[str, object] | str]) -> None:
    catalog = memory(stated)
    for edge in classify(catalog):
        if edge.kind is EdgeKind.SOUND:
            assert edge.by_new
            assert edge.by_old
            assert catalog.entries[edge.old].status == "deprecated"
            assert edge.new in catalog.lineage.successors[edge.old]
        if edge.kind is EdgeKind.PENDING:
            new = catalog.entries[edge.new]
            assert new.status == "draft" or (new.status == "deprecated" and new.why_ended and not edge.by_old)


@given(MEMORIES, st.sampled_from(["active", "draft", "deprecated"]))
def test_an_entry_without_links_changes_no_class(stated: dict[str, dict[str, object] | str], status: str) -> None:
    lone: dict[str, dict[str, object] | str] = {"app/rules/lone": {"status": status}}
    assert classify(memory(stated)) == classify(memory(stated | lone))


@given(MEMORIES)
def test_writing_the_missing_end_heals_a_one_sided_edge(stated: dict[str, dict[str, object] | str]) -> None:
    for edge in classify(memory(stated)):
        if edge.kind in (EdgeKind.MISSING_BACK, EdgeKind.MISSING_FORWARD):
            again = classify(memory(stated | healed(stated, edge)))
            kind = next(one.kind for one in again if (one.old, one.new) == (edge.old, edge.new))
            assert kind not in (EdgeKind.MISSING_BACK, EdgeKind.MISSING_FORWARD)


def healed(stated: dict[str, dict[str, object] | str], edge: Edge) -> dict[str, dict[str, object]]:
    address, name, target = (edge.old, "superseded_by", edge.new) if edge.by_new else (edge.new, "supersedes", edge.old)
    fields = stated[address]
    assert isinstance(fields, dict)
    links = fields[name]
    assert isinstance(links, list)
    return {address: {**fields, name: [*links, target]}}
