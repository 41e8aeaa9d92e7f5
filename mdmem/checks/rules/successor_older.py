"""An entry supersedes one that was created after it.

Either a date is wrong or the link points the wrong way, and then the older rule is taken for the one in force.

Fails:

    app/rules/new.md    created_at: 2026-03-01    supersedes: [app/rules/old]
    app/rules/old.md    created_at: 2026-05-01

Fix: correct `created_at`, or turn the link round on both ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.entry import day_of
from mdmem.model.finding import Finding, Severity

CODE = "successor-older"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each edge whose newer end was created on an earlier day, at its `created_at`."""
    for edge in case.edges:
        new, old = case.catalog.entries.get(edge.new), case.catalog.entries.get(edge.old)
        if not edge.kind.is_consistent or not new or not old or not new.created_at or not old.created_at:
            continue
        if day_of(new.created_at) < day_of(old.created_at):
            first, later = day_of(new.created_at), day_of(old.created_at)
            message = f"created on {first}, but supersedes `{old.address}`, created on {later}"
            help_ = "correct `created_at`, or turn the link round on both ends"
            place, other = case.catalog.place(new.address, "created_at"), case.catalog.place(old.address, "created_at")
            yield Finding(CODE, message, place, help_, new.address, other=other)
