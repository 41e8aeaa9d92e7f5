"""What each page is made of, as a digest: where that is as it was, the page is not even looked at.

A digest may change where the page does not: then it is made, found to be the same, and not written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from mdmem.model.entry import Entry
from mdmem.model.fields import LINK_FIELDS
from mdmem.site.facts import SiteFacts
from mdmem.site.kept import Kept, fill
from mdmem.site.marks import named_in


def key_of(*parts: object) -> str:
    """Return a digest of what a page is made of."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]


class PageKeys(Struct, frozen=True, dict=True):
    """The digests of one reading of the files; `base` is in each of them."""

    facts: SiteFacts
    markups: Kept[str]
    base: object

    @cached_property
    def _fronts(self) -> Mapping[str, str]:
        """Return what each entry states but for its text, and how it stands."""
        facts = self.facts
        return {one.address: key_of(one, facts.state(one)) for one in facts.catalog.entries.values()}

    @cached_property
    def in_texts(self) -> Mapping[str, tuple[str, ...]]:
        """Return whose text names each entry."""
        # In one reading of the files, where a live page is the first to ask.
        fill(self.facts, [self.markups], lambda: None)
        found: dict[str, list[str]] = {}
        for address in sorted(self.facts.catalog.entries):
            for other in self._named_in(address):
                if other != address:
                    found.setdefault(other, []).append(address)
        return {address: tuple(named) for address, named in found.items()}

    def _named_in(self, address: str) -> list[str]:
        markup, known = self.markups.get(address) or "", self.facts.catalog.entries
        return sorted(one for one in named_in(markup) if one in known) if "\x02" in markup else []

    @cached_property
    def all(self) -> str:
        """Return what changes with what any entry states, but for the texts."""
        facts = self.facts
        return self._of("all", self._of_some(facts.entries), self._broken("*"), facts.catalog.wings, facts.tracked)

    def board(self) -> str:
        """Return what changes with the start and the board."""
        findings = [
            (one.code, one.severity, one.address, one.place, one.message, one.help) for one in self.facts.findings
        ]
        aged = [one.address for one in self.facts.unverified]
        return self._of(self.all, findings, self.facts.newest_commit, sorted(self.in_texts), aged)

    def of_place(self, wing: str, *rooms: str) -> str:
        """Return what changes with the page of a wing or some rooms of it."""
        places = [place for place in self.facts.rooms if place[0] == wing and (not rooms or place[1] in rooms)]
        told = [(place, self._of_some(self.facts.rooms[place]), self._broken("/".join(place))) for place in places]
        return self._of(wing, told, self.facts.catalog.wings)

    def of_entry(self, entry: Entry) -> str:
        """Return what changes with the page of an entry: with it, with those it is linked with, with its code."""
        facts, address = self.facts, entry.address
        catalog, lineage = facts.catalog, facts.catalog.lineage
        text = self.markups.get(address) if facts.workspace.access.is_narrow else catalog.digests.get(address)
        named_by, in_texts = facts.named_by.get(address, ()), self.in_texts.get(address, ())
        ends = [lineage.heads(address), lineage.claimed_by(address), catalog.amendments.of(address), in_texts]
        beside = {one for some in ends for one in some} | {one for one, _ in named_by}
        links = [one for name in LINK_FIELDS for one in entry.links(name) if one in catalog.entries]
        commits = facts.commits.get(address, ())
        return self._of(
            address,
            text,
            self._fronts[address],
            self._named_in(address),
            (ends, named_by, [self._fronts[one] for one in sorted(beside)]),
            links,
            catalog.wings.get(entry.wing),
            facts.met.get(address),
            [(one.digest, one.when, one.author, one.subject) for one in commits],
            self._groups.get(address),
        )

    @cached_property
    def _groups(self) -> Mapping[str, str]:
        """Return what changes with the picture of each entry that is joined with others."""
        lineage = self.facts.catalog.lineage
        found: dict[str, str] = {}
        for group in self.facts.bearings.groups:
            ways = [(one, lineage.successors.get(one, ()), lineage.claimants_of(one)) for one in group]
            found |= dict.fromkeys(group, key_of(ways, [self._fronts[one] for one in group]))
        return found

    def _of_some(self, entries: Iterable[Entry]) -> str:
        return key_of([(one.address, self._fronts[one.address]) for one in entries])

    def _broken(self, place: str) -> list[tuple[str, str]]:
        broken = self.facts.catalog.broken.items()
        return [(path, one.findings[0].message) for path, one in broken if place == "*" or path.startswith(f"{place}/")]

    def _of(self, *parts: object) -> str:
        return key_of(self.base, *parts)
