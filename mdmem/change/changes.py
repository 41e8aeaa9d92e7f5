"""What was believed and what will be, and the steps of an entry's life in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mdmem.change.comparison import Comparison
from mdmem.change.review_model import Bearing, BearingChange, Belief, Ref, RuleText, Transition, Wording
from mdmem.change.texts import Faults
from mdmem.markdown.parse import rationale_span, without_code
from mdmem.model.entry import Status
from mdmem.store.catalog import Catalog

# A rationale may be a page; its beginning tells what kind of reason it is.
_LONGEST = 300
_ILLEGAL = ("illegal-transition", "deleted-in-force")
_CODES = (*_ILLEGAL, "approved-by-nobody", "activated-by-agent")


def beliefs(comparison: Comparison) -> tuple[Belief, ...]:
    """Return what ended and what took its place, then what is new in no other's place, each by authority."""
    ended = [_ended(comparison, old) for old in comparison.ended]
    told = {one.address for belief in ended for one in belief.after}
    fresh = (address for address in comparison.begun if address not in told)
    new = [Belief(None, (comparison.after.ref(address),), _why(comparison, address)) for address in fresh]
    by_rank = [*sorted(ended, key=_rank), *sorted(new, key=_rank)]
    return tuple(by_rank)


def wordings(comparison: Comparison, told: Sequence[Belief], steps: Sequence[Transition]) -> tuple[Wording, ...]:
    """Return the words of what was believed beside those of what will be, then those of new drafts."""
    drafts = [one.entry for one in steps if one.before is None and one.after is Status.DRAFT]
    pairs = [*((one.before, one.after) for one in told), *((None, (draft,)) for draft in drafts)]
    old = dict(comparison.before.catalog.plain_bodies([a.address for a, _ in pairs if a]))
    new = comparison.bodies(one.address for _, after in pairs for one in after)
    return tuple(
        Wording(
            RuleText(before, old[before.address]) if before is not None and before.address in old else None,
            tuple(RuleText(one, new[one.address]) for one in after if one.address in new),
        )
        for before, after in pairs
    )


def _rank(belief: Belief) -> tuple[int, str]:
    one = belief.before or belief.after[0]
    return one.rank


def _ended(comparison: Comparison, old: str) -> Belief:
    heads = comparison.successors(old)
    was = frozenset(head for head in heads if head not in comparison.begun)
    after = tuple(comparison.after.ref(head) for head in heads)
    return Belief(comparison.before.ref(old), after, _why_ended(comparison, old, heads), was)


def _why_ended(comparison: Comparison, old: str, heads: tuple[str, ...]) -> str | None:
    """Return the reason of the direct successors, else the entry's own, else the rationale of what binds instead."""
    entry = comparison.found_after(old)
    entries = comparison.after.catalog.entries
    direct = comparison.after.catalog.lineage.successors.get(comparison.moved(old), heads)
    stated = [reason for one in direct if (reason := entries[one].reason)]
    if entry is not None and (why := entry.deprecated_reason or ("" if stated else entry.why_ended)):
        # Where something took its place, its `reason` tells why it replaced what was before it.
        stated.append(why)
    if stated:
        return _short("; ".join(dict.fromkeys(stated)))
    return next((why for head in heads if (why := _why(comparison, head))), None)


def _why(comparison: Comparison, address: str) -> str | None:
    """Return the stated reason of an entry, else its rationale if its file is among those that changed."""
    stated = comparison.after.catalog.entries[address].reason
    if stated:
        return _short(stated)
    document = comparison.documents.get(address)
    if document is None:
        return None
    start, end = rationale_span(without_code(document.body))
    # Without a mark where the reasons begin, they are the whole body.
    return _short(document.body[start:end]) or None if start else None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rsplit(' ', 1)[0]} …"


def transitions(comparison: Comparison, faults: Faults) -> tuple[Transition, ...]:
    """Return the changes of status: illegal ones first, then others with a fault, then by authority."""
    found = [_step(*step, faults) for step in _steps(comparison)]
    return tuple(sorted(found, key=lambda one: (not one.is_illegal, not one.faults, one.entry.rank)))


def _steps(comparison: Comparison) -> Iterator[tuple[Ref, Status | None, Status | None]]:
    changes = comparison.changes
    for entry in changes.added:
        yield comparison.after.ref_of(entry), None, entry.status
    for entry in changes.gone:
        yield comparison.before.ref_of(entry), entry.status, None
    for one in changes.changed:
        if one.before.status is not one.after.status:
            yield comparison.after.ref_of(one.after), one.before.status, one.after.status


def bearings(comparison: Comparison) -> tuple[BearingChange, ...]:
    """Return the claims and amendments that are new, then those that ended while both entries are in force."""
    moved, binds = comparison.moved, comparison.binds
    before = {(moved(new), says, moved(old)) for new, says, old in _bearings(comparison.before.catalog)}
    after = set(_bearings(comparison.after.catalog))
    gone = {(new, says, old) for new, says, old in before - after if {new, old} <= binds}
    ref = comparison.after.ref
    changes = [BearingChange(ref(new), says, ref(old), is_new=True) for new, says, old in after - before]
    changes += [BearingChange(ref(new), says, ref(old), is_new=False) for new, says, old in gone]
    return tuple(sorted(changes, key=lambda one: (not one.is_new, one.entry.rank, one.says, one.on.rank)))


def _bearings(catalog: Catalog) -> Iterator[tuple[str, Bearing, str]]:
    for address in catalog.entries:
        yield from ((address, Bearing.CLAIMS, old) for old in catalog.lineage.claims(address))
        amended = (old for old in catalog.amendments.by(address) if catalog.lineage.is_current(old))
        yield from ((address, Bearing.AMENDS, old) for old in amended)


def _step(entry: Ref, before: Status | None, after: Status | None, faults: Faults) -> Transition:
    found = [finding for finding in faults.get(entry.address, ()) if finding.code in _CODES]
    told = sorted(found, key=lambda one: (_CODES.index(one.code), one.message))
    is_illegal = any(finding.code in _ILLEGAL for finding in found)
    return Transition(entry, before, after, is_illegal, tuple(one.message for one in told))
