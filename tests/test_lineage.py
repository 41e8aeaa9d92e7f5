"""Test the graph of supersession against a naive implementation of its rules."""

from collections.abc import Mapping

import pytest
from builders import entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.lineage import Lineage

Edges = Mapping[str, set[str]]


def lineage(*entries: Entry) -> Lineage:
    """Return the lineage of some entries."""
    return Lineage({one.address: one for one in entries})


def ended(address: str, **values: object) -> Entry:
    """Return a deprecated entry."""
    return entry(address, status=Status.DEPRECATED, **values)


def naive_said(entries: Mapping[str, Entry]) -> Edges:
    """Return the edges that either end states, unless the successor is a draft."""
    named = [(old, new) for new, one in entries.items() for old in one.supersedes]
    named += [(old, new) for old, one in entries.items() for new in one.superseded_by]
    edges: dict[str, set[str]] = {address: set() for address in entries}
    for old, new in named:
        if old != new and old in entries and new in entries and entries[new].status is not Status.DRAFT:
            edges[old].add(new)
    return edges


def naive_edges(entries: Mapping[str, Entry]) -> Edges:
    """Return the successors that an old entry lists; if it lists none and is not current, those that list it."""
    said = naive_said(entries)
    named = {old: new & set(entries[old].superseded_by) for old, new in said.items()}
    return {old: named[old] or (set() if entries[old].is_in_force else new) for old, new in said.items()}


def naive_reach(edges: Edges, start: str) -> set[str]:
    """Return every entry that a chain of at least one edge leads to."""
    found: set[str] = set()
    while more := {new for old in found | {start} for new in edges[old]} - found:
        found |= more
    return found


def naive_current(entries: Mapping[str, Entry], address: str) -> bool:
    """Return whether an entry is in force, and no chain leads to another such entry, except in a cycle with it."""
    edges, said = naive_edges(entries), naive_said(entries)
    round_ = {one for one in naive_reach(said, address) if address in naive_reach(said, one)}
    beyond = naive_reach(edges, address) - round_ - {address}
    return entries[address].is_in_force and not any(entries[new].is_in_force for new in beyond)


ADDRESSES = [f"w/r/e{number}" for number in range(7)]
LINKS = st.lists(st.sampled_from([*ADDRESSES, "w/r/gone"]), max_size=2).map(tuple)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Entry]:
    """Draw a few entries with links in either direction, to themselves and to nowhere."""
    count = draw(st.integers(1, len(ADDRESSES)))
    statuses = st.sampled_from(Status)
    return {
        address: entry(address, status=draw(statuses), supersedes=draw(LINKS), superseded_by=draw(LINKS))
        for address in ADDRESSES[:count]
    }


@given(graphs())
def test_successors_are_the_edges_that_are_facts(entries: dict[str, Entry]) -> None:
    expected = {old: tuple(sorted(new)) for old, new in naive_edges(entries).items() if new}
    assert Lineage(entries).successors == expected


@given(graphs())
def test_heads_are_the_current_ends_of_the_chains(entries: dict[str, Entry]) -> None:
    edges = naive_edges(entries)
    made = Lineage(entries)
    for address in entries:
        reached = naive_reach(edges, address) | {address}
        assert made.heads(address) == tuple(sorted(one for one in reached if naive_current(entries, one)))
        assert made.is_current(address) == naive_current(entries, address)
    assert made.heads("w/r/gone") == ()


@given(graphs())
def test_cycles_are_the_entries_that_reach_themselves(entries: dict[str, Entry]) -> None:
    edges = naive_said(entries)
    made = Lineage(entries)
    assert made.contradictory == {address for address in entries if address in naive_reach(edges, address)}
    assert all(len(cycle) > 1 for cycle in made.cycles)


@given(graphs())
def test_what_is_said_is_a_fact_a_claim_or_disputed(entries: dict[str, Entry]) -> None:
    made, said = Lineage(entries), naive_said(entries)
    for old in entries:
        parts = [set(edges.get(old, ())) for edges in (made.successors, made.claimants, made.disputes)]
        assert set.union(*parts) == said[old]
        assert sum(map(len, parts)) == len(said[old])


@given(graphs())
def test_claims_hide_nothing_and_never_run_in_a_circle(entries: dict[str, Entry]) -> None:
    made = Lineage(entries)
    claims = {address: set(made.claimed_by(address)) for address in entries}
    for address in entries:
        assert address not in naive_reach(claims, address)
        assert not claims[address] or made.is_current(address)
        assert all(made.is_current(new) and address in made.claims.get(new, ()) for new in claims[address])


