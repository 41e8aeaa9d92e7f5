"""Near texts: the same groups as comparing each with each gives."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.hygiene.likeness import Near, Shelf, alike, numbered
from mdmem.similarity import jaccard

TEXTS = st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=8).map(frozenset), max_size=12)
SHARES = st.sampled_from([0.5, 0.6, 0.75, 0.86, 0.9])
Said = list[tuple[str, frozenset[str]]]


def said(sets: list[frozenset[str]]) -> Said:
    return [(f"t{number:02}", words) for number, words in enumerate(sets)]


def groups_by_every_pair(texts: Said, above: float) -> list[tuple[str, ...]]:
    group = {name: {name} for name, _ in texts}
    for (one, words), (other, others) in combinations(texts, 2):
        if jaccard(words, others) > above:
            group[one] |= group[other]
            for name in group[one]:
                group[name] = group[one]
    return sorted({tuple(sorted(names)) for names in group.values() if len(names) > 1})


@given(TEXTS, SHARES)
def test_groups_are_those_of_every_pair(sets: list[frozenset[str]], above: float) -> None:
    assert alike(numbered(said(sets)), above=above) == groups_by_every_pair(said(sets), above)


@given(TEXTS, SHARES)
def test_near_ones_are_those_of_every_pair(sets: list[frozenset[str]], share: float) -> None:
    texts = numbered(said(sets))
    words = dict(said(sets))
    shelf = Shelf(texts, share)
    for text in texts:
        wanted = {name for name, others in words.items() if others and jaccard(words[text.name], others) >= share}
        assert {near.name for near in shelf.near(text)} == wanted


def test_groups_need_more_than_the_share() -> None:
    ten, nine = frozenset("abcdefghij"), frozenset("abcdefghi")
    assert alike(numbered([("one", ten), ("two", nine)]), above=0.9) == []
    assert alike(numbered([("one", ten), ("two", nine)]), above=0.89) == [("one", "two")]


def test_chain_of_pairs_is_one_group() -> None:
    chain = [frozenset("abcd"), frozenset("abcde"), frozenset("abcdef")]
    assert alike(numbered(said(chain)), above=0.75) == [("t00", "t01", "t02")]


def test_text_without_words_is_like_none() -> None:
    assert alike(numbered([("one", frozenset()), ("two", frozenset())]), above=0.5) == []


def test_nearest_comes_first() -> None:
    others = numbered([("half", frozenset("abef")), ("same", frozenset("abcd")), ("most", frozenset("abcde"))])
    shelf = Shelf((text for text in others if text.name != "same"), 0.3)
    same = next(text for text in others if text.name == "same")
    assert shelf.near(same) == [Near("most", pytest.approx(0.8)), Near("half", pytest.approx(1 / 3))]
