"""A date that tells of the past lies in the future.

An entry that was verified next year is never due for review, and one created next month is newer than every
correction that is made until then. A day ahead is only another time zone; two weeks ahead is a slip of the year or an
agent's guess. `expires_at` may lie in the future: that is its purpose.

Fails:

    verified_at: 2062-04-10

Fix: write the day on which it happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from mdmem.checks.case import Case
from mdmem.model.entry import DATE_FIELDS, day_of
from mdmem.model.finding import Finding, Severity

CODE = "future-date"
SEVERITY = Severity.WARNING
_PAST_FIELDS = tuple(name for name in DATE_FIELDS if name != "expires_at")
_ZONES = timedelta(days=1)
_SLIP = timedelta(days=14)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each date over a day ahead of today; an error from two weeks."""
    for entry in case.catalog.entries.values():
        for name in _PAST_FIELDS:
            moment = getattr(entry, name)
            if moment is None or day_of(moment) - case.today <= _ZONES:
                continue
            ahead = day_of(moment) - case.today
            message = f"`{name}` is {moment.isoformat()}, {ahead.days} days ahead of today"
            place = case.catalog.place(entry.address, name)
            severity = Severity.ERROR if ahead > _SLIP else Severity.WARNING
            yield Finding(CODE, message, place, "write the day on which it happened", entry.address, severity=severity)
