"""What is asked of a context pack or a synthesis plan, from plain values."""

import pytest

from mdmem.ask.context import ContextRequest
from mdmem.ask.facets import Intent, Layer
from mdmem.ask.question import read_request
from mdmem.ask.synthesis import SynthesisRequest
from mdmem.errors import UsageError


def test_only_the_goal_is_needed() -> None:
    asked = read_request(ContextRequest, {"goal": " add a\nthing ", "intent": None, "project": " "})
    assert asked == ContextRequest(goal="add a thing", intent=Intent.BUILD, layer=Layer.RECALL)
    assert (asked.size, asked.related_size) == (24, 3)
    for kind in (ContextRequest, SynthesisRequest):
        with pytest.raises(UsageError, match="`goal` is missing; write a text"):
            read_request(kind, {"goal": " "})


@pytest.mark.parametrize(("limit", "size"), [(-5, 1), (0, 1), (1, 1), (50, 50), (51, 50), (10**9, 50)])
def test_limit_is_clamped(limit: int, size: int) -> None:
    assert ContextRequest(goal="x", limit=limit).size == size


def test_related_limit_is_clamped_and_can_be_none() -> None:
    assert ContextRequest(goal="x", related_limit=-1).related_size == 0
    assert ContextRequest(goal="x", related_limit=900).related_size == 20
    assert ContextRequest(goal="x", include_related=False).related_size == 0


def test_query_holds_each_word_that_says_something_once() -> None:
    asked = ContextRequest(goal="How do I retry the retries of src/pool.py", domain="pool")
    assert asked.query == "retry src/pool.py pool"


def test_query_of_a_long_goal_is_its_beginning() -> None:
    asked = ContextRequest(goal=" ".join(f"word{number}" for number in range(500)))
    assert asked.query.split()[-1] == "word47"
