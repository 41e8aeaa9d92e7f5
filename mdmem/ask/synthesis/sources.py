"""Find the sources of each section, and its gaps."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from mdmem.ask.answer import AnswerBasis, Item, Retrieval
from mdmem.ask.context.candidates import created
from mdmem.ask.context.facets import SESSION, Facet, facet_of
from mdmem.ask.question import Question
from mdmem.ask.rank import find_text
from mdmem.ask.reasons import related
from mdmem.ask.retrieve import retrieve_in
from mdmem.ask.select import Selection
from mdmem.ask.synthesis.outlines import Heading
from mdmem.ask.synthesis.request import Depth
from mdmem.model.entry import Entry, Status
from mdmem.model.text import visible
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import neighbours
from mdmem.store.workspace.scope import Scope
from mdmem.store.workspace.workspace import Workspace

# Entries with less than a third of the best score matched a word by chance.
_FLOOR = 0.3
# The most sources of a section, and the number of current ones that it needs.
SIZES = {Depth.BRIEF: 3, Depth.STANDARD: 5, Depth.DEEP: 8}
NEEDED = {Depth.BRIEF: 1, Depth.STANDARD: 2, Depth.DEEP: 3}


class SourceLink(Struct, frozen=True, kw_only=True):
    """A neighbour of a source."""

    id: str
    name: str
    relationship: str
    direction: str


class Source(Struct, frozen=True, kw_only=True):
    """One source of a section; `is_forced` says that the caller named it."""

    id: str
    type: str
    name: str
    preview: str
    score: float
    freshness: str
    status: str
    scope: str
    reason: str
    is_forced: bool = False
    neighborhood: tuple[SourceLink, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the source as JSON values."""
        stated = asdict(self)
        stated["forced"] = stated.pop("is_forced")
        return stated | {"score": round(self.score, 4), "neighborhood": [asdict(one) for one in self.neighborhood]}


class Gap(Struct, frozen=True):
    """Something that a section lacks; `section` is None for a gap of the whole plan."""

    section: str | None
    reason: str


def is_doubtful(source: Source) -> bool:
    """Say whether a source should be confirmed before anybody writes from it."""
    return source.status != "active" or source.freshness == "stale"


class SourceChoice(Struct, frozen=True):
    """An entry chosen for a section; `is_forced` says that the caller named it."""

    item: Item
    is_forced: bool = False

    @property
    def counts(self) -> bool:
        """Say whether it supports a section: only current entries do."""
        return self.item.current and self.item.status is not Status.DRAFT


