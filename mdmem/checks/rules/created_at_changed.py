"""The day an entry was created is another one than in the base.

`created_at` orders entries and tells which of two rules is the older; it is a fact that no later change alters. Adding
the offset to a time that had none is no other moment.

Fails:

    base:    created_at: 2026-03-05
    now:     created_at: 2026-11-20

Fix: write the old date again. For a new rule write a new entry; for a fresh look at an old one, `verified_at`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "created-at-changed"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry with another readable `created_at` than before, at that field."""
    for one in case.changes.changed:
        was, now = one.before.created_at, one.after.created_at
        if was is None or now is None or was == now or _gained_offset(was, now):
            continue
        message = f"`created_at` was {was.isoformat()} and is {now.isoformat()}"
        help_ = f"write `created_at: {was.isoformat()}` again"
        yield case.on_entry(CODE, one.after, message, help_, field="created_at")


def _gained_offset(was: date, now: date) -> bool:
    if not isinstance(was, datetime) or not isinstance(now, datetime) or was.tzinfo is not None:
        return False
    return now.replace(tzinfo=None) == was
