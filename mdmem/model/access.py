"""What a caller may see and write: every wing, or those of a token or an option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.errors import UsageError


class AccessDeniedError(UsageError):
    """A wing is not the caller's to read or to write; whether there is such a wing is not said."""

    def __init__(self, named: str) -> None:
        """Say it in the contract's words, with the name that the caller gave."""
        super().__init__(f"Project access denied: {named}")


class Access(Struct, frozen=True):
    """Who calls, and the names of the wings that they may read and write; None means all."""

    name: str | None = None
    readable: frozenset[str] | None = None
    writable: frozenset[str] | None = None

    @classmethod
    def to_wings(cls, wings: Iterable[str], *, name: str | None = None, may_write: bool = True) -> Self:
        """Return the access to some wings alone, to read or to write them, too."""
        known = frozenset(wings)
        return cls(name, known, known if may_write else frozenset())

    @property
    def is_narrow(self) -> bool:
        """Say whether there are wings that are not seen."""
        return self.readable is not None

    def reads(self, wing: str) -> bool:
        """Say whether a wing is seen."""
        return self.readable is None or wing in self.readable

    def writes(self, wing: str) -> bool:
        """Say whether a wing may be written; one that is not seen may not."""
        return self.reads(wing) and (self.writable is None or wing in self.writable)

    def sees(self, path: str) -> bool:
        """Say whether a path below the root is seen: the settings, the root itself, and what lies in a wing."""
        return self.readable is None or path in (SETTINGS_NAME, ".") or path.split("/", 1)[0] in self.readable

    def require_write(self, wing: str, *, named: str | None = None) -> None:
        """Raise AccessDeniedError for a wing that may not be written; `named` is what the caller called it."""
        if not self.writes(wing):
            raise AccessDeniedError(named or wing)


EVERYTHING = Access()
