"""A rule in force was not verified for longer than the setting `review_after_days` allows.

What an entry says of the code was true when somebody last looked. Agents follow a rule that the code has outgrown
just as faithfully as any other, so rules are looked at once a year, or as often as the settings say. Notes are not:
they tell what was learned, and age with it.

Fails:

    type: decision
    status: active
    created_at: 2023-02-01

Fix: read it against the code. Where it holds, run `mdmem verify`; else `mdmem supersede` with what holds instead, or
`mdmem deprecate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from mdmem.checks.case import Case
from mdmem.entry.model import EntryType, day_of
from mdmem.finding import Finding, Severity

CODE = "review-overdue"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each current rule whose last verification, else creation, is too long ago."""
    oldest = case.today - timedelta(days=min(case.settings.review_after_days, case.today.toordinal() - 1))
    for entry in case.catalog.entries.values():
        dates = [day_of(moment) for moment in (entry.verified_at, entry.created_at) if moment is not None]
        if entry.type is EntryType.NOTE or not dates or max(dates) >= oldest:
            continue
        if "verified_at" in entry.unread or not case.is_current(entry.address):
            continue
        field = "verified_at" if entry.verified_at else "created_at"
        message = f"not verified for {(case.today - max(dates)).days} days"
        help_ = f"read it against the code, then run `mdmem verify {entry.address}`"
        yield case.on_entry(CODE, entry, message, help_, field=field)
