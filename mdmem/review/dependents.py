"""Who depends on what a change replaced or ended: by its links and in its text, in other wings, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from mdmem.checks.references import references_in
from mdmem.document.parse import without_code
from mdmem.entry.model import Entry, Status
from mdmem.review.comparison import Comparison
from mdmem.review.model import Dependent

_FIELDS = ("overrides", "conflicts_with", "see", "produced")
_IN_TEXT = "text"


def dependents(comparison: Comparison) -> tuple[Dependent, ...]:
    """Return who names what does not bind any more, by what is named, then by authority."""
    if not comparison.ended:
        return ()
    return tuple(_Looking(comparison).found())


@dataclass(frozen=True)
class _Looking:
    """One look through the entries of the second tree."""

    comparison: Comparison

    def found(self) -> Iterator[Dependent]:
        ways: dict[tuple[str, str], list[str]] = {}
        for source, target, how in (*self._by_field(), *self._by_text()):
            if target in self.lost and source not in self.lost and not self._replaces(source, target):
                ways.setdefault((target, source), []).append(how)
        refs = {source: self.comparison.after.ref(source) for _, source in ways}
        for target, source in sorted(ways, key=lambda pair: (pair[0], refs[pair[1]].rank)):
            links = tuple(dict.fromkeys(ways[target, source]))
            yield Dependent(refs[source], target, self.lost[target], links)

    @cached_property
    def lost(self) -> Mapping[str, tuple[str, ...]]:
        """What does not bind any more, at the address it has now, with what binds in its place."""
        return {self.comparison.moved(old): self.comparison.successors(old) for old in self.comparison.ended}

    @cached_property
    def _live(self) -> Mapping[str, Entry]:
        """The entries that count: those that bind, and drafts."""
        entries = self.comparison.after.catalog.entries
        binds = self.comparison.binds
        return {
            address: entry for address, entry in entries.items() if address in binds or entry.status is Status.DRAFT
        }

    def _replaces(self, source: str, target: str) -> bool:
        entry = self.comparison.after.catalog.entries[source]
        return target in entry.supersedes and source in self.lost[target]

    def _by_field(self) -> Iterator[tuple[str, str, str]]:
        for address, entry in self._live.items():
            yield from ((address, target, name) for name in _FIELDS for target in entry.links(name))
            yield from ((address, relation.to, relation.type) for relation in entry.relations)
            if entry.status is Status.DRAFT:
                yield from ((address, target, "supersedes") for target in entry.supersedes)

    def _by_text(self) -> Iterator[tuple[str, str, str]]:
        catalog = self.comparison.after.catalog
        # Whatever form a reference has, it ends with the entry-id.
        named = re.compile("|".join(sorted(re.escape(address.rsplit("/", 1)[-1]) for address in self.lost)))
        known = catalog.addresses | self.lost.keys()
        for address, body in self.comparison.bodies(self._live).items():
            if named.search(body):
                for reference in references_in({address: without_code(body)}, known):
                    if reference.target is not None:
                        yield address, reference.target, _IN_TEXT
