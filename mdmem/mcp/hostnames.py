"""By which names the server may be called: a page of a browser that found its address comes with another one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# A host as a header has it, an IPv6 one in brackets: no user, no path, and a port of digits.
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?", re.ASCII)
_ORIGIN = re.compile(r"https?://(.*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names that are let in, in lower case; one without a port stands for every port."""

    allowed: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> KnownNames:
        """Return what lets these names in."""
        return cls(frozenset(name.lower().removesuffix(":*") for name in names))

    def has_host(self, stated: str) -> bool:
        """Say whether the Host header of a request names this server."""
        found = _AUTHORITY.fullmatch(stated.lower())
        if found is None or int(found[2] or 0) > 65_535:
            return False
        return found[1] in self.allowed or found[0] in self.allowed

    def has_origin(self, stated: str) -> bool:
        """Say whether the page of an Origin header came from this server."""
        found = _ORIGIN.fullmatch(stated.lower())
        return found is not None and self.has_host(found[1])
