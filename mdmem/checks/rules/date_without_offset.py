"""A date-time does not say in which zone it was.

Entries are ordered by their dates. A time without an offset is read as UTC, so two entries that were written hours
apart on two continents may change places. A plain day has no such trouble.

Fails:

    verified_at: 2026-10-19T16:20:00

Fix: add the offset, as in 2026-10-19T16:20:00+02:00, or write the day alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from mdmem.checks.case import Case
from mdmem.model.entry import DATE_FIELDS
from mdmem.model.finding import Finding, Severity

CODE = "date-without-offset"
SEVERITY = Severity.INFO


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each date-time without an offset."""
    for entry, _ in case.entries:
        for name in DATE_FIELDS:
            moment = getattr(entry, name)
            if isinstance(moment, datetime) and moment.tzinfo is None:
                message = f"`{name}` is {moment.isoformat()}, a time without an offset"
                yield case.on_entry(CODE, entry, message, "add the offset, or write the day alone", field=name)
