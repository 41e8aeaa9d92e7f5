"""What is put in order when it is asked for stands as if all had been."""

import random
from operator import itemgetter

import pytest

from mdmem.retrieval.order import Stepped, in_any_order, in_order

Item = tuple[int, int]


@pytest.fixture
def items() -> list[Item]:
    draw = random.Random(5)
    return [(draw.randrange(9), number) for number in draw.sample(range(60), 60)]


def stepped(items: list[Item]) -> Stepped[Item]:
    return Stepped(sorted(items, key=itemgetter(0)), itemgetter(0), lambda item: item)


@pytest.mark.parametrize("at", [0, 7, -1, slice(3), slice(5, 20), slice(40, None), slice(-3, None), slice(3, 3)])
def test_part_is_that_of_the_whole_in_order(at: int | slice, items: list[Item]) -> None:
    assert stepped(items)[at] == sorted(items)[at]


def test_first_ones_leave_the_others_as_they_were_given(items: list[Item]) -> None:
    found = stepped(items)
    given = list(in_any_order(found))
    assert (found[0], next(iter(found)), len(found)) == (min(items), min(items), len(items))
    changed = [item for item, before in zip(in_any_order(found), given, strict=True) if item != before]
    assert {step for step, _ in changed} == {min(items)[0]}
    one_by_one = iter(found)
    assert [next(one_by_one), found[40], *one_by_one] == [min(items), sorted(items)[40], *sorted(items)[1:]]
    assert list(found) == sorted(items) == list(in_any_order(found))


def test_few_of_them_come_in_the_order_of_all(items: list[Item]) -> None:
    few, ordered = items[::7], sorted(items)
    assert in_order(stepped(items), few) == in_order(ordered, few) == sorted(few)
    keys = [*items, (-1, 0), (3, -1), (3, 60), (9, 0)]
    assert [stepped(items).place_of(key) for key in keys] == [sum(one <= key for one in items) for key in keys]
    with pytest.raises(IndexError):
        stepped(items)[len(items)]
