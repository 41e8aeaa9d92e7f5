"""Members of closed sets and numbers from what somebody typed."""

from enum import StrEnum

import pytest

from mdmem.arguments import choose, line, optional_line, whole_number, yes_or_no
from mdmem.errors import UsageError


class Colour(StrEnum):
    LIGHT_RED = "light_red"
    BLUE = "blue"


@pytest.mark.parametrize("typed", ["light_red", "Light-Red", "light red"])
def test_choose_takes_any_spelling_of_a_member(typed: str) -> None:
    assert choose("colour", typed, Colour) is Colour.LIGHT_RED


def test_choose_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="`colour` has no value `blu`; did you mean `blue`"):
        choose("colour", "blu", Colour)


def test_choose_names_all_where_none_is_near() -> None:
    with pytest.raises(UsageError, match="write one of `light_red`, `blue`"):
        choose("colour", 7, Colour)


@pytest.mark.parametrize(("given", "number"), [(3, 3), ("12", 12), (-4.0, -4), (" -2 ", -2)])
def test_whole_number_is_read(given: object, number: int) -> None:
    assert whole_number("limit", given) == number


@pytest.mark.parametrize("given", [True, 1.5, "many", None, [], float("nan"), float("inf"), "9" * 40])
def test_whole_number_refuses(given: object) -> None:
    with pytest.raises(UsageError, match="`limit` must be a whole number"):
        whole_number("limit", given)


def test_line_joins_its_parts_and_must_say_something() -> None:
    assert line("goal", " a\n b ") == "a b"
    assert optional_line("goal", " ") is None
    with pytest.raises(UsageError, match="`goal` is missing"):
        line("goal", "\n")
    with pytest.raises(UsageError, match="`goal` must be a text"):
        line("goal", {})


def test_yes_or_no_is_no_number() -> None:
    assert yes_or_no("flag", False) is False
    with pytest.raises(UsageError, match="`flag` must be true or false"):
        yes_or_no("flag", 1)
