"""Each row of the table in `mdmem/store/catalog/links.py`, and that an edge never falls into two classes or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from builders import entry_text
from hypothesis import given
from hypothesis import strategies as st
from trees import HeldTree

from mdmem.checks.case import Case
from mdmem.checks.engine import run_checks
from mdmem.store.catalog.links import Edge, EdgeKind, classify
from mdmem.store.catalog.load import load
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings

NEW, OLD, OTHER = "app/rules/new", "app/rules/old", "app/rules/other"
BROKEN = "---\ntype: decision\nsuperseded_by: [app/rules/new\n---\n"
ENDED = {"status": "deprecated"}


def memory(stated: Mapping[str, dict[str, object] | str]) -> Catalog:
    """Load entries by their address, beside a shared wing; a text stands as it is."""
    texts = {f"{address}.md": one if isinstance(one, str) else entry_text(**one) for address, one in stated.items()}
    shared = {"lib/README.md": "---\nkind: shared\n---\n"}
    return load(HeldTree({path: text.encode() for path, text in (texts | shared).items()}))


DRAFT, BY_OLD_ALONE = {"supersedes": [OLD], "status": "draft"}, {"superseded_by": [NEW], **ENDED}
TURNED_DOWN = {"supersedes": [OLD], **ENDED, "deprecated_reason": "Too slow."}
DEAD = {"supersedes": [OLD], "superseded_by": [OTHER], "deprecated_at": "2026-03-01", **ENDED}
# Entries by their entry-id, and the class of some of their edges.
ROWS: dict[str, tuple[dict[str, Any], dict[tuple[str, str], EdgeKind]]] = {
    "a dangling link in the field that is silent": (
        {"new": {"supersedes": [OLD]}, "old": {"superseded_by": ["app/rules/nwe"], **ENDED}},
        {("new", "old"): EdgeKind.OTHER, ("nwe", "old"): EdgeKind.OTHER},
    ),
    "an edge out of a cycle": (
        {"a": {"supersedes": ["b"]}, "b": {"supersedes": ["a"]}, "c": {"supersedes": ["a"]}},
        {("a", "b"): EdgeKind.CYCLE, ("b", "a"): EdgeKind.CYCLE, ("c", "a"): EdgeKind.MISSING_BACK},
    ),
    "two successors go before a mismatch": (
        {"new": {"supersedes": [OLD]}, "other": {"supersedes": [OLD]}, "old": {"superseded_by": [OTHER], **ENDED}},
        {("new", "old"): EdgeKind.TWO_SUCCESSORS, ("other", "old"): EdgeKind.TWO_SUCCESSORS},
    ),
    "two successors that the old entry names": (
        {"new": {"supersedes": [OLD]}, "other": {}, "old": {"superseded_by": [NEW, OTHER], **ENDED}},
        {("new", "old"): EdgeKind.TWO_SUCCESSORS, ("other", "old"): EdgeKind.TWO_SUCCESSORS},
    ),
    "one turned down is no second successor": (
        {"new": {"supersedes": [OLD]}, "other": TURNED_DOWN, "old": BY_OLD_ALONE},
        {("new", "old"): EdgeKind.SOUND, ("other", "old"): EdgeKind.PENDING},
    ),
    "the old entry ended for a reason of its own": (
        {"new": DRAFT, "old": {**BY_OLD_ALONE, "deprecated_reason": "it hid outages"}},
        {("new", "old"): EdgeKind.PENDING},
    ),
    "another successor took over": (
        {"new": DRAFT, "other": {"supersedes": [OLD]}, "old": {"superseded_by": [NEW, OTHER], **ENDED}},
        {("new", "old"): EdgeKind.PENDING, ("other", "old"): EdgeKind.SOUND},
    ),
    "a silent draft is named by an entry that ended by itself": (
        {"new": {"status": "draft"}, "old": {**BY_OLD_ALONE, "reason": "it hid outages"}},
        {("new", "old"): EdgeKind.MISSING_FORWARD},
    ),
    "the chain goes on behind a dead successor": (
        {"new": DEAD, "old": {**BY_OLD_ALONE, "deprecated_at": "2026-05-01"}, "other": {"supersedes": [NEW]}},
        {("new", "old"): EdgeKind.SOUND, ("other", "new"): EdgeKind.SOUND},
    ),
    "short links": (
        {"new": {"supersedes": ["old"]}, "old": {"superseded_by": ["rules/new"], **ENDED}},
        {("new", "old"): EdgeKind.SOUND},
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_class_of_an_edge(row: str) -> None:
    entries, expected = ROWS[row]
    found = classify(memory({f"app/rules/{name}": stated for name, stated in entries.items()}))
    ids = [(one.new.removeprefix("app/rules/"), one.old.removeprefix("app/rules/")) for one in found]
    assert dict(zip(ids, (one.kind for one in found), strict=True)) == expected


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