@given(graphs())
def test_one_end_suffices_where_the_house_says_so(entries: dict[str, Entry]) -> None:
    made = Lineage(entries, one_end_suffices=True)
    assert made.successors == {old: tuple(sorted(new)) for old, new in naive_said(entries).items() if new}
    assert (made.claimants, made.disputes) == ({}, {})


@pytest.mark.parametrize(("by", "facts", "claims"), [("note", (), ("w/r/new",)), ("invariant", ("w/r/new",), ())])
def test_one_end_never_overrules_from_below(by: str, facts: tuple[str, ...], claims: tuple[str, ...]) -> None:
    old = entry("w/r/old", type=EntryType.DECISION)
    new = entry("w/r/new", type=EntryType(by), supersedes=("w/r/old",))
    made = Lineage({one.address: one for one in (old, new)}, one_end_suffices=True)
    assert (made.successors.get("w/r/old", ()), made.claimants_of("w/r/old")) == (facts, claims)
    assert made.is_current("w/r/old") == (facts == ())


@given(graphs())
def test_descendants_and_ancestors_are_what_facts_reach(entries: dict[str, Entry]) -> None:
    edges = naive_edges(entries)
    made = Lineage(entries)
    for address in entries:
        after = naive_reach(edges, address) - {address}
        before = {one for one in entries if address in naive_reach(edges, one)} - {address}
        assert (made.descendants(address), made.ancestors(address)) == (after, before)


@given(graphs())
def test_chain_is_what_either_end_leads_to_the_oldest_first(entries: dict[str, Entry]) -> None:
    said = naive_said(entries)
    made = Lineage(entries)
    for address in entries:
        before = {one for one in entries if address in naive_reach(said, one)} - {address}
        assert made.linked_ancestors(address) == before
        chain = made.chain(address)
        assert set(chain) == naive_reach(said, address) | before | {address}
        for at, one in enumerate(chain):
            later = naive_reach(said, one)
            assert not [other for other in chain[:at] if other in later and one not in naive_reach(said, other)]


def test_chain_of_three_thousand_is_followed_to_its_end() -> None:
    count = 3000
    entries = [ended(f"w/r/e{n}", superseded_by=(f"w/r/e{n + 1}",)) for n in range(count)]
    made = lineage(*entries, entry(f"w/r/e{count}"))
    assert made.heads("w/r/e0") == (f"w/r/e{count}",)
    assert made.chain("w/r/e1500") == tuple(f"w/r/e{n}" for n in range(count + 1))
    assert made.cycles == ()


def test_cycle_of_three_thousand_is_one_cycle() -> None:
    count = 3000
    after = [f"w/r/e{n}" for n in (*range(1, count), 0)]
    made = lineage(*(entry(f"w/r/e{n}", supersedes=(new,), superseded_by=(new,)) for n, new in enumerate(after)))
    assert [len(cycle) for cycle in made.cycles] == [count]
    assert made.is_current("w/r/e0")


OLD = ("w/r/old",)


@pytest.mark.parametrize(
    ("entries", "heads", "claimed_by", "disputes"),
    [
        # The old entry names its successor, alone or as the successor names it.
        ([entry("w/r/old", superseded_by=("w/r/new",)), entry("w/r/new")], ("w/r/new",), (), {}),
        ([entry("w/r/old", superseded_by=("w/r/new",)), entry("w/r/new", supersedes=OLD)], ("w/r/new",), (), {}),
        # If only the successor lists a current entry, it only claims to supersede it.
        ([entry("w/r/old"), entry("w/r/new", supersedes=OLD)], OLD, ("w/r/new",), {}),
        (
            [entry("w/r/old", superseded_by=("w/r/z",)), entry("w/r/z"), entry("w/r/n", supersedes=OLD)],
            ("w/r/z",),
            (),
            {"w/r/old": ("w/r/n",)},
        ),
        # The claim passes to what replaced the claimant.
        (
            [entry("w/r/old"), ended("w/r/b", supersedes=OLD), entry("w/r/c", supersedes=("w/r/b",))],
            OLD,
            ("w/r/c",),
            {},
        ),
        # A draft changes nothing.
        ([entry("w/r/old"), entry("w/r/new", status=Status.DRAFT, supersedes=OLD)], OLD, (), {}),
    ],
)
def test_heads_and_claims_of_an_old_entry(
    entries: list[Entry], heads: tuple[str, ...], claimed_by: tuple[str, ...], disputes: dict[str, tuple[str, ...]]
) -> None:
    made = lineage(*entries)
    assert (made.heads("w/r/old"), made.claimed_by("w/r/old"), made.disputes) == (heads, claimed_by, disputes)
