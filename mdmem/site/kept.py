"""What was made of each entry's text, by its title and its file's content: it stays in the cache between builds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct

from mdmem.model.entry import Entry
from mdmem.site.facts import SiteFacts
from mdmem.store.catalog.snapshot import RECORD_VERSION
from mdmem.store.state import read_packed, write_packed

_Made = TypeVar("_Made")


class Kept(Struct, Generic[_Made], frozen=True, dict=True):
    """What `make` gives for an entry and its body; `version` changes with what it would give.

    Of a narrowed view nothing is kept: what is hidden in a body is no matter of its file's content.
    """

    facts: SiteFacts
    name: str
    version: str
    kind: type[dict[str, _Made]]
    make: Callable[[Entry, str], _Made]

    def get(self, address: str) -> _Made | None:
        """Return what is made of an entry's text, None where its file cannot be read any more."""
        if self._key(address) not in self._known:
            self._add([address])
        return self._known.get(self._key(address))

    @property
    def missing(self) -> Sequence[str]:
        """Return the entries of whose text nothing was made yet."""
        return [one for one in self.facts.catalog.entries if self._key(one) not in self._known]

    def _add(self, addresses: Sequence[str]) -> None:
        for address, body in self.facts.bodies(addresses):
            self.add(address, body)

    def add(self, address: str, body: str) -> None:
        """Make what is to be made of an entry's text."""
        self._known[self._key(address)] = self.make(self.facts.catalog.entries[address], body)

    def save(self) -> None:
        """Keep what was made of the entries that are there now."""
        if not self.facts.workspace.access.is_narrow:
            current = {self._key(one) for one in self.facts.catalog.entries}
            write_packed(self._path, self._version, {key: made for key, made in self._known.items() if key in current})

    def _key(self, address: str) -> str:
        catalog = self.facts.catalog
        digest = None if self.facts.workspace.access.is_narrow else catalog.digests.get(address)
        # What states no title is called by its address.
        return address if digest is None else f"{digest} {catalog.entries[address].title}"

    @cached_property
    def _known(self) -> dict[str, _Made]:
        is_narrow = self.facts.workspace.access.is_narrow
        return {} if is_narrow else read_packed(self._path, self._version, self.kind) or {}

    @property
    def _path(self) -> Path:
        return self.facts.workspace.cache_folder / self.name

    @property
    def _version(self) -> str:
        return f"{RECORD_VERSION}-{self.version}"


def fill(facts: SiteFacts, kepts: Sequence[Kept[Any]], tick: Callable[[], None]) -> None:
    """Make what is missing and keep it, in one reading of the files; `tick` is called for each entry."""
    missing = [frozenset(kept.missing) for kept in kepts]
    wanted = [one for one in facts.catalog.entries if any(one in some for some in missing)]
    for address, body in facts.bodies(wanted):
        for kept, some in zip(kepts, missing, strict=True):
            if address in some:
                kept.add(address, body)
        tick()
    for kept, some in zip(kepts, missing, strict=True):
        if some:
            kept.save()
