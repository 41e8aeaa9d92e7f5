"""The wings that a caller may read and write: all of them, or those of a token or an option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.errors import UsageError


class AccessDeniedError(UsageError):
    """The caller may not read or write a wing; the message does not say whether it exists."""

    def __init__(self, named: str) -> None:
        """Use the contract's words, with the name that the caller gave."""
        super().__init__(f"Project access denied: {named}")


class Access(Struct, frozen=True):
    """A caller, and the names of the wings that the caller may read and write; None means all."""

    name: str | None = None
    readable: frozenset[str] | None = None
    writable: frozenset[str] | None = None

    @classmethod
    def to_wings(cls, wings: Iterable[str], *, name: str | None = None, may_write: bool = True) -> Self:
        """Return access to some wings only, to read them or also to write them."""
        known = frozenset(wings)
        return cls(name, known, known if may_write else frozenset())

    @property
    def is_narrow(self) -> bool:
        """Return whether some wings are hidden."""
        return self.readable is not None

    def reads(self, wing: str) -> bool:
        """Return whether a wing may be read."""
        return self.readable is None or wing in self.readable

    def writes(self, wing: str) -> bool:
        """Return whether a wing may be written; a hidden wing may not."""
        return self.reads(wing) and (self.writable is None or wing in self.writable)

    def sees(self, path: str) -> bool:
        """Return whether a path below the root may be read: the settings, the root, and files of readable wings."""
        return self.readable is None or path in (SETTINGS_NAME, ".") or path.split("/", 1)[0] in self.readable

    def require_write(self, wing: str, *, named: str | None = None) -> None:
        """Raise AccessDeniedError for a wing that may not be written; `named` is the caller's name for it."""
        if not self.writes(wing):
            raise AccessDeniedError(named or wing)


EVERYTHING = Access()
