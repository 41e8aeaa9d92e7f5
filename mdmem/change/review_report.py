"""What a change does to what is believed: the whole report, part by part in the order in which it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from datetime import date

from msgspec import Struct, field

from mdmem.change.chains import touched_chains
from mdmem.change.changes import bearings, beliefs, transitions, wordings
from mdmem.change.comparison import Comparison, TreeSide
from mdmem.change.dependents import contradictions, covered_files, dependents
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
from mdmem.change.similar import near_entries
from mdmem.change.texts import field_edits, rewordings
from mdmem.checks.case import Base, Case
from mdmem.checks.engine import get_check
from mdmem.checks.registry import CHANGE
from mdmem.model.finding import Finding
from mdmem.store.catalog import Catalog


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
