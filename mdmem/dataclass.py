"""Data classes that are made when they are first needed: most of a program's are not, in most of its runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, field, fields, is_dataclass, replace
from operator import attrgetter
from threading import RLock, active_count
from typing import TYPE_CHECKING, Any

__all__ = ["KW_ONLY", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Make a class a data class as `dataclasses.dataclass` does, once it is asked for a value or its fields.

        That one compiles six methods for each, which costs a thousandth of a second, and a question to a memory of ten
        entries imports a hundred. There are no `slots`, for which the class would have to be another one. A class with
        methods of its own in the place of those, or with an order, is made at once.
        """
        if cls is None:
            return lambda found: dataclass(found, **options)
        is_plain = not options.get("order") and _MADE.isdisjoint(vars(cls))
        return _postponed(cls, options) if is_plain else dataclasses.dataclass(cls, **options)


_MADE = {"__init__", "__repr__", "__eq__", "__hash__"}
_FIELDS = "__dataclass_fields__"
_NOT_TAKEN = {_FIELDS, "__init__", "__dict__", "__weakref__"}
_turn = RLock()


def _postponed(cls: Any, options: dict[str, Any]) -> Any:
    def made() -> Any:
        with _turn:
            if isinstance(vars(cls).get(_FIELDS), _Fields):
                _make(cls, **options)
        return cls

    def init(self: Any, *values: Any, **named: Any) -> None:
        made().__init__(self, *values, **named)

    cls.__init__ = init
    setattr(cls, _FIELDS, _Fields(made))
    return cls


class _Fields:
    """Stands in the place of a class's fields until somebody asks for them."""

    def __init__(self, made: Callable[[], Any]) -> None:
        self._made = made

    def __get__(self, instance: object, owner: type) -> Any:
        return getattr(self._made(), _FIELDS)


def _make(cls: Any, *, eq: bool = True, **options: Any) -> None:
    """Make a class a data class; what every one of them has is not compiled for each."""
    options.pop("slots", None)
    is_alone = active_count() == 1
    made = None if is_alone else _initializer(cls, options)
    if is_alone:
        delattr(cls, "__init__")
    dataclasses.dataclass(init=is_alone, repr=False, eq=False, **options)(cls)
    stated: tuple[Any, ...] = fields(cls)
    cls.__repr__ = _repr
    if eq:
        compared = [one.name for one in stated if one.compare]
        cls._compared = staticmethod(attrgetter(*compared)) if compared else staticmethod(type)
        cls.__eq__, cls.__hash__ = _eq, _hash if options.get("frozen") else None
    if made is not None:
        # Last of all: from now on nobody waits for the rest.
        cls.__init__ = made


def _initializer(cls: Any, options: dict[str, Any]) -> Any:
    """Return what sets the fields of a class, made for another of the same fields.

    To take away its own until it has another is quicker, and shows that of its base to threads that make values.
    """
    own = {name: value for name, value in vars(cls).items() if name not in _NOT_TAKEN}
    twin = type(cls)(cls.__name__, cls.__bases__, own)
    return dataclasses.dataclass(repr=False, eq=False, **options)(twin).__init__


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))
