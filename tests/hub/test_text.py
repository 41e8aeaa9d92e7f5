"""The full text of a copy: what the server gives is ranked alike, whatever order it comes in."""

import random
from collections.abc import Collection, Iterator
from typing import Any

from mdmem.hub.reader import SeenWing
from mdmem.hub.rows import SCORED
from mdmem.hub.text import CopyText

_COUNT = 40
_BODY = chr(ord("a") + SCORED.index("text"))


class Rows:
    """Rows of entries of two passages, of which the first or the second says more, as a server gives them."""

    def __init__(self, order: list[int]) -> None:
        self._order = order

    def lengths(self, _: Collection[int]) -> Iterator[tuple[int, int, str, tuple[tuple[int, ...], ...]]]:
        passages = (tuple(9 if name == "text" else 0 for name in SCORED),) * 2
        return ((number, 1, f"rules/e{number:02}.md", passages) for number in range(_COUNT))

    def rows(self, *_: Any) -> list[tuple[int]]:
        return [(number,) for number in self._order]

    def holdings(self, ids: Collection[int], wanted: Collection[str]) -> Iterator[tuple[int, dict[str, str]]]:
        for number in (one for one in self._order if one in ids):
            yield number, dict.fromkeys(wanted, f"{number % 2 or ''}{_BODY}{1 + number % 7}")


def test_entries_rank_alike_in_whatever_order_their_rows_come() -> None:
    wing = SeenWing(1, 1, "app", None, None, None, False, (), _COUNT, 2 * _COUNT, ())
    live = {f"app/rules/e{number:02}": "" for number in range(_COUNT)}
    orders = list(range(_COUNT)), random.Random(1).sample(range(_COUNT), _COUNT)
    found = [
        CopyText(Rows(order), {1: wing}).search("queue", live=live, read=lambda _: "").matches  # type: ignore[arg-type]
        for order in orders
    ]
    assert [(one.key, one.score) for one in found[0]] == [(one.key, one.score) for one in found[1]]
    assert len(found[0]) == _COUNT
