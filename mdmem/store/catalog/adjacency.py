"""What the front matter of entries links, from both ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter

from msgspec import Struct

from mdmem.model.entry import Entry

SUPERSEDES = "supersedes"
_FIELDS = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "see")

linked = attrgetter(*_FIELDS, "superseded_by", "relations")

# The address at the other end, and what the link says.
Edge = tuple[str, str]


class Adjacency(Struct, frozen=True, dict=True):
    """The links in the fields of entries, by the address at either end."""

    entries: Mapping[str, Entry]

    @property
    def outgoing(self) -> dict[str, list[Edge]]:
        """Return what each entry links."""
        return self._both[0]

    @property
    def incoming(self) -> dict[str, list[Edge]]:
        """Return what links each address."""
        return self._both[1]

    @cached_property
    def citing(self) -> Mapping[str, Sequence[str]]:
        """Return what links each address by `see`, as a field or as a relation."""
        found: dict[str, list[str]] = {}
        for address, entry in self.entries.items():
            for target in (*entry.see, *(one.to for one in entry.relations if one.type.casefold() == "see")):
                found.setdefault(target, []).append(address)
        return found

    @cached_property
    def _both(self) -> tuple[dict[str, list[Edge]], dict[str, list[Edge]]]:
        outgoing: dict[str, list[Edge]] = {}
        incoming: dict[str, list[Edge]] = {}
        for source, target, relationship in self._edges():
            outgoing.setdefault(source, []).append((target, relationship))
            incoming.setdefault(target, []).append((source, relationship))
        return outgoing, incoming

    def _edges(self) -> Iterator[tuple[str, str, str]]:
        for address, entry in self.entries.items():
            *named, newer, relations = linked(entry)
            for name, targets in zip(_FIELDS, named, strict=True):
                for target in targets:
                    yield address, target, name
            # Either end may name it: the newer entry is its source.
            for new in newer:
                yield new, address, SUPERSEDES
            for relation in relations:
                yield address, relation.to, relation.type.casefold()
