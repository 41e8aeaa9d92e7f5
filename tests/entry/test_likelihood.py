"""What is likely to answer, whatever was asked."""

import pytest

from mdmem.markdown.likelihood import SHOWING, likely, stated_in

PLAIN = "It waits for the door."


@pytest.mark.parametrize(
    ("told", "least"),
    [
        ("It waits ten seconds.", 1),
        ("It waits 10s.", 1),
        ("It waits from 3.14 on.", 1),
        ("Where it is unset, nobody waits.", 1),
        ("The field `maxSkew` says how long.", 0.5),
        ("The file ``py.typed`` says so.", 0.5),
        ("We have a new door.", 0.5),
        (f"{PLAIN}\n    wait()", SHOWING),
    ],
)
def test_value_name_news_and_code_are_likelier_to_answer_than_plain_words(told: str, least: float) -> None:
    assert likely(told) >= least > likely(PLAIN) == likely("Say `so` to 2 doors, or `no`.") == likely("abi310") == 0.0


@pytest.mark.parametrize("sign", ["1", "`", "`a", "`a.", "default", "\n", "a1."])
def test_what_is_stated_is_found_in_linear_time(sign: str) -> None:
    body = sign * 60_000
    assert all(list(places) == sorted(places) for _, places in stated_in(body))
    assert likely(body) >= 0
