"""Modules that libraries import at once and use late, if ever: each is imported when something of it is asked for."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

_turn = threading.Lock()
own_process = threading.Event()
"""Set where nothing runs but mdmem: then a library may be imported without what mdmem never asks of it."""


class Late(ModuleType):
    """Stands in the place of a module until something of it is asked for that is not known, or what is known is called.

    Each of the names that are `called` is a class, so that it can stand where a type is wanted; nothing is of it.
    """

    def __init__(self, name: str, *called: str, **known: object) -> None:
        """Take the name of the module, and what of it is taken out without being used."""
        super().__init__(name)
        vars(self).update(known, **{one: self._late_callable(one) for one in called})

    def __getattr__(self, name: str) -> Any:
        """Return what the module has of a name; it is no package, which is asked before anything is taken out of it."""
        if name == "__path__":
            raise AttributeError(name)
        # Whatever is set here is found without coming here again.
        found = vars(self)[name] = getattr(self._imported(), name)
        return found

    def _imported(self) -> ModuleType:
        self.stand_back()
        return import_module(self.__name__)

    def _late_callable(self, name: str) -> type:
        def call(_: type, *values: Any, **named: Any) -> Any:
            return getattr(self._imported(), name)(*values, **named)

        return type(name, (), {"__new__": call})

    def stand_in(self) -> bool:
        """Take the place of the module, unless it is imported already; say whether this was done."""
        return sys.modules.setdefault(self.__name__, self) is self

    def stand_back(self) -> None:
        """Let the module be imported by whoever imports it from now on."""
        with _turn:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]


@contextmanager
def late(*modules: Late) -> Iterator[None]:
    """Let modules be late for what is imported meanwhile, and for nobody else: others may use more of them."""
    standing = [module for module in modules if module.stand_in()]
    try:
        yield
    finally:
        for module in standing:
            module.stand_back()


@contextmanager
def without(library: str) -> Iterator[None]:
    """Let a library that is not imported yet be as if it were not installed."""
    if library in sys.modules:
        yield
        return
    sys.modules[library] = None  # type: ignore[assignment]  # as Python has it for what is not to be imported
    try:
        yield
    finally:
        del sys.modules[library]
