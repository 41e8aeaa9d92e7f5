"""A rule in force was not verified for longer than the setting `review_after_days` allows.

What an entry says of the code was true when somebody last looked. Agents follow a rule that the code has outgrown
just as faithfully as any other, so rules are looked at once a year, or as often as the settings say. Notes are not:
they tell what was learned, and age with it. A rule is asked for only once somebody has verified it: a memory that
nobody reviews would be nothing but reminders.

Fails:

    type: decision
    status: active
    verified_at: 2023-02-01

Fix: read it against the code. Where it holds, run `mdmem verify`; else `mdmem supersede` with what holds instead, or
`mdmem deprecate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from mdmem.checks.case import Case
from mdmem.model.entry import EntryType, day_of
from mdmem.model.finding import Finding, Severity

CODE = "review-overdue"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each current rule whose last verification is too long ago."""
    oldest = case.today - timedelta(days=min(case.settings.review_after_days, case.today.toordinal() - 1))
    for entry in case.catalog.entries.values():
        if entry.type is EntryType.NOTE or entry.verified_at is None or not case.is_current(entry.address):
            continue
        # What was written anew is as good as verified.
        seen = max(day_of(moment) for moment in (entry.verified_at, entry.created_at) if moment is not None)
        if seen >= oldest:
            continue
        message = f"not verified for {(case.today - seen).days} days"
        help_ = f"read it against the code, then run `mdmem verify {entry.address}`"
        yield case.on_entry(CODE, entry, message, help_, field="verified_at")
