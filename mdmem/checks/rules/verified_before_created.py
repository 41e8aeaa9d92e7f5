"""An entry was verified before it was created.

One of the two dates is wrong, and both decide something: `created_at` orders entries, and review is due some time
after `verified_at`. Usually the entry was copied from an older one and kept its date.

Fails:

    created_at: 2026-03-05
    verified_at: 2025-04-10

Fix: correct the date that is wrong, or remove `verified_at` if nobody has verified the entry yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from mdmem.checks.case import Case
from mdmem.model.entry import instant_of
from mdmem.model.finding import Finding, Severity

CODE = "verified-before-created"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry whose verification surely lies before its creation."""
    for entry, _ in case.entries:
        created, verified = entry.created_at, entry.verified_at
        if created is None or verified is None or not _is_before(verified, created):
            continue
        message = f"`verified_at` is {verified.isoformat()}, before `created_at`, {created.isoformat()}"
        help_ = "correct the date that is wrong, or remove `verified_at`"
        place, other = (case.catalog.place(entry.address, name) for name in ("verified_at", "created_at"))
        yield Finding(CODE, message, place, help_, entry.address, other)


def _is_before(verified: date, created: date) -> bool:
    # A day without a time begins 14 hours before midnight UTC in one zone, and ends 12 hours after the next in another.
    slack = timedelta(0)
    if isinstance(verified, datetime) != isinstance(created, datetime):
        slack = timedelta(hours=14 if isinstance(verified, datetime) else 36)
    return instant_of(created) - instant_of(verified) > slack
