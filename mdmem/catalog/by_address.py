"""What is told of each entry of a catalog, which another catalog of nearly the same entries may take over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mdmem.catalog.model import Catalog

_Value = TypeVar("_Value")


class ByAddress(dict[str, _Value]):
    """What is told of entries, each by what it is itself, its wing, its chain and how it stands to the default branch.

    It is told when it is first asked for.
    """

    def of(self, addresses: Iterable[str]) -> Iterator[_Value]:
        """Return what is told of some entries."""
        return map(self.__getitem__, addresses)

    def heir(self, catalog: Catalog, changed: Iterable[str]) -> ByAddress[_Value]:
        """Return the same of another catalog, of which some entries are others."""
        found = self.anew(catalog)
        found.update(self)
        for address in changed:
            found.pop(address, None)
        return found

    def anew(self, catalog: Catalog) -> ByAddress[_Value]:
        """Return the same of another catalog, of which nothing is told yet."""
        raise NotImplementedError
