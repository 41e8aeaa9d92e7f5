"""An entry overrides a shared one of higher authority.

The order is invariant, decision, pattern, note. A note that displaced a decision, or a decision that displaced an
invariant, would weaken what binds in every project without anybody seeing it, so retrieval gives both.

Fails:

    app/incident-log/one-night.md    type: note    overrides: base/architecture/retry
    base/architecture/retry.md       type: decision

Fix: give the overriding entry the type of the other, once those who answer for it agree, or write `see` in place of
`overrides`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Place, Severity

CODE = "override-across-types"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each override of an entry of higher authority by one that has not ended."""
    for link in case.distinct_links:
        entry, other = link.entry, case.catalog.entries.get(link.target or "")
        if link.field != "overrides" or other is None or other.wing == entry.wing or entry.status is Status.DEPRECATED:
            continue
        if entry.type.rank > other.type.rank:
            message = f"a {entry.type} overrides the {other.type} `{other.address}`, which stays in force"
            help_ = f"write `type: {other.type}`, or `see: [{other.address}]` instead"
            place = case.catalog.place(entry.address, link.field, link.item)
            yield Finding(CODE, message, place, help_, entry.address, other=Place(other.path))
