"""The quick `dataclass` makes what the library's makes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Any

import pytest

from mdmem.dataclass import dataclass

Decorator = Callable[..., Any]


def shapes(made_by: Decorator) -> list[Any]:
    """Return values of classes of each form that there is."""

    @made_by(frozen=True, slots=True)
    class Point:
        x: int
        y: list[int] = field(default_factory=list, compare=False)
        z: str = "z"

    @made_by(frozen=True, slots=True, kw_only=True)
    class Named(Point):
        name: str
        shown: str = field(default="", repr=False)

    @made_by(frozen=True)
    class Kept:
        x: int = field(default=1, kw_only=True)
        given: dict[str, int] = field(default_factory=dict, init=False, hash=False)

        @cached_property
        def double(self) -> int:
            return 2 * self.x

    @made_by(slots=True)
    class Loose:
        x: int = 0

        def __post_init__(self) -> None:
            self.x += 1

    @made_by(frozen=True, eq=False)
    class Same:
        pass

    kept = Kept(x=4)
    assert (kept.double, kept.double) == (8, 8)
    values = [Point(1), Point(1, [2]), Point(2, z="a"), Named(1, name="n"), Named(1, name="n", shown="s"), kept]
    return [*values, Kept(), Loose(3), Loose(3), Same()]


def facts(value: Any, others: list[Any]) -> list[object]:
    """Return all that a class of fields says of itself and does."""
    stated = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    hashed = value.__hash__ is not None and type(value).__name__ != "Same"
    changed = dataclasses.replace(value) if "given" not in stated else value
    return [
        repr(value),
        dataclasses.asdict(value),
        [value == other for other in others],
        hashed and isinstance(hash(value), int) and hash(value) == hash(copy.copy(value)),
        changed == value,
        type(value).__match_args__,
        hasattr(value, "__dict__"),
        tried(lambda: setattr(value, "x", 9)) if hashed else "",
        tried(lambda: delattr(value, "x")) if hashed else "",
        tried(lambda: type(value)(1, 2, 3, 4, 5)),
    ]


def tried(act: Callable[[], object]) -> str:
    """Return the kind of failure."""
    try:
        act()
    except (AttributeError, TypeError) as error:
        return type(error).__name__
    return ""


def test_values_are_those_of_the_library() -> None:
    ours, theirs = shapes(dataclass), shapes(dataclasses.dataclass)
    assert [facts(one, ours) for one in ours] == [facts(one, theirs) for one in theirs]


@dataclass(frozen=True, slots=True)
class Sent:
    x: int
    y: tuple[str, ...] = ()


def test_value_is_the_same_after_a_journey() -> None:
    assert pickle.loads(pickle.dumps(Sent(1, ("a",)))) == copy.deepcopy(Sent(1, ("a",))) == Sent(1, ("a",))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sent(1).x = 2  # type: ignore[misc]
