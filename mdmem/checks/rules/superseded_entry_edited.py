"""An entry that had ended says something else than when it ended.

Ended entries are the record of what held, and why it was replaced; readers follow a chain back to them. Links, status,
dates, reasons and `ignore` may change, and a changed `editorial_at` lets a corrected slip through.

Fails:

    base:    status: deprecated    Calls are retried once.
    now:     status: deprecated    Calls are retried twice.

Fix: take the change back, and write it in the entry that is in force.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.prose import first_reworded
from mdmem.checks.severity import is_over
from mdmem.model.finding import Finding, Severity

CODE = "superseded-entry-edited"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that was no longer in force and whose words changed, at the first change."""
    base = case.base.catalog if case.base else case.catalog
    for one in case.changes.changed:
        fields = (*(() if one.keeps_title else ("title",)), *one.altered())
        if one.is_corrected or not is_over(base, one.before.address) or (one.keeps_text and not fields):
            continue
        what = ", ".join([*(() if one.keeps_text else ("the text",)), *(f"`{name}`" for name in fields)])
        heads = case.catalog.lineage.heads(one.after.address)
        current = " and ".join(f"`{head}`" for head in heads if head != one.after.address)
        help_ = f"take the change back{f', and write it in {current}' if current else ''}"
        place = (
            case.catalog.place(one.after.address, fields[0]) if one.keeps_text else first_reworded(case.catalog, one)
        )
        yield Finding(CODE, f"it had ended, and the change alters {what}", place, help_, one.after.address)
