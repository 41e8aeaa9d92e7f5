"""Where somebody points: a place of a buffer, what stands there, and the entry that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from lsprotocol import types
from msgspec import Struct

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.session import EditorSession
from mdmem.lsp.spots import Spot, SpotKind, TextParts, meant, parts_of
from mdmem.model.entry import Entry
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.tree import SETTINGS_NAME

# In code any path may end in an address; which do, the catalog says. Code may hold lines of a megabyte: nothing is
# looked at twice.
_NAMED = re.compile(r"(?<![\w./-])(?:\.{0,2}/)*+[\w-][\w.-]*+(?:/[\w.-]++){2,}+")
_LONGEST_CODE = 2_000_000


class EditorPage(Struct, frozen=True, dict=True):
    """One buffer of a session, as the features look at it."""

    session: EditorSession
    buffer: Buffer

    @property
    def address(self) -> str | None:
        """Return the address that the file stands at, None for what is in no entry's place."""
        path = self.buffer.path
        return path.removesuffix(".md") if path is not None and is_entry_place(path) else None

    @property
    def wing(self) -> str | None:
        """Return the wing that the file lies in."""
        path = self.buffer.path
        return path.split("/")[0] if path is not None and "/" in path else None

    @property
    def entry(self) -> Entry | None:
        """Return the entry, None where the text is none that can be read."""
        return self.session.catalog.entries.get(self.address) if self.address else None

    @property
    def is_code(self) -> bool:
        """Say whether the file is none of the memory's; at the repository's top both lie below the root."""
        path = self.buffer.path
        if path is None or not (path.endswith(".md") or path == SETTINGS_NAME):
            return True
        return "/" in path and not self.session.location.under and self.wing not in self.session.catalog.wings

    @cached_property
    def parts(self) -> TextParts:
        """Return the parts of the text; of code, the addresses that it names."""
        return TextParts(links=tuple(self._named())) if self.is_code else parts_of(self.buffer.text)

    def _named(self) -> Iterator[Spot]:
        text = self.buffer.text
        prefix = f"{self.session.location.under}/" if self.session.location.under else ""
        # Nearly all code names no entry, and what has no slash cannot.
        for found in _NAMED.finditer(text) if len(text) <= _LONGEST_CODE else ():
            named = found.group().rstrip(".").removesuffix(".md")
            address = named.lstrip("./").removeprefix(prefix)
            if address in self.session.catalog.entries:
                start = found.start() + len(named) - len(address)
                yield Spot(SpotKind.ADDRESS, start, start + len(address), address)

    def spot(self, position: types.Position) -> Spot | None:
        """Return what stands at a position."""
        return self.parts.at(self.buffer.offset_at(position))

    def meant(self, spot: Spot | None) -> str | None:
        """Return the address of the entry that a spot means."""
        return meant(spot, self.near, self.session.catalog) if spot is not None else None

    @property
    def near(self) -> str:
        """Return the address to count short links from; a manifest and code lie in no room."""
        return self.address or f"{self.wing or '-'}/-/-"

    def pointed(self, position: types.Position) -> str | None:
        """Return the entry that is named at a position; where none is, the one that the file is."""
        spot = self.spot(position)
        if spot is not None and spot.kind is SpotKind.ADDRESS:
            return self.meant(spot)
        return self.address if self.entry is not None else None

    def range_of(self, spot: Spot) -> types.Range:
        """Return the range of a spot."""
        return self.buffer.range_of(spot.start, spot.end)


def is_here(session: EditorSession, address: str) -> bool:
    """Say whether an entry is there and has a file of this root: those of wings that live elsewhere have none."""
    catalog = session.catalog
    return address in catalog.entries and address.partition("/")[0] not in catalog.fetched_wings


def location_of(session: EditorSession, path: str) -> types.Location:
    """Return the start of a file of the memory."""
    return types.Location(session.uri_of(path), START)


START = types.Range(types.Position(0, 0), types.Position(0, 0))
