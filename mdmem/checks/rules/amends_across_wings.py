"""An entry amends one of a wing that it cannot speak for.

Within a wing any entry may amend another, and a project's entry may amend a shared one, for that project alone. What
another project decided is its own; and a shared entry that changes a project's rule would bind nobody else by it. Such
an amendment counts for nothing, and answers do not show it.

Fails:

    shop/rules/exception.md       amends: [web/rules/retry-twice]     (two projects)

Fix: write the amendment in the other wing, or `see` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.amendments import may_speak_for

CODE = "amends-across-wings"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each amendment of an entry that another wing decided, at the link."""
    for link, old in case.amendments:
        if not may_speak_for(link.entry, old, case.catalog.wings):
            message = f"amends `{old.address}`, which is not {link.entry.wing}'s to amend"
            help_ = f"write the amendment in the wing {old.wing}, or `see: [{old.address}]` in place of `amends`"
            place = case.catalog.place(link.entry.address, "amends", link.item)
            yield Finding(CODE, message, place, help_, link.entry.address, other=Place(old.path))
