"""Near texts: the same groups as comparing each with each gives."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.change.near_duplicates import NumberedText, SimilarPair, alike, near_ones, near_pairs, numbered
from mdmem.markdown.similarity import jaccard

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
    words = dict(said(sets))
    among = frozenset(name for name in words if int(name[1:]) % 2)
    found = near_ones(numbered(said(sets)), among, share=share)
    for name in words.keys() - among:
        wanted = {other for other in among if words[other] and jaccard(words[name], words[other]) >= share}
        assert {near.name for near in found.get(name, [])} == wanted
    assert not found.keys() & among


@given(TEXTS, SHARES)
def test_near_pairs_are_those_of_every_pair(sets: list[frozenset[str]], share: float) -> None:
    texts = [(name, words) for name, words in said(sets) if words]
    wanted = {(a, b): jaccard(one, other) for (a, one), (b, other) in combinations(texts, 2)}
    near = {pair: alike for pair, alike in wanted.items() if alike >= share}
    found = near_pairs(numbered(texts), share=share)
    assert {(one.a, one.b): one.share for one in found} == near
    assert found == sorted(found, key=lambda one: (-one.share, one.a, one.b))


def test_near_ones_come_the_nearest_first() -> None:
    texts = numbered([("a", frozenset("abcdefg")), ("b", frozenset("abcdefgh")), ("c", frozenset("abcdefgh"))])
    assert near_ones(texts, {"a", "b"}, share=0.8) == {"c": [SimilarPair("b", 1.0), SimilarPair("a", 0.875)]}


@given(st.randoms(use_true_random=False), st.sampled_from([0.86, 0.9]))
def test_long_texts_that_are_near_are_found(random: Random, share: float) -> None:
    first = frozenset(f"w{number}" for number in range(random.randint(20, 400)))
    gone = random.sample(sorted(first), random.randint(0, len(first) // 10))
    more = frozenset(f"x{number}" for number in range(random.randint(0, len(first) // 12)))
    texts: Said = [("one", first), ("other", (first - set(gone)) | more)]
    assert alike(numbered(texts), above=share) == groups_by_every_pair(texts, share)


def test_texts_of_one_subject_are_not_compared_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(7)
    common, rare = [f"c{number}" for number in range(60)], [f"r{number}" for number in range(5000)]
    texts = [(f"t{number}", frozenset([*random.sample(common, 30), *random.sample(rare, 60)])) for number in range(400)]
    looked_at: list[str] = []
    real = NumberedText.may_share

    def counted(self: NumberedText, other: NumberedText, share: float) -> bool:
        looked_at.append(other.name)
        return real(self, other, share)

    monkeypatch.setattr(NumberedText, "may_share", counted)
    assert alike(numbered(texts), above=0.9) == []
    assert len(looked_at) < len(texts)


def test_groups_need_more_than_the_share() -> None:
    ten, nine = frozenset("abcdefghij"), frozenset("abcdefghi")
    assert alike(numbered([("one", ten), ("two", nine)]), above=0.9) == []
    assert alike(numbered([("one", ten), ("two", nine)]), above=0.89) == [("one", "two")]


def test_chain_of_pairs_is_one_group() -> None:
    chain = [frozenset("abcd"), frozenset("abcde"), frozenset("abcdef")]
    assert alike(numbered(said(chain)), above=0.75) == [("t00", "t01", "t02")]


def test_text_without_words_is_like_none() -> None:
    assert alike(numbered([("one", frozenset()), ("two", frozenset())]), above=0.5) == []
