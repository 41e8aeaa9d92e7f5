"""What a change does to what is believed: the whole report, part by part in the order in which it is told.

Who depends on what a change replaced or ended, which code it covers, and which contradictions it brings.

New and reworded entries that say nearly what another one says already.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property

from msgspec import Struct, field

from mdmem.ask.contradictions import contradictions_among
from mdmem.change.chains import touched_chains
from mdmem.change.changes import bearings, beliefs, transitions, wordings
from mdmem.change.comparison import Comparison, TreeSide
from mdmem.change.review_model import (
    AnswerPair,
    BearingChange,
    Belief,
    ContradictionChange,
    Counts,
    Covered,
    Dependent,
    FieldEdit,
    Graph,
    Merging,
    Move,
    NearEntry,
    Rewording,
    Transition,
    Unread,
    Which,
    WingChangeCount,
    Wording,
)
from mdmem.change.texts import field_edits, rewordings
from mdmem.checks.case import Base, Case
from mdmem.checks.engine import get_check
from mdmem.checks.registry import CHANGE
from mdmem.markdown.parse import without_code
from mdmem.markdown.similarity import SUPERSEDES_FROM, words_once
from mdmem.model.entry import Entry, Status
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.model.globs import any_match
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import references_in

# An entry that is like many is one of a series; the nearest are enough to see it.
_NEAREST = 3
# In a memory of copies all are alike: the nearest are looked for among so many.
_ENOUGH = 50


def near_entries(comparison: Comparison, reworded: Sequence[Rewording]) -> tuple[NearEntry, ...]:
    """Return the pairs of one type that share .70 of the words of title and text, and do not name one another.

    One of the two is new or reworded and the other binds or is a draft, too; by authority, the nearest first.
    """
    entries = comparison.after.catalog.entries
    fresh = {*(one.address for one in comparison.changes.added), *comparison.begun}
    fresh |= {one.entry.address for one in reworded if one.title or one.body}
    live = {
        address: entry
        for address, entry in entries.items()
        if address in comparison.binds or entry.status is Status.DRAFT
    }
    asked = sorted(fresh & live.keys())
    types = {live[address].type for address in asked}
    similar = _SimilarTexts({address: words for address, words in _texts(comparison, asked) if words})
    texts = _texts(comparison, (address for address, entry in live.items() if entry.type in types))
    pairs = similar.pairs(texts)
    found = [near for address, share, other in pairs if (near := _near(comparison, address, other, share))]
    return tuple(sorted(_nearest(found), key=_rank))


def _texts(comparison: Comparison, addresses: Iterable[str]) -> Iterator[tuple[str, frozenset[str]]]:
    entries = comparison.after.catalog.entries
    for address, body in comparison.bodies(addresses).items():
        yield address, words_once(f"{entries[address].title}\n{body}")


def _near(comparison: Comparison, address: str, other: str, share: float) -> NearEntry | None:
    entries = comparison.after.catalog.entries
    one, two = entries[address], entries[other]
    is_named = any(other in one.links(name) or address in two.links(name) for name in LINK_FIELDS)
    if one.type is not two.type or is_named:
        return None
    return NearEntry(comparison.after.ref(address), comparison.after.ref(other), round(share, 2))


def _nearest(found: Iterable[NearEntry]) -> Iterator[NearEntry]:
    """Yield each pair once, and of each entry's only the nearest."""
    told: set[frozenset[str]] = set()
    number: Counter[str] = Counter()
    for near in sorted(found, key=_rank):
        pair = frozenset((near.entry.address, near.other.address))
        if pair not in told and number[near.entry.address] < _NEAREST:
            told.add(pair)
            number[near.entry.address] += 1
            yield near


def _rank(near: NearEntry) -> tuple[int, float, str, str]:
    return near.entry.type.rank, -near.share, near.entry.address, near.other.address


class _SimilarTexts(Struct, frozen=True, dict=True):
    """Some texts, compared with many others."""

    asked: Mapping[str, frozenset[str]]

    def pairs(self, texts: Iterable[tuple[str, frozenset[str]]]) -> Iterator[tuple[str, float, str]]:
        """Yield each text that was asked for with each that shares enough of its words, and how much they share.

        Of very many like one, the first that `texts` has.
        """
        # Of thousands of texts only the words that are asked about are held.
        held = [(name, words & self._words, len(words)) for name, words in texts] if self.asked else []
        by_word = self._by_rare_word(Counter(word for _, words, _ in held for word in words))
        found: Counter[str] = Counter()
        for other, words, size in held:
            for address in {name for word in words & by_word.keys() for name in by_word[word]} - {other}:
                share = _share(self.asked[address], words, size)
                if share >= SUPERSEDES_FROM:
                    yield address, share, other
                    found[address] += 1
                    if found[address] == _ENOUGH:
                        for word in self.asked[address] & by_word.keys():
                            by_word[word].discard(address)

    def _by_rare_word(self, frequency: Mapping[str, int]) -> Mapping[str, set[str]]:
        """Return the asked texts by their rarest words, as many as a text near to them cannot miss all.

        What shares .70 of all words holds .70 of the asked ones (prefix filtering, Chaudhuri et al., ICDE 2006).
        """
        found: dict[str, set[str]] = {}
        for address, words in self.asked.items():
            ordered = sorted(words, key=lambda word: (frequency.get(word, 0), word))
            # The small difference guards against .70 having no exact float.
            for word in ordered[: len(ordered) - math.ceil(SUPERSEDES_FROM * len(ordered) - 1e-9) + 1]:
                found.setdefault(word, set()).add(address)
        return found

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset().union(*self.asked.values())


