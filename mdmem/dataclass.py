"""Data classes that are made when their fields are asked for: most of a program's are not, in most of its runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, FrozenInstanceError, asdict, field, fields, is_dataclass
from functools import cache, partial
from operator import attrgetter
from threading import RLock
from typing import TYPE_CHECKING, Any

__all__ = ["KW_ONLY", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Make a class a data class as `dataclasses.dataclass` does, once it is asked for its fields.

        That one compiles six methods for each, which costs a thousandth of a second, and a question to a memory of ten
        entries imports a hundred. There are no `slots`, for which the class would have to be another one. A class with
        methods of its own in the place of those, or with an order, is made at once.
        """
        if cls is None:
            return lambda found: dataclass(found, **options)
        is_plain = not options.get("order") and _MADE.isdisjoint(vars(cls))
        return _postponed(cls, options) if is_plain else dataclasses.dataclass(cls, **options)

    def replace(value: Any, /, **changes: Any) -> Any:
        """Return a value with others in some fields as `dataclasses.replace` does; its class need not be made."""
        stated = _stated(type(value))
        if stated is None or any(one.name in changes and not one.init for one in stated):
            return dataclasses.replace(value, **changes)
        kept = {one.name: getattr(value, one.name) for one in stated if one.init and one.name not in changes}
        return type(value)(**kept, **changes)


_MADE = {"__init__", "__repr__", "__eq__", "__hash__"}
_FIELDS, _STATED = "__dataclass_fields__", "__dataclass_stated__"
_FEW = 50
_PSEUDO = {"ClassVar", "InitVar", "KW_ONLY"}
_turn = RLock()


def _postponed(cls: Any, options: dict[str, Any]) -> Any:
    def made() -> Any:
        with _turn:
            if isinstance(vars(cls).get(_FIELDS), _OfMade):
                # As it was stated: what is made has other values in its place.
                _stated(cls)
                _make(cls, **options)
        return cls

    def compared() -> Any:
        stated = _stated(cls)
        with _turn:
            cls._compared = _comparing(fields(made()) if stated is None else stated)
        return cls

    def init(self: Any, *values: Any, **named: Any) -> None:
        with _turn:
            if vars(cls)["__init__"] is init:
                stated = _stated(cls)
                if stated is None:
                    made()
                else:
                    cls.__init__ = _initializer_of_few(cls, stated, is_frozen=options.get("frozen", False))
        cls.__init__(self, *values, **named)

    _give_methods(cls, **options)
    cls.__init__ = init
    setattr(cls, _STATED, cache(partial(_stated_plainly, cls, **options)))
    if options.get("eq", True):
        cls._compared = _OfMade(compared, "_compared")
    setattr(cls, _FIELDS, _OfMade(made, _FIELDS))
    return cls


class _OfMade:
    """Stands in the place of what a class has once it is made, until somebody asks for it."""

    def __init__(self, made: Callable[[], Any], name: str) -> None:
        self._made, self._name = made, name

    def __get__(self, instance: object, owner: type) -> Any:
        return getattr(self._made(), self._name)


def _has_base(cls: type) -> bool:
    return cls.__bases__ != (object,) and any(_FIELDS in vars(base) for base in cls.__mro__[1:])


class _Plain:
    """What a class says of a field in a value alone, as `dataclasses` tells it."""

    init = compare = True
    default_factory = MISSING

    def __init__(self, name: str, default: object, *, kw_only: bool) -> None:
        self.name, self.default, self.kw_only = name, default, kw_only


def _stated(cls: Any) -> Sequence[Any] | None:
    """Return the fields of a class as it states them; None where only `dataclasses` tells them."""
    tell = vars(cls).get(_STATED)
    return tell() if tell is not None else None


def _stated_plainly(cls: Any, *, kw_only: bool = False, **_: Any) -> Sequence[Any] | None:
    # Where a class states none itself, a Python that tells them when they are asked for may yet find some.
    stated = vars(cls).get("__annotations__")
    if not stated or not _are_plain(stated):
        return None
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited = _stated(base) if _FIELDS in vars(base) else ()
        # What is stated anew may have a value there.
        if inherited is None or any(one.name in stated for one in inherited):
            return None
        found.update((one.name, one) for one in inherited)
    for name in stated:
        one: Any = vars(cls).get(name, MISSING)
        if isinstance(one, dataclasses.Field):
            one.name, one.kw_only = name, kw_only if one.kw_only is MISSING else one.kw_only
            if not one.init and one.default_factory is MISSING:
                return None
        else:
            one = _Plain(name, one, kw_only=kw_only)
        found[name] = one
    return tuple(found.values())


