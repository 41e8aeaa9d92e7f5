"""An entry in force is past the day it was meant to end.

`expires_at` is a promise to look again: a workaround until the next release, a rule for the time of a migration.
After that day the entry counts as under review, and every retrieval shows it as uncertain until somebody decides.

Fails:

    status: active
    expires_at: 2026-06-30

Fix: end it with `mdmem deprecate`, or write a later `expires_at`, or none.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.entry import day_of
from mdmem.model.finding import Finding, Severity

CODE = "expired"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry in force whose `expires_at` lies before today."""
    for entry in case.catalog.entries.values():
        if entry.expires_at is None or day_of(entry.expires_at) >= case.today or not case.is_current(entry.address):
            continue
        days = (case.today - day_of(entry.expires_at)).days
        message = f"expired {days} {'day' if days == 1 else 'days'} ago, on {day_of(entry.expires_at)}"
        help_ = f"end it with `mdmem deprecate {entry.address} --reason TEXT`, or write a later `expires_at`"
        yield case.on_entry(CODE, entry, message, help_, field="expires_at")
