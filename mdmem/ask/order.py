"""Thousands of things in an order of which a few are asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

_Made = TypeVar("_Made")


class Stepped(Sequence[_Made]):
    """What is given by steps in order, and within each put in order when it is asked for: of thousands a few are."""

    def __init__(
        self,
        given: list[_Made],
        step: Callable[[_Made], Any],
        key: Callable[[_Made], Any],
        step_in: Callable[[Any], Any],
    ) -> None:
        """Take what is given, which is sorted by its steps, what sorts it all, and the step in a key."""
        self._given, self._step, self._key, self._step_in = given, step, key, step_in
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

    def with_more(self, more: Mapping[_Made, Any]) -> Stepped[_Made]:
        """Return these and others, by their keys, each at its place in the order."""
        given, old_key, old_step, step_in = [*self._given], self._key, self._step, self._step_in

        def key_of(one: _Made) -> Any:
            return more[one] if one in more else old_key(one)

        def step_of(one: _Made) -> Any:
            return step_in(more[one]) if one in more else old_step(one)

        for one, key in more.items():
            # Steps are in order, so that this is at least next to those of its own.
            given.insert(bisect_right(given, key, key=key_of), one)
        return Stepped(given, step_of, key_of, step_in)

    def _order(self, end: int) -> None:
        """Put in order at least so many."""
        given = self._given
        while self._done < end:
            start = self._done
            stop = bisect_right(given, self._step(given[start]), lo=start, key=self._step)
            given[start:stop] = sorted(given[start:stop], key=self._key)
            self._done = stop