class SectionSources(Struct, frozen=True, dict=True):
    """One memory as the source of a text; a wide one takes what sources are linked with where a section lacks any."""

    workspace: Workspace
    scope: Scope
    is_wide: bool = True
    used: set[str] = field(default_factory=set)

    @property
    def catalog(self) -> Catalog:
        """Return the entries of the memory."""
        return self.workspace.catalog

    def retrieve(self, words: str) -> Retrieval:
        """Return the entries of the scope for some words."""
        return retrieve_in(self.workspace, self.scope, Question(words=words))

    def _retrieve_own(self, words: str) -> Retrieval:
        """Return the entries for the words of one section, without contradictions and drafts."""
        addresses = [address for address in self.catalog.entries if self.scope.holds(address)]
        question = Question(words=words)
        answer = find_text(self.workspace, question, addresses)
        selection = Selection(self.catalog, self.scope, question, answer, self.workspace.today)
        basis = AnswerBasis(unmatched_terms=selection.unmatched_terms())
        describe = partial(related, selection)
        return Retrieval(scope=self.scope, items=tuple(selection.select()), describe=describe, basis=basis)

    def forced(self, names: Sequence[str]) -> tuple[list[SourceChoice], list[Gap]]:
        """Return the current entries of some names, and a gap for each name without one."""
        chosen: dict[str, SourceChoice] = {}
        gaps = []
        for name in names:
            address = self._address(name)
            heads = self._heads(address) if address is not None else ()
            if not heads:
                gaps.append(Gap(None, self._why_none(name, address)))
            for head in heads:
                via = (address,) if address is not None and head != address else ()
                chosen.setdefault(head, SourceChoice(self._named(head, via), is_forced=True))
        return list(chosen.values()), gaps

    def _address(self, name: str) -> str | None:
        entries, plain = self.catalog.entries, name.strip().removesuffix(".md").strip("/")
        if plain in entries:
            return plain
        ends = [address for address in entries if address.endswith(f"/{plain}")]
        own = [address for address in ends if self.scope.wing is not None and address.startswith(f"{self.scope.wing}/")]
        called = [one.address for one in entries.values() if one.entity and one.entity.casefold() == plain.casefold()]
        return next((found[0] for found in (ends, own, called) if len(found) == 1), None)

    def _heads(self, address: str) -> tuple[str, ...]:
        entry = self.catalog.entries[address]
        return (address,) if entry.status is Status.DRAFT else self.catalog.lineage.heads(address)

    def _why_none(self, name: str, address: str | None) -> str:
        if address is not None:
            return f"`{address}` is no longer current, and nothing supersedes it"
        ids = {one.rsplit("/", 1)[-1]: one for one in sorted(self.catalog.entries, reverse=True)}
        close = difflib.get_close_matches(name.rsplit("/", 1)[-1], ids, n=1, cutoff=0.5)
        hint = f"; did you mean `{ids[close[0]]}`?" if close else ""
        return f"`{visible(name)}` does not mean exactly one entry{hint}"

    def _named(self, address: str, via: tuple[str, ...]) -> Item:
        """Return an entry that was named, from whatever wing, as retrieval would give it."""
        entry = self.catalog.entries[address]
        scope = replace(self.scope, wings=tuple(dict.fromkeys((*self.scope.wings, entry.wing))))
        selection = Selection(self.catalog, scope, Question(), None, self.workspace.today)
        items = selection.propose() if entry.status is Status.DRAFT else selection.select()
        item = next(item for item in items if item.entry.address == address)
        return replace(
            item, reasons=("named as a source", *(f"replaces {one}, which was named" for one in via)), via=via
        )

    def sources(
        self, heading: Heading, about: Retrieval, forced: Sequence[SourceChoice], *, size: int
    ) -> tuple[list[SourceChoice], Retrieval]:
        """Return the sources of a section, and the retrieval that found them; invariants are never omitted."""
        found = about if heading.facets else self._retrieve_own(heading.words)
        best = max((item.score for item in found.items), default=0.0)
        named = {one.item.entry.address for one in forced}
        fitting = [item for item in found.items if self._fits(item, heading, best) and item.entry.address not in named]
        fitting.sort(key=lambda item: self._rank(item, heading))
        binding = [item for item in fitting if self.scope.binds(item.entry)]
        others = [item for item in fitting if not self.scope.binds(item.entry)]
        room = max(0, size - len(forced) - len(binding))
        chosen = [*forced, *(SourceChoice(found.describe(item)) for item in (*binding, *others[:room]))]
        if not chosen and self.is_wide:
            chosen = [SourceChoice(item) for item in self._linked(found, heading)[:size]]
        self.used.update(one.item.entry.address for one in chosen)
        return chosen, found

    def _linked(self, found: Retrieval, heading: Heading) -> list[Item]:
        """Return the current entries of a section's facets that what was found is linked with, in that order."""
        best = max((item.score for item in found.items), default=0.0)
        near: dict[str, Item] = {}
        for item in sorted(found.items, key=lambda one: (-one.score, one.entry.address)):
            if item.score <= 0 or item.score < _FLOOR * best:
                break
            for other in neighbours(self.catalog, item.entry.address):
                address = other.entry.address
                if self.facet_of(other.entry) in heading.facets and address in self._everything:
                    reasons = (f"linked with {item.entry.address}",)
                    near.setdefault(address, replace(self._everything[address], reasons=reasons, matches=False))
        return list(near.values())

    @cached_property
    def _everything(self) -> dict[str, Item]:
        """Every current entry of the scope."""
        items = Selection(self.catalog, self.scope, Question(), None, self.workspace.today).select()
        return {item.entry.address: item for item in items}

    def _fits(self, item: Item, heading: Heading, best: float) -> bool:
        is_of_facet = not heading.facets or self.facet_of(item.entry) in heading.facets
        is_near = item.score > 0 and (item.matches or item.score >= _FLOOR * best)
        # A section about constraints lists every invariant.
        return is_of_facet and (is_near or (self.scope.binds(item.entry) and Facet.CONSTRAINTS in heading.facets))

    def _rank(self, item: Item, heading: Heading) -> tuple[object, ...]:
        entry = item.entry
        newest = -created(entry).timestamp()
        is_known = entry.address in self.used
        if heading.is_newest_first:
            return (is_known, newest, -item.score, entry.address)
        return (is_known, not item.matches, -item.score, newest, entry.address)

    def facet_of(self, entry: Entry) -> Facet:
        """Return the facet of an entry; a session with work left is active work, whenever it was."""
        return facet_of(entry, latest=(entry.address,) if entry.label == SESSION else ())


def gaps_of(heading: Heading, chosen: Sequence[SourceChoice], found: Retrieval, *, needed: int) -> Iterator[Gap]:
    """Yield the gaps of a section: too few sources, only doubtful ones, or words that no entry contains."""
    counting = [one for one in chosen if one.counts]
    if not counting:
        yield Gap(heading.title, "no entry of the scope supports it")
    elif len(counting) < needed:
        sources = "1 source supports" if len(counting) == 1 else f"{len(counting)} sources support"
        yield Gap(heading.title, f"only {sources} it, and {needed} are needed")
    elif all(one.item.status is Status.UNDER_REVIEW for one in counting):
        yield Gap(heading.title, "every source is under review")
    if not heading.facets and found.basis.unmatched_terms:
        words = ", ".join(visible(word) for word in found.basis.unmatched_terms[:8])
        yield Gap(heading.title, f"no entry contains {words}")