def _share(one: frozenset[str], held: frozenset[str], size: int) -> float:
    """Return the share of common words of a text and another one of a size, of which the asked words are held."""
    if not SUPERSEDES_FROM * len(one) <= size <= len(one) / SUPERSEDES_FROM:
        return 0.0
    common = len(one & held)
    return common / (len(one) + size - common)


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


class ReviewReport(Struct, frozen=True, kw_only=True):
    """What a change does to what is believed, from one tree to another."""

    before: str
    after: str
    remarks: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    counts: Counts = field(default_factory=Counts)
    wings: tuple[WingChangeCount, ...] = ()
    transitions: tuple[Transition, ...] = ()
    bearings: tuple[BearingChange, ...] = ()
    beliefs: tuple[Belief, ...] = ()
    wordings: tuple[Wording, ...] = ()
    graph: Graph = field(default_factory=Graph)
    rewordings: tuple[Rewording, ...] = ()
    edits: tuple[FieldEdit, ...] = ()
    dependents: tuple[Dependent, ...] = ()
    covered: tuple[Covered, ...] = ()
    moves: tuple[Move, ...] = ()
    no_ops: tuple[str, ...] = ()
    near: tuple[NearEntry, ...] = ()
    contradictions: tuple[ContradictionChange, ...] = ()
    merging: Merging | None = None
    answers: tuple[AnswerPair, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Say whether no entry changed; a file that cannot be read on one side alone is a change."""
        counts = self.counts
        sides = {which: {(one.path, one.code) for one in self.unread if one.which is which} for which in Which}
        touched = counts.added + counts.gone + counts.altered + counts.moved + counts.no_ops
        return not touched and not self.contradictions and sides[Which.BEFORE] == sides[Which.AFTER]


def report_on(
    before: TreeSide, after: TreeSide, *, today: date, files: Callable[[], Collection[str]] = tuple
) -> ReviewReport:
    """Return what the change from one tree to another does to what is believed.

    `files` gives the paths of the code at hand, from the repository's top. What checks find besides, and answers to
    questions, are not in it: whoever has them puts them there.
    """
    comparison = Comparison(before, after)
    faults = _faults(comparison, today)
    reworded = rewordings(comparison, faults)
    steps, believed = transitions(comparison, faults), beliefs(comparison)
    return ReviewReport(
        before=before.name,
        after=after.name,
        unread=tuple(_unread(comparison)),
        counts=_counts(comparison),
        wings=_wings(comparison),
        transitions=steps,
        bearings=bearings(comparison),
        beliefs=believed,
        wordings=wordings(comparison, believed, steps),
        graph=touched_chains(comparison),
        rewordings=reworded,
        edits=field_edits(comparison, reworded),
        dependents=dependents(comparison),
        covered=covered_files(comparison, reworded, files),
        moves=tuple(Move(old, new) for old, new in sorted(comparison.moves.items())),
        no_ops=comparison.no_ops,
        near=near_entries(comparison, reworded),
        contradictions=contradictions(comparison),
    )


def _faults(comparison: Comparison, today: date) -> dict[str, list[Finding]]:
    """Return what the checks of changes find, by address: a review says it whatever the settings leave out."""
    before, after = comparison.before, comparison.after
    base = Base(before.name, before.catalog, before.settings)
    case = Case(after.catalog, after.settings, today, base=base, known_changes=comparison.changes)
    found: dict[str, list[Finding]] = {}
    for code in CHANGE:
        for finding in get_check(code).find(case):
            found.setdefault(finding.address or "", []).append(finding)
    return found


def _counts(comparison: Comparison) -> Counts:
    changes = comparison.changes
    return Counts(
        added=len(changes.added),
        gone=len(changes.gone),
        altered=len(changes.changed),
        moved=len(comparison.moves),
        no_ops=len(comparison.no_ops),
        in_force_before=len(comparison.bound),
        in_force_after=len(comparison.binds),
    )


def _wings(comparison: Comparison) -> tuple[WingChangeCount, ...]:
    bound, binds = _by_wing(comparison.bound), _by_wing(comparison.binds)
    before, after = _by_wing(comparison.before.catalog.entries), _by_wing(comparison.after.catalog.entries)
    names = sorted({*comparison.before.catalog.wings, *comparison.after.catalog.wings})
    return tuple(WingChangeCount(name, bound[name], binds[name], before[name], after[name]) for name in names)


def _by_wing(addresses: Collection[str]) -> Counter[str]:
    return Counter(address.split("/", 1)[0] for address in addresses)


def _unread(comparison: Comparison) -> Iterator[Unread]:
    for which, side, other in (
        (Which.BEFORE, comparison.before, comparison.after),
        (Which.AFTER, comparison.after, comparison.before),
    ):
        for finding in _unreadable(side.catalog):
            address = finding.place.path.removesuffix(".md")
            ref = other.ref(address) if address in other.catalog.entries else None
            yield Unread(which, finding.place.path, finding.code, finding.message, ref)


def _unreadable(catalog: Catalog) -> list[Finding]:
    broken = [one.findings[0] for one in catalog.broken.values() if one.findings]
    manifests = [finding for finding in catalog.findings if finding.code == "manifest-invalid"]
    found = {finding.place.path: finding for finding in (*manifests, *broken, *catalog.closed)}
    return [found[path] for path in sorted(found)]
