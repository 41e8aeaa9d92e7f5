"""Which entries took a step of their life, and which of these steps are none that they may take."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.entry.model import Status
from mdmem.review.comparison import Comparison
from mdmem.review.model import Ref, Transition
from mdmem.review.texts import Faults

_ILLEGAL = ("illegal-transition", "deleted-in-force")
_CODES = (*_ILLEGAL, "approved-by-nobody", "activated-by-agent")


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


def _step(entry: Ref, before: Status | None, after: Status | None, faults: Faults) -> Transition:
    found = [finding for finding in faults.get(entry.address, ()) if finding.code in _CODES]
    told = sorted(found, key=lambda one: (_CODES.index(one.code), one.message))
    is_illegal = any(finding.code in _ILLEGAL for finding in found)
    return Transition(entry, before, after, is_illegal, tuple(one.message for one in told))
