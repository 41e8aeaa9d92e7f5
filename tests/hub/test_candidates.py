"""Which entries may answer best: told from how many hold each word, without a look at most of them."""

import random
from collections import Counter
from typing import Any

from mdmem.hub.rows import SAMPLES, lexeme, title_mark
from mdmem.hub.text import holders, levels

_DOCUMENTS = 60_000
_SHARES = {"queue": 0.02, "ledger": 0.005, "region": 0.15}


def drawn(seed: int) -> list[frozenset[str]]:
    """Return what entries hold of the words, in their titles and elsewhere."""
    numbers = random.Random(seed)
    found = []
    for _ in range(_DOCUMENTS):
        held = {word for word, share in _SHARES.items() if numbers.random() < share}
        found.append(frozenset(held | {title_mark(word) for word in held if numbers.random() < 0.03}))
    return found


def meets(held: frozenset[str], level: str) -> bool:
    """Say whether an entry meets a level, which is an OR of ANDs."""
    ways = level.replace("(", "").replace(")", "").split(" | ")
    return any(all(one.strip("'") in held for one in way.split(" & ")) for way in ways)


def test_the_first_level_is_small_and_holds_those_that_have_most_of_the_rare_words() -> None:
    # Thousands hold the same.
    entries = Counter(drawn(1))
    known = {word: sum(entries[held] for held in entries if word in held) for word in _SHARES}
    first, *_, last = levels(known, _DOCUMENTS)
    found = [held for held in entries if meets(held, first)]
    assert 100 < sum(map(entries.__getitem__, found)) < 2_000
    assert all(set(_SHARES) - held or held in found for held in entries)
    assert all(title_mark("ledger") not in held or held in found for held in entries)
    assert all(meets(held, last) for held in entries if held)


def test_few_matches_are_all_looked_at() -> None:
    assert levels({"queue": 3, "ledger": 0}, 10) == [" | ".join(map(lexeme, ("queue", "ledger", " *")))]
    assert levels({}, 10) == []


def test_what_is_rare_is_counted_and_what_is_common_is_told_by_a_sample() -> None:
    asked: list[list[str]] = []

    class Server:
        def rows(self, _: str, *values: Any) -> list[tuple[int, int]]:
            _, most, is_of_sample, queries = values
            asked.append(queries)
            assert all(is_of_sample is any(mark in query for mark in SAMPLES) for query in queries)
            numbers = {"rare": 41, "common": 20_000, "everywhere": 9_000_000}
            shares = [next((share for mark, share in SAMPLES.items() if f"'{mark}'" in query), 1) for query in queries]
            held = [numbers[query.split("'")[-2]] // share for query, share in zip(queries, shares, strict=True)]
            return [(place, min(number, most)) for place, number in enumerate(held, start=1)]

    server: Any = Server()
    found = holders(server, ["common", "everywhere", "rare"], None)
    assert found == {"common": 19_968, "everywhere": 8_998_912, "rare": 41}
    assert [len(queries) for queries in asked] == [3, 1, 1]
