"""An entry ended, and nothing says why or what holds instead.

Who finds it cannot tell whether the rule was wrong, was replaced, or was dropped by mistake, so it comes back.

Fails:

    status: deprecated
    deprecated_at: 2026-05-04

Fix: add `superseded_by` with the successor, and this entry to the successor's `supersedes`; or add `deprecated_reason`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case, written_links
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding, Severity

CODE = "deprecated-without-successor-or-reason"
SEVERITY = Severity.ERROR
_CAUSES = frozenset({"superseded_by", "reason", "deprecated_reason"})


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each deprecated entry that has no successor, at either end, and gives no reason."""
    for entry in case.catalog.entries.values():
        if entry.status is Status.DEPRECATED and not entry.why_ended and _is_alone(case, entry):
            help_ = "add `superseded_by` with the successor, or `deprecated_reason`"
            message = "deprecated without a successor or a reason"
            yield case.on_entry(CODE, entry, message, help_, field="status")


def _is_alone(case: Case, entry: Entry) -> bool:
    if entry.superseded_by or entry.address in case.catalog.lineage.successors or not _CAUSES.isdisjoint(entry.unread):
        return False
    # A placeholder is no successor, and has its own finding.
    return not written_links(case.catalog.document(entry.path), "superseded_by")
