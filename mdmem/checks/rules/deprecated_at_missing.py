"""A deprecated entry does not say since when.

A log, a build or a review of last March can be judged only by the rules of last March. Without `deprecated_at` nobody
can tell whether the entry still bound then, and git's date is that of the last edit.

Fails:

    status: deprecated
    created_at: 2025-06-02
    superseded_by: [web/rules/use-the-query-cache]

Fix: add `deprecated_at` with the day it ended; often that is the `created_at` of what superseded it.
`mdmem check --fix` takes the day of the commit that changed the status, or the own date of an imported record that was
rejected or withdrawn: it never bound. `--unsafe-fixes` takes the day on which its one successor was created. Of what
ended otherwise, before git had it, nobody can tell the day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import is_imported, with_choice, with_fix
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Entry, Status, day_of
from mdmem.model.finding import Finding, Severity

CODE = "deprecated-at-missing"
SEVERITY = Severity.WARNING
_TURNED_DOWN = re.compile(r"\b(?:rejected|declined|withdrawn)\b", re.IGNORECASE)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each deprecated entry without `deprecated_at`."""
    for entry in case.catalog.entries.values():
        if entry.status is not Status.DEPRECATED or entry.deprecated_at or "deprecated_at" in entry.unread:
            continue
        message = "the entry is deprecated without `deprecated_at`"
        help_ = "add `deprecated_at: YYYY-MM-DD`, the day it ended"
        shown = case.on_entry(CODE, entry, message, help_, field="status")
        told = case.facts.days.ended.get(entry.path) if case.facts else None
        if told is None and _was_turned_down(case, entry) and entry.created_at is not None:
            told = day_of(entry.created_at).isoformat()
        is_known = told is not None and _is_possible(case, entry, date.fromisoformat(told))
        day, add = (told, with_fix) if is_known else (_day_of_end(case, entry), with_choice)
        values, document = {"deprecated_at": day}, case.catalog.document(entry.path)
        yield add(shown, f"Add `deprecated_at: {day}`", set_fields, document, values) if day else shown


def _was_turned_down(case: Case, entry: Entry) -> bool:
    """Say whether an entry was imported from a record that its people rejected: it never was in force."""
    is_said = entry.deprecated_reason is not None and _TURNED_DOWN.search(entry.deprecated_reason) is not None
    return is_said and not entry.superseded_by and is_imported(case, entry.address)


def _day_of_end(case: Case, entry: Entry) -> str | None:
    """Return the day on which the one successor was written: from then on readers had the new rule.

    A guess: of 26 Python proposals whose history is known, 14 had ended over a year from that day.
    """
    successors = case.catalog.lineage.successors.get(entry.address, ())
    created = case.catalog.entries[successors[0]].created_at if len(successors) == 1 else None
    if created is None or not _is_possible(case, entry, day_of(created)):
        return None
    return day_of(created).isoformat()


def _is_possible(case: Case, entry: Entry, day: date) -> bool:
    known = [day_of(moment) for moment in (entry.created_at, entry.verified_at) if moment is not None]
    return day <= case.today and all(day >= one for one in known)
