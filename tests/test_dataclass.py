"""Postponed data classes are what `dataclasses` makes, from the first value on."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from itertools import combinations
from threading import Barrier
from typing import Any, ClassVar

import pytest

import mdmem.dataclass
from mdmem.dataclass import dataclass


def classes() -> tuple[type, type]:
    @dataclass(frozen=True, slots=True)
    class Base:
        name: str
        marks: tuple[str, ...] = ()

    @dataclass(frozen=True)
    class Heir(Base):
        size: int = field(default=3, kw_only=True)

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("no name")

    return Base, Heir


def test_nothing_is_made_before_fields_are_asked_for() -> None:
    base, heir = classes()

    @dataclass
    class Plain:
        name: str

    assert Plain("a").name == "a"
    assert not isinstance(vars(Plain)["__dataclass_fields__"], dict)
    assert Plain("a") == Plain("a") != Plain("b")
    assert mdmem.dataclass.replace(heir("a", size=4), name="b") == heir("b", size=4) != base("b")
    assert not [one for one in (Plain, base, heir) if isinstance(vars(one)["__dataclass_fields__"], dict)]
    assert [one.name for one in fields(base)] == ["name", "marks"]
    assert isinstance(vars(base)["__dataclass_fields__"], dict)


def test_value_is_what_a_data_class_makes() -> None:
    base, heir = classes()
    made = heir("a", ("x",), size=4)
    assert (made.name, made.marks, made.size, is_dataclass(heir)) == ("a", ("x",), 4, True)
    assert repr(made).endswith("Heir(name='a', marks=('x',), size=4)")
    assert (replace(made, size=3), hash(made)) == (heir("a", ("x",)), hash(heir("a", ("x",), size=4)))
    assert base("a") != heir("a")
    with pytest.raises(FrozenInstanceError):
        made.name = "b"
    with pytest.raises(ValueError, match="no name"):
        heir("")
    with pytest.raises(TypeError):
        base()


def test_threads_that_make_the_first_values_at_once_get_them() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            _, heir = classes()
            start = Barrier(6)

            def make(start: Barrier = start, heir: Any = heir) -> Any:
                start.wait()
                return heir("a", size=4)

            with ThreadPoolExecutor(6) as pool:
                made = [one.result() for one in [pool.submit(make) for _ in range(6)]]
            assert [one.size for one in made] == 6 * [4]
    finally:
        sys.setswitchinterval(interval)


def test_fields_are_asked_for_before_a_value_is_made() -> None:
    _, heir = classes()
    assert [one.name for one in fields(heir)] == ["name", "marks", "size"]
    assert dataclasses.asdict(heir("a")) == {"name": "a", "marks": (), "size": 3}

    @dataclass
    class Bare:
        pass

    # A Python that tells annotations when they are asked for would take these for all that there are.
    assert (fields(Bare), "__annotations__" in vars(Bare)) == ((), False)


def test_methods_of_its_own_stay() -> None:
    @dataclass(frozen=True)
    class Folded:
        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Folded) and self.name.casefold() == other.name.casefold()

        def __hash__(self) -> int:
            return hash(self.name.casefold())

        def __repr__(self) -> str:
            return self.name

    assert (Folded("A") == Folded("a"), {Folded("A")} == {Folded("a")}, repr(Folded("A"))) == (True, True, "A")


def test_frozen_value_without_a_base_takes_defaults_and_refuses_changes() -> None:
    @dataclass(frozen=True, slots=True)
    class Note:
        put: str
        absent: list[str] = field(default_factory=list)
        _put: int = 3
        seen: int = field(init=False)
        kept: dict[str, int] = field(default_factory=dict, init=False)
        kind: ClassVar[str] = "note"
        last: bool = field(default=False, kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "seen", len(self.absent))

    class Own(Note):
        pass

    one, other = Note("a", ["b"], last=True), Note("a")
    assert (one.put, one.absent, one._put, one.seen, one.kept, one.last) == ("a", ["b"], 3, 1, {}, True)
    assert (other.absent, other.absent is not Note("a").absent, other.kept is not one.kept) == ([], True, True)
    for name in ("put", "more"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, "b")
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'put'"):
        del one.put  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"Note.__init__\(\) missing 1 required positional argument: 'put'"):
        Note()  # type: ignore[call-arg]
    own = Own("a")
    own.more = 1  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        own.put = "b"  # type: ignore[misc]
    assert replace(one, last=False) == Note("a", ["b"])


def given(cls: Callable[..., Any], values: tuple[object, ...], named: Mapping[str, object]) -> str:
    """Return what a value shows, or of what was given that it is wrong."""
    try:
        return str(cls(*values, **named)).rsplit(".", 1)[-1]
    except TypeError as error:
        return str(error).rsplit(".", 1)[-1]


def test_whatever_is_given_to_the_first_value_or_a_later_one_is_taken_as_by_a_data_class() -> None:
    def made(of: Callable[..., Any]) -> Any:
        class Note:
            name: str
            marks: tuple[str, ...] = field(default_factory=tuple)
            kind: str = "note"
            must: int = field(kw_only=True)
            seen: int = field(default=7, init=False)

        return of(frozen=True)(Note)

    words = (("must", 1), ("name", "x"), ("kind", "y"), ("seen", 2), ("more", 3))
    rows = [(tuple("abcd"[:count]), dict(pairs)) for count in range(5) for pairs in [(), *combinations(words, 2)]]
    known, often = made(dataclasses.dataclass), made(dataclass)
    expected = [given(known, *row) for row in rows]
    assert [given(made(dataclass), *row) for row in rows] == expected
    assert [given(often, ("a",), {"must": size}) for size in range(40)] == [
        f"Note(name='a', marks=(), kind='note', must={size}, seen=7)" for size in range(40)
    ]
