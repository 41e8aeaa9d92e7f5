"""Which wings a caller may read and write: all wings, or only those that a token or an option allows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.errors import UsageError


class AccessDeniedError(UsageError):
    """The caller may not read or write a wing. The message does not reveal whether the wing exists."""

    def __init__(self, named: str) -> None:
        """Build the message that the MCP contract fixes, with the name of the wing as the caller wrote it."""
        super().__init__(f"Project access denied: {named}")


class Access(Struct, frozen=True):
    """The wings that a caller may read and write (None means all), and the caller's name if there is one."""

    name: str | None = None
    readable: frozenset[str] | None = None
    writable: frozenset[str] | None = None

    @classmethod
    def to_wings(cls, wings: Iterable[str], *, name: str | None = None, may_write: bool = True) -> Self:
        """Return access to the given wings only, to read them or also to write to them."""
        known = frozenset(wings)
        return cls(name, known, known if may_write else frozenset())

    @property
    def is_narrow(self) -> bool:
        """Return whether some wings are hidden from the caller."""
        return self.readable is not None

    def reads(self, wing: str) -> bool:
        """Return whether the caller may read a wing."""
        return self.readable is None or wing in self.readable

    def writes(self, wing: str) -> bool:
        """Return whether the caller may write to a wing. Nobody may write to a wing that is hidden from them."""
        return self.reads(wing) and (self.writable is None or wing in self.writable)

    def sees(self, path: str) -> bool:
        """Return whether the caller may read a path from the root: `.`, the settings, or a file of a readable wing."""
        return self.readable is None or path in (SETTINGS_NAME, ".") or path.split("/", 1)[0] in self.readable

    def require_write(self, wing: str, *, named: str | None = None) -> None:
        """Raise AccessDeniedError if the caller may not write to a wing. `named` is the caller's name for the wing."""
        if not self.writes(wing):
            raise AccessDeniedError(named or wing)


EVERYTHING = Access()
