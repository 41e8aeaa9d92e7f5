"""Test near-duplicates: the same pairs and groups as a comparison of all texts with each other."""

from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest
from builders import entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown import similarity
from mdmem.markdown.similarity import MAY_OVERLAP, jaccard, near_groups, near_pairs, undeclared_overlaps, words_of
from mdmem.model.entry import Entry, EntryType, Wing, WingKind

TEXTS = st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=8).map(frozenset), max_size=12)
SHARES = st.sampled_from([0.5, 0.6, 0.75, 0.86, 0.9])
Texts = list[tuple[str, frozenset[str]]]


def named(sets: list[frozenset[str]]) -> Texts:
    return [(f"t{number:02}", words) for number, words in enumerate(sets)]


@given(TEXTS, SHARES)
def test_groups_are_those_of_every_pair(sets: list[frozenset[str]], above: float) -> None:
    group = {name: {name} for name, _ in named(sets)}
    for (one, words), (other, others) in combinations(named(sets), 2):
        if jaccard(words, others) > above:
            group[one] |= group[other]
            for name in group[one]:
                group[name] = group[one]
    wanted = sorted({tuple(sorted(names)) for names in group.values() if len(names) > 1})
    assert near_groups(named(sets), above=above) == wanted


@given(TEXTS, SHARES, st.booleans())
def test_near_pairs_are_those_of_every_pair(sets: list[frozenset[str]], share: float, is_narrow: object) -> None:
    texts = [(name, words) for name, words in named(sets) if words]
    among = {name for name, _ in texts if int(name[1:]) % 2} if is_narrow else None
    wanted = {
        (a, b): jaccard(one, other)
        for (a, one), (b, other) in combinations(texts, 2)
        if among is None or len({a, b} & among) == 1
    }
    found = near_pairs(texts, share=share, among=among)
    assert {(one.a, one.b): one.share for one in found} == {
        pair: near for pair, near in wanted.items() if near >= share
    }
    assert found == sorted(found, key=lambda one: (-one.share, one.a, one.b))


def test_copies_are_not_compared_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(monkeypatch, [(f"t{number}", frozenset("abcdef")) for number in range(400)]) <= 50 * 400


@pytest.mark.parametrize("among", [None, {"t0", "t1"}])
def test_texts_of_one_subject_are_not_compared_each_with_each(
    monkeypatch: pytest.MonkeyPatch, among: set[str] | None
) -> None:
    random = Random(7)
    common, rare = [f"c{number}" for number in range(60)], [f"r{number}" for number in range(5000)]
    texts = [(f"t{number}", frozenset([*random.sample(common, 30), *random.sample(rare, 60)])) for number in range(400)]
    assert compared(monkeypatch, texts, among) < 10 * len(texts)


def compared(
    monkeypatch: pytest.MonkeyPatch, texts: list[tuple[str, frozenset[str]]], among: set[str] | None = None
) -> int:
    """Return how many pairs of texts are compared."""
    calls = []
    real = similarity.jaccard
    monkeypatch.setattr(similarity, "jaccard", lambda *arguments: calls.append(1) or real(*arguments))
    near_pairs(texts, share=0.9, among=among)
    return len(calls)


WINGS = {
    "shop": Wing(name="shop"),
    "nav": Wing(name="nav", shared_wings=("ros2",)),
    "react": Wing(name="react", kind=WingKind.SHARED),
    "ros2": Wing(name="ros2", kind=WingKind.SHARED),
}
ENTRIES = st.builds(
    lambda wing, name, kind, words: entry(f"{wing}/rules/{name}", type=kind, title=" ".join(words)),
    st.sampled_from(sorted(WINGS)),
    st.sampled_from("abcdefgh"),
    st.sampled_from([EntryType.DECISION, EntryType.NOTE]),
    st.lists(st.sampled_from(["use", "the", "one", "two", "retry", "cache", "for", "never"]), max_size=8),
)


def pairs(entries: list[Entry]) -> list[tuple[str, str]]:
    return [(project.address, shared.address) for project, shared, _ in undeclared_overlaps(entries, WINGS)]


def every_pair(entries: list[Entry]) -> Iterator[tuple[str, str]]:
    """Compare each with each, which is what the keys must not change."""
    for one in sorted(entries, key=lambda entry: entry.address):
        for other in sorted(entries, key=lambda entry: entry.address):
            wing = WINGS[one.wing]
            if wing.is_shared or not WINGS[other.wing].is_shared or one.type is not other.type:
                continue
            same = one.address.split("/")[2] == other.address.split("/")[2]
            alike = jaccard(words_of(one.title), words_of(other.title)) >= MAY_OVERLAP
            if (same or alike) and (wing.shared_wings is None or other.wing in wing.shared_wings):
                yield one.address, other.address


@given(st.lists(ENTRIES, max_size=12, unique_by=lambda one: one.address))
def test_overlaps_are_those_of_comparing_each_with_each(entries: list[Entry]) -> None:
    assert pairs(entries) == list(every_pair(entries))


def test_only_the_first_twenty_overlaps_of_an_entry_are_reported() -> None:
    wings = {"shop": Wing(name="shop")}
    wings |= {f"s{number:02}": Wing(name=f"s{number:02}", kind=WingKind.SHARED) for number in range(50)}
    found = list(undeclared_overlaps([entry(f"{wing}/rules/e", title="Topic") for wing in wings], wings))
    assert [shared.address for _, shared, _ in found] == [f"s{number:02}/rules/e" for number in range(20)]
    assert found[-1][2] == "both have the same entry-id; more are not listed"
    assert {why for _, _, why in found[:-1]} == {"both have the same entry-id"}
