"""An entry overrides one of its own wing.

`overrides` lets a project's rule win over a shared one in that project alone, while the shared rule stays in force
elsewhere. Inside a wing both would bind the same readers: there the newer rule supersedes the older.

Fails:

    app/rules/retry-five-times.md    overrides: app/rules/retry-twice

Fix: write it under `supersedes`, and `superseded_by`, `status: deprecated` and `deprecated_at` in the old entry. Where
both hold, remove `overrides` and narrow one of the two with `applies_to` or `focus`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity

CODE = "override-of-own-wing"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each override within one wing."""
    for link in case.distinct_links:
        if link.field == "overrides" and link.target is not None and link.target.startswith(f"{link.entry.wing}/"):
            message = f"overrides `{link.target}` of its own wing"
            help_ = (
                f"write `supersedes: [{link.target}]` instead, or remove it and narrow one with `applies_to` or `focus`"
            )
            place = case.catalog.place(link.entry.address, link.field, link.item)
            yield Finding(CODE, message, place, help_, link.entry.address, other=Place(f"{link.target}.md"))
