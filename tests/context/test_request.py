"""What is asked of a context pack, from plain values."""

import pytest
from mdmem.ask.context.facets import Intent, Layer
from mdmem.ask.context.pack import ContextRequest, query_of, read_request

from mdmem.errors import UsageError


def test_only_the_goal_is_needed() -> None:
    asked = read_request({"goal": "add a thing", "intent": None, "project": " "})
    assert asked == ContextRequest(goal="add a thing", intent=Intent.BUILD, layer=Layer.RECALL)
    assert (asked.size, asked.related_size) == (24, 3)


@pytest.mark.parametrize(("limit", "size"), [(-5, 1), (0, 1), (1, 1), (50, 50), (51, 50), (10**9, 50), ("7", 7)])
def test_limit_is_clamped(limit: object, size: int) -> None:
    assert read_request({"goal": "x", "limit": limit}).size == size


def test_related_limit_is_clamped_and_can_be_none() -> None:
    assert read_request({"goal": "x", "related_limit": -1}).related_size == 0
    assert read_request({"goal": "x", "related_limit": 900}).related_size == 20
    assert read_request({"goal": "x", "include_related": False}).related_size == 0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "`goal` is missing; write a text"),
        ({"goal": "x", "intent": "bild"}, "`intent` has no value `bild`; did you mean `build`?"),
        ({"goal": "x", "layer": "deep"}, "`layer` has no value `deep`; did you mean `deep_search`?"),
        ({"goal": "x", "limit": "lots"}, "`limit` must be a whole number, found `lots`"),
        ({"goal": "x", "limits": 3}, "`context` has no argument `limits`"),
        ({"goal": "x", "domain": 3}, "`domain` must be a text, found `3`"),
    ],
)
def test_value_that_does_not_fit_is_named(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_request(given)
    assert str(refused.value).startswith(sentence)


def test_query_holds_each_word_that_says_something_once() -> None:
    assert query_of("How do I retry the retries of src/pool.py", "pool") == "retry src/pool.py pool"


def test_query_of_a_long_goal_is_its_beginning() -> None:
    assert query_of(" ".join(f"word{number}" for number in range(500))).split()[-1] == "word47"
