"""Compare two trees of a memory: what is current in each, and what changed in meaning between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Literal

from msgspec import Struct, field

from mdmem.ask.contradictions import contradictions_among
from mdmem.change.near_duplicates import near_pairs
from mdmem.change.review_model import (
    AMENDS,
    CLAIMS,
    BearingChange,
    Belief,
    ContradictionChange,
    Counts,
    Covered,
    Dependent,
    NearEntry,
    Ref,
    Rewording,
    RuleText,
    Transition,
    Unread,
    WingChangeCount,
    Wording,
)
from mdmem.checks.case import Base, Case
from mdmem.checks.check import get_checks
from mdmem.markdown.parse import Document, rationale_span, without_code
from mdmem.markdown.similarity import words_of
from mdmem.model.entry import Entry, Status
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.model.globs import any_match
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.changes import Changes, changes_between
from mdmem.store.catalog.links import references_in
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind
from mdmem.write.similar import SUPERSEDES_FROM

# A rationale may be a page; its beginning is enough.
_LONGEST_REASON = 300
_ILLEGAL = ("illegal-transition", "deleted-in-force")
_STATUS_CODES = (*_ILLEGAL, "approved-by-nobody", "activated-by-agent")
# An entry that is like many is one of a series; the nearest are enough to see it.
_NEAREST = 3
_FILES_NAMED = 5
_REFERRING_FIELDS = ("amends", "overrides", "conflicts_with", "see", "produced")


class TreeSide(Struct, frozen=True):
    """One of the two trees: its name, its entries and its own settings."""

    name: str
    catalog: Catalog
    settings: Settings = field(default_factory=Settings)

    @property
    def current(self) -> frozenset[str]:
        """Return the addresses of the current entries."""
        return self.catalog.lineage.current

    def ref(self, address: str) -> Ref:
        """Return the reference to an entry of this side."""
        return self.ref_of(self.catalog.entries[address])

    def ref_of(self, entry: Entry) -> Ref:
        """Return the reference to an entry, with the owners that this side gives it."""
        wing = self.catalog.wings.get(entry.wing)
        owners = (entry.owner,) if entry.owner else wing.owners if wing is not None else ()
        return Ref(entry.address, entry.type, entry.status, entry.title, owners)

    def may_have(self, address: str) -> bool:
        """Say whether an entry may be at an address where none was loaded: its file or folder cannot be read."""
        if f"{address}.md" in self.catalog.broken:
            return True
        return address not in self.catalog.entries and any(
            address.startswith(f"{finding.place.path}/") or finding.place.path == "." for finding in self.catalog.closed
        )


class Comparison(Struct, frozen=True, dict=True):
    """Two trees; only the files that differ are read."""

    before: TreeSide
    after: TreeSide

    @cached_property
    def documents(self) -> Mapping[str, Document]:
        """Return the files of the second tree that differ from the first, by address."""
        before, after = self.before.catalog, self.after.catalog
        old, new = before.digests, after.digests
        common = after.entries.keys() & before.entries.keys()
        # A file without a digest could not be read while it was listed.
        differ = [address for address in common if address not in old or old[address] != new.get(address)]
        readable = (file.path.removesuffix(".md") for file in after.files if file.kind is FileKind.FILE)
        fresh = [address for address in readable if address not in before.addresses]
        return dict(after.documents(sorted({*differ, *fresh})))

    @cached_property
    def changes(self) -> Changes:
        """Return the entries that changed, and those that are new or gone."""
        return changes_between(self.before.catalog, self.after.catalog, self.documents)

    @cached_property
    def moves(self) -> Mapping[str, str]:
        """Return the new address of each entry that moved, by the old one."""
        pairs = ((one.before.address, one.after.address) for one in self.changes.changed)
        return {old: new for old, new in pairs if old != new}

    @cached_property
    def moved_from(self) -> Mapping[str, str]:
        """Return the old address of each entry that moved, by the new one."""
        return {new: old for old, new in self.moves.items()}

    @cached_property
    def no_ops(self) -> tuple[str, ...]:
        """Return the addresses whose files differ although the entries mean the same."""
        changed = {one.after.address for one in self.changes.changed}
        before, digests = self.before.catalog.entries, self.before.catalog.digests
        same = (address for address in self.documents if address in before and address in digests)
        return tuple(sorted(address for address in same if address not in changed))

    def moved(self, address: str) -> str:
        """Return the address in the second tree of an entry of the first."""
        return self.moves.get(address, address)

    @cached_property
    def ended(self) -> tuple[str, ...]:
        """Return the entries that were current and are not any more, by their address before."""
        lost = (old for old in self.before.current if self.moved(old) not in self.after.current)
        return tuple(sorted(old for old in lost if not self.after.may_have(self.moved(old))))

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """Return the entries that are current and were not before, by their address after."""
        pairs = ((new, self.moved_from.get(new, new)) for new in self.after.current)
        return tuple(sorted(n for n, old in pairs if old not in self.before.current and not self.before.may_have(old)))

    @cached_property
    def live(self) -> Mapping[str, Entry]:
        """Return the current entries and the drafts of the second tree."""
        entries, current = self.after.catalog.entries, self.after.current
        return {
            address: entry for address, entry in entries.items() if address in current or entry.status is Status.DRAFT
        }

    @cached_property
    def live_bodies(self) -> Mapping[str, str]:
        """Return the bodies of the live entries."""
        return dict(self.after.catalog.plain_bodies(list(self.live)))

    def successors(self, old: str) -> tuple[str, ...]:
        """Return the current entries that replace an entry of the first tree, also where its file is gone."""
        catalog = self.after.catalog
        if self.moved(old) in catalog.entries:
            return catalog.lineage.heads(self.moved(old))
        naming = (one for one in catalog.entries.values() if old in one.supersedes and one.status is not Status.DRAFT)
        return tuple(sorted({head for entry in naming for head in catalog.lineage.heads(entry.address)}))


def faults_of_change(comparison: Comparison, today: date) -> dict[str, list[Finding]]:
    """Return the findings of all checks that compare two trees, by address, whatever the settings disable."""
    before, after = comparison.before, comparison.after
    base = Base(before.name, before.catalog, before.settings)
    case = Case(after.catalog, after.settings, today, base=base, known_changes=comparison.changes)
    found: dict[str, list[Finding]] = {}
    for check in get_checks().values():
        for finding in check.find(case) if check.needs_base else ():
            found.setdefault(finding.address or "", []).append(finding)
    return found


def count_changes(comparison: Comparison) -> Counts:
    """Return the change in figures."""
    changes = comparison.changes
    return Counts(
        added=len(changes.added),
        gone=len(changes.gone),
        altered=len(changes.changed),
        moved=len(comparison.moves),
        no_ops=len(comparison.no_ops),
        in_force_before=len(comparison.before.current),
        in_force_after=len(comparison.after.current),
    )


def count_by_wing(comparison: Comparison) -> tuple[WingChangeCount, ...]:
    """Return the number of entries in each wing."""
    before, after = comparison.before, comparison.after
    counts = [
        Counter(address.split("/", 1)[0] for address in addresses)
        for addresses in (before.current, after.current, before.catalog.entries, after.catalog.entries)
    ]
    names = sorted({*before.catalog.wings, *after.catalog.wings})
    return tuple(WingChangeCount(name, *(count[name] for count in counts)) for name in names)


def find_unread(comparison: Comparison) -> Iterator[Unread]:
    """Yield the files that cannot be read, of both sides."""
    sides: tuple[tuple[Literal["before", "after"], TreeSide, TreeSide], ...] = (
        ("before", comparison.before, comparison.after),
        ("after", comparison.after, comparison.before),
    )
    for which, side, other in sides:
        manifests = [finding for finding in side.catalog.findings if finding.code == "manifest-invalid"]
        broken = [one.findings[0] for one in side.catalog.broken.values() if one.findings]
        found = {finding.place.path: finding for finding in (*manifests, *broken, *side.catalog.closed)}
        for path, finding in sorted(found.items()):
            address = path.removesuffix(".md")
            ref = other.ref(address) if address in other.catalog.entries else None
            yield Unread(which, path, finding.code, finding.message, ref)


def find_beliefs(comparison: Comparison) -> tuple[Belief, ...]:
    """Return the entries that ended with what replaced them, then the new ones, each by authority."""
    ended = [_ended(comparison, old) for old in comparison.ended]
    replacing = {ref.address for belief in ended for ref in belief.after}
    new = [
        Belief(None, (comparison.after.ref(address),), _reason(comparison, address))
        for address in comparison.begun
        if address not in replacing
    ]
    ended.sort(key=lambda one: one.before.rank if one.before is not None else (0, ""))
    return (*ended, *sorted(new, key=lambda one: one.after[0].rank))


def _ended(comparison: Comparison, old: str) -> Belief:
    heads = comparison.successors(old)
    after = tuple(comparison.after.ref(head) for head in heads)
    was_there = frozenset(head for head in heads if head not in comparison.begun)
    return Belief(comparison.before.ref(old), after, _reason_ended(comparison, old, heads), was_there)


def _reason_ended(comparison: Comparison, old: str, heads: tuple[str, ...]) -> str | None:
    """Return the reasons of the direct successors and of the entry itself, else the rationale of what replaced it."""
    catalog = comparison.after.catalog
    direct = catalog.lineage.successors.get(comparison.moved(old), heads)
    stated = [reason for one in direct if (reason := catalog.entries[one].reason)]
    entry = catalog.entries.get(comparison.moved(old))
    # Where something replaced the entry, its own `reason` explains why it replaced its predecessor.
    if entry is not None and (why := entry.deprecated_reason or ("" if stated else entry.why_ended)):
        stated.append(why)
    if stated:
        return _shortened("; ".join(dict.fromkeys(stated)))
    return next((why for head in heads if (why := _reason(comparison, head))), None)


def _reason(comparison: Comparison, address: str) -> str | None:
    """Return the stated reason of an entry, else the rationale in its body if its file changed."""
    stated = comparison.after.catalog.entries[address].reason
    if stated:
        return _shortened(stated)
    document = comparison.documents.get(address)
    if document is None:
        return None
    start, end = rationale_span(without_code(document.body))
    # Without a marker of the rationale, the span is the whole body.
    return _shortened(document.body[start:end]) or None if start else None


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON].rsplit(' ', 1)[0]} …"


def find_wordings(
    comparison: Comparison, beliefs: Sequence[Belief], steps: Sequence[Transition]
) -> tuple[Wording, ...]:
    """Return the old and new texts of the beliefs, then the texts of new drafts."""
    drafts = [one.entry for one in steps if one.before is None and one.after is Status.DRAFT]
    pairs = [*((one.before, one.after) for one in beliefs), *((None, (draft,)) for draft in drafts)]
    old = dict(comparison.before.catalog.plain_bodies([before.address for before, _ in pairs if before]))
    wanted = [ref.address for _, after in pairs for ref in after]
    new = dict(comparison.after.catalog.plain_bodies(wanted))
    return tuple(
        Wording(
            RuleText(before, old[before.address]) if before is not None and before.address in old else None,
            tuple(RuleText(ref, new[ref.address]) for ref in after if ref.address in new),
        )
        for before, after in pairs
    )


def find_transitions(comparison: Comparison, faults: Mapping[str, Sequence[Finding]]) -> tuple[Transition, ...]:
    """Return the changes of status: illegal ones first, then others with findings, then by authority."""
    changes = comparison.changes
    steps: list[tuple[Ref, Status | None, Status | None]] = [
        *((comparison.after.ref_of(entry), None, entry.status) for entry in changes.added),
        *((comparison.before.ref_of(entry), entry.status, None) for entry in changes.gone),
        *(
            (comparison.after.ref_of(one.after), one.before.status, one.after.status)
            for one in changes.changed
            if one.before.status is not one.after.status
        ),
    ]
    found = []
    for ref, before, after in steps:
        own = [finding for finding in faults.get(ref.address, ()) if finding.code in _STATUS_CODES]
        own.sort(key=lambda one: (_STATUS_CODES.index(one.code), one.message))
        is_illegal = any(finding.code in _ILLEGAL for finding in own)
        found.append(Transition(ref, before, after, is_illegal, tuple(one.message for one in own)))
    return tuple(sorted(found, key=lambda one: (not one.is_illegal, not one.faults, one.entry.rank)))


def find_bearings(comparison: Comparison) -> tuple[BearingChange, ...]:
    """Return the new claims and amendments, then those that ended although both entries are still current."""
    moved, current, ref = comparison.moved, comparison.after.current, comparison.after.ref
    before = {(moved(new), says, moved(old)) for new, says, old in _bearings(comparison.before.catalog)}
    after = set(_bearings(comparison.after.catalog))
    gone = {(new, says, old) for new, says, old in before - after if {new, old} <= current}
    changes = [BearingChange(ref(new), says, ref(old), is_new=True) for new, says, old in after - before]
    changes += [BearingChange(ref(new), says, ref(old), is_new=False) for new, says, old in gone]
    return tuple(sorted(changes, key=lambda one: (not one.is_new, one.entry.rank, one.says, one.on.rank)))


def _bearings(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    for address in catalog.entries:
        yield from ((address, CLAIMS, old) for old in catalog.lineage.claims(address))
        amended = (old for old in catalog.amendments.by(address) if catalog.lineage.is_current(old))
        yield from ((address, AMENDS, old) for old in amended)


def find_near_entries(comparison: Comparison, reworded: Sequence[Rewording]) -> tuple[NearEntry, ...]:
    """Return the new or reworded entries that are similar to a live entry of their type, the nearest of each.

    Two entries that link to each other are not reported.
    """
    live, ref = comparison.live, comparison.after.ref
    fresh = {*(one.address for one in comparison.changes.added), *comparison.begun}
    fresh |= {one.entry.address for one in reworded if one.title or one.body}
    fresh &= live.keys()
    found: list[NearEntry] = []
    for type_ in {live[address].type for address in fresh}:
        of_type = {address: entry for address, entry in live.items() if entry.type is type_}
        texts = (
            (address, words_of(f"{entry.title}\n{comparison.live_bodies[address]}"))
            for address, entry in of_type.items()
            if address in comparison.live_bodies
        )
        times: Counter[str] = Counter()
        for pair in near_pairs(texts, share=SUPERSEDES_FROM, among=fresh & of_type.keys()):
            entry, other = (pair.a, pair.b) if pair.a in fresh else (pair.b, pair.a)
            if times[entry] < _NEAREST and not are_linked(live[entry], live[other]):
                times[entry] += 1
                found.append(NearEntry(ref(entry), ref(other), round(pair.share, 2)))
    return tuple(sorted(found, key=lambda one: (one.entry.type.rank, -one.share, one.entry.address, one.other.address)))


def are_linked(one: Entry, other: Entry) -> bool:
    """Say whether a field of one of two entries contains a link to the other."""
    return any(other.address in one.links(name) or one.address in other.links(name) for name in LINK_FIELDS)


def find_covered(
    comparison: Comparison, reworded: Sequence[Rewording], files: Callable[[], Collection[str]]
) -> tuple[Covered, ...]:
    """Return the current entries that began, ended or changed, by authority, with the files that they apply to.

    `files` gives the tracked paths from the top of the repository; it is called only if an entry has globs.
    """
    before, after = comparison.before, comparison.after
    changed = {*comparison.begun, *(one.entry.address for one in reworded if one.entry.address in after.current)}
    concerned = [(before.ref(old), before.catalog.entries[old].applies_to) for old in comparison.ended]
    concerned += [(after.ref(address), after.catalog.entries[address].applies_to) for address in changed]
    with_globs = sorted(((ref, globs) for ref, globs in concerned if globs), key=lambda pair: pair[0].rank)
    tracked = sorted(files()) if with_globs else []
    found = []
    for ref, globs in with_globs:
        paths = [path for path in tracked if any_match(globs, (path,)) is not None]
        found.append(Covered(ref, globs, len(paths), tuple(paths[:_FILES_NAMED])))
    return tuple(found)


def find_contradictions(comparison: Comparison) -> tuple[ContradictionChange, ...]:
    """Return the new contradictions between entries, then those that the change ended, by authority."""
    moved, before, after = comparison.moved, comparison.before, comparison.after
    old = {tuple(sorted((moved(a), moved(b)))): (before, a, b, why) for a, b, why in _contradictions(before)}
    new = {tuple(sorted((a, b))): (after, a, b, why) for a, b, why in _contradictions(after)}
    found = [_contradiction(*new[ends], is_new=True) for ends in new.keys() - old.keys()]
    found += [_contradiction(*old[ends], is_new=False) for ends in old.keys() - new.keys()]
    return tuple(sorted(found, key=lambda one: (not one.is_new, one.first.rank, one.second.rank)))


def _contradictions(side: TreeSide) -> Iterator[tuple[str, str, str]]:
    for one in contradictions_among(side.catalog, side.catalog.entries.keys() & side.current):
        yield one.a, one.b, one.why


def _contradiction(side: TreeSide, a: str, b: str, why: str, *, is_new: bool) -> ContradictionChange:
    first, second = sorted((side.ref(a), side.ref(b)), key=lambda ref: ref.rank)
    return ContradictionChange(first, second, why, is_new)


def find_dependents(comparison: Comparison) -> tuple[Dependent, ...]:
    """Return the live entries that refer to an entry that is no longer current, by that entry, then by authority."""
    lost = {comparison.moved(old): comparison.successors(old) for old in comparison.ended}
    if not lost:
        return ()
    ways: dict[tuple[str, str], list[str]] = {}
    for source, target, how in (*_links_in_fields(comparison), *_links_in_text(comparison, lost)):
        if target in lost and source not in lost:
            is_successor = target in comparison.live[source].supersedes and source in lost[target]
            if not is_successor:
                ways.setdefault((target, source), []).append(how)
    found = [
        Dependent(comparison.after.ref(source), target, lost[target], tuple(dict.fromkeys(how)))
        for (target, source), how in ways.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.on, one.entry.rank)))


def _links_in_fields(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    for address, entry in comparison.live.items():
        yield from ((address, target, name) for name in _REFERRING_FIELDS for target in entry.links(name))
        yield from ((address, relation.to, relation.type) for relation in entry.relations)
        if entry.status is Status.DRAFT:
            yield from ((address, target, "supersedes") for target in entry.supersedes)


def _links_in_text(comparison: Comparison, lost: Collection[str]) -> Iterator[tuple[str, str, str]]:
    # Every form of a reference ends with the entry-id.
    entry_id = re.compile("|".join(sorted(re.escape(address.rsplit("/", 1)[-1]) for address in lost)))
    known = {*comparison.after.catalog.addresses, *lost}
    for address, body in comparison.live_bodies.items():
        if entry_id.search(body):
            for reference in references_in({address: without_code(body)}, known):
                if reference.target is not None:
                    yield address, reference.target, "text"
