"""A date has the right form and names no day of the calendar.

Real records hold `2023-14-05`: month and day changed places. Such a date cannot be ordered or aged, so the field
counts as empty, and the entry is never due for review.

Fails:

    created_at: 2023-14-05

Fix: write the day that was meant, as YYYY-MM-DD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "invalid-date"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each date that the calendar does not have."""
    yield from case.loaded(CODE)
