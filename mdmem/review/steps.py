"""Which entries took a step of their life, and which of these steps are none that they may take."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.review.comparison import Comparison
from mdmem.review.model import Transition
from mdmem.review.texts import Faults

_CODES = ("illegal-transition", "deleted-in-force", "approved-by-nobody", "activated-by-agent")


def transitions(comparison: Comparison, faults: Faults) -> tuple[Transition, ...]:
    """Return the changes of status, faulty ones first, then by authority."""
    found = list(_steps(comparison, faults))
    return tuple(sorted(found, key=lambda one: (not one.faults, one.entry.rank)))


def _steps(comparison: Comparison, faults: Faults) -> Iterator[Transition]:
    changes = comparison.changes
    for entry in changes.added:
        yield Transition(comparison.after.ref_of(entry), None, entry.status, _said(faults, entry.address))
    for entry in changes.gone:
        yield Transition(comparison.before.ref_of(entry), entry.status, None, _said(faults, entry.address))
    for one in changes.changed:
        before, after = one.before.status, one.after.status
        if before is not after:
            yield Transition(comparison.after.ref_of(one.after), before, after, _said(faults, one.after.address))


def _said(faults: Faults, address: str) -> tuple[str, ...]:
    found = [finding for finding in faults.get(address, ()) if finding.code in _CODES]
    return tuple(one.message for one in sorted(found, key=lambda one: (_CODES.index(one.code), one.message)))
