"""Whether a text may hold something, told by the engine of expressions in pydantic before a slower look tells where.

Python's own looks for one literal at a time, each at half a nanosecond a character; that one looks for thirty at once
in as much, and for one at a tenth of it. It takes four thousandths of a second to load, so that it is used where there
is much to look at, and where that is loaded anyway.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any

_CORE = "pydantic_core._pydantic_core"
_SPECIAL = frozenset("\\[(){}?*+|.^$")
_hints: list[Hint] = []


class Hint:
    """An expression of which every text in question holds a match; it is compiled when it is first asked for."""

    def __init__(self, pattern: str) -> None:
        """Take the expression, in the words of Rust's engine: without what looks back or ahead."""
        self._pattern = pattern
        _hints.append(self)

    @cached_property
    def may_be_in(self) -> Callable[[str], bool]:
        """Return what says whether a text may hold a match; False is certain."""
        # Another thread may be about to load it.
        engine, pattern = getattr(sys.modules.get(_CORE), "SchemaValidator", None), self._pattern
        if engine is not None:
            found: Callable[[str], bool] = engine({"type": "str", "pattern": pattern}).isinstance_python
            # In half a pair of surrogates that engine finds nothing at all.
            return lambda text: found(text) or not (text.isascii() or _is_unicode(text))
        return (lambda text: pattern in text) if _SPECIAL.isdisjoint(pattern) else (lambda _: True)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def load_engine() -> None:
    """Load the compiled part of pydantic without what its package imports, which takes twenty times as long."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    package: Any = None if _CORE in sys.modules else PathFinder.find_spec("pydantic_core")
    spec = PathFinder.find_spec(_CORE, package.submodule_search_locations) if package is not None else None
    if spec is None or spec.loader is None:
        return
    try:
        # Whoever imports the package later finds it there: it cannot be loaded twice.
        core = sys.modules[_CORE] = module_from_spec(spec)
        spec.loader.exec_module(core)
    except ImportError:
        del sys.modules[_CORE]
        return
    for hint in _hints:
        vars(hint).pop("may_be_in", None)
