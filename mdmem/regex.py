"""Patterns that are compiled when they are first needed: most of a program's are not, in most of its runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["regex"]

if TYPE_CHECKING:
    from re import compile as regex
else:

    def regex(text: str | bytes, flags: int = 0) -> Any:
        """Return what finds a text as `re.compile` does, compiled once it is asked to find something.

        To compile one takes a tenth of a millisecond to two, and a question imports eighty.
        """
        return _Postponed(text, flags)


class _Postponed:
    """Stands in the place of a pattern, and takes over of it what is asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._stated = text, flags
        # Some are made of others.
        self.pattern = text

    def __getattr__(self, name: str) -> Any:
        # Whatever is set here is found without coming here again.
        made = self.__dict__.get("_made")
        if made is None:
            made = self.__dict__["_made"] = re.compile(*self._stated)
        found = self.__dict__[name] = getattr(made, name)
        return found
