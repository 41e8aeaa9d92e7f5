"""What the front matter of entries links, from both ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from mdmem.entry.model import Entry

SUPERSEDES = "supersedes"
_FIELDS = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "see")

# The address at the other end, and what the link says.
Edge = tuple[str, str]


@dataclass(frozen=True)
class Adjacency:
    """The links in the fields of entries, by the address at either end."""

    entries: Mapping[str, Entry]

    @cached_property
    def outgoing(self) -> dict[str, list[Edge]]:
        """Return what each entry links."""
        found: dict[str, list[Edge]] = {}
        for source, target, relationship in self._edges():
            found.setdefault(source, []).append((target, relationship))
        return found

    @cached_property
    def incoming(self) -> dict[str, list[Edge]]:
        """Return what links each address."""
        found: dict[str, list[Edge]] = {}
        for source, target, relationship in self._edges():
            found.setdefault(target, []).append((source, relationship))
        return found

    def _edges(self) -> Iterator[tuple[str, str, str]]:
        for address, entry in self.entries.items():
            yield from ((address, target, name) for name in _FIELDS for target in entry.links(name))
            # Either end may name it: the newer entry is its source.
            yield from ((new, address, SUPERSEDES) for new in entry.superseded_by)
            yield from ((address, relation.to, relation.type.casefold()) for relation in entry.relations)
