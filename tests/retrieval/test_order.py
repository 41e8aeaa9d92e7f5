"""What is put in order when it is asked for stands as if all had been."""

import random
from operator import itemgetter

import pytest

from mdmem.ask.search import Stepped

Item = tuple[int, int]


@pytest.fixture
def items() -> list[Item]:
    draw = random.Random(5)
    return [(draw.randrange(9), number) for number in draw.sample(range(60), 60)]


@pytest.mark.parametrize("at", [0, 7, -1, slice(3), slice(5, 20), slice(40, None), slice(-3, None), slice(3, 3)])
def test_part_is_that_of_the_whole_in_order(at: int | slice, items: list[Item]) -> None:
    found = Stepped(sorted(items, key=itemgetter(0)), itemgetter(0), lambda item: item, itemgetter(0))
    assert found[at] == sorted(items)[at]


def test_first_ones_are_ordered_without_the_others(items: list[Item]) -> None:
    given = sorted(items, key=itemgetter(0))
    found, before = Stepped(given, itemgetter(0), lambda item: item, itemgetter(0)), list(given)
    assert (found[0], next(iter(found)), len(found)) == (min(items), min(items), len(items))
    changed = [item for item, was in zip(given, before, strict=True) if item != was]
    assert {step for step, _ in changed} == {min(items)[0]}
    one_by_one = iter(found)
    assert [next(one_by_one), found[40], *one_by_one] == [min(items), sorted(items)[40], *sorted(items)[1:]]
    assert list(found) == sorted(items)
    with pytest.raises(IndexError):
        found[len(items)]


def test_others_stand_at_their_places(items: list[Item]) -> None:
    found = Stepped(sorted(items, key=itemgetter(0)), itemgetter(0), lambda item: item, itemgetter(0))
    more = [(-1, 0), (3, -1), (3, 60), (9, 0)]
    assert list(found.with_more({one: one for one in more})) == sorted([*items, *more])
    assert list(found) == sorted(items)
