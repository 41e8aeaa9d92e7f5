"""Thousands of things in an order of which a few are asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

_Made = TypeVar("_Made")


class Stepped(Sequence[_Made]):
    """What is given by steps in order, and within each put in order when it is asked for: of thousands a few are."""

    def __init__(self, given: list[_Made], step: Callable[[_Made], Any], key: Callable[[_Made], Any]) -> None:
        """Take what is given, which is sorted by its steps, and what sorts it all."""
        self._given, self._step, self._key = given, step, key
        self._done = 0

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._given)

    def __iter__(self) -> Iterator[_Made]:
        """Yield them in order."""
        at = 0
        while at < len(self._given):
            self._order(at + 1)
            # While they are looked at, others may be asked for.
            ordered = self._given[at : self._done]
            yield from ordered
            at += len(ordered)

    @overload
    def __getitem__(self, at: int) -> _Made: ...

    @overload
    def __getitem__(self, at: slice) -> list[_Made]: ...

    def __getitem__(self, at: int | slice) -> _Made | list[_Made]:
        """Return one, or some of them."""
        last = range(len(self._given))[at]
        self._order(last + 1 if isinstance(last, int) else max(last, default=-1) + 1)
        return self._given[at]

    def place_of(self, key: Any) -> int:
        """Return how many come no later than something of a key, which takes no order."""
        given, step = self._given, self._step
        # Steps are in order, so that this is at least next to the one that it belongs to.
        at = bisect_right(given, key, key=self._key)
        start = bisect_left(given, step(given[at - 1]), key=step) if at else 0
        end = bisect_right(given, step(given[at]), key=step) if at < len(given) else at
        no_later: list[bool] = [self._key(one) <= key for one in given[start:end]]
        return start + sum(no_later)

    def _order(self, end: int) -> None:
        """Put in order at least so many."""
        given = self._given
        while self._done < end:
            start = self._done
            stop = bisect_right(given, self._step(given[start]), lo=start, key=self._step)
            given[start:stop] = sorted(given[start:stop], key=self._key)
            self._done = stop
