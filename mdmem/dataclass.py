"""Data classes that are made when they are first needed: most of a program's are not, in most of its runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field, replace
from operator import attrgetter
from threading import RLock
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Make a class a data class as `dataclasses.dataclass` does, once it is asked for a value or its fields.

        That one compiles six methods for each, which costs a thousandth of a second, and a question to a memory of ten
        entries imports a hundred. There are no `slots`, for which the class would have to be another one.
        """
        if cls is None:
            return lambda found: dataclass(found, **options)
        return dataclasses.dataclass(cls, **options) if options.get("order") else _postponed(cls, options)


_FIELDS = "__dataclass_fields__"
_turn = RLock()


def _postponed(cls: Any, options: dict[str, Any]) -> Any:
    for base in cls.__mro__[1:]:
        # A class takes over the fields of those that it is made of.
        getattr(base, _FIELDS, None)

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
    delattr(cls, "__init__")
    delattr(cls, _FIELDS)
    options.pop("slots", None)
    dataclasses.dataclass(repr=False, eq=False, **options)(cls)
    fields: tuple[Any, ...] = dataclasses.fields(cls)
    cls.__repr__ = _repr
    if eq:
        compared = [one.name for one in fields if one.compare]
        cls._compared = staticmethod(attrgetter(*compared)) if compared else staticmethod(type)
        cls.__eq__, cls.__hash__ = _eq, _hash if options.get("frozen") else None


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))
