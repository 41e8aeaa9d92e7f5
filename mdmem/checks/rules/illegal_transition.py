"""A status changed in a way that skips a step of an entry's life.

The status decides what binds. A new entry is a draft, active or under review, or a record of what ended, with its
successor or its reason; a draft becomes active, is doubted as soon as it is active, or is deprecated with a reason;
active and under_review change into each other, and both into deprecated; what is deprecated becomes active again with a
new `reason`. For a draft, a successor is reason enough. Everything else hides that a rule was, or was not, in force.

Fails:

    base:    status: active
    now:     status: draft

Fix: write the status that the entry may have, named in the finding, or add the reason that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mdmem.checks.case import Case
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.changes import Changed

CODE = "illegal-transition"
SEVERITY = Severity.ERROR
# Of an entry that is new, or was a draft, a review may begin before the commit that brings it.
_NEW = (Status.DRAFT, Status.ACTIVE, Status.UNDER_REVIEW)
_ALLOWED: Mapping[Status, tuple[Status, ...]] = {
    Status.DRAFT: (Status.ACTIVE, Status.UNDER_REVIEW, Status.DEPRECATED),
    Status.ACTIVE: (Status.UNDER_REVIEW, Status.DEPRECATED),
    Status.UNDER_REVIEW: (Status.ACTIVE, Status.DEPRECATED),
    Status.DEPRECATED: (Status.ACTIVE,),
}
_ASKS_REASON = {
    (Status.DRAFT, Status.DEPRECATED): "deprecated_reason",
    (Status.DEPRECATED, Status.ACTIVE): "reason",
}


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry whose status is none that it could get from where it was, at the status."""
    for entry in case.changes.added:
        if entry.status not in _NEW and not _is_record(case, entry):
            yield _finding(case, entry, f"a new entry starts as `{entry.status}`", f"start it as {_listed(_NEW)}")
    for one in case.changes.changed:
        was, now = one.before.status, one.after.status
        if was is now:
            continue
        if now not in _ALLOWED[was]:
            message, help_ = f"`{was}` became `{now}`", f"keep `{was}`, or write {_listed(_ALLOWED[was])}"
            yield _finding(case, one.after, message, help_)
        elif (was, now) in _ASKS_REASON and not _has_reason(case, one):
            asked = _ASKS_REASON[was, now]
            help_ = f"add `{asked}` that says why, or keep `{was}`"
            yield _finding(case, one.after, f"`{was}` became `{now}` without a new reason", help_)


def _is_record(case: Case, entry: Entry) -> bool:
    """Say whether an entry came with its end told: imported, or added and superseded on one branch."""
    return entry.status is Status.DEPRECATED and _says_why_it_ended(case, entry)


def _says_why_it_ended(case: Case, entry: Entry) -> bool:
    # That its successor is no good one is another check's finding.
    return bool(entry.why_ended or entry.superseded_by) or entry.address in case.catalog.lineage.successors


def _has_reason(case: Case, one: Changed) -> bool:
    entry = one.after
    if {"reason", "deprecated_reason"}.intersection(entry.unread):
        return True
    if entry.status is Status.DEPRECATED:
        return _says_why_it_ended(case, entry)
    # Why it ended, read from `reason` too, does not say why it holds again.
    return bool(entry.reason) and entry.reason != one.before.reason


def _finding(case: Case, entry: Entry, message: str, help_: str) -> Finding:
    return case.on_entry(CODE, entry, message, help_, field="status")


def _listed(statuses: tuple[Status, ...]) -> str:
    *most, last = (f"`{status}`" for status in statuses)
    return f"{', '.join(most)} or {last}" if most else last
