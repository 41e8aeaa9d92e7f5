"""`dataclass` as the standard library has it, made in a tenth of the time: a command makes a hundred of them.

The library compiles six methods for each class. Here comparing, hashing and showing are the same functions for all, and
what makes an instance is compiled when the first one is made; most classes of a command have none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False, eq=True, order=False):
        """Return a class with fields, as `dataclasses.dataclass` does; its functions take what it makes."""
        if cls is None:
            return lambda one: dataclass(one, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, order=order)
        if order:
            return dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, order=True)(cls)
        # Without a text the library writes one from the signature, which takes longer than all else.
        documented = cls.__doc__
        cls.__doc__ = documented or cls.__name__
        own = {name for name in ("__init__", "__repr__", "__eq__", "__hash__") if name in cls.__dict__}
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
        made.__doc__ = documented
        methods = {"__repr__": _repr, "__init__": _first_init(made, frozen=frozen)}
        if eq:
            methods |= {"__eq__": _first_eq(made), "__hash__": _first_hash(made) if frozen else None}
        for name in methods.keys() - own:
            setattr(made, name, methods[name])
        if frozen:
            made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
            made.__setstate__ = _set_state
        return made


def _first_init(cls: Any, *, frozen: bool) -> Callable[..., None]:
    """Return what makes the first instance, and puts what makes all others in its place."""

    def init(self: Any, *given: Any, **named: Any) -> None:
        cls.__init__ = _init_of(cls, frozen=frozen)
        cls.__init__(self, *given, **named)

    return init


def _init_of(cls: Any, *, frozen: bool) -> Any:
    values: dict[str, Any] = {"_set": object.__setattr__, "_lacks": object()}
    parameters: dict[bool, list[str]] = {False: [], True: ["*"]}
    lines = []
    for one in dataclasses.fields(cls):
        name, value = one.name, one.name
        if one.default is not dataclasses.MISSING:
            values[f"_default_{name}"] = one.default
            value = name if one.init else f"_default_{name}"
        elif one.default_factory is not dataclasses.MISSING:
            values[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}() if {name} is _lacks else {name}" if one.init else f"_make_{name}()"
        elif not one.init:
            continue
        if one.init:
            default = f"_default_{name}" if f"_default_{name}" in values else "_lacks" * (f"_make_{name}" in values)
            parameters[one.kw_only is True].append(f"{name}={default}" if default else name)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    named = parameters[True] if len(parameters[True]) > 1 else []
    head = f"def __init__({', '.join(['self', *parameters[False], *named])}):"
    exec("\n ".join([head, *(lines or ["pass"])]), values)
    made = values["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _first_eq(cls: Any) -> Callable[[Any, object], bool]:
    """Return what compares the first two instances, and puts what compares all others in its place."""

    def first(self: Any, other: object) -> bool:
        values = _getter(one.name for one in dataclasses.fields(cls) if one.compare)

        def eq(self: Any, other: object) -> bool:
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        cls.__eq__ = eq
        return eq(self, other)

    return first


def _first_hash(cls: Any) -> Callable[[Any], int]:
    """Return what hashes the first instance, and puts what hashes all others in its place."""

    def first(self: Any) -> int:
        values = _getter(one.name for one in dataclasses.fields(cls) if (one.compare if one.hash is None else one.hash))
        cls.__hash__ = lambda self: hash(values(self))
        return hash(self)

    return first


def _getter(names: Iterable[str]) -> Callable[[Any], Any]:
    named = tuple(names)
    return attrgetter(*named) if named else lambda _self: ()


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: Any, name: str, _value: object) -> None:  # noqa: ARG001
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:  # noqa: ARG001
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _set_state(self: Any, state: Any) -> None:
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            object.__setattr__(self, name, value)
