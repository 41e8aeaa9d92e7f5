"""Who depends on what a change replaced or ended, which code it covers, and which contradictions it brings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from mdmem.ask.contradictions import contradictions_among
from mdmem.change.comparison import Comparison, TreeSide
from mdmem.change.review_model import ContradictionChange, Covered, Dependent, Rewording
from mdmem.markdown.parse import without_code
from mdmem.model.entry import Entry, Status
from mdmem.model.globs import any_match
from mdmem.store.catalog.links import references_in

_NAMED = 5
_FIELDS = ("amends", "overrides", "conflicts_with", "see", "produced")
_IN_TEXT = "text"


def covered_files(
    comparison: Comparison, reworded: Sequence[Rewording], files: Callable[[], Collection[str]]
) -> tuple[Covered, ...]:
    """Return the entries that began, ended or say something else, by authority, with the files that they are about.

    `files` gives the tracked paths from the repository's top; it is asked once, and only where an entry has globs.
    """
    concerned = [
        (comparison.before.ref(old), comparison.before.catalog.entries[old].applies_to) for old in comparison.ended
    ]
    after = comparison.after.catalog.entries
    changed = {*comparison.begun, *(one.entry.address for one in reworded if one.entry.address in comparison.binds)}
    concerned += [(comparison.after.ref(address), after[address].applies_to) for address in changed]
    with_globs = sorted(((ref, globs) for ref, globs in concerned if globs), key=lambda pair: pair[0].rank)
    tracked = sorted(files()) if with_globs else []
    found = []
    for ref, globs in with_globs:
        paths = [path for path in tracked if any_match(globs, (path,)) is not None]
        found.append(Covered(ref, globs, len(paths), tuple(paths[:_NAMED])))
    return tuple(found)


def contradictions(comparison: Comparison) -> tuple[ContradictionChange, ...]:
    """Return the pairs that contradict each other and did not before, then those that do no more, by authority."""
    moved = comparison.moved
    told = _pairs(comparison.before, comparison.bound)
    before = {tuple(sorted((moved(a), moved(b)))): (a, b, why) for a, b, why in told}
    after = {tuple(sorted((a, b))): (a, b, why) for a, b, why in _pairs(comparison.after, comparison.binds)}
    new = [_change(comparison.after, *after[ends], is_new=True) for ends in after.keys() - before.keys()]
    old = [_change(comparison.before, *before[ends], is_new=False) for ends in before.keys() - after.keys()]
    return tuple(sorted([*new, *old], key=lambda one: (not one.is_new, one.first.rank, one.second.rank)))


def _pairs(side: TreeSide, binding: frozenset[str]) -> list[tuple[str, str, str]]:
    chosen = side.catalog.entries.keys() & binding
    return [(one.a, one.b, one.why) for one in contradictions_among(side.catalog, chosen)]


def _change(side: TreeSide, a: str, b: str, why: str, *, is_new: bool) -> ContradictionChange:
    first, second = sorted((side.ref(a), side.ref(b)), key=lambda ref: ref.rank)
    return ContradictionChange(first, second, why, is_new)


def dependents(comparison: Comparison) -> tuple[Dependent, ...]:
    """Return who names what does not bind any more, by what is named, then by authority."""
    if not comparison.ended:
        return ()
    return tuple(_DependentSearch(comparison).found())


class _DependentSearch(Struct, frozen=True, dict=True):
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
