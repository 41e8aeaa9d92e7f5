"""A deprecated entry does not say since when.

A log, a build or a review of last March can be judged only by the rules of last March. Without `deprecated_at` nobody
can tell whether the entry still bound then, and git's date is that of the last edit.

Fails:

    status: deprecated
    created_at: 2025-06-02
    superseded_by: [web/rules/use-the-query-cache]

Fix: add `deprecated_at` with the day it ended; often that is the `created_at` of what superseded it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.entry.model import Status
from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "deprecated-at-missing"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each deprecated entry without `deprecated_at`."""
    for entry in case.catalog.entries.values():
        if entry.status is not Status.DEPRECATED or entry.deprecated_at or "deprecated_at" in entry.unread:
            continue
        message = "the entry is deprecated without `deprecated_at`"
        yield case.on_entry(CODE, entry, message, "add `deprecated_at: YYYY-MM-DD`, the day it ended", field="status")