def _give_methods(cls: Any, *, eq: bool = True, frozen: bool = False, **_: Any) -> None:
    """Give a class what every data class has, compiled for none; one with a base has its ways to refuse changes."""
    if frozen and not _has_base(cls):
        cls.__setattr__, cls.__delattr__ = _set, _delete
    cls.__repr__ = _repr
    if eq:
        cls.__eq__, cls.__hash__ = _eq, _hash if frozen else None


def _make(cls: Any, *, eq: bool = True, frozen: bool = False, **options: Any) -> None:
    """Make a class a data class; what every one of them has is not compiled for each."""
    options.pop("slots", None)
    # Else it is made of the signature.
    cls.__doc__ = cls.__doc__ or cls.__name__
    has_base = _has_base(cls)
    make = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen and has_base, **options)
    _with_known_types(cls, make)
    stated: tuple[Any, ...] = fields(cls)
    if frozen and not has_base:
        # What `dataclasses` compiles for it takes as long as all else that it does.
        cls.__dataclass_params__.frozen = True
    if eq:
        cls._compared = _comparing(stated)
    # Last of all: from now on nobody waits for the rest.
    cls.__init__ = _initializer_of_few(cls, stated, is_frozen=frozen)


def _comparing(stated: Iterable[Any]) -> Any:
    names = [one.name for one in stated if one.compare]
    return staticmethod(attrgetter(*names)) if names else staticmethod(type)


def _with_known_types(cls: Any, make: Callable[[Any], Any]) -> None:
    """Let a class be made whose fields are no pseudo-fields: to look for that in what types are called takes half."""
    stated = vars(cls).get("__annotations__")
    if not stated or not _are_plain(stated):
        make(cls)
        return
    cls.__annotations__ = dict.fromkeys(stated, object)
    try:
        make(cls)
    finally:
        cls.__annotations__ = stated
    for one in fields(cls):
        one.type = stated.get(one.name, one.type)


def _are_plain(stated: Mapping[str, Any]) -> bool:
    return all(
        isinstance(name, str) and _PSEUDO.isdisjoint(name.replace("[", ".").split(".")) for name in stated.values()
    )


def _initializer_of_few(cls: Any, stated: Sequence[Any], *, is_frozen: bool) -> Any:
    """Return what sets the fields of the first values of a class, compiled for nobody.

    Most classes have a handful of values in a run, and to compile the method takes as long as to make a hundred.
    """
    places = [one.name for one in stated if one.init and not one.kw_only]
    defaults = {one.name: one.default for one in stated if one.init and one.default is not MISSING}
    factories = [(one.name, one.default_factory) for one in stated if one.default_factory is not MISSING]
    known = {one.name for one in stated if one.init}
    needed = known.difference(defaults, (name for name, _ in factories))
    has_more = hasattr(cls, "__post_init__")
    left = iter(range(_FEW))

    def init(self: Any, *values: Any, **named: Any) -> None:
        given = dict(zip(places, values, strict=False))
        given.update(named)
        is_plain = len(given) == len(values) + len(named) and needed <= given.keys() <= known
        if not is_plain or next(left, None) is None:
            # A fault is told as everywhere.
            cls.__init__ = _initializer(cls, stated, is_frozen=is_frozen)
            cls.__init__(self, *values, **named)
            return
        for name, make in factories:
            if name not in given:
                given[name] = make()
        vars(self).update(defaults, **given)
        if has_more:
            self.__post_init__()

    return init


def _initializer(cls: Any, stated: Sequence[Any], *, is_frozen: bool) -> Any:
    """Return what sets the fields of a class, as `dataclasses` would make it."""
    places: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    # No field begins with a digit.
    known: dict[str, Any] = {"__0put": object.__setattr__, "__0absent": MISSING}
    for one in stated:
        name, has_factory = one.name, one.default_factory is not MISSING
        known[f"__{name}"] = one.default_factory if has_factory else one.default
        default = "=__0absent" if has_factory else f"=__{name}" if one.default is not MISSING else ""
        value = f"__{name}() if {name} is __0absent else {name}" if has_factory else name
        if one.init:
            (named if one.kw_only else places).append(name + default)
        elif not has_factory:
            continue
        else:
            value = f"__{name}()"
        lines.append(f"__0put(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *places, *(["*", *named] if named else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), known)
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _refusing(what: str, do: Callable[..., None]) -> Callable[..., None]:
    def refuse(self: Any, name: str, *value: object) -> None:
        # A class below that is no data class may have more.
        if _FIELDS in vars(type(self)) or name in getattr(self, _FIELDS):
            raise FrozenInstanceError(f"cannot {what} field {name!r}")
        do(self, name, *value)

    return refuse


_set, _delete = _refusing("assign to", object.__setattr__), _refusing("delete", object.__delattr__)


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))
